// Shuffles: by index, xor, up and down.
// needs: sub_groups
// skip: opencl its drivers lack sub-groups, and || parts the work-items, which local memory cannot serve
// options: -cl-std=CL3.0
// kernel: run
// global: 32
// local: 32
// arg: buf:int:32
// expect: 15
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
kernel void run(global int *out) {
    uint i = get_sub_group_local_id(), n = get_sub_group_size();
    int good = 0;
    good |= sub_group_shuffle(i * 2, n - 1 - i) == (n - 1 - i) * 2;
    good |= (n == 1 || sub_group_shuffle_xor(i, 1u) == (i ^ 1)) << 1;
    uint up = sub_group_shuffle_up(i, 1u), down = sub_group_shuffle_down(i, 1u);
    good |= (i == 0 || up == i - 1) << 2;
    good |= (i == n - 1 || down == i + 1) << 3;
    out[get_global_id(0)] = good;
}
