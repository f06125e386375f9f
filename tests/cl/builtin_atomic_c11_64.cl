// The C11 atomics on atomic_long, atomic_ulong and atomic_double.
// needs: f64
// needs: i64_atomics
// kernel: run
// arg: buf:long:8=8589934592
// expect: 5, 8589934597, 8589934589, 0, 8589934598, 3, -1, 12884901888
// arg: buf:long:8
// expect: 5, 8589934592, 8589934592, 8589934592, 8589934592, 8589934592, 8589934592, 8589934592
// arg: buf:ulong:2=1
// expect: 1, 18446744073709551615
// arg: buf:double:1=1.5
// expect: -2.5
// arg: buf:double:2
// expect: 1.5, -2.5
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void run(volatile global atomic_long *p, global long *old, volatile global atomic_ulong *u,
                volatile global atomic_double *d, global double *was) {
    atomic_store(p, 5);
    old[0] = atomic_load(p);
    old[1] = atomic_fetch_add(p + 1, 5);
    old[2] = atomic_fetch_sub(p + 2, 3);
    old[3] = atomic_fetch_and(p + 3, 7);
    old[4] = atomic_fetch_or(p + 4, 6);
    old[5] = atomic_fetch_xor(p + 5, 8589934595);
    old[6] = atomic_fetch_min(p + 6, -1);
    old[7] = atomic_fetch_max(p + 7, 12884901888);
    atomic_fetch_min(u, ~0ul);
    atomic_fetch_max(u + 1, ~0ul);
    was[0] = atomic_exchange(d, -2.5);
    was[1] = atomic_load(d);
}
