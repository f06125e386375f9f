// The comma operator: order, value, in for headers and in arguments.
// kernel: run
// arg: buf:int:4
// expect: 3, 10, 7, 9
int add(int a, int b) { return a + b; }
kernel void run(global int *out) {
    int a = 1, b;
    b = (a++, a++, a);
    out[0] = b;
    int i, j;
    for (i = 0, j = 10; i < j; i++, j--) out[1] = i + j;
    out[2] = add((a = 3, a + 1), 3);
    out[3] = (a += 2, b = a + 1, b) + a - 2;
}
