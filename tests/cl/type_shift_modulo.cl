// Shift counts are taken modulo the width of the promoted left operand (6.3 j); right shifts keep the sign.
// kernel: run
// arg: int:33
// arg: buf:long:8
// expect: 2, 8589934592, -1, 2147483647, -8, 512, 1, 4
kernel void run(int n, global long *out) {
    out[0] = 1 << n;
    out[1] = 1L << n;
    out[2] = -1 >> n;
    out[3] = 0xffffffffu >> n;
    out[4] = -16 >> (n - 32);
    uchar c = 1;
    out[5] = c << (n - 24); /* promoted to int: 9 is no overflow */
    out[6] = 1L << (n + 31);
    int2 v = (int2)(1, 2) << (int2)(n, n);
    out[7] = v.y;
}
