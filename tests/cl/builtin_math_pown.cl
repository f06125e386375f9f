// pown: within 16 ulp, to an integer power.
// kernel: floats
// global: 12
// arg: buf:float:12=2, -2, -2, 1.5, 0.1, 10, 1.0001, -3, 100, 7, 0.99, -0.5
// arg: buf:int:12=10, 3, 4, -7, 5, -10, 10000, -3, 3, 1, 1000, 20
// arg: buf:float:12
// expect: 1024, -8, 16, 0.058527663, 1.0000001e-5, 1e-10, 2.718597, -0.037037037, 1000000, 7,
//   4.317166e-5, 9.536743e-7 ulp 16
// kernel: floats
// global: 15
// arg: buf:float:15=nan, inf, 0, 0, -0, -0, -0, -0, -inf, -inf, nan, 10, -1, -1, 1
// arg: buf:int:15=0, 0, 0, -3, -3, -2, 3, 2, 3, -3, 1, 100000, 2147483647, -2147483647, -2147483647
// arg: buf:float:15
// expect: 1, 1, 1, inf, -inf, inf, -0, 0, -inf, -0, nan, inf, -1, -1, 1
// kernel: doubles
// needs: f64
// global: 12
// arg: buf:double:12=2, -2, -2, 1.5, 0.1, 10, 1.0001, -3, 100, 7, 0.99, -0.5
// arg: buf:int:12=10, 3, 4, -7, 5, -10, 10000, -3, 3, 1, 1000, 20
// arg: buf:double:12
// expect: 1024, -8, 16, 0.05852766346593507, 1.0000000000000003e-5, 1e-10, 2.7181459268249255,
//   -0.037037037037037035, 1000000, 7, 4.317124741065786e-5, 9.5367431640625e-7 ulp 16
// kernel: doubles
// needs: f64
// global: 15
// arg: buf:double:15=nan, inf, 0, 0, -0, -0, -0, -0, -inf, -inf, nan, 10, -1, -1, 1
// arg: buf:int:15=0, 0, 0, -3, -3, -2, 3, 2, 3, -3, 1, 100000, 2147483647, -2147483647, -2147483647
// arg: buf:double:15
// expect: 1, 1, 1, inf, -inf, inf, -0, 0, -inf, -0, nan, inf, -1, -1, 1
// kernel: vectors
// needs: f64
// arg: buf:float:4=2, -2, -2, 1.5
// arg: buf:int:4=10, 3, 4, -7
// arg: buf:float:9
// expect: 1024, -8, 1024, -8, 16, 1024, -8, 16, 0.058527663 ulp 16
// arg: buf:double:2=2, -2
// arg: buf:int:2=10, 3
// arg: buf:double:2
// expect: 1024, -8 ulp 16
kernel void floats(global const float *x, global const int *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = pown(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const int *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = pown(x[i], y[i]);
}

kernel void vectors(global const float *x, global const int *y, global float *out,
                    global const double *dx, global const int *ey, global double *wide) {
    vstore2(pown(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(pown(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(pown(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(pown(vload2(0, dx), vload2(0, ey)), 0, wide);
}
#endif
