// A compare-exchange loop: a product that many work-items build.
// options: -cl-std=CL3.0
// kernel: run
// global: 12
// arg: buf:uint:2=1,0
// expect: 531441, 12
kernel void run(global atomic_uint *p) {
    uint old = atomic_load_explicit(&p[0], memory_order_relaxed, memory_scope_device);
    while (!atomic_compare_exchange_strong_explicit(&p[0], &old, old * 3, memory_order_relaxed,
                                                    memory_order_relaxed, memory_scope_device))
        ;
    atomic_fetch_add(&p[1], 1);
}
