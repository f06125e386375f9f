// Vectors and matrices of f16, their names, and their layout: vec2h takes 4 bytes, vec3h is aligned to 8.
// needs: f16
// kernel: main
// arg: buf:half:16=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
// arg: buf:half:8
// expect: 1, 3, 5, 7, 9, 13, 48, 16
enable f16;
struct Data {
    a: f16,
    b: vec2h,
    c: vec3<f16>,
    d: mat2x4h,
}
@group(0) @binding(0) var<storage, read> data: Data;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;
@compute @workgroup_size(1)
fn main() {
    out[0] = data.a;
    out[1] = data.b.x;
    out[2] = data.c.x;
    out[3] = data.c.z;
    out[4] = data.d[0].x;
    out[5] = data.d[1].x;
    let v = vec4h(data.b, data.b) * 2;
    out[6] = (data.d * vec2h(1, 1)).y + v.x + 18;
    out[7] = data.d[1][3];
}
