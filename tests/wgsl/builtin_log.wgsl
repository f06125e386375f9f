// log: the natural logarithm; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=1, 4, 0.25, 2, 3, 100, 0.0625, 10, 7
// arg: buf:float:20
// expect: 0, 1.38629436, -1.38629436, 0.693147181, 1.09861229, 4.60517019, -2.77258872, 2.30258509,
//         1.94591015, 0, 1.38629436, -1.38629436, 0.693147181, 1.09861229, 4.60517019, -2.77258872,
//         2.30258509, 1.94591015, 0.693147181, 0.693147181 ~1e-5
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = log(2.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = log(in[i]);
    }
    let a = log(vec2f(in[0], in[1]));
    let b = log(vec3f(in[2], in[3], in[4]));
    let c = log(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = log(vec2(2.0, 2.0)).x;
}
