// sub_group_all and sub_group_any: only the last work-item of the group differs.
// needs: sub_groups
// skip: opencl its drivers lack sub-groups, and && parts the work-items, which local memory cannot serve
// kernel: run
// global: 21
// local: 21
// arg: buf:int:21
// expect: 7
kernel void run(global int *ok) {
    int last = get_local_id(0) == 20, with_last = get_sub_group_id() == get_num_sub_groups() - 1;
    int result = (sub_group_all(!last) != 0) == !with_last;
    result |= ((sub_group_any(last) != 0) == with_last) << 1;
    result |= (sub_group_all(1) != 0 && sub_group_any(0) == 0) << 2;
    ok[get_global_id(0)] = result;
}
