// Bitwise operators on i32, u32 and vectors.
// kernel: main
// arg: buf:uint:4=0xff00ff00, 0x0ff00ff0, 0x12345678, 3
// arg: buf:uint:9
// expect: 0x0f000f00, 0xfff0fff0, 0xf0f0f0f0, 0x00ff00ff, 0x91a2b3c0, 0x2468acf, 0xffe01fe0, 0x10000000, 0xedcba987
@group(0) @binding(0) var<storage, read> in: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in[0] & in[1];
    out[1] = in[0] | in[1];
    out[2] = in[0] ^ in[1];
    out[3] = ~in[0];
    out[4] = in[2] << in[3];
    out[5] = in[2] >> in[3];
    out[6] = bitcast<u32>(bitcast<i32>(in[0]) >> in[3]);
    out[7] = (vec2u(in[2], in[0]) & vec2u(0xf0000000, 1)).x;
    out[8] = bitcast<vec2u>(~bitcast<vec2i>(vec2u(in[2], 0))).x;
}
