// cos: the cosine; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 3, -2, 2.5, -3, 1.5
// arg: buf:float:20
// expect: 1, 0.540302306, 0.540302306, 0.877582562, -0.989992497, -0.416146837, -0.801143616, -0.989992497,
//         0.0707372017, 1, 0.540302306, 0.540302306, 0.877582562, -0.989992497, -0.416146837, -0.801143616,
//         -0.989992497, 0.0707372017, 0.877582562, 0.877582562 ~5e-4
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = cos(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = cos(in[i]);
    }
    let a = cos(vec2f(in[0], in[1]));
    let b = cos(vec3f(in[2], in[3], in[4]));
    let c = cos(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = cos(vec2(0.5, 0.5)).x;
}
