// round: the nearest integer, halves to the even one; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.25, -3.75, 10000000000
// arg: buf:float:20
// expect: 0, 2, 2, -0.0, -2, -2, 3, -4, 10000000000, 0, 2, 2, -0.0, -2, -2, 3, -4, 10000000000, 2, 2
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = round(2.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = round(in[i]);
    }
    let a = round(vec2f(in[0], in[1]));
    let b = round(vec3f(in[2], in[3], in[4]));
    let c = round(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = round(vec2(2.5, 2.5)).x;
}
