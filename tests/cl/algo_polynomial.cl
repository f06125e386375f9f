// Horner's rule with explicit fma: rounded once a step, the same on every device.
// kernel: horner
// global: 4
// arg: buf:float:4=0.300000012, 1.70000005, -2.0999999, 10.8999996
// expect: 3.22970009, 3.5783, -3.84309912, 63.4058952
constant float c[] = {0.1f, -0.7f, 1.3f, 2.9f};
kernel void horner(global float *v) {
    size_t i = get_global_id(0);
    float x = v[i], sum = c[0];
    for (int k = 1; k < 4; k++) sum = fma(sum, x, c[k]);
    v[i] = sum;
}
