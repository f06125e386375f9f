// get_group_id and get_num_groups; a last group that is not full counts.
// kernel: run
// global: 7, 2
// local: 3, 1
// arg: buf:uint:14
// expect: 3200, 3200, 3200, 3201, 3201, 3201, 3202, 3210, 3210, 3210, 3211, 3211, 3211, 3212
kernel void run(global uint *out) {
    uint counts = get_num_groups(0) * 10 + get_num_groups(1);
    uint ids = get_group_id(1) * 10 + get_group_id(0);
    out[get_global_id(1) * 7 + get_global_id(0)] = counts * 100 + ids;
}
