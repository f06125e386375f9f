// Barriers in functions that are called in uniform control flow.
// kernel: main
// global: 4
// arg: buf:int:4
// expect: 6, 6, 6, 6
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<workgroup> tile: array<i32, 4>;
fn share(i: u32, x: i32) -> i32 {
    tile[i] = x;
    workgroupBarrier();
    var sum = 0;
    for (var k = 0; k < 4; k++) { sum += tile[k]; }
    return sum;
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    out[i] = share(i, i32(i));
}
