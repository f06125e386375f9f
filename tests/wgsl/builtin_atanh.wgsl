// atanh: the hyperbolic arc tangent; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 0.5, -0.5, 0.75, -0.75, 0.25, 0.875, -0.125, 0.100000001
// arg: buf:float:20
// expect: 0, 0.549306144, -0.549306144, 0.972955075, -0.972955075, 0.255412812, 1.3540251, -0.125657214,
//         0.100335349, 0, 0.549306144, -0.549306144, 0.972955075, -0.972955075, 0.255412812, 1.3540251,
//         -0.125657214, 0.100335349, 0.549306144, 0.549306144 ~1e-3
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = atanh(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = atanh(in[i]);
    }
    let a = atanh(vec2f(in[0], in[1]));
    let b = atanh(vec3f(in[2], in[3], in[4]));
    let c = atanh(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = atanh(vec2(0.5, 0.5)).x;
}
