// An else belongs to the nearest if.
// kernel: run
// global: 4
// arg: buf:int:4
// expect: 5, 5, 2, 1
kernel void run(global int *out) {
    int g = get_global_id(0);
    out[g] = 5;
    if (g > 1)
        if (g > 2) out[g] = 1;
        else
            out[g] = 2;
}
