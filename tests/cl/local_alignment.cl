// Values of 128 bytes lie at multiples of 128 in local memory, variables and parameters alike, and in private memory.
// needs: f64
// kernel: run
// global: 1
// arg: buf:ulong:8
// expect: 0, 0, 0, 0, 0, 0, 0, 9
// arg: local:3
// arg: local:128
// arg: local:256
kernel void run(global ulong *out, local char *first, local long16 *second, local double16 *third) {
    local char a;
    local long16 b[2];
    local char c[3];
    local ulong16 d;
    local double16 e[1];
    char f;
    long16 g[2];
    double16 h[2];
    volatile int z = 0;
    a = 1, c[0] = 2, f = z, b[0] = 1, d = 2, e[0] = 3, g[z] = 1, h[z] = 2, first[z] = 0;
    out[0] = (ulong)&b[z] & 127;
    out[1] = (ulong)&d & 127;
    out[2] = (ulong)&e[z] & 127;
    out[3] = (ulong)&second[z] & 127;
    out[4] = (ulong)&third[z] & 127;
    out[5] = (ulong)&g[z] & 127;
    out[6] = (ulong)&h[z] & 127;
    out[7] = a + c[0] + f + b[0].x + d.x + (ulong)e[0].x + first[z];
}
