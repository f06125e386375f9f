// A pointer's bits, stored as two words or as a pointer to global memory, are the pointer where they are read as a generic one.
// options: -cl-std=CL3.0
// kernel: bits
// global: 1
// arg: buf:int:4=9,8,7,6
// arg: int:1
// arg: buf:int:2
// expect: 9, 1
// kernel: named
// global: 1
// arg: buf:int:4=9,8,7,6
// arg: int:1
// arg: buf:int:2
// expect: 9, 1
kernel void bits(global int *d, int which, global int *out) {
    int own[2] = {1, 2};
    union {
        uint2 words;
        int *p;
    } a[2];
    a[0].p = own;
    a[1].words = as_uint2((ulong)d);
    out[0] = *a[which].p;
    out[1] = *a[which - 1].p;
}

kernel void named(global int *d, int which, global int *out) {
    int own[2] = {1, 2};
    union {
        global int *g;
        int *p;
    } a[2];
    a[0].p = own;
    a[1].g = d;
    out[0] = *a[which].p;
    out[1] = *a[which - 1].p;
}
