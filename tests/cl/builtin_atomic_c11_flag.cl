// atomic_flag: a spin lock around a sum that is not atomic itself; groups of one work-item take turns.
// kernel: run
// global: 50
// local: 1
// arg: buf:int:1
// expect: 0
// arg: buf:int:1
// expect: 1225
// kernel: states
// arg: buf:int:1
// expect: 0
// arg: buf:int:3
// expect: 0, 1, 0
kernel void run(volatile global atomic_flag *lock, volatile global int *sum) {
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire, memory_scope_device)) {
    }
    *sum += (int)get_global_id(0);
    atomic_flag_clear_explicit(lock, memory_order_release, memory_scope_device);
}
kernel void states(volatile global atomic_flag *flag, global int *was) {
    was[0] = atomic_flag_test_and_set(flag);
    was[1] = atomic_flag_test_and_set(flag);
    atomic_flag_clear(flag);
    was[2] = atomic_flag_test_and_set(flag);
    atomic_flag_clear(flag);
}
