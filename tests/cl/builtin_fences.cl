// mem_fence, read_mem_fence, write_mem_fence and atomic_work_item_fence of every kind of memory compile and order
// the writes of one work-item.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 6, 6, 6, 6
kernel void run(global int *out) {
    local int shared[4];
    size_t i = get_local_id(0);
    shared[i] = 1;
    mem_fence(CLK_LOCAL_MEM_FENCE);
    shared[i] += 1;
    read_mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[i] = shared[i];
    write_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[i] += 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    out[i] += 1;
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    out[i] += 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_item);
    out[i] += 1;
}
