// A required size of sub-groups holds in every form of the kernel; the last sub-group of a work-group is smaller.
// needs: sub_groups
// skip: cuda its sub-groups have 32 work-items
// skip: vulkan a size that not all drivers have
// skip: opencl a size that not all drivers have
// kernel: run
// global: 20
// local: 20
// arg: buf:int:20
// expect: 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 70, 70, 70, 70
__attribute__((intel_reqd_sub_group_size(16))) kernel void run(global int *out) {
    int i = get_local_id(0);
    out[i] = sub_group_reduce_add(i);
}
