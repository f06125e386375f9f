// Loads move across what a sub-group's work-items exchange, but not across its barrier.
// needs: sub_groups
// kernel: across_shuffles
// global: 32
// local: 32
// arg: buf:int:8=9,9,9,9,9,2,9,9
// arg: buf:int:32
// expect: 240
// kernel: across_barriers
// global: 32
// local: 32
// arg: buf:int:32
// expect: 120
kernel void across_shuffles(global const int *x, global int *out) {
    const int lane = get_sub_group_local_id();
    int s = lane;
    for (int i = 0; i < 4; i++) s += sub_group_shuffle(s, 3) * x[5];
    out[get_global_id(0)] = s - lane;
}

// Each round, every work-item of a sub-group reads what its first one has written before the barrier.
kernel void across_barriers(global int *out) {
    local int last[32];
    const uint place = get_sub_group_id();
    int s = 0;
    for (int i = 0; i < 16; i++) {
        if (get_sub_group_local_id() == 0) last[place] = i;
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        s += last[place];
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = s;
}
