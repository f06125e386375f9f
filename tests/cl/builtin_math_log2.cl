// log2: within 3 ulp; powers of two are exact.
// kernel: floats
// global: 20
// arg: buf:float:20=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 1.0000001, 0.9999999, 3.4028235e38, 1e-40
// arg: buf:float:20
// expect: -3.321928, -1, 0, 0.5849625, 1.4594316, 3.321928, 6.6474586, 9.965784, -9.965784,
//   -33.21928, -0.4150375, 1.7004397, 2.807355, 4.321928, -0.15200312, 2.4594316, 1.7198263e-7,
//   -1.7198266e-7, 128, -132.87714 ulp 3
// kernel: floats
// global: 8
// arg: buf:float:8=1, 8, 0.0625, 0, -0, -1, inf, nan
// arg: buf:float:8
// expect: 0, 3, -4, -inf, -inf, nan, inf, nan
// kernel: doubles
// needs: f64
// global: 20
// arg: buf:double:20=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 1.0000001, 0.9999999, 1.7976931348623157e308, 1e-40
// arg: buf:double:20
// expect: -3.321928094887362, -1, 0, 0.5849625007211562, 1.4594316186372973, 3.321928094887362,
//   6.647458426454921, 9.965784284662087, -9.965784284662087, -33.219280948873624,
//   -0.4150374992788438, 1.7004397181410922, 2.807354922057604, 4.321928094887363,
//   -0.15200309344504995, 2.4594316186372973, 1.4426949695965583e-7, -1.4426951122643492e-7, 1024,
//   -132.8771237954945 ulp 3
// kernel: doubles
// needs: f64
// global: 8
// arg: buf:double:8=1, 8, 0.0625, 0, -0, -1, inf, nan
// arg: buf:double:8
// expect: 0, 3, -4, -inf, -inf, nan, inf, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, 0.5, 1, 1.5
// arg: buf:float:9
// expect: -3.321928, -1, -3.321928, -1, 0, -3.321928, -1, 0, 0.5849625 ulp 3
// arg: buf:double:2=0.1, 0.5
// arg: buf:double:2
// expect: -3.321928094887362, -1 ulp 3
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = log2(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = log2(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(log2(vload2(0, x)), 0, out);
    vstore3(log2(vload3(0, x)), 0, out + 2);
    vstore4(log2(vload4(0, x)), 0, out + 5);
    vstore2(log2(vload2(0, dx)), 0, wide);
}
#endif
