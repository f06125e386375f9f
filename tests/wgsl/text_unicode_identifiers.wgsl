// Identifiers are of Unicode's XID classes: Greek, Cyrillic, Chinese, Latin with marks, and ASCII with underscores.
// kernel: Größe
// arg: buf:int:6
// expect: 3, 7, 11, 15, 19, 4
@group(0) @binding(0) var<storage, read_write> αποτέλεσμα: array<i32>;
const größe = 3;
const переменная = 7;
struct 点 {
    横: i32,
    縦: i32,
}
fn δ(x: i32) -> i32 {
    return x + 4;
}
@compute @workgroup_size(1)
fn Größe() {
    let _private = 15;
    let a_b: i32 = 18;
    let p = 点(5, 6);
    αποτέλεσμα[0] = größe;
    αποτέλεσμα[1] = переменная;
    αποτέλεσμα[2] = p.横 + p.縦;
    αποτέλεσμα[3] = _private;
    αποτέλεσμα[4] = a_b + 1;
    αποτέλεσμα[5] = δ(0);
}
