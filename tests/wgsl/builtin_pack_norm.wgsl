// pack4x8snorm, pack4x8unorm, pack2x16snorm, pack2x16unorm: held in range, scaled, rounded.
// kernel: main
// arg: buf:float:4=1, -1, 0, 2
// arg: buf:uint:5
// expect: 0x7f00817f, 0xff0000ff, 0x80017fff, 0x0000ffff, 0xff0080ff
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = pack4x8snorm(in);
    out[1] = pack4x8unorm(in);
    out[2] = pack2x16snorm(in.xy);
    out[3] = pack2x16unorm(in.xy);
    out[4] = pack4x8unorm(vec4(1.0, 0.5019608, 0.0, 3.0));
}
