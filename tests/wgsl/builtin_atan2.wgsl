// atan2: the angle of a point, in all four quadrants; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:8=1, 1, -1, -2, 1, -1, -1, 1
// arg: buf:float:14
// expect: 0.785398163, 2.35619449, -2.35619449, -1.10714872, 0.785398163, 2.35619449, 0.785398163,
//         2.35619449, -2.35619449, 0.785398163, 2.35619449, -2.35619449, -1.10714872, 0.785398163 ~1e-4
@group(0) @binding(0) var<storage, read> in: array<f32, 8>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = atan2(1.0, 1.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) {
        out[i] = atan2(in[i], in[i + 4]);
    }
    let a = atan2(vec2f(in[0], in[1]), vec2f(in[4], in[5]));
    let b = atan2(vec3f(in[0], in[1], in[2]), vec3f(in[4], in[5], in[6]));
    let c = atan2(vec4f(in[0], in[1], in[2], in[3]), vec4f(in[4], in[5], in[6], in[7]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[4 + i] = a[i]; }
        if i < 3 { out[6 + i] = b[i]; }
        out[9 + i] = c[i];
    }
    out[13] = known;
}
