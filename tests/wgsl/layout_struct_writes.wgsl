// Members are written where they lie, and what is between them stays.
// kernel: main
// arg: buf:int:12=-1
// expect: 1, -1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1
struct Data {
    a: i32,
    b: vec2i,
    c: vec3i,
    d: i32,
}
@group(0) @binding(0) var<storage, read_write> data: Data;
@compute @workgroup_size(1)
fn main() {
    data.a = 1;
    data.b = vec2i(2, 3);
    data.c = vec3i(4, 5, 6);
    data.d = 7;
}
