// fract: the value less its floor; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0.5, -0.5, 1, 1.25, -1.75, 2.375, -2.125, 100.5, -7
// arg: buf:float:20
// expect: 0.5, 0.5, 0, 0.25, 0.25, 0.375, 0.875, 0.5, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.375, 0.875, 0.5, 0, 0.25,
//         0.25
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = fract(1.25);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = fract(in[i]);
    }
    let a = fract(vec2f(in[0], in[1]));
    let b = fract(vec3f(in[2], in[3], in[4]));
    let c = fract(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = fract(vec2(1.25, 1.25)).x;
}
