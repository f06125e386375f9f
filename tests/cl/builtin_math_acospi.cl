// acospi: acos(x) / pi within 5 ulp.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95
// arg: buf:float:16
// expect: 0.46811572, 0.6666667, 0.045053393, 0.98576367, 0.41956937, 0.23005345, 0.49968168, 0.5,
//   0.40301332, 0.7468167, 0.48009264, 0.16086125, 0.5398931, 0.3333701, 0.29516724, 0.8989174 ulp 5
// kernel: floats
// global: 6
// arg: buf:float:6=1, -1, 0, 1.5, -inf, nan
// arg: buf:float:6
// expect: 0, 1, 0.5, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95
// arg: buf:double:16
// expect: 0.46811571957074005, 0.6666666666666666, 0.04505341364441212, 0.9857635625937603,
//   0.41956937674483374, 0.23005345616261588, 0.4996816900607645, 0.5000000031830989,
//   0.4030133159793217, 0.746816688893365, 0.48009265723071126, 0.16086124651033248,
//   0.5398930876747682, 0.33337008736801615, 0.2951672353008666, 0.8989173758957401 ulp 5
// kernel: doubles
// needs: f64
// global: 6
// arg: buf:double:6=1, -1, 0, 1.5, -inf, nan
// arg: buf:double:6
// expect: 0, 1, 0.5, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 0.99, -0.999
// arg: buf:float:9
// expect: 0.46811572, 0.6666667, 0.46811572, 0.6666667, 0.045053393, 0.46811572, 0.6666667,
//   0.045053393, 0.98576367 ulp 5
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.46811571957074005, 0.6666666666666666 ulp 5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = acospi(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = acospi(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(acospi(vload2(0, x)), 0, out);
    vstore3(acospi(vload3(0, x)), 0, out + 2);
    vstore4(acospi(vload4(0, x)), 0, out + 5);
    vstore2(acospi(vload2(0, dx)), 0, wide);
}
#endif
