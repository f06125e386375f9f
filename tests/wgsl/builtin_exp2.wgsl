// exp2: 2 to a power; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 3, -2, 2.5, -10, 10
// arg: buf:float:20
// expect: 1, 2, 0.5, 1.41421356, 8, 0.25, 5.65685425, 0.0009765625, 1024, 1, 2, 0.5, 1.41421356, 8, 0.25,
//         5.65685425, 0.0009765625, 1024, 8, 8 ~1e-5
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = exp2(3.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = exp2(in[i]);
    }
    let a = exp2(vec2f(in[0], in[1]));
    let b = exp2(vec3f(in[2], in[3], in[4]));
    let c = exp2(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = exp2(vec2(3.0, 3.0)).x;
}
