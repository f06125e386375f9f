// Many work-items on one place: nothing is lost, in global and in local memory.
// kernel: run
// global: 1000
// local: 100
// arg: buf:int:9=0, 0, 5000, 0, -1, 0, 1000000, -1000000, 0
// expect: 1000, 499500, 4000, 1023, -1024, 0, 0, 999, 10000
kernel void run(volatile global int *p) {
    local int count;
    int i = get_global_id(0);
    if (get_local_id(0) == 0) count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(p);
    atomic_add(p + 1, i);
    atomic_dec(p + 2);
    atomic_or(p + 3, i);
    atomic_and(p + 4, ~i);
    atomic_xor(p + 5, i);
    atomic_min(p + 6, i);
    atomic_max(p + 7, i);
    atomic_add(&count, 10);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atomic_add(p + 8, count);
}
