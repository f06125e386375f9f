// The sign of an int as the highest bit of a long, by shifts and by a mask, compared and as a number.
// kernel: run
// global: 4
// arg: buf:int:4=0,7,-1,-2147483648
// arg: buf:ulong:32
// expect: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 1, 18446744073709551615, 9223372036854775808, 7, 7, 1, 2, 3, 1, 18446744073709551615, 9223372036854775808, 7, 7
kernel void run(global const int *x, global ulong *y) {
    size_t i = get_global_id(0);
    long v = x[i];
    ulong u = (ulong)v;
    long2 both = (long2)(v, 0);
    y[i * 8 + 0] = u >> 63 ? 1 : 0;
    y[i * 8 + 1] = u & 0x8000000000000000ul ? 2 : 0;
    y[i * 8 + 2] = v >> 63 ? 3 : 0;
    y[i * 8 + 3] = u >> 63;
    y[i * 8 + 4] = (ulong)(v >> 63);
    y[i * 8 + 5] = u & 0x8000000000000000ul;
    y[i * 8 + 6] = (u >> 63) == 1 ? 7 : 0;
    y[i * 8 + 7] = (both >> 63).x ? 7 : 0;
}
