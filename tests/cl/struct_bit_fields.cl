// Bit-fields: widths, signs, wrapping, unnamed and zero-width ones. A quern extension to OpenCL C.
// kernel: run
// arg: buf:int:7
// expect: 5, -1, 3, 1, 0, 4, 8
struct flags { uint a : 3; int b : 2; uint : 5; uint c : 4; };
struct split { uint a : 3; uint : 0; uint b : 3; };
kernel void run(global int *out) {
    struct flags f = {5, -1, 3};
    out[0] = f.a;
    out[1] = f.b;
    out[2] = f.c;
    f.a += 4; /* 9 modulo 8 */
    out[3] = f.a;
    f.b = 4;
    out[4] = f.b;
    out[5] = sizeof f;
    out[6] = sizeof(struct split);
}
