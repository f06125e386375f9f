// Pointers to variables of functions and of private as parameters: read, written, passed on.
// kernel: main
// arg: buf:int:5
// expect: 2, 1, 33, 7, 12
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> total: i32 = 5;
fn swap(a: ptr<function, i32>, b: ptr<function, i32>) {
    let t = *a;
    *a = *b;
    *b = t;
}
fn add(to: ptr<private, i32>, x: i32) { *to += x; }
fn grow(p: ptr<function, array<i32, 3>>) { for (var i = 0; i < 3; i++) { (*p)[i] *= 11; } }
fn grow_on(p: ptr<function, array<i32, 3>>) { grow(p); }
@compute @workgroup_size(1)
fn main() {
    var a = 1;
    var b = 2;
    swap(&a, &b);
    out[0] = a;
    out[1] = b;
    var list = array(1, 2, 3);
    grow_on(&list);
    out[2] = list[2];
    add(&total, 2);
    out[3] = total;
    let p = &total;
    add(p, 5);
    out[4] = *p;
}
