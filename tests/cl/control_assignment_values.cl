// Assignments and increments have values; compound assignments convert back to the left type.
// kernel: run
// arg: buf:int:8
// expect: 5, 5, 6, 6, 7, 44, -1, 2
kernel void run(global int *out) {
    int a, b;
    a = b = 5;
    out[0] = a;
    out[1] = b++;
    out[2] = b;
    out[3] = b++;
    out[4] = b;
    uchar c = 200;
    out[5] = c += 100;
    char d = 127;
    d += 128;
    out[6] = d;
    int e = 5;
    e *= 0.5f;
    out[7] = e;
}
