// @align and @size take constant expressions.
// kernel: main
// arg: buf:int:16=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
// arg: buf:int:2
// expect: 8, 12
const wide = 32;
struct Data {
    a: i32,
    @align(wide) @size(wide / 2) b: i32,
    c: i32,
}
@group(0) @binding(0) var<storage, read> data: Data;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = data.b;
    out[1] = data.c;
}
