// sub_group_broadcast, sub_group_broadcast_first and sub_group_non_uniform_broadcast of scalars.
// needs: f64
// needs: sub_groups
// kernel: run
// global: 24
// local: 24
// arg: buf:int:24
// expect: 31
kernel void run(global int *ok) {
    uint first = get_local_linear_id() - get_sub_group_local_id(), last = get_sub_group_size() - 1;
    int mine = get_local_id(0);
    int result = sub_group_broadcast(mine, 0) == (int)first;
    result |= (sub_group_broadcast(mine * 0.5f, last) == (first + last) * 0.5f) << 1;
    result |= (sub_group_broadcast((long)mine << 40, last) == (long)(first + last) << 40) << 2;
    result |= (sub_group_broadcast_first((double)mine) == (double)first) << 3;
    result |= (sub_group_non_uniform_broadcast(mine, last) == (int)(first + last)) << 4;
    ok[get_global_id(0)] = result;
}
