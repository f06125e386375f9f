// mad: a product and a sum; exact where the numbers are small integers.
// kernel: floats
// global: 6
// arg: buf:float:6=2, -1.5, 8, 9, 7, 100
// arg: buf:float:6=3, 2, 0.125, 9, -7, 100
// arg: buf:float:6=4, 0.25, -0.5, 9, 49, 1
// arg: buf:float:6
// expect: 10, -2.75, 0.5, 90, 0, 10001
// kernel: doubles
// needs: f64
// global: 6
// arg: buf:double:6=2, -1.5, 8, 9, 7, 100
// arg: buf:double:6=3, 2, 0.125, 9, -7, 100
// arg: buf:double:6=4, 0.25, -0.5, 9, 49, 1
// arg: buf:double:6
// expect: 10, -2.75, 0.5, 90, 0, 10001
// kernel: vectors
// needs: f64
// arg: buf:float:16=2, -1.5, 8, 9, 7, 100, 2, -1.5, 8, 9, 7, 100, 2, -1.5, 8, 9
// arg: buf:float:16=3, 2, 0.125, 9, -7, 100, 3, 2, 0.125, 9, -7, 100, 3, 2, 0.125, 9
// arg: buf:float:16=4, 0.25, -0.5, 9, 49, 1, 4, 0.25, -0.5, 9, 49, 1, 4, 0.25, -0.5, 9
// arg: buf:float:33
// expect: 10, -2.75, 10, -2.75, 0.5, 10, -2.75, 0.5, 90, 10, -2.75, 0.5, 90, 0, 10001, 10, -2.75, 10,
//   -2.75, 0.5, 90, 0, 10001, 10, -2.75, 0.5, 90, 0, 10001, 10, -2.75, 0.5, 90
// arg: buf:double:16=2, -1.5, 8, 9, 7, 100, 2, -1.5, 8, 9, 7, 100, 2, -1.5, 8, 9
// arg: buf:double:16=3, 2, 0.125, 9, -7, 100, 3, 2, 0.125, 9, -7, 100, 3, 2, 0.125, 9
// arg: buf:double:16=4, 0.25, -0.5, 9, 49, 1, 4, 0.25, -0.5, 9, 49, 1, 4, 0.25, -0.5, 9
// arg: buf:double:33
// expect: 10, -2.75, 10, -2.75, 0.5, 10, -2.75, 0.5, 90, 10, -2.75, 0.5, 90, 0, 10001, 10, -2.75, 10,
//   -2.75, 0.5, 90, 0, 10001, 10, -2.75, 0.5, 90, 0, 10001, 10, -2.75, 0.5, 90
kernel void floats(global const float *x, global const float *y, global const float *z, global float *out) {
    size_t i = get_global_id(0);
    out[i] = mad(x[i], y[i], z[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global const double *z,
                    global double *out) {
    size_t i = get_global_id(0);
    out[i] = mad(x[i], y[i], z[i]);
}

kernel void vectors(global const float *x, global const float *y, global const float *z, global float *out,
                    global const double *dx, global const double *dy, global const double *dz,
                    global double *wide) {
    vstore2(mad(vload2(0, x), vload2(0, y), vload2(0, z)), 0, out);
    vstore3(mad(vload3(0, x), vload3(0, y), vload3(0, z)), 0, out + 2);
    vstore4(mad(vload4(0, x), vload4(0, y), vload4(0, z)), 0, out + 5);
    vstore8(mad(vload8(0, x), vload8(0, y), vload8(0, z)), 0, out + 9);
    vstore16(mad(vload16(0, x), vload16(0, y), vload16(0, z)), 0, out + 17);
    vstore2(mad(vload2(0, dx), vload2(0, dy), vload2(0, dz)), 0, wide);
    vstore3(mad(vload3(0, dx), vload3(0, dy), vload3(0, dz)), 0, wide + 2);
    vstore4(mad(vload4(0, dx), vload4(0, dy), vload4(0, dz)), 0, wide + 5);
    vstore8(mad(vload8(0, dx), vload8(0, dy), vload8(0, dz)), 0, wide + 9);
    vstore16(mad(vload16(0, dx), vload16(0, dy), vload16(0, dz)), 0, wide + 17);
}
#endif
