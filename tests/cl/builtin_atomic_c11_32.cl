// The C11 atomics on atomic_int and atomic_uint, default order.
// kernel: run
// arg: buf:int:10=10
// expect: 5, 15, 7, 8, 14, 4, -20, 11, 33, 10
// arg: buf:int:8
// expect: 5, 10, 10, 10, 10, 10, 10, 10
// arg: buf:uint:4=10, 10, 0, 4294967295
// expect: 10, 4294967276, 4294967295, 0
kernel void run(volatile global atomic_int *p, global int *old, volatile global atomic_uint *u) {
    atomic_store(p, 5);
    old[0] = atomic_load(p);
    old[1] = atomic_fetch_add(p + 1, 5);
    old[2] = atomic_fetch_sub(p + 2, 3);
    old[3] = atomic_fetch_and(p + 3, 12);
    old[4] = atomic_fetch_or(p + 4, 6);
    old[5] = atomic_fetch_xor(p + 5, 14);
    old[6] = atomic_fetch_min(p + 6, -20);
    old[7] = atomic_fetch_max(p + 7, 11);
    atomic_init(p + 8, 33);
    atomic_fetch_min(u, (uint)-20);
    atomic_fetch_max(u + 1, (uint)-20);
    atomic_fetch_sub(u + 2, 1);
    atomic_fetch_add(u + 3, 1);
}
