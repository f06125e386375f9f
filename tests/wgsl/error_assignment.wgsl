// What cannot be assigned to: let, const, parameters, expressions, read-only buffers, uniform buffers.
// error: 17: p
// error: 22: a
// error: 23: fixed
// error: 24: read
// error: 25: uniform
// error: 27: =
// error: 29: i32
// error: 31: b
// error: 32: i32
// error: 33: u32
struct Data { x: i32 }
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<uniform> data: Data;
const fixed = 1;
fn call(p: i32) {
    p = 2;
}
@compute @workgroup_size(1)
fn main() {
    let a = 1;
    a = 2;
    fixed = 2;
    input[0] = 1;
    data.x = 1;
    var v = 1;
    v + 1 = 2;
    call(v);
    v = 2.5;
    let b = vec2i(1);
    b.x = 1;
    v += 1.5;
    v += 2u;
}
