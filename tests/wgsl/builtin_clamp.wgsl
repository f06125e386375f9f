// clamp: the value held between two; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:12=1, 2.5, 7, -7, 2, 2, 2, -2, 3, 3, 3, 3
// arg: buf:float:14
// expect: 2, 2.5, 3, -2, 2, 2.5, 2, 2.5, 3, 2, 2.5, 3, -2, 2
@group(0) @binding(0) var<storage, read> in: array<f32, 12>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = clamp(1.0, 2.0, 3.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) {
        out[i] = clamp(in[i], in[i + 4], in[i + 8]);
    }
    let a = clamp(vec2f(in[0], in[1]), vec2f(in[4], in[5]), vec2f(in[8], in[9]));
    let b = clamp(vec3f(in[0], in[1], in[2]), vec3f(in[4], in[5], in[6]), vec3f(in[8], in[9], in[10]));
    let c = clamp(vec4f(in[0], in[1], in[2], in[3]), vec4f(in[4], in[5], in[6], in[7]), vec4f(in[8], in[9], in[10], in[11]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[4 + i] = a[i]; }
        if i < 3 { out[6 + i] = b[i]; }
        out[9 + i] = c[i];
    }
    out[13] = known;
}
