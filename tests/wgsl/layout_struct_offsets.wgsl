// Members of a struct in a storage buffer lie where their alignments put them; vec3 is aligned to 16 and takes 12.
// kernel: main
// arg: buf:float:16=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
// arg: buf:float:8
// expect: 1, 3, 4, 5, 7, 8, 9, 13
struct Data {
    a: f32,       // 0
    b: vec2f,     // 8
    c: vec3f,     // 16
    d: f32,       // 28
    e: f32,       // 32
    f: vec4f,     // 48
}
@group(0) @binding(0) var<storage, read> data: Data;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = data.a;
    out[1] = data.b.x;
    out[2] = data.b.y;
    out[3] = data.c.x;
    out[4] = data.c.z;
    out[5] = data.d;
    out[6] = data.e;
    out[7] = data.f.x;
}
