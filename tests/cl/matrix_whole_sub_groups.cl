// Matrix fragments are held by whole sub-groups: a launch with others is refused, also where only the last work-group has one.
// skip: vulkan its sub-groups may have fewer than 32 work-items
// skip: webgpu its sub-groups may have fewer than 32 work-items
// skip: opencl its sub-groups may have more than 32 work-items
// kernel: run
// global: 24
// local: 24
// arg: buf:int:32
// fails: QN_ERROR_LAUNCH_SIZE whole sub-groups of 32 work-items; local size 24,1,1
// kernel: run
// global: 72
// local: 64
// arg: buf:int:32
// fails: QN_ERROR_LAUNCH_SIZE global size 72,1,1
// kernel: run
// global: 16, 6
// local: 16, 4
// arg: buf:int:32
// expect: 8
kernel void run(global int *out) {
    qn_matrix(float, 16, 16, qn_use_accumulator) m;
    qn_matrix_fill(&m, 1);
    if (get_group_id(1) == 1) out[get_local_linear_id()] = qn_matrix_length(&m);
}
