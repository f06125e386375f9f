// log: within 3 ulp, near one and of denormals too.
// kernel: floats
// global: 21
// arg: buf:float:21=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 1.0000001, 0.9999999, 3.4028235e38, 1.1754944e-38, 1e-45
// arg: buf:float:21
// expect: -2.3025851, -0.6931472, 0, 0.4054651, 1.011601, 2.3025851, 4.607667, 6.9077554, -6.9077554,
//   -23.02585, -0.2876821, 1.178655, 1.9459101, 2.9957323, -0.105360545, 1.704748, 1.1920928e-7,
//   -1.192093e-7, 88.72284, -87.33655, -103.27893 ulp 3
// kernel: floats
// global: 7
// arg: buf:float:7=1, 0, -0, -1, inf, -inf, nan
// arg: buf:float:7
// expect: 0, -inf, -inf, nan, inf, nan, nan
// kernel: doubles
// needs: f64
// global: 21
// arg: buf:double:21=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 1.0000001, 0.9999999, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324
// arg: buf:double:21
// expect: -2.3025850929940455, -0.6931471805599453, 0, 0.4054651081081644, 1.0116009116784799,
//   2.302585092994046, 4.6076670661866785, 6.907755278982137, -6.907755278982137,
//   -23.025850929940457, -0.2876820724517809, 1.1786549963416462, 1.9459101490553132,
//   2.995732273553991, -0.10536051565782628, 1.7047480922384253, 9.999999505838704e-8,
//   -1.0000000494736474e-7, 709.782712893384, -708.3964185322641, -744.4400719213812 ulp 3
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=1, 0, -0, -1, inf, -inf, nan
// arg: buf:double:7
// expect: 0, -inf, -inf, nan, inf, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, 0.5, 1, 1.5
// arg: buf:float:9
// expect: -2.3025851, -0.6931472, -2.3025851, -0.6931472, 0, -2.3025851, -0.6931472, 0, 0.4054651 ulp 3
// arg: buf:double:2=0.1, 0.5
// arg: buf:double:2
// expect: -2.3025850929940455, -0.6931471805599453 ulp 3
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = log(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = log(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(log(vload2(0, x)), 0, out);
    vstore3(log(vload3(0, x)), 0, out + 2);
    vstore4(log(vload4(0, x)), 0, out + 5);
    vstore2(log(vload2(0, dx)), 0, wide);
}
#endif
