// atomic_exchange and atomic_compare_exchange, strong and weak: on failure the expected value is updated.
// kernel: run
// arg: buf:int:3=10
// expect: 20, 30, 10
// arg: buf:int:7
// expect: 10, 1, 10, 0, 10, 1, 10
// arg: buf:float:1=1.5
// expect: 2.5
// arg: buf:float:2
// expect: 1.5, 2.5
kernel void run(volatile global atomic_int *p, global int *seen, volatile global atomic_float *f,
                global float *floats) {
    seen[0] = atomic_exchange(p, 20);
    int expected = 10;
    seen[1] = atomic_compare_exchange_strong(p + 1, &expected, 30);
    seen[2] = expected;
    expected = 11;
    seen[3] = atomic_compare_exchange_strong(p + 2, &expected, 30);
    seen[4] = expected;
    expected = 9;
    do expected = 9;
    while (atomic_compare_exchange_weak(p + 2, &expected, 30));
    seen[5] = expected == 10;
    seen[6] = atomic_load(p + 2);
    floats[0] = atomic_exchange(f, 2.5f);
    floats[1] = atomic_load(f);
}
