// sub_group_all and any, ballot, elect.
// needs: sub_groups
// options: -cl-std=CL3.0
// kernel: run
// global: 16
// local: 16
// arg: buf:int:16
// expect: 31
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_non_uniform_vote : enable
kernel void run(global int *out) {
    uint i = get_sub_group_local_id(), n = get_sub_group_size();
    int good = 0;
    good |= sub_group_all(i < n) != 0;
    good |= (sub_group_all(i > 0) == 0) << 1;
    good |= (sub_group_any(i == 0) != 0) << 2;
    uint4 votes = sub_group_ballot(i % 2 == 0);
    good |= ((votes.x & 0xf) == (n == 1 ? 1 : n == 2 ? 1 : 5)) << 3;
    good |= (sub_group_elect() == (i == 0)) << 4;
    out[get_global_id(0)] = good;
}
