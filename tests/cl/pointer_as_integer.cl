// A pointer as an integer and back; differences of addresses in bytes.
// kernel: run
// arg: buf:int:4=1,2,3,4
// arg: buf:int:3
// expect: 8, 3, 1
kernel void run(global int *p, global int *out) {
    uintptr_t a = (uintptr_t)p;
    out[0] = (int)((uintptr_t)(p + 2) - a);
    out[1] = *(global int *)(a + 8);
    out[2] = (size_t)p % 4 == 0;
}
