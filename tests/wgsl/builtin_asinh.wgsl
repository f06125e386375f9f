// asinh: the hyperbolic arc sine; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, -0.5, 10, -2.5, 3, 0.100000001
// arg: buf:float:20
// expect: 0, 0.881373587, -0.881373587, 0.481211825, -0.481211825, 2.99822295, -1.64723115, 1.81844646,
//         0.0998340804, 0, 0.881373587, -0.881373587, 0.481211825, -0.481211825, 2.99822295, -1.64723115,
//         1.81844646, 0.0998340804, 0.481211825, 0.481211825 ~1e-3
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = asinh(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = asinh(in[i]);
    }
    let a = asinh(vec2f(in[0], in[1]));
    let b = asinh(vec3f(in[2], in[3], in[4]));
    let c = asinh(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = asinh(vec2(0.5, 0.5)).x;
}
