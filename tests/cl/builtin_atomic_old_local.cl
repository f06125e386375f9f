// Every old atomic on local memory, with results used.
// kernel: run
// global: 4
// local: 4
// arg: buf:uint:12
// expect: 10, 4, 3, 99, 0, 77, 1, 9, 2, 15, 8, 96
kernel void run(global uint *out) {
    local uint a[12];
    uint i = get_local_id(0);
    if (i == 0)
        for (int k = 0; k < 12; k++) a[k] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(a, i + 1);
    if (i == 3) {
        atomic_inc(a + 1);
        atomic_inc(a + 1);
        a[1] += atomic_inc(a + 1) == 3 ? 0 : 100;
        atomic_add(a + 2, 1);
        out[11] = atomic_xchg(a + 3, 99) + 90 + atomic_sub(a + 4, 4) - 1;
        atomic_cmpxchg(a + 5, 5, 77);
        atomic_min(a + 6, 1);
        atomic_max(a + 7, 9);
        atomic_and(a + 8, 0);
        atomic_or(a + 8, 2);
        atomic_xor(a + 9, 6);
        atomic_dec(a + 10);
        atomic_dec(a + 10);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 1)
        for (int k = 0; k < 11; k++) out[k] = a[k];
}
