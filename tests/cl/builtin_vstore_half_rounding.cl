// vstore_half with each rounding mode, at ties, at overflow and among the denormals; of doubles that would round twice.
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
// kernel: doubles
// needs: f64
// arg: buf:double:16=2.5009765625005684, 1.0000000000009095, 0.9999999999990905, 65519.99999994041,
//   -2.5009765625005684, -1.0000000000009095, -0.9999999999990905, -65519.99999994041,
//   2.980232238772242e-08, 2.9802322387668207e-08, -2.980232238772242e-08, 8.940696716300462e-08,
//   6.103515624994449e-05, 65504.000000059576, 1e-300, -1e+300
// arg: buf:half:16
// expect: 2.50195312, 1, 1, 65504, -2.50195312, -1, -1, -65504, 5.96046448e-08, 0, -5.96046448e-08,
//   5.96046448e-08, 6.10351562e-05, 65504, 0, -inf
// arg: buf:half:16
// expect: 2.5, 1, 0.999511719, 65504, -2.5, -1, -0.999511719, -65504, 0, 0, -0, 5.96046448e-08,
//   6.09755516e-05, 65504, 0, -65504
// arg: buf:half:16
// expect: 2.50195312, 1.00097656, 1, inf, -2.5, -1, -0.999511719, -65504, 5.96046448e-08, 5.96046448e-08,
//   -0, 1.1920929e-07, 6.10351562e-05, inf, 5.96046448e-08, -65504
// arg: buf:half:16
// expect: 2.5, 1, 0.999511719, 65504, -2.50195312, -1.00097656, -1, -inf, 0, 0, -5.96046448e-08,
//   5.96046448e-08, 6.09755516e-05, 65504, 0, -inf
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
