// async_work_group_strided_copy gathers into local memory and scatters out of it.
// kernel: run
// global: 4
// local: 4
// arg: buf:short:12=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
// arg: buf:short:16=-1
// expect: 0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1
// kernel: columns
// needs: f64
// global: 2, 2
// local: 2, 2
// arg: buf:double2:4=1, 2, 3, 4, 5, 6, 7, 8
// arg: buf:double2:4
// expect: 1, 2, 0, 0, 5, 6, 0, 0
kernel void run(global const short *in, global short *out) {
    local short third[4];
    event_t e = async_work_group_strided_copy(third, in, 4, 3, 0);
    wait_group_events(1, &e);
    e = async_work_group_strided_copy(out, third, 4, 4, 0);
    wait_group_events(1, &e);
}
#ifdef cl_khr_fp64
kernel void columns(global const double2 *in, global double2 *out) {
    local double2 column[2];
    event_t e = async_work_group_strided_copy(column, in, 2, 2, 0);
    wait_group_events(1, &e);
    e = async_work_group_strided_copy(out, column, 2, 2, 0);
    wait_group_events(1, &e);
}
#endif
