// abs: the value without its sign; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1.5, -1.5, -3.00000001e+38, 2, -0.25, 7, -100, 9.99999968e-21
// arg: buf:float:20
// expect: 0, 1.5, 1.5, 3.00000001e+38, 2, 0.25, 7, 100, 9.99999968e-21, 0, 1.5, 1.5, 3.00000001e+38, 2, 0.25,
//         7, 100, 9.99999968e-21, 2.5, 2.5
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = abs(-2.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = abs(in[i]);
    }
    let a = abs(vec2f(in[0], in[1]));
    let b = abs(vec3f(in[2], in[3], in[4]));
    let c = abs(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = abs(vec2(-2.5, -2.5)).x;
}
