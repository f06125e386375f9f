// acosh: the hyperbolic arc cosine; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=1, 1.5, 2, 3, 10, 1.25, 100, 5, 1.0625
// arg: buf:float:20
// expect: 0, 0.96242365, 1.3169579, 1.76274717, 2.99322285, 0.693147181, 5.29829237, 2.29243167, 0.35173739,
//         0, 0.96242365, 1.3169579, 1.76274717, 2.99322285, 0.693147181, 5.29829237, 2.29243167, 0.35173739,
//         1.3169579, 1.3169579 ~1e-3
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = acosh(2.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = acosh(in[i]);
    }
    let a = acosh(vec2f(in[0], in[1]));
    let b = acosh(vec3f(in[2], in[3], in[4]));
    let c = acosh(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = acosh(vec2(2.0, 2.0)).x;
}
