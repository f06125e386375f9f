// What cannot be assigned to: let, const, parameters, expressions, read-only buffers, uniform buffers.
// error: 16: assigned
// error: 21: a
// error: 22: assigned
// error: 23: read
// error: 24: read
// error: 27: i32
// error: 29: b
// error: 30: i32
// error: 31: u32
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
    call(v);
    v = 2.5;
    let b = vec2i(1);
    b.x = 1;
    v += 1.5;
    v += 2u;
}
