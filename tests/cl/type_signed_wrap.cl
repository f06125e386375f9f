// Signed overflow wraps in quern, as on every device it runs on.
// kernel: run
// arg: int:0x7fffffff
// arg: buf:int:4
// expect: -2147483648, -2, 1, -2147483648
kernel void run(int a, global int *out) {
    out[0] = a + 1;
    out[1] = a * 2;
    out[2] = a * a;
    out[3] = -(a + 1);
}
