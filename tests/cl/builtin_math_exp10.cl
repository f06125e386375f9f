// exp10: within 3 ulp, down to denormals.
// kernel: floats
// global: 18
// arg: buf:float:18=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 30, -35,
//   38, -38, -42.5
// arg: buf:float:18
// expect: 1.2589254, 0.31622776, 10, 0.031622775, 562.3413, 0.001, 1e10, 3.1622778e20, 1.0023053, 1,
//   5.623413, 0.56234133, 1e-20, 1e30, 1e-35, 1e38, 1e-38, 3.17e-43 ulp 3
// kernel: floats
// global: 10
// arg: buf:float:10=0, -0, inf, -inf, 2000, -2000, 3.4028235e38, -3.4028235e38, 1e-45, nan
// arg: buf:float:10
// expect: 1, 1, inf, 0, inf, 0, inf, 0, 1, nan
// kernel: doubles
// needs: f64
// global: 19
// arg: buf:double:19=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 30, -35,
//   38, 308, -307.5, -320
// arg: buf:double:19
// expect: 1.2589254117941673, 0.31622776601683794, 10, 0.03162277660168379, 562.341325190349, 0.001,
//   10000000000.0, 3.1622776601683794e20, 1.0023052380778996, 0.9999999769741493, 5.623413251903491,
//   0.5623413251903491, 1e-20, 1e30, 1e-35, 1e38, 1e308, 3.162277660168379e-308, 1e-320 ulp 3
// kernel: doubles
// needs: f64
// global: 10
// arg: buf:double:10=0, -0, inf, -inf, 2000, -2000, 1.7976931348623157e308, -1.7976931348623157e308,
//   5e-324, nan
// arg: buf:double:10
// expect: 1, 1, inf, 0, inf, 0, inf, 0, 1, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 1.2589254, 0.31622776, 1.2589254, 0.31622776, 10, 1.2589254, 0.31622776, 10, 0.031622775 ulp 3
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 1.2589254117941673, 0.31622776601683794 ulp 3
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = exp10(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = exp10(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(exp10(vload2(0, x)), 0, out);
    vstore3(exp10(vload3(0, x)), 0, out + 2);
    vstore4(exp10(vload4(0, x)), 0, out + 5);
    vstore2(exp10(vload2(0, dx)), 0, wide);
}
#endif
