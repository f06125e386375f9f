// Saturating conversions between integers of different width and sign.
// kernel: run
// arg: int:-5
// arg: uint:4294967295
// arg: long:-9000000000000000000
// arg: ulong:18446744073709551615
// arg: buf:long:9
// expect: 0, 2147483647, -2147483648, 9223372036854775807, 0, 32767, 251, 0, 255
kernel void run(int a, uint b, long c, ulong d, global long *out) {
    out[0] = convert_uint_sat(a);
    out[1] = convert_int_sat(b);
    out[2] = convert_int_sat(c);
    out[3] = convert_long_sat(d);
    out[4] = convert_ulong_sat(c);
    out[5] = convert_short_sat(d);
    out[6] = convert_uchar(a);
    out[7] = convert_uchar_sat(a);
    out[8] = convert_uchar_sat(b);
}
