// Signed numbers that overflow, looked for when asked; sums that others would be put together with, and those that nobody needs.
// also: overflows
// kernel: near_the_end
// global: 2
// arg: buf:int:8
// arg: int:2147483640
// kernel: small
// global: 2
// arg: buf:int:8
// expect: -2147483547, 208, 112, 100, -100, 1200, 104, 200
// arg: int:100
// kernel: index
// global: 1
// arg: buf:int:4
// arg: int:2147483647
// kernel: least
// global: 1
// arg: buf:long:1
// arg: long:-9223372036854775808
kernel void near_the_end(global int *x, int n) {
    x[0] = 0x7fffffff + (n + 1); // finds: overflow
    x[1] = n * 2 + 8;            // finds: overflow
    x[2] = (n + 5) + 7;          // finds: overflow
    x[3] = n;
    x[4] = -n;
    x[5] = n * 12; // finds: overflow
    int k = n;
    k++;
    k += 3;
    x[6] = k;
    x[7] = n + n; // finds: overflow
}
kernel void small(global int *x, int n) {
    x[0] = (int)(0x80000001u + (uint)n);
    x[1] = n * 2 + 8;
    x[2] = (n + 5) + 7;
    x[3] = n;
    x[4] = -n;
    x[5] = n * 12;
    int k = n;
    k++;
    k += 3;
    x[6] = k;
    x[7] = n + n;
}
kernel void index(global int *x, int n) {
    x[(n + 1) & 3] = 1; // finds: overflow
    for (int k = n - 1; k > 0; k += 2) x[k & 3]++; // finds: overflow
}
kernel void least(global long *x, long n) {
    x[0] = -n;             // finds: overflow
    const int most = 2147483647;
    x[0] += most + (n < 0); // finds: overflow
}
