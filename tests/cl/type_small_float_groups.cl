// Scalars of small floats go to functions of groups as float; values, shuffled or chosen, come back as they were.
// kernel: run
// global: 8
// local: 8
// arg: buf:bf16:8=1,2,3,4,5,6,7,0x1.02p8
// arg: buf:float:8
// expect: 286
// arg: buf:bf16:8
// expect: 3
// arg: buf:bf16:8
// expect: 1, 3, 6, 10, 15, 21, 28, 286
kernel void run(global const qn_bf16 *in, global float *sum, global qn_bf16 *third, global qn_bf16 *scan) {
    size_t i = get_global_id(0);
    sum[i] = work_group_reduce_add(in[i]);
    third[i] = work_group_broadcast(in[i], 2);
    scan[i] = work_group_scan_inclusive_add(in[i]);
}
