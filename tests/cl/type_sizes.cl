// sizeof of every scalar and some vectors, pointers and arrays.
// needs: f64
// kernel: run
// arg: buf:int:20
// expect: 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 8, 8, 16, 8, 16, 4, 128, 12, 8
kernel void run(global int *out) {
    int a[3] = {0};
    out[0] = sizeof(char);
    out[1] = sizeof(uchar);
    out[2] = sizeof(short);
    out[3] = sizeof(ushort);
    out[4] = sizeof(int);
    out[5] = sizeof(uint);
    out[6] = sizeof(long);
    out[7] = sizeof(ulong);
    out[8] = sizeof(float);
    out[9] = sizeof(double);
    out[10] = sizeof(half);
    out[11] = sizeof(size_t);
    out[12] = sizeof(ptrdiff_t);
    out[13] = sizeof(float3);
    out[14] = sizeof(int2);
    out[15] = sizeof(uint4);
    out[16] = sizeof(char3);
    out[17] = sizeof(long16);
    out[18] = sizeof a;
    out[19] = sizeof(global float *);
}
