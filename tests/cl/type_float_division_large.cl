// Quotients by numbers above 2^126, whose inverse is denormal.
// kernel: run
// global: 6
// arg: buf:float:6=1e38,3e38,-2.5e38,inf,3e38,1
// arg: buf:float:6=2e38,1.5e38,1.25e38,-1.5e38,3e38,2
// arg: buf:float:6
// expect: 0.5, 2, -2, -inf, 1, 0.5 ulp 2
kernel void run(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] / b[i];
}
