// In the last, smaller group get_local_size differs from get_enqueued_local_size.
// kernel: run
// global: 5, 3
// local: 4, 2
// arg: buf:uint4:15
// expect: 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 1, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2,
//   4, 2, 4, 2, 1, 2, 4, 2, 4, 1, 4, 2, 4, 1, 4, 2, 4, 1, 4, 2, 4, 1, 4, 2, 1, 1, 4, 2
kernel void run(global uint4 *out) {
    out[get_global_linear_id()] = (uint4)(get_local_size(0), get_local_size(1), get_enqueued_local_size(0),
                                          get_enqueued_local_size(1));
}
