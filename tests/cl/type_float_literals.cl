// Float literals: decimal and hexadecimal, exponents, suffixes; rounded once to their type.
// kernel: run
// arg: buf:float:9
// expect: 1.5, 0.25, 1000, 0.00125, 10, 0.75, 3.40282347e+38, 1.40129846e-45, 0.1
kernel void run(global float *out) {
    out[0] = 1.5f;
    out[1] = .25f;
    out[2] = 1e3f;
    out[3] = 12.5e-4F;
    out[4] = 10.f;
    out[5] = 0x1.8p-1f;
    out[6] = 0x1.fffffep127f;
    out[7] = 0x1p-149f;
    out[8] = 0.1f;
}
