// Atomics on local memory, one counter for each group.
// kernel: run
// global: 16
// local: 4
// arg: buf:int:4
// expect: 10, 26, 42, 58
kernel void run(global int *out) {
    local int sum;
    if (get_local_id(0) == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, (int)get_global_id(0) + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}
