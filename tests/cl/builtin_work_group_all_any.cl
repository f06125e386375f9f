// work_group_all and work_group_any, also in a smaller last group.
// kernel: run
// global: 10
// local: 4
// arg: buf:int:10=1, 5, -1, 2, 0, 0, 0, 0, 7, 0
// arg: buf:int:10
// expect: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0
// arg: buf:int:10
// expect: 1, 1, 1, 1, 0, 0, 0, 0, 1, 1
kernel void run(global const int *in, global int *every, global int *some) {
    size_t i = get_global_id(0);
    every[i] = work_group_all(in[i]) != 0;
    some[i] = work_group_any(in[i]) != 0;
}
