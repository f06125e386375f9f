// aligned on variables, several attributes in one list, unknown but harmless ones with a warning.
// warning: 10: frobnicate
// kernel: run
// arg: buf:int:2
// expect: 1, 5
typedef struct __attribute__((packed, aligned(4))) { uchar a; uint b; } item;
kernel void run(global int *out) {
    int v[4] __attribute__((aligned(64))) = {1, 2, 3, 4};
    out[0] = ((size_t)&v[0] & 63) == 0;
    __attribute__((frobnicate)) int x = 5;
    out[1] = x + (int)sizeof(item) - 8;
}
