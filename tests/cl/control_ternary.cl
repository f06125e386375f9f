// ?: nested to the right, with mixed types, as an argument; only one side is evaluated.
// kernel: run
// global: 4
// arg: buf:float:4
// expect: 0.5, 10, -3, 100
// arg: buf:int:1
// expect: 1
float once(global int *n) {
    atomic_inc(n);
    return 100;
}
kernel void run(global float *out, global int *n) {
    int g = get_global_id(0);
    out[g] = g == 0 ? 0.5f : g == 1 ? 10 : g == 2 ? (char)-3 : once(n);
}
