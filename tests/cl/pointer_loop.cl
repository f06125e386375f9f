// Pointers that walk through memory in a loop, forwards and backwards.
// kernel: run
// arg: buf:int:6=1,2,3,4,5,6
// arg: buf:int:2
// expect: 21, 654321
kernel void run(global const int *p, global int *out) {
    int sum = 0, digits = 0;
    for (global const int *end = p + 6, *q = p; q < end; ++q) sum += *q;
    for (global const int *q = p + 6; q-- > p;) digits = digits * 10 + *q;
    out[0] = sum;
    out[1] = digits;
}
