// erfc: within 16 ulp, far out too.
// kernel: floats
// global: 15
// arg: buf:float:15=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 8, 9
// arg: buf:float:15
// expect: 0.88753706, 1.5204998, 0.1572992, 1.9661051, 0.000100621925, 1.999978, 1.8505741e-9,
//   1.5374598e-12, 0.9988716, 1, 0.28884438, 1.2763264, 3.8421483e-20, 1.1224297e-29, 4.1370317e-37 ulp 16
// kernel: floats
// global: 7
// arg: buf:float:7=0, -0, inf, -inf, -30, 40, nan
// arg: buf:float:7
// expect: 1, 1, 0, 2, 2, 0, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 8, 15, 26
// arg: buf:double:16
// expect: 0.887537083981715, 1.5204998778130465, 0.15729920705028513, 1.9661051464753108,
//   0.00010062192211963683, 1.9999779095030015, 1.8505741373867425e-9, 1.537459794428035e-12,
//   0.9988716212090307, 1.0000000112837917, 0.28884436634648486, 1.276326390168237,
//   3.8421483271206475e-20, 1.1224297172982926e-29, 7.212994172451207e-100, 5.663192408856143e-296 ulp 16
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=0, -0, inf, -inf, -30, 40, nan
// arg: buf:double:7
// expect: 1, 1, 0, 2, 2, 0, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.88753706, 1.5204998, 0.88753706, 1.5204998, 0.1572992, 0.88753706, 1.5204998, 0.1572992,
//   1.9661051 ulp 16
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.887537083981715, 1.5204998778130465 ulp 16
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = erfc(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = erfc(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(erfc(vload2(0, x)), 0, out);
    vstore3(erfc(vload3(0, x)), 0, out + 2);
    vstore4(erfc(vload4(0, x)), 0, out + 5);
    vstore2(erfc(vload2(0, dx)), 0, wide);
}
#endif
