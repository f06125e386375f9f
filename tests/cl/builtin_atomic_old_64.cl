// The atomics of OpenCL 1.x on 64 bits: each gives the old value and leaves the new one.
// needs: i64_atomics
// kernel: of_long
// arg: buf:long:11=10
// expect: 15, 7, -3, 11, 9, 77, 10, -20, 10, 2, 14
// arg: buf:long:11
// expect: 10
// kernel: of_ulong
// arg: buf:ulong:11=10
// expect: 15, 7, 18446744073709551613, 11, 9, 77, 10, 10, 18446744073709551596, 2, 14
// arg: buf:ulong:11
// expect: 10
// kernel: edges
// arg: buf:long:4=9223372036854775807, -9223372036854775808, 4294967296, -1
// expect: -9223372036854775808, 9223372036854775807, 0, 0
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define KERNEL(type) \
    kernel void of_##type(global type *p, global type *old) { \
        old[0] = atom_add(p, 5); \
        old[1] = atom_sub(p + 1, 3); \
        old[2] = atom_xchg(p + 2, (type)-3); \
        old[3] = atom_inc(p + 3); \
        old[4] = atom_dec(p + 4); \
        old[5] = atom_cmpxchg(p + 5, 10, 77); \
        old[6] = atom_cmpxchg(p + 6, 11, 77); \
        old[7] = atom_min(p + 7, (type)-20); \
        old[8] = atom_max(p + 8, (type)-20); \
        old[9] = atom_and(p + 9, 6); \
        old[10] = atom_or(p + 10, 6); \
    }
KERNEL(long)
KERNEL(ulong)
kernel void edges(volatile global long *p) {
    atom_inc(p);
    atom_dec(p + 1);
    atom_xor(p + 2, p[2]);
    atom_add(p + 3, 1);
}
