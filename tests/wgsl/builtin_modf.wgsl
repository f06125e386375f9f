// modf: the fraction and the integer part, both with the value's sign.
// skip: naga has it not in constant expressions
// kernel: main
// arg: buf:float:4=1.5, -2.75, 7, 0.125
// arg: buf:float:12
// expect: 0.5, 1, -0.75, -2, 0, 7, 0.125, 0, -0.75, 7, 0.25, 3
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) {
        let r = modf(in[i]);
        out[2 * i] = r.fract;
        out[2 * i + 1] = r.whole;
    }
    let v = modf(in);
    out[8] = v.fract.y;
    out[9] = v.whole.z;
    const k = modf(3.25);
    out[10] = k.fract;
    out[11] = k.whole;
}
