// __constant pointers as kernel arguments.
// kernel: run
// global: 4
// arg: buf:float:4=0.5,1,1.5,2
// arg: buf:float:4
// expect: 1, 2, 3, 4
kernel void run(__constant float *table, __global float *out) {
    size_t i = get_global_id(0);
    out[i] = table[i] * 2;
}
