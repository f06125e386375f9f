// int meets uint as uint, int meets long as long, uint meets long as long.
// kernel: run
// arg: int:-2
// arg: uint:1
// arg: buf:long:6
// expect: 4294967295, -2, 0, 1, 2147483647, -1
kernel void run(int a, uint b, global long *out) {
    out[0] = a + b;
    out[1] = a * (long)b;
    out[2] = a < b;
    out[3] = a < (long)b;
    out[4] = (a + b) / 2;
    out[5] = a + (long)b;
}
