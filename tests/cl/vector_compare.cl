// Comparisons of vectors give -1 for true, in a signed type of the same width.
// needs: f64
// kernel: run
// arg: int4:1,2,3,4
// arg: int4:4,2,1,4
// arg: buf:int4:6
// expect: 0, -1, 0, -1, -1, 0, -1, 0, -1, 0, 0, 0, 0, 0, -1, 0, -1, -1, 0, -1, 0, -1, -1, -1
// kernel: sizes
// arg: buf:int:4
// expect: 4, 16, 32, 8
kernel void run(int4 a, int4 b, global int4 *out) {
    out[0] = a == b;
    out[1] = a != b;
    out[2] = a < b;
    out[3] = a > b;
    out[4] = a <= b;
    out[5] = a >= b;
}
kernel void sizes(global int *out) {
    uchar4 c = 1;
    float4 f = 1;
    double4 d = 1;
    ushort4 s = 1;
    out[0] = sizeof(c < c);
    out[1] = sizeof(f == f);
    out[2] = sizeof(d > d);
    out[3] = sizeof(s != s);
}
