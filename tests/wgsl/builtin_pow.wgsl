// pow: a power; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:8=2, 9, 0.5, 10, 3, 0.5, 2, -2
// arg: buf:float:14
// expect: 8, 3, 0.25, 0.01, 8, 3, 8, 3, 0.25, 8, 3, 0.25, 0.01, 8 ~1e-5
@group(0) @binding(0) var<storage, read> in: array<f32, 8>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = pow(2.0, 3.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) {
        out[i] = pow(in[i], in[i + 4]);
    }
    let a = pow(vec2f(in[0], in[1]), vec2f(in[4], in[5]));
    let b = pow(vec3f(in[0], in[1], in[2]), vec3f(in[4], in[5], in[6]));
    let c = pow(vec4f(in[0], in[1], in[2], in[3]), vec4f(in[4], in[5], in[6], in[7]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[4 + i] = a[i]; }
        if i < 3 { out[6 + i] = b[i]; }
        out[9 + i] = c[i];
    }
    out[13] = known;
}
