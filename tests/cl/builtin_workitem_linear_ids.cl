// get_global_linear_id leaves the offset out; get_local_linear_id counts within the group.
// kernel: run
// global: 4, 2, 2
// local: 2, 2, 1
// offset: 10, 20, 30
// arg: buf:ulong:16
// expect: 0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3
kernel void run(global ulong *out) {
    out[get_global_linear_id()] = get_local_linear_id();
}
