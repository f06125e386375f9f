// sinh: the hyperbolic sine; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 3, -2, 2.5, -3, 1.5
// arg: buf:float:20
// expect: 0, 1.17520119, -1.17520119, 0.521095305, 10.0178749, -3.62686041, 6.05020448, -10.0178749,
//         2.12927946, 0, 1.17520119, -1.17520119, 0.521095305, 10.0178749, -3.62686041, 6.05020448,
//         -10.0178749, 2.12927946, 0.521095305, 0.521095305 ~1e-5
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = sinh(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = sinh(in[i]);
    }
    let a = sinh(vec2f(in[0], in[1]));
    let b = sinh(vec3f(in[2], in[3], in[4]));
    let c = sinh(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = sinh(vec2(0.5, 0.5)).x;
}
