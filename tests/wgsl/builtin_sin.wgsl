// sin: the sine; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 3, -2, 2.5, -3, 1.5
// arg: buf:float:20
// expect: 0, 0.841470985, -0.841470985, 0.479425539, 0.141120008, -0.909297427, 0.598472144, -0.141120008,
//         0.997494987, 0, 0.841470985, -0.841470985, 0.479425539, 0.141120008, -0.909297427, 0.598472144,
//         -0.141120008, 0.997494987, 0.479425539, 0.479425539 ~5e-4
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = sin(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = sin(in[i]);
    }
    let a = sin(vec2f(in[0], in[1]));
    let b = sin(vec3f(in[2], in[3], in[4]));
    let c = sin(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = sin(vec2(0.5, 0.5)).x;
}
