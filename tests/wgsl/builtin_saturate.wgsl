// saturate: the value held between 0 and 1; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0.5, 1.5, 2.5, -0.5, 0, 1, 3.25, -3.75, 0.125
// arg: buf:float:20
// expect: 0.5, 1, 1, 0, 0, 1, 1, 0, 0.125, 0.5, 1, 1, 0, 0, 1, 1, 0, 0.125, 1, 1
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = saturate(2.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = saturate(in[i]);
    }
    let a = saturate(vec2f(in[0], in[1]));
    let b = saturate(vec3f(in[2], in[3], in[4]));
    let c = saturate(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = saturate(vec2(2.5, 2.5)).x;
}
