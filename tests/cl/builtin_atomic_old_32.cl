// The atomics of OpenCL 1.x on 32 bits: each gives the old value and leaves the new one.
// kernel: of_int
// arg: buf:int:11=10
// expect: 15, 7, -3, 11, 9, 77, 10, -20, 10, 2, 14
// arg: buf:int:11
// expect: 10
// kernel: of_uint
// arg: buf:uint:11=10
// expect: 15, 7, 4294967293, 11, 9, 77, 10, 10, 4294967276, 2, 14
// arg: buf:uint:11
// expect: 10
// kernel: edges
// arg: buf:int:4=2147483647, -2147483648, 65536, -1
// expect: -2147483648, 2147483647, 0, 0
#define KERNEL(type) \
    kernel void of_##type(global type *p, global type *old) { \
        old[0] = atomic_add(p, 5); \
        old[1] = atomic_sub(p + 1, 3); \
        old[2] = atomic_xchg(p + 2, (type)-3); \
        old[3] = atomic_inc(p + 3); \
        old[4] = atomic_dec(p + 4); \
        old[5] = atomic_cmpxchg(p + 5, 10, 77); \
        old[6] = atomic_cmpxchg(p + 6, 11, 77); \
        old[7] = atomic_min(p + 7, (type)-20); \
        old[8] = atomic_max(p + 8, (type)-20); \
        old[9] = atomic_and(p + 9, 6); \
        old[10] = atomic_or(p + 10, 6); \
    }
KERNEL(int)
KERNEL(uint)
kernel void edges(volatile global int *p) {
    atomic_inc(p);
    atomic_dec(p + 1);
    atomic_xor(p + 2, p[2]);
    atomic_add(p + 3, 1);
}
