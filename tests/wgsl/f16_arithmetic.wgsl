// f16: literals, arithmetic with rounding to 11 bits, overflow to infinity, conversions.
// needs: f16
// kernel: main
// arg: buf:half:4=1.5, 2048, 65504, 3
// arg: buf:half:8
// expect: 2.25, 2048, inf, 0.5, 1.5, -1.5, 4.5, 2
enable f16;
@group(0) @binding(0) var<storage, read> in: array<f16, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in[0] * in[0];
    out[1] = in[1] + 1h;
    out[2] = in[2] * 2;
    out[3] = in[0] / in[3];
    out[4] = in[0] % in[3];
    out[5] = -in[0];
    out[6] = f16(f32(in[0]) * 3.0);
    out[7] = f16(i32(in[3]) - 1);
}
