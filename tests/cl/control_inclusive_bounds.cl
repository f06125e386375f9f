// Loops up to a bound that counts itself, near the ends of the types, four iterations at once.
// options: -qn-tune=four-iterations
// kernel: run
// global: 10
// arg: buf:int:8=1,1,1,1,1,1,1,1
// arg: buf:int:40
// expect: 1, 1, 1, 9, 2, 2, 1, 8, 3, 3, 2, 7, 4, 4, 2, 6, 5, 5, 3, 5, 6, 6, 3, 4, 7, 7, 4, 3, 8, 8, 4, 2, 9, 9, 5, 1, 10, 10, 5, 0
kernel void run(global const int *ones, global int *out) {
    int k = get_global_id(0), least = INT_MIN + k, most = INT_MAX - 1 - k;
    uint n = k;
    int a = 0, b = 0, c = 0, d = 0;
    for (int j = INT_MIN; j <= least; j++) a += ones[j & 7];
    for (uint j = 0; j <= n; j++) b += ones[j & 7];
    for (int j = INT_MIN; j <= least; j += 2) c += ones[j & 7];
    for (int j = INT_MAX - 9; j <= most; j++) d += ones[j & 7];
    out[4 * k] = a;
    out[4 * k + 1] = b;
    out[4 * k + 2] = c;
    out[4 * k + 3] = d;
}
