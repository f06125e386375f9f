// asinpi: asin(x) / pi within 5 ulp.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95
// arg: buf:float:16
// expect: 0.03188428, -0.16666667, 0.4549466, -0.48576367, 0.08043063, 0.26994655, 0.00031830996,
//   -3.183099e-9, 0.09698669, -0.24681668, 0.019907342, 0.33913875, -0.039893087, 0.16662991,
//   0.20483278, -0.39891738 ulp 5
// kernel: floats
// global: 7
// arg: buf:float:7=0, -0, 1, -1, 1.5, inf, nan
// arg: buf:float:7
// expect: 0, -0, 0.5, -0.5, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95
// arg: buf:double:16
// expect: 0.03188428042925993, -0.16666666666666666, 0.4549465863555879, -0.48576356259376036,
//   0.08043062325516624, 0.2699465438373841, 0.00031830993923546226, -3.183098861837907e-9,
//   0.09698668402067828, -0.246816688893365, 0.01990734276928874, 0.3391387534896675,
//   -0.03989308767476823, 0.16662991263198387, 0.20483276469913345, -0.3989173758957401 ulp 5
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=0, -0, 1, -1, 1.5, inf, nan
// arg: buf:double:7
// expect: 0, -0, 0.5, -0.5, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 0.99, -0.999
// arg: buf:float:9
// expect: 0.03188428, -0.16666667, 0.03188428, -0.16666667, 0.4549466, 0.03188428, -0.16666667,
//   0.4549466, -0.48576367 ulp 5
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.03188428042925993, -0.16666666666666666 ulp 5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = asinpi(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = asinpi(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(asinpi(vload2(0, x)), 0, out);
    vstore3(asinpi(vload3(0, x)), 0, out + 2);
    vstore4(asinpi(vload4(0, x)), 0, out + 5);
    vstore2(asinpi(vload2(0, dx)), 0, wide);
}
#endif
