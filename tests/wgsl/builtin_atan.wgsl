// atan: the arc tangent; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, -0.5, 10, -100, 3, 0.100000001
// arg: buf:float:20
// expect: 0, 0.785398163, -0.785398163, 0.463647609, -0.463647609, 1.47112767, -1.56079666, 1.24904577,
//         0.099668654, 0, 0.785398163, -0.785398163, 0.463647609, -0.463647609, 1.47112767, -1.56079666,
//         1.24904577, 0.099668654, 0.463647609, 0.463647609 ~1e-4
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = atan(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = atan(in[i]);
    }
    let a = atan(vec2f(in[0], in[1]));
    let b = atan(vec3f(in[2], in[3], in[4]));
    let c = atan(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = atan(vec2(0.5, 0.5)).x;
}
