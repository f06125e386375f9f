// asin: within 4 ulp; zero keeps its sign.
// kernel: floats
// global: 18
// arg: buf:float:18=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95, 1, -1
// arg: buf:float:18
// expect: 0.10016742, -0.5235988, 1.4292569, -1.5260715, 0.25268024, 0.8480621, 0.0010000002, -1e-8,
//   0.30469266, -0.7753975, 0.06254076, 1.0654358, -0.12532783, 0.52348334, 0.64350116, -1.2532358,
//   1.5707964, -1.5707964 ulp 4
// kernel: floats
// global: 7
// arg: buf:float:7=0, -0, 1.25, -inf, nan, 1e-45, -1e-45
// arg: buf:float:7
// expect: 0, -0, nan, nan, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 18
// arg: buf:double:18=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95, 1, -1
// arg: buf:double:18
// expect: 0.1001674211615598, -0.5235987755982989, 1.4292568534704693, -1.526071239626163,
//   0.25268025514207865, 0.848062078981481, 0.0010000001666667416, -1e-8, 0.3046926540153975,
//   -0.775397496610753, 0.06254076179649139, 1.0654358165107394, -0.1253278311680654,
//   0.5234833093929496, 0.6435011087932844, -1.253235897503375, 1.5707963267948966,
//   -1.5707963267948966 ulp 4
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=0, -0, 1.25, -inf, nan, 5e-324, -5e-324
// arg: buf:double:7
// expect: 0, -0, nan, nan, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 0.99, -0.999
// arg: buf:float:9
// expect: 0.10016742, -0.5235988, 0.10016742, -0.5235988, 1.4292569, 0.10016742, -0.5235988,
//   1.4292569, -1.5260715 ulp 4
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.1001674211615598, -0.5235987755982989 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = asin(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = asin(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(asin(vload2(0, x)), 0, out);
    vstore3(asin(vload3(0, x)), 0, out + 2);
    vstore4(asin(vload4(0, x)), 0, out + 5);
    vstore2(asin(vload2(0, dx)), 0, wide);
}
#endif
