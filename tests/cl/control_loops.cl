// while, do, for with break and continue; a loop whose body runs never, a do that runs once.
// kernel: run
// arg: buf:int:6
// expect: 10, 1, 0, 25, 3, 12
kernel void run(global int *out) {
    int n = 0, i = 5;
    while (--i) n += i;
    out[0] = n;
    n = 0;
    do n++;
    while (0);
    out[1] = n;
    n = 0;
    for (int j = 5; j < 5; j++) n++;
    out[2] = n;
    for (int j = 0;; j++) {
        if (j % 2 == 0) continue;
        if (j > 10) break;
        n += j;
    }
    out[3] = n;
    n = 0;
    for (;;)
        if (++n == 3) break;
    out[4] = n;
    n = 0;
    i = 0;
    do {
        if (++i == 3) continue;
        n += i;
    } while (i < 5);
    out[5] = n;
}
