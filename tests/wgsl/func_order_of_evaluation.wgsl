// Operands and arguments are computed from left to right.
// kernel: main
// arg: buf:int:4
// expect: 12, 123, 45, 67
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> count: i32;
fn next() -> i32 { count++; return count; }
fn three(a: i32, b: i32, c: i32) -> i32 { return 100 * a + 10 * b + c; }
@compute @workgroup_size(1)
fn main() {
    out[0] = next() * 10 + next();
    count = 0;
    out[1] = three(next(), next(), next());
    let v = vec2i(next() * 10, next());
    out[2] = v.x + v.y;
    let w = array(next() * 10, next());
    out[3] = w[0] + w[1];
}
