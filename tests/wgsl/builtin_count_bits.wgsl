// countOneBits, countLeadingZeros, countTrailingZeros of u32, i32 and vectors; 32 of zero.
// kernel: main
// arg: buf:uint:6=0, 1, 0x80000000, 0x00ff0000, 0xffffffff, 40
// arg: buf:uint:24
// expect: 0, 32, 32, 0, 1, 31, 0, 1, 1, 0, 31, 1, 8, 8, 16, 8, 32, 0, 0, 32, 2, 26, 3, 2
@group(0) @binding(0) var<storage, read> in: array<u32, 6>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 6; i++) {
        out[4 * i] = countOneBits(in[i]);
        out[4 * i + 1] = u32(countLeadingZeros(bitcast<i32>(in[i])));
        out[4 * i + 2] = countTrailingZeros(vec2u(7, in[i])).y;
        out[4 * i + 3] = u32(countOneBits(vec3i(bitcast<i32>(in[i]))).z);
    }
}
