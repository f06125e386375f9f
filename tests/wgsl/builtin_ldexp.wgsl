// ldexp: times a power of two, also where the power alone is out of range.
// skip: naga has it not in constant expressions
// kernel: main
// arg: buf:float:4=1, 0.75, -3, 1.5
// arg: buf:int:4=3, -2, 10, 127
// arg: buf:float:8
// expect: 8, 0.1875, -3072, 2.5521177519070385e38, 8, 0.1875, 0.75, 20
@group(0) @binding(0) var<storage, read> x: vec4f;
@group(0) @binding(1) var<storage, read> by: vec4i;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 4; i++) { out[i] = ldexp(x[i], by[i]); }
    let v = ldexp(x.xy, by.xy);
    out[4] = v.x;
    out[5] = v.y;
    out[6] = ldexp(ldexp(0.75, 100), -100);
    const k = ldexp(1.25, 4);
    out[7] = k;
}
