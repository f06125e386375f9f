// float and double to 64-bit integers, signed and unsigned, at the ends of their ranges.
// needs: f64
// kernel: run
// arg: buf:long:4
// expect: 9223372036854775807, -9223372036854775808, 4611686018427387904, -5
// arg: buf:ulong:4
// expect: 18446744073709551615, 0, 9223372036854775808, 18446742974197923840
kernel void run(global long *a, global ulong *b) {
    a[0] = convert_long_sat(1e30f);
    a[1] = convert_long_sat(-1e300);
    a[2] = convert_long(0x1p62f);
    a[3] = convert_long_rtn(-4.5);
    b[0] = convert_ulong_sat(1e30f);
    b[1] = convert_ulong_sat(-1.0f);
    b[2] = convert_ulong(0x1p63f);
    b[3] = (ulong)18446742974197923840.0f;
}
