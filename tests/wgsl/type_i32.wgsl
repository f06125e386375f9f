// i32: arithmetic wraps in two's complement at run time.
// kernel: main
// arg: buf:int:6=2147483647, -2147483648, 7, -7, 65536, 2
// arg: buf:int:11
// expect: -2147483648, 2147483647, 0, -2147483648, 3, -3, 1, -1, -1, -2147483648, -8
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in[0] + 1;
    out[1] = in[1] - 1;
    out[2] = in[4] * in[4];
    out[3] = -in[1];
    out[4] = in[2] / in[5];
    out[5] = in[3] / in[5];
    out[6] = in[2] % in[5];
    out[7] = in[3] % in[5];
    out[8] = in[0] + in[1];
    out[9] = in[0] * in[0] + in[1] - 1;
    out[10] = ~in[2];
}
