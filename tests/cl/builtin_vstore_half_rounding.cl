// vstore_half with each rounding mode, at ties, at overflow and among the denormals.
// kernel: floats
// arg: buf:float:16=0.1, -0.1, 1.0009764, 2049, -2051, 65519, 65520, -65535, 100000, 1e-8, -1e-8,
//   3e-8, 6.2e-5, -1e-5, inf, -inf
// arg: buf:half:16
// expect: 0.0999755859, -0.0999755859, 1.00097656, 2048, -2052, 65504, inf, -inf, inf, 0, -0,
//   5.96046448e-8, 6.19888306e-5, -1.00135803e-5, inf, -inf
// arg: buf:half:16
// expect: 0.0999755859, -0.0999755859, 1, 2048, -2050, 65504, 65504, -65504, 65504, 0, -0, 0,
//   6.19888306e-5, -9.95397568e-6, inf, -inf
// arg: buf:half:16
// expect: 0.100036621, -0.0999755859, 1.00097656, 2050, -2050, inf, inf, -65504, inf, 5.96046448e-8,
//   -0, 5.96046448e-8, 6.20484352e-5, -9.95397568e-6, inf, -inf
// arg: buf:half:16
// expect: 0.0999755859, -0.100036621, 1, 2048, -2052, 65504, 65504, -inf, 65504, 0, -5.96046448e-8,
//   0, 6.19888306e-5, -1.00135803e-5, inf, -inf
// kernel: doubles
// needs: f64
// arg: buf:double:16=0.1, -0.1, 1.0009765, 2049, -2051, 65519, 65520, -65535, 100000, 1e-8, -1e-8,
//   3e-8, 6.2e-5, -1e-5, inf, -inf
// arg: buf:half:16
// expect: 0.0999755859, -0.0999755859, 1.00097656, 2048, -2052, 65504, inf, -inf, inf, 0, -0,
//   5.96046448e-8, 6.19888306e-5, -1.00135803e-5, inf, -inf
// arg: buf:half:16
// expect: 0.0999755859, -0.0999755859, 1, 2048, -2050, 65504, 65504, -65504, 65504, 0, -0, 0,
//   6.19888306e-5, -9.95397568e-6, inf, -inf
// arg: buf:half:16
// expect: 0.100036621, -0.0999755859, 1.00097656, 2050, -2050, inf, inf, -65504, inf, 5.96046448e-8,
//   -0, 5.96046448e-8, 6.20484352e-5, -9.95397568e-6, inf, -inf
// arg: buf:half:16
// expect: 0.0999755859, -0.100036621, 1, 2048, -2052, 65504, 65504, -inf, 65504, 0, -5.96046448e-8,
//   0, 6.19888306e-5, -1.00135803e-5, inf, -inf
kernel void floats(global const float *x, global half *even, global half *zero, global half *up,
                    global half *down) {
    for (int i = 0; i < 4; i++) {
        vstore_half_rte(x[i], i, even);
        vstore_half_rtz(x[i], i, zero);
        vstore_half_rtp(x[i], i, up);
        vstore_half_rtn(x[i], i, down);
    }
    vstore_half4_rte(vload4(1, x), 1, even);
    vstorea_half8_rte(vload8(1, x), 1, even);
    vstore_half4_rtz(vload4(1, x), 1, zero);
    vstorea_half8_rtz(vload8(1, x), 1, zero);
    vstore_half4_rtp(vload4(1, x), 1, up);
    vstorea_half8_rtp(vload8(1, x), 1, up);
    vstore_half4_rtn(vload4(1, x), 1, down);
    vstorea_half8_rtn(vload8(1, x), 1, down);
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global half *even, global half *zero, global half *up,
                    global half *down) {
    for (int i = 0; i < 4; i++) {
        vstore_half_rte(x[i], i, even);
        vstore_half_rtz(x[i], i, zero);
        vstore_half_rtp(x[i], i, up);
        vstore_half_rtn(x[i], i, down);
    }
    vstore_half4_rte(vload4(1, x), 1, even);
    vstorea_half8_rte(vload8(1, x), 1, even);
    vstore_half4_rtz(vload4(1, x), 1, zero);
    vstorea_half8_rtz(vload8(1, x), 1, zero);
    vstore_half4_rtp(vload4(1, x), 1, up);
    vstorea_half8_rtp(vload8(1, x), 1, up);
    vstore_half4_rtn(vload4(1, x), 1, down);
    vstorea_half8_rtn(vload8(1, x), 1, down);
}
#endif
