// Floating-point literals: with and without digits on either side of the point, exponents, hexadecimal, suffixes.
// kernel: main
// arg: buf:float:16
// expect: 0, 1, 0.5, 5, 123.25, 1000, 0.015625, 250, 1, 10.5, 0.0625, 255.9375, 3.4028234663852886e38,
//         1.1754943508222875e-38, 3, 0.75
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = 0.0;
    out[1] = 1.;
    out[2] = .5;
    out[3] = 5f;
    out[4] = 123.25f;
    out[5] = 1e3;
    out[6] = 1.5625e-2;
    out[7] = 2.5E+2;
    out[8] = 0x1p0;
    out[9] = 0xA.8p0f;
    out[10] = 0x1P-4;
    out[11] = 0xff.f;
    out[12] = 0x1.fffffep+127;
    out[13] = 0x1p-126;
    out[14] = 0x.3p+4;
    out[15] = 0x3.p-2;
}
