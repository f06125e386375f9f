// sqrt: the root; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, 4, 0.25, 2, 3, 100, 0.0625, 10000000000
// arg: buf:float:20
// expect: 0, 1, 2, 0.5, 1.41421356, 1.73205081, 10, 0.25, 100000, 0, 1, 2, 0.5, 1.41421356, 1.73205081, 10,
//         0.25, 100000, 4, 4 ulp 8
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = sqrt(16.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = sqrt(in[i]);
    }
    let a = sqrt(vec2f(in[0], in[1]));
    let b = sqrt(vec3f(in[2], in[3], in[4]));
    let c = sqrt(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = sqrt(vec2(16.0, 16.0)).x;
}
