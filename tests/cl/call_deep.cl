// A chain of calls, each with several returns and loops of its own.
// kernel: run
// global: 4
// arg: buf:int:4
// expect: 0, 2, 8, 15
int step(int x) {
    if (x == 0) return 0;
    for (int i = 0;; i++)
        if (i * i >= x) return i + x;
}
int walk(int x, int n) {
    int sum = 0;
    while (n-- > 0) {
        if (x < 0) return -1;
        sum += step(x);
    }
    return sum;
}
int both(int x) { return x % 2 ? walk(x, x) : walk(x, 1) * x; }
kernel void run(global int *out) {
    int g = get_global_id(0);
    out[g] = both(g);
}
