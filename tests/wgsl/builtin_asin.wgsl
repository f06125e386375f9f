// asin: the arc sine; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, -0.5, 0.25, 0.899999976, -0.75, 0.100000001
// arg: buf:float:20
// expect: 0, 1.57079633, -1.57079633, 0.523598776, -0.523598776, 0.252680255, 1.11976946, -0.848062079,
//         0.100167423, 0, 1.57079633, -1.57079633, 0.523598776, -0.523598776, 0.252680255, 1.11976946,
//         -0.848062079, 0.100167423, 0.523598776, 0.523598776 ~2e-3
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = asin(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = asin(in[i]);
    }
    let a = asin(vec2f(in[0], in[1]));
    let b = asin(vec3f(in[2], in[3], in[4]));
    let c = asin(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = asin(vec2(0.5, 0.5)).x;
}
