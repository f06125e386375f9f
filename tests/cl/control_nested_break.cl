// break and continue belong to the innermost loop.
// kernel: run
// global: 3
// arg: buf:int:3
// expect: 9, 10, 12
kernel void run(global int *out) {
    int g = get_global_id(0), n = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0;; j++) {
            if (j == i + 1 + g) break;
            if (j % 2) continue;
            n++;
        }
        while (1) {
            n++;
            break;
        }
        if (i == 1) continue;
        n++;
    }
    out[g] = n;
}
