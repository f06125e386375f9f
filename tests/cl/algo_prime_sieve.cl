// Prime numbers by trial division, counted with an atomic.
// kernel: primes
// global: 64
// arg: buf:uchar:64
// expect: 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1,
//         0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1,
//         0, 1, 0, 0
// arg: buf:int:1
// expect: 18
kernel void primes(global uchar *is_prime, global int *count) {
    uint n = get_global_id(0);
    if (n < 2) return;
    for (uint d = 2; d * d <= n; d++)
        if (n % d == 0) return;
    is_prime[n] = 1;
    atomic_inc(count);
}
