// exp: e to a power; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 3, -2, 2.5, -10, 10
// arg: buf:float:20
// expect: 1, 2.71828183, 0.367879441, 1.64872127, 20.0855369, 0.135335283, 12.182494, 4.53999298e-05,
//         22026.4658, 1, 2.71828183, 0.367879441, 1.64872127, 20.0855369, 0.135335283, 12.182494,
//         4.53999298e-05, 22026.4658, 1.64872127, 1.64872127 ~1e-5
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = exp(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = exp(in[i]);
    }
    let a = exp(vec2f(in[0], in[1]));
    let b = exp(vec3f(in[2], in[3], in[4]));
    let c = exp(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = exp(vec2(0.5, 0.5)).x;
}
