// f32: arithmetic, remainder with the sign of the dividend, comparison, negation.
// kernel: main
// arg: buf:float:5=7.5, -2, 0.1, 0.2, 3
// arg: buf:float:9
// expect: 5.5, 9.5, -15, -3.75, 1.5, -7.5, 1, 0.30000001192092896, -1.5 ulp 2
@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in[0] + in[1];
    out[1] = in[0] - in[1];
    out[2] = in[0] * in[1];
    out[3] = in[0] / in[1];
    out[4] = in[0] % in[1];
    out[5] = -in[0];
    out[6] = f32(in[0] > in[1]);
    out[7] = in[2] + in[3];
    out[8] = -in[0] % in[4];
}
