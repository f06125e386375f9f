// sub_group_barrier orders local memory within a sub-group.
// needs: sub_groups
// kernel: run
// global: 32
// local: 32
// arg: buf:int:32
// expect: 1
kernel void run(global int *ok) {
    local int ring[32];
    int i = get_local_id(0), lane = get_sub_group_local_id(), size = get_sub_group_size();
    int next = i - lane + (lane + 1) % size, sum = 0;
    for (int round = 0; round < 3; round++) {
        ring[i] = i * 10 + round;
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        sum += ring[next];
        sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);
    }
    ok[i] = sum == next * 30 + 3;
}
