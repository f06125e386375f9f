// reqd_work_group_size fixes the local size; left out at launch it is taken, another one is refused.
// kernel: run
// global: 8
// arg: buf:int:8
// expect: 0, 1, 2, 3, 0, 1, 2, 3
// kernel: run
// global: 8
// local: 2
// arg: buf:int:8
// fails: QN_ERROR_LAUNCH_SIZE 4
__attribute__((reqd_work_group_size(4, 1, 1))) kernel void run(global int *out) {
    out[get_global_id(0)] = get_local_id(0);
}
