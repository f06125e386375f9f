// tanh: the hyperbolic tangent; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 3, -2, 2.5, -3, 1.5
// arg: buf:float:20
// expect: 0, 0.761594156, -0.761594156, 0.462117157, 0.995054754, -0.96402758, 0.986614298, -0.995054754,
//         0.905148254, 0, 0.761594156, -0.761594156, 0.462117157, 0.995054754, -0.96402758, 0.986614298,
//         -0.995054754, 0.905148254, 0.462117157, 0.462117157 ~1e-4
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = tanh(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = tanh(in[i]);
    }
    let a = tanh(vec2f(in[0], in[1]));
    let b = tanh(vec3f(in[2], in[3], in[4]));
    let c = tanh(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = tanh(vec2(0.5, 0.5)).x;
}
