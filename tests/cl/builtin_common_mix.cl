// mix(x, y, a) is x + (y - x) a.
// needs: f64
// kernel: run
// arg: buf:float:5=2, 2, 2, -4, 10
// arg: buf:float:5=6, 6, 6, 4, -10
// arg: buf:float:5=0, 1, 0.25, 0.5, 0.75
// arg: buf:float:5
// expect: 2, 6, 3, 0, -5 ~1e-6
// arg: buf:double:3
// expect: 2, 6, 3 ~1e-12
// arg: buf:float:7
// expect: 2, 6, 2, 6, 3, 0, -5 ~1e-6
kernel void run(global const float *x, global const float *y, global const float *a, global float *out,
                global double *wide, global float *vectors) {
    for (int i = 0; i < 5; i++) out[i] = mix(x[i], y[i], a[i]);
    vstore3(mix(convert_double3(vload3(0, x)), convert_double3(vload3(0, y)), convert_double3(vload3(0, a))), 0,
            wide);
    vstore2(mix(vload2(0, x), vload2(0, y), vload2(0, a)), 0, vectors);
    vectors[2] = mix(x[0], y[0], 0.0f);
    vstore4(mix(vload4(0, x + 1), vload4(0, y + 1), vload4(0, a + 1)), 0, vectors + 3);
}
