// Comparisons of numbers, and of vectors by components.
// kernel: main
// arg: buf:float:3=1, 2, 2
// arg: buf:int:8
// expect: 14, 41, 50, 3, 7, 4, 3, 1
@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
fn bits(v: vec3<bool>) -> i32 {
    return i32(v.x) + 2 * i32(v.y) + 4 * i32(v.z);
}
fn all_six(a: f32, b: f32) -> i32 {
    return i32(a == b) + 2 * i32(a != b) + 4 * i32(a < b) + 8 * i32(a <= b) + 16 * i32(a > b) + 32 * i32(a >= b);
}
@compute @workgroup_size(1)
fn main() {
    let a = vec3f(in[0], in[1], in[2]);
    let b = vec3f(2, 3, 1);
    out[0] = all_six(in[0], in[1]);
    out[1] = all_six(in[1], in[2]);
    out[2] = all_six(in[1], in[0]);
    out[3] = bits(a < b);
    out[4] = bits(a <= b) + bits(a > b);
    out[5] = bits(a >= b);
    out[6] = bits(a != b) - 4 * i32(a.z != b.z) + bits(a == b);
    out[7] = i32(-0.0 == in[0] - 1);
}
