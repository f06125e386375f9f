// extractBits: offset and count beyond the width are cut; of i32 the sign goes on.
// kernel: main
// arg: buf:uint:2=0xabcd1234, 0x00000f80
// arg: buf:uint:10
// expect: 0xd1, 0xffffffd1, 0, 0xabcd1234, 0xa, 0xfffffffa, 0, 0x1f, 0xffffffff, 0xcd
@group(0) @binding(0) var<storage, read> in: array<u32, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    var offset = 12u;
    var count = 8u;
    let x = in[0];
    let i = bitcast<i32>(x);
    out[0] = extractBits(x, offset, count);
    out[1] = bitcast<u32>(extractBits(i, offset, count));
    out[2] = extractBits(x, offset, count - 8);
    out[3] = extractBits(x, offset - 12, count + 90);
    out[4] = extractBits(x, offset + 16, count);
    out[5] = bitcast<u32>(extractBits(i, offset + 16, count));
    out[6] = extractBits(x, offset + 20, count);
    out[7] = extractBits(in[1], 7, 8);
    out[8] = bitcast<u32>(extractBits(bitcast<i32>(in[1]), 7, 5));
    out[9] = extractBits(vec2u(x), offset + 4, count).y;
}
