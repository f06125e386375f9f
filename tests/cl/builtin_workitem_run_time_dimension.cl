// The dimension may be known at run time only, and differ among work-items.
// kernel: run
// global: 3, 4
// local: 3, 2
// arg: buf:uint4:12
// expect: 0, 3, 3, 1, 0, 4, 2, 2, 2, 3, 3, 1, 1, 4, 2, 2, 1, 3, 3, 1, 1, 4, 2, 2, 0, 3, 3, 1, 2, 4, 2, 2,
//   2, 3, 3, 1, 3, 4, 2, 2, 1, 3, 3, 1, 3, 4, 2, 2
kernel void run(global uint4 *out) {
    size_t i = get_global_linear_id();
    uint d = i % 2;
    out[i] = (uint4)(get_global_id(d), get_global_size(d), get_local_size(d), get_num_groups(d));
}
