// Volatile variables in private memory: an array at a run-time index, bytes, vectors, doubles, a pointer passed on.
// kernel: run
// global: 3
// arg: int:5
// arg: buf:int:3
// expect: 843, 864, 871
// arg: buf:long:3
// expect: 32, 24, 34
int total(volatile const int *at, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += at[(i * 3) & 7];
    return sum;
}

kernel void run(int n, global int *out, global long *wide) {
    volatile int words[8];
    volatile uchar bytes[16];
    volatile long4 longs[2];
    volatile uchar8 packed[2];
    volatile char3 three[2];
    int id = get_global_id(0);
    for (int i = 0; i < 8; i++) words[i] = i * 10 + id;
    for (int i = 0; i < 16; i++) bytes[i] = i * i;
    longs[id & 1] = (long4)(1, 2, 3, id);
    longs[~id & 1] = (long4)(10, 20, 30, 40);
    packed[0] = packed[1] = (uchar8)(id);
    three[id & 1] = (char3)(-1, 2, 3);
    volatile int *last = &words[n + 2];
    out[id] = total(words, n) + *last * n * 2 + bytes[(n * 2 + id) & 3] + packed[n & 1].s5 + three[id & 1].x;
    wide[id] = longs[n & 1].x + longs[id & 1].w + (longs[0].y + longs[1].y);
}
