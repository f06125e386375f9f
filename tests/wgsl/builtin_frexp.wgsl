// frexp: a fraction from 0.5 on and an exponent, of scalars and vectors.
// skip: naga has it not in constant expressions
// kernel: main
// arg: buf:float:4=1, 10, -0.1875, 0
// arg: buf:float:16
// expect: 0.5, 1, 0.625, 4, -0.75, -2, 0, 0, 0.625, 4, 0.75, 2, 0.75, 4, 0.5, 2
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) {
        let r = frexp(in[i]);
        out[2 * i] = r.fract;
        out[2 * i + 1] = f32(r.exp);
    }
    let v = frexp(in.xy);
    out[8] = v.fract.y;
    out[9] = f32(v.exp.y);
    const k = frexp(3.0);
    out[10] = k.fract;
    out[11] = f32(k.exp);
    let l = frexp(12.0); // of a literal: its result becomes that of f32
    out[12] = l.fract;
    out[13] = f32(l.exp);
    var w = frexp(vec2(1.0, 2.0));
    w.exp.x = 7;
    out[14] = w.fract.y;
    out[15] = f32(w.exp.y);
}
