// log2: the logarithm to base 2; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=1, 4, 0.25, 2, 3, 100, 0.0625, 10, 7
// arg: buf:float:20
// expect: 0, 2, -2, 1, 1.5849625, 6.64385619, -4, 3.32192809, 2.80735492, 0, 2, -2, 1, 1.5849625, 6.64385619,
//         -4, 3.32192809, 2.80735492, 3, 3 ~1e-5
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = log2(8.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = log2(in[i]);
    }
    let a = log2(vec2f(in[0], in[1]));
    let b = log2(vec3f(in[2], in[3], in[4]));
    let c = log2(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = log2(vec2(8.0, 8.0)).x;
}
