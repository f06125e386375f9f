// C11 atomics: load, store, exchange, fetch_*, with and without order and scope.
// options: -cl-std=CL3.0
// kernel: run
// global: 50
// arg: buf:int:4=0,0,0x7f,9
// expect: 50, 1225, 0x40, 77
kernel void run(global atomic_int *p) {
    int g = get_global_id(0);
    atomic_fetch_add(&p[0], 1);
    atomic_fetch_add_explicit(&p[1], g, memory_order_relaxed, memory_scope_device);
    atomic_fetch_and_explicit(&p[2], 0x40 | g, memory_order_acq_rel, memory_scope_device);
    atomic_fetch_and(&p[2], 0x40);
    if (g == 0) {
        int old = atomic_load(&p[3]);
        atomic_store(&p[3], old + 1);
        atomic_exchange_explicit(&p[3], 67 + atomic_load_explicit(&p[3], memory_order_acquire),
                                 memory_order_seq_cst, memory_scope_device);
    }
}
