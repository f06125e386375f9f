// barrier and work_group_barrier, with flags and scope, order local and global memory within the group.
// kernel: run
// global: 8
// local: 8
// arg: buf:int:8
// expect: 1, 2, 3, 4, 5, 6, 7, 0
// arg: buf:int:8
// expect: 2, 3, 4, 5, 6, 7, 0, 1
kernel void run(global int *out, global int *further) {
    local int ring[8];
    size_t i = get_local_id(0);
    ring[i] = i;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    int next = ring[(i + 1) % 8];
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    ring[i] = -1;
    out[i] = next;
    work_group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_scope_device);
    further[i] = out[(i + 1) % 8];
    barrier(CLK_GLOBAL_MEM_FENCE);
}
