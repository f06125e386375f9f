// lgamma_r: the sign of gamma goes through the pointer, 0 where gamma has none (7.5.1).
// kernel: floats
// global: 13
// arg: buf:float:13=0.5, 3.25, -0.5, -1.5, -2.25, -7.75, 100000, 0, -0, -1, -2, -100, inf
// arg: buf:int:13
// expect: 1, 1, -1, 1, -1, 1, 1, 0, 0, 0, 0, 0, 1
// arg: buf:int:13
// expect: 1
// kernel: doubles
// needs: f64
// global: 13
// arg: buf:double:13=0.5, 3.25, -0.5, -1.5, -2.25, -7.75, 100000, 0, -0, -1, -2, -100, inf
// arg: buf:int:13
// expect: 1, 1, -1, 1, -1, 1, 1, 0, 0, 0, 0, 0, 1
// arg: buf:int:13
// expect: 1
kernel void floats(global const float *x, global int *sign, global int *same) {
    size_t i = get_global_id(0);
    int own;
    float value = lgamma_r(x[i], &sign[i]);
    same[i] = value == lgamma(x[i]) && lgamma_r(x[i], &own) == value && own == sign[i];
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global int *sign, global int *same) {
    size_t i = get_global_id(0);
    int own;
    double value = lgamma_r(x[i], &sign[i]);
    same[i] = value == lgamma(x[i]) && lgamma_r(x[i], &own) == value && own == sign[i];
}
#endif
