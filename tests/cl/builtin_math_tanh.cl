// tanh: within 5 ulp.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2
// arg: buf:float:16
// expect: 0.099667996, -0.46211717, 0.7615942, -0.90514827, 0.99185973, -0.9950548, 0.99959314,
//   0.9999092, 0.0009999997, -1e-8, 0.63514894, -0.24491866, 0.99999547, 0.062418748, -0.71629786,
//   0.9640276 ulp 5
// kernel: floats
// global: 9
// arg: buf:float:9=0, -0, inf, -inf, 50, -50, nan, 1e-45, -1e-45
// arg: buf:float:9
// expect: 0, -0, 1, -1, 1, -1, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2
// arg: buf:double:16
// expect: 0.09966799462495582, -0.46211715726000974, 0.7615941559557649, -0.9051482536448664,
//   0.9918597245682077, -0.9950547536867305, 0.9995931460438896, 0.9999092042625951,
//   0.0009999996666668, -1e-8, 0.6351489523872873, -0.24491866240370913, 0.9999954793514042,
//   0.062418746747512514, -0.7162978701990245, 0.9640275800758169 ulp 5
// kernel: doubles
// needs: f64
// global: 9
// arg: buf:double:9=0, -0, inf, -inf, 50, -50, nan, 5e-324, -5e-324
// arg: buf:double:9
// expect: 0, -0, 1, -1, 1, -1, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.099667996, -0.46211717, 0.099667996, -0.46211717, 0.7615942, 0.099667996, -0.46211717,
//   0.7615942, -0.90514827 ulp 5
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.09966799462495582, -0.46211715726000974 ulp 5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = tanh(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = tanh(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(tanh(vload2(0, x)), 0, out);
    vstore3(tanh(vload3(0, x)), 0, out + 2);
    vstore4(tanh(vload4(0, x)), 0, out + 5);
    vstore2(tanh(vload2(0, dx)), 0, wide);
}
#endif
