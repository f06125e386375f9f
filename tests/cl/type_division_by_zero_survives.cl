// An integer divided by zero is as divided by one, and the least number by -1 wraps: of every type, constant or not.
// kernel: run
// global: 3
// arg: buf:int:3=5, -2147483648, 7
// arg: buf:int:3=0, -1, 7
// arg: buf:int:12
// expect: 5, 0, 5, 0, -2147483648, 0, -2147483648, 2147483647, 1, 0, 1, 0
// arg: buf:uchar:12
// expect: 5, 0, 5, 0, 128, 0, 0, 0, 1, 0, 1, 0
// arg: buf:long:12
// expect: 5, 0, 5, 0, -9223372036854775808, 0, -9223372036854775808, 9223372036854775807, 1, 0, 1, 0
// kernel: constants
// arg: buf:int:4
// expect: 7, 0, -2147483648, 0
// arg: buf:short:4=-32768,5,-32768,9
// arg: buf:short:4=-1,0,0,2
// arg: buf:short:4
// expect: -32768, 5, -32768, 4
// arg: buf:short:4
// expect: 0, 0, 0, 1
kernel void run(global int *a, global int *b, global int4 *out, global uchar4 *bytes, global long4 *longs) {
    int i = get_global_id(0);
    int x = a[i], y = b[i];
    uint u = x, v = y == -1 ? 0 : y;
    out[i] = (int4)(x / y, x % y, u / v, y == -1 ? ~x : u % v); // quern-check: allow division
    char c = x >> (y == -1 ? 24 : 0), d = y;
    uchar e = c, f = y == -1 ? 0 : y;
    char4 s = (char4)(c, c, 0, 0) / (char4)(d, d, 1, 1); // quern-check: allow division
    uchar4 t = (uchar4)(e, e, 0, 0) / (uchar4)(f); // quern-check: allow division
    bytes[i] = (uchar4)(c / d + s.x - s.y, c % d, e / f * (y != -1) + t.x - t.y, e % f); // quern-check: allow division
    long l = y == -1 ? LONG_MIN : x, m = y;
    ulong p = l, q = v;
    long2 w = (long2)(l, x) / (long2)(m, y == -1 ? 1 : y); // quern-check: allow division
    longs[i] = (long4)(w.x, l % m, p / q, y == -1 ? ~l : p % q); // quern-check: allow division
}

// Known when it is compiled; in narrow vectors.
kernel void constants(global int *out, global short4 *x, global short4 *y, global short4 *quotients, global short4 *rests) {
    int seven = 7, zero = 0, least = INT_MIN, minus = -1;
    out[0] = seven / zero; // quern-check: allow division
    out[1] = seven % zero; // quern-check: allow division
    out[2] = least / minus; // quern-check: allow division
    out[3] = least % minus; // quern-check: allow division
    quotients[0] = x[0] / y[0]; // quern-check: allow division
    rests[0] = x[0] % y[0]; // quern-check: allow division
}
