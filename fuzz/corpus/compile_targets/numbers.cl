#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void numbers(global const double *d, global half *h, global long *l, global uchar4 *c, global float *f) {
    int i = get_global_id(0);
    h[i] = (half)d[i] * h[i + 1] / (half)3;
    vstore_half_rtp(d[i], i, h);
    l[i] = l[i] / (l[i + 1] | 1) + mul_hi(l[i], l[2]) + (l[i] >> (i & 63)) * convert_long_sat_rte(d[i]);
    c[i] = convert_uchar4_sat(convert_float4(c[i]) * f[i] + 0.5f);
    f[i] = sqrt(f[i]) / sin(f[i]) + fma(f[i], f[i + 1], 1.0f) + fmod(f[i], 3.0f) + (float)popcount(i) + ldexp(f[i], i);
    d == 0 ? (void)0 : (void)(f[i] = fma(d[i], d[i], 1.0));
}
