// get_work_dim is the number of dimensions that the launch gave, also where a size is 1.
// kernel: run
// global: 2
// arg: buf:uint:1
// expect: 1
// kernel: run
// global: 2, 2
// arg: buf:uint:1
// expect: 2
// kernel: run
// global: 1, 2, 2
// arg: buf:uint:1
// expect: 3
kernel void run(global uint *out) {
    if (get_global_linear_id() == 0) *out = get_work_dim();
}
