// quantizeToF16: the value rounded to what an f16 holds; of scalars, vectors, and in constant expressions.
// skip: naga has it not in constant expressions
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 2048, -2048, 65504, 0.000122070312, 1.5
// arg: buf:float:20
// expect: 0, 1, -1, 0.5, 2048, -2048, 65504, 0.000122070312, 1.5, 0, 1, -1, 0.5, 2048, -2048, 65504,
//         0.000122070312, 1.5, 0.25, 0.25
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = quantizeToF16(0.25);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = quantizeToF16(in[i]);
    }
    let a = quantizeToF16(vec2f(in[0], in[1]));
    let b = quantizeToF16(vec3f(in[2], in[3], in[4]));
    let c = quantizeToF16(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = quantizeToF16(vec2(0.25, 0.25)).x;
}
