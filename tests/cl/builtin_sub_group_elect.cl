// sub_group_elect chooses one work-item of each sub-group, the first that runs.
// needs: sub_groups
// kernel: run
// global: 40
// local: 20
// arg: buf:int:3
// expect: 0, 0, 2
kernel void run(global int *out) {
    local int chosen;
    if (get_local_id(0) == 0) chosen = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int elected = sub_group_elect();
    if (elected) atomic_inc(&chosen);
    if ((elected != 0) != (get_sub_group_local_id() == 0)) atomic_inc(out);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        if (chosen != (int)get_num_sub_groups()) atomic_inc(out + 1);
        atomic_inc(out + 2);
    }
}
