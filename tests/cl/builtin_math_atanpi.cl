// atanpi: atan(x) / pi within 5 ulp.
// kernel: floats
// global: 18
// arg: buf:float:18=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 1e10, -1e20
// arg: buf:float:18
// expect: 0.03172552, -0.14758362, 0.25, -0.31283295, 0.38898274, -0.3975836, 0.42644155, 0.43716705,
//   0.0003183098, -3.183099e-9, 0.20483276, -0.07797913, 0.4514102, 0.019868525, -0.23326229,
//   0.3524164, 0.5, -0.5 ulp 5
// kernel: floats
// global: 5
// arg: buf:float:5=0, -0, inf, -inf, nan
// arg: buf:float:5
// expect: 0, -0, 0.5, -0.5, nan
// kernel: doubles
// needs: f64
// global: 18
// arg: buf:double:18=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 10000000000.0, -1e20
// arg: buf:double:18
// expect: 0.031725517430553574, -0.14758361765043326, 0.25, -0.3128329581890012, 0.3889827415450001,
//   -0.39758361765043326, 0.4264415560267378, 0.4371670418109988, 0.0003183097800805589,
//   -3.1830988618379066e-9, 0.20483276469913345, -0.07797913037736932, 0.4514102096524711,
//   0.019868524305540838, -0.2332622916434259, 0.35241638234956674, 0.499999999968169, -0.5 ulp 5
// kernel: doubles
// needs: f64
// global: 5
// arg: buf:double:5=0, -0, inf, -inf, nan
// arg: buf:double:5
// expect: 0, -0, 0.5, -0.5, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.03172552, -0.14758362, 0.03172552, -0.14758362, 0.25, 0.03172552, -0.14758362, 0.25,
//   -0.31283295 ulp 5
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.031725517430553574, -0.14758361765043326 ulp 5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = atanpi(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = atanpi(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(atanpi(vload2(0, x)), 0, out);
    vstore3(atanpi(vload3(0, x)), 0, out + 2);
    vstore4(atanpi(vload4(0, x)), 0, out + 5);
    vstore2(atanpi(vload2(0, dx)), 0, wide);
}
#endif
