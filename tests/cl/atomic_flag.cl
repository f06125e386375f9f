// atomic_flag: test-and-set succeeds once.
// options: -cl-std=CL3.0
// kernel: run
// global: 20
// local: 20
// arg: buf:int:1
// expect: 1
// arg: buf:int:1
// expect: 0
kernel void run(global atomic_int *winners, global int *after) {
    local atomic_flag flag;
    if (get_local_id(0) == 0) atomic_flag_clear(&flag);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!atomic_flag_test_and_set(&flag)) atomic_fetch_add(winners, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_flag_clear(&flag);
        *after = atomic_flag_test_and_set(&flag);
    }
}
