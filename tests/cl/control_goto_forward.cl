// goto forwards: out of nested loops, and over statements.
// kernel: run
// global: 4
// arg: buf:int:4
// expect: 100, 1, 12, 13
kernel void run(global int *out) {
    int g = get_global_id(0), n = g;
    if (g == 0) goto zero;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            if (g == 1) goto done;
            if (i * 5 + j == 10) goto found;
        }
zero:
    n += 90;
found:
    n += 10;
done:
    out[g] = n;
}
