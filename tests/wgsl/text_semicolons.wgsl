// Empty statements, empty declarations, and commas at the end of lists.
// kernel: main
// arg: buf:int:3
// expect: 6, 2, 9
;
@group(0,) @binding(0,) var<storage, read_write,> out: array<i32,>;
;;
struct Pair { a: i32, b: i32, };
fn sum(a: i32, b: i32,) -> i32 {
    ;;
    return a + b;
}
@compute @workgroup_size(1, 1,)
fn main() {
    ;
    let p = Pair(4, 2,);
    out[0] = sum(p.a, p.b,);;
    out[1] = array<i32, 2,>(1, 2,)[1];
    { ; }
    out[2] = max(9, 3,);
};
