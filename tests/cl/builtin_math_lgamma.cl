// lgamma: log of the absolute value of gamma, within 16 ulp for positive numbers.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, 0.5, 1.5, 2.5, 3.25, 5, 7, 10.5, 20, 34, 100.5, 100000, 1e10, 1e-5, 0.75,
//   1.0625
// arg: buf:float:16
// expect: 2.2527127, 0.5723649, -0.12078224, 0.28468287, 0.9358019, 3.1780539, 6.5792513, 13.940625,
//   39.339886, 85.05447, 361.43555, 1051287.8, 2.2025852e11, 11.512919, 0.20328096, -0.0329571 ulp 16
// kernel: floats
// global: 9
// arg: buf:float:9=1, 2, 0, -0, -1, -7, inf, -inf, nan
// arg: buf:float:9
// expect: 0, 0, inf, inf, inf, inf, inf, inf, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, 0.5, 1.5, 2.5, 3.25, 5, 7, 10.5, 20, 34, 100.5, 100000, 10000000000.0,
//   1e-5, 0.75, 1.0625
// arg: buf:double:16
// expect: 2.252712651734206, 0.5723649429247001, -0.12078223763524522, 0.2846828704729192,
//   0.9358019311087253, 3.1780538303479458, 6.579251212010101, 13.940625219403763,
//   39.339884187199495, 85.05446701758152, 361.4355404677776, 1051287.7089736569, 220258509288.81058,
//   11.512919692895826, 0.20328095143129538, -0.03295710029357782 ulp 16
// kernel: doubles
// needs: f64
// global: 9
// arg: buf:double:9=1, 2, 0, -0, -1, -7, inf, -inf, nan
// arg: buf:double:9
// expect: 0, 0, inf, inf, inf, inf, inf, inf, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, 0.5, 1.5, 2.5
// arg: buf:float:9
// expect: 2.2527127, 0.5723649, 2.2527127, 0.5723649, -0.12078224, 2.2527127, 0.5723649, -0.12078224,
//   0.28468287 ulp 16
// arg: buf:double:2=0.1, 0.5
// arg: buf:double:2
// expect: 2.252712651734206, 0.5723649429247001 ulp 16
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = lgamma(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = lgamma(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(lgamma(vload2(0, x)), 0, out);
    vstore3(lgamma(vload3(0, x)), 0, out + 2);
    vstore4(lgamma(vload4(0, x)), 0, out + 5);
    vstore2(lgamma(vload2(0, dx)), 0, wide);
}
#endif
