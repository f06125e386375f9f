// mix: between two values, by a third; of scalars, vectors, and in constant expressions.
// skip: naga has it not in constant expressions
// kernel: main
// arg: buf:float:12=1, 2, 1, 1, 2, 4, -1, -1, 0.5, 0.25, 0, 1
// arg: buf:float:14
// expect: 1.5, 2.5, 1, -1, 1.5, 2.5, 1.5, 2.5, 1, 1.5, 2.5, 1, -1, 1.5 ~1e-6
@group(0) @binding(0) var<storage, read> in: array<f32, 12>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = mix(1.0, 2.0, 0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) {
        out[i] = mix(in[i], in[i + 4], in[i + 8]);
    }
    let a = mix(vec2f(in[0], in[1]), vec2f(in[4], in[5]), vec2f(in[8], in[9]));
    let b = mix(vec3f(in[0], in[1], in[2]), vec3f(in[4], in[5], in[6]), vec3f(in[8], in[9], in[10]));
    let c = mix(vec4f(in[0], in[1], in[2], in[3]), vec4f(in[4], in[5], in[6], in[7]), vec4f(in[8], in[9], in[10], in[11]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[4 + i] = a[i]; }
        if i < 3 { out[6 + i] = b[i]; }
        out[9 + i] = c[i];
    }
    out[13] = known;
}
