// A launch with an offset: global ids start there, local and group ids do not.
// kernel: run
// global: 4
// local: 2
// offset: 100
// arg: buf:int:4
// expect: 1000, 1011, 1120, 1131
kernel void run(global int *out) {
    size_t g = get_global_id(0);
    out[g - get_global_offset(0)] = g * 10 + get_group_id(0) * 100 + get_local_id(0);
}
