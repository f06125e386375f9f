// pack2x16float and unpack2x16float, without f16.
// skip: wgpu gives zero for the second half of what constants were packed to, on lavapipe 22.3
// kernel: main
// arg: buf:float:2=1.5, -0.333251953
// arg: buf:uint:2
// expect: 0xb5553e00, 0x63d03c00
// arg: buf:float:4
// expect: 1.5, -0.333251953, 1, 1000
@group(0) @binding(0) var<storage, read> in: vec2f;
@group(0) @binding(1) var<storage, read_write> bits: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    bits[0] = pack2x16float(in);
    bits[1] = pack2x16float(vec2(1, 1000));
    let a = unpack2x16float(bits[0]);
    let b = unpack2x16float(bits[1]);
    out[0] = a.x;
    out[1] = a.y;
    out[2] = b.x;
    out[3] = b.y;
}
