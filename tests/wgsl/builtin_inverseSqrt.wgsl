// inverseSqrt: one over the root; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=1, 4, 0.25, 2, 3, 100, 0.0625, 10, 7
// arg: buf:float:20
// expect: 1, 0.5, 2, 0.707106781, 0.577350269, 0.1, 4, 0.316227766, 0.377964473, 1, 0.5, 2, 0.707106781,
//         0.577350269, 0.1, 4, 0.316227766, 0.377964473, 0.5, 0.5 ~1e-5
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = inverseSqrt(4.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = inverseSqrt(in[i]);
    }
    let a = inverseSqrt(vec2f(in[0], in[1]));
    let b = inverseSqrt(vec3f(in[2], in[3], in[4]));
    let c = inverseSqrt(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = inverseSqrt(vec2(4.0, 4.0)).x;
}
