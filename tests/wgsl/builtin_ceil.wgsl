// ceil: the next integer above; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0.5, -0.5, 1, 1.25, -1.75, 2.5, -2.5, 10000000000, -7
// arg: buf:float:20
// expect: 1, -0.0, 1, 2, -1, 3, -2, 10000000000, -7, 1, -0.0, 1, 2, -1, 3, -2, 10000000000, -7, 2, 2
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = ceil(1.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = ceil(in[i]);
    }
    let a = ceil(vec2f(in[0], in[1]));
    let b = ceil(vec3f(in[2], in[3], in[4]));
    let c = ceil(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = ceil(vec2(1.5, 1.5)).x;
}
