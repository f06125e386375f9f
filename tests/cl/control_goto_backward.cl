// goto backwards makes a loop.
// kernel: run
// global: 4
// arg: buf:int:4
// expect: 0, 1, 3, 6
kernel void run(global int *out) {
    int g = get_global_id(0), n = 0, i = 0;
again:
    if (i <= g) {
        n += i++;
        goto again;
    }
    out[g] = n;
}
