// step: 0 below the edge, 1 from there; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:8=1, 2, 1, -3, 2, 1, 1, -4
// arg: buf:float:14
// expect: 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1
@group(0) @binding(0) var<storage, read> in: array<f32, 8>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = step(1.0, 2.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) {
        out[i] = step(in[i], in[i + 4]);
    }
    let a = step(vec2f(in[0], in[1]), vec2f(in[4], in[5]));
    let b = step(vec3f(in[0], in[1], in[2]), vec3f(in[4], in[5], in[6]));
    let c = step(vec4f(in[0], in[1], in[2], in[3]), vec4f(in[4], in[5], in[6], in[7]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[4 + i] = a[i]; }
        if i < 3 { out[6 + i] = b[i]; }
        out[9 + i] = c[i];
    }
    out[13] = known;
}
