// The ids and sizes of sub-groups fit together: they tile the group in linear order.
// needs: sub_groups
// kernel: run
// global: 45
// local: 20
// arg: buf:int:45
// expect: 63
// kernel: run
// global: 6, 4
// local: 3, 4
// arg: buf:int:24
// expect: 63
kernel void run(global int *ok) {
    uint items = get_local_size(0) * get_local_size(1), most = get_max_sub_group_size();
    uint enqueued = get_enqueued_local_size(0) * get_enqueued_local_size(1);
    uint count = (items + most - 1) / most, id = get_sub_group_id(), lane = get_sub_group_local_id();
    int result = most >= 1;
    result |= (get_num_sub_groups() == count) << 1;
    result |= (id * most + lane == get_local_linear_id()) << 2;
    result |= (get_sub_group_size() == (id + 1 < count ? most : items - id * most)) << 3;
    result |= (lane < get_sub_group_size() && id < count) << 4;
    result |= (get_enqueued_num_sub_groups() == (enqueued + most - 1) / most) << 5;
    ok[get_global_linear_id()] = result;
}
