// The explicit forms with every order and scope.
// kernel: run
// global: 64
// local: 16
// arg: buf:int:8
// expect: 64, 128, 64, 192, 64, 2016, 63, 7
kernel void run(volatile global atomic_int *p) {
    int i = get_global_id(0);
    atomic_fetch_add_explicit(p, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(p + 1, 2, memory_order_acquire, memory_scope_device);
    atomic_fetch_sub_explicit(p + 2, -1, memory_order_release, memory_scope_all_svm_devices);
    atomic_fetch_add_explicit(p + 3, 3, memory_order_acq_rel, memory_scope_device);
    atomic_fetch_add_explicit(p + 4, 1, memory_order_seq_cst, memory_scope_device);
    int old = atomic_load_explicit(p + 5, memory_order_relaxed, memory_scope_device);
    while (!atomic_compare_exchange_weak_explicit(p + 5, &old, old + i, memory_order_acq_rel,
                                                  memory_order_relaxed, memory_scope_device)) {
    }
    atomic_fetch_max_explicit(p + 6, i, memory_order_relaxed, memory_scope_device);
    if (i == 5) atomic_store_explicit(p + 7, 7, memory_order_release);
}
