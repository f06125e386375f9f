// work_group_broadcast in one, two and three dimensions, of several types.
// kernel: one
// needs: f64
// global: 8
// local: 4
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// arg: buf:int:8
// expect: 3, 3, 3, 3, 7, 7, 7, 7
// arg: buf:double:8
// expect: 0.5, 0.5, 0.5, 0.5, 2.5, 2.5, 2.5, 2.5
// kernel: two
// global: 4, 2
// local: 2, 2
// arg: buf:ulong:8
// expect: 10, 10, 12, 12, 10, 10, 12, 12
// kernel: three
// global: 2, 2, 2
// local: 2, 2, 2
// arg: buf:float:8
// expect: 0.75
#ifdef cl_khr_fp64
kernel void one(global const int *in, global int *out, global double *wide) {
    size_t i = get_global_id(0);
    out[i] = work_group_broadcast(in[i], 2);
    wide[i] = work_group_broadcast(in[i] * 0.5, 0);
}
#endif
kernel void two(global ulong *out) {
    ulong mine = get_global_id(1) * 10 + get_global_id(0);
    out[get_global_linear_id()] = work_group_broadcast(mine, 0, 1);
}
kernel void three(global float *out) {
    out[get_global_linear_id()] = work_group_broadcast((float)get_global_linear_id() * 0.125f, 0, 1, 1);
}
