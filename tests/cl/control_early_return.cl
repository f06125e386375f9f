// return from the middle of nested loops and branches, in the kernel and in a helper.
// kernel: run
// global: 6
// arg: buf:int:6
// expect: -1, 1, 2, 103, 104, 10
int find(int n) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (i * 3 + j == n) {
                if (n >= 3) return n + 100;
                return n;
            }
    return -2;
}
kernel void run(global int *out) {
    int g = get_global_id(0);
    if (g == 0) {
        out[0] = -1;
        return;
    }
    out[g] = 10;
    if (g == 5) return;
    out[g] = find(g);
}
