// Division by zero and INT_MIN / -1 give no defined value, but neither stops the kernel.
// kernel: run
// arg: buf:int:3=5, -2147483648, 7
// arg: buf:int:3=0, -1, 7
// arg: buf:int:4
// expect: *, *, 1, 99
kernel void run(global int *a, global int *b, global int *out) {
    for (int i = 0; i < 3; i++) out[i] = a[i] / b[i] + a[i] % b[i];
    out[3] = 99;
}
