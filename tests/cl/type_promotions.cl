// Integer promotions and the usual conversions: narrow types become int before the operation.
// kernel: run
// arg: uchar:200
// arg: buf:long:8
// expect: 400, 144, -201, 55, 1, 0, 4294967295, 4
kernel void run(uchar a, global long *out) {
    out[0] = a + a;
    out[1] = (uchar)(a + a);
    out[2] = ~a;
    out[3] = (uchar)~a;
    out[4] = (uchar)(a << 1) < (a << 1);
    out[5] = -1 < 1u;
    out[6] = (uint)a - 201;
    out[7] = sizeof(a + a);
}
