// C11 atomics on local memory, ordered within the work-group.
// kernel: run
// global: 32
// local: 16
// arg: buf:int:2
// expect: 136, 392
kernel void run(global int *out) {
    local atomic_int sum;
    if (get_local_id(0) == 0) atomic_init(&sum, 16);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&sum, (int)get_global_id(0), memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 1)
        out[get_group_id(0)] = atomic_load_explicit(&sum, memory_order_acquire, memory_scope_work_group);
}
