// u32: arithmetic modulo 2^32; division and comparison without a sign.
// kernel: main
// arg: buf:uint:4=4294967295, 2147483648, 3, 65537
// arg: buf:uint:9
// expect: 0, 4294967293, 1, 1431655765, 2, 0, 1, 1, 4294967292
@group(0) @binding(0) var<storage, read> in: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in[0] + 1u;
    out[1] = 0u - in[2];
    out[2] = in[0] * in[0];
    out[3] = in[0] / in[2];
    out[4] = in[1] % in[2];
    out[5] = in[1] + in[1];
    out[6] = u32(in[0] > in[2]);
    out[7] = u32(in[1] >= 2147483648u);
    out[8] = ~in[2];
}
