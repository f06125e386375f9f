// get_global_linear_id and get_local_linear_id count dimension 0 first and leave the offset out.
// options: -cl-std=CL3.0
// kernel: run
// global: 4, 2
// local: 2, 2
// offset: 5, 7
// arg: buf:int:8
// expect: 0, 1, 0, 1, 2, 3, 2, 3
kernel void run(global int *out) { out[get_global_linear_id()] = get_local_linear_id(); }
