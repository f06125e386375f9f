// Variables of private: one copy a work-item, with initialisers or zeros, shared by the functions of it.
// kernel: main
// global: 4
// arg: buf:int:16
// expect: 5, 0, 13, 2, 6, 0, 14, 3, 7, 0, 15, 4, 8, 0, 16, 5
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> count: i32 = 5;
var<private> zero: i32;
var<private> table = array<i32, 3>(11, 12, 13);
var<private> v: vec2<i32> = vec2(1, 2);
fn bump(by: i32) {
    count += by;
    table[2] += by;
    v += by;
}
@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = i32(id.x);
    bump(i);
    out[4 * i] = count;
    out[4 * i + 1] = zero;
    out[4 * i + 2] = table[2];
    out[4 * i + 3] = v.y;
}
