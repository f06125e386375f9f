// tan: the tangent; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, -0.5, 0.25, -0.75, 0.125, 1.25
// arg: buf:float:20
// expect: 0, 1.55740772, -1.55740772, 0.54630249, -0.54630249, 0.255341921, -0.93159646, 0.125655137,
//         3.00956967, 0, 1.55740772, -1.55740772, 0.54630249, -0.54630249, 0.255341921, -0.93159646,
//         0.125655137, 3.00956967, 0.54630249, 0.54630249 ~1e-3
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = tan(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = tan(in[i]);
    }
    let a = tan(vec2f(in[0], in[1]));
    let b = tan(vec3f(in[2], in[3], in[4]));
    let c = tan(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = tan(vec2(0.5, 0.5)).x;
}
