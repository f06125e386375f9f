// double to float rounds to nearest even; explicit modes round away from or towards zero.
// needs: f64
// kernel: run
// arg: double:0.1
// arg: buf:uint:4
// expect: 1036831949, 1036831949, 1036831948, 0x7f800000
// arg: buf:double:2
// expect: 0.10000000149011612, 3
kernel void run(double x, global uint *bits, global double *out) {
    bits[0] = as_uint((float)x);
    bits[1] = as_uint(convert_float_rtp(x));
    bits[2] = as_uint(convert_float_rtz(x));
    bits[3] = as_uint(convert_float(1e300));
    out[0] = convert_double((float)x);
    out[1] = convert_double_rte(3);
}
