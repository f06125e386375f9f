// firstLeadingBit and firstTrailingBit: -1 where there is none; of negative i32 the first bit that differs from the sign.
// kernel: main
// arg: buf:uint:6=0, 1, 0x80000000, 0x00ff0000, 0xffffffff, 40
// arg: buf:int:24
// expect: -1, -1, -1, -1, 0, 0, 0, 0, 31, 30, 31, 31, 23, 23, 16, 16, 31, -1, 0, 0, 5, 5, 3, 3
@group(0) @binding(0) var<storage, read> in: array<u32, 6>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 6; i++) {
        out[4 * i] = bitcast<i32>(firstLeadingBit(in[i]));
        out[4 * i + 1] = firstLeadingBit(vec2i(1, bitcast<i32>(in[i]))).y;
        out[4 * i + 2] = bitcast<i32>(firstTrailingBit(in[i]));
        out[4 * i + 3] = firstTrailingBit(vec4i(bitcast<i32>(in[i]))).w;
    }
}
