// Greatest common divisors and modular powers in 64 bits.
// kernel: run
// global: 4
// arg: buf:ulong:4=1071,1000000007,600851475143,64
// arg: buf:ulong:4=462,998244353,1234169,48
// arg: buf:ulong:4
// expect: 21, 1, 1234169, 16
// arg: buf:ulong:4
// expect: 757184, 96321, 594432, 550165
ulong gcd(ulong a, ulong b) {
    while (b) {
        ulong t = a % b;
        a = b;
        b = t;
    }
    return a;
}
ulong power(ulong x, ulong n, ulong m) {
    ulong r = 1;
    for (x %= m; n; n >>= 1) {
        if (n & 1) r = r * x % m;
        x = x * x % m;
    }
    return r;
}
kernel void run(global ulong *a, global ulong *b, global ulong *divisors, global ulong *powers) {
    size_t i = get_global_id(0);
    divisors[i] = gcd(a[i], b[i]);
    powers[i] = power(a[i], b[i], 1000003);
}
