// What goes through a float and back has lost its last bits, also where vectors of eight do: gcc 12 takes both conversions for none.
// needs: f64
// kernel: eight
// global: 1
// arg: buf:double:8=1.0000000001, 2.0000000001, 3.0000000001, 4.0000000001, 5.0000000001, 6.0000000001, 7.0000000001, 8.0000000001
// arg: buf:double:8
// expect: 1, 2, 3, 4, 5, 6, 7, 8
// kernel: halves
// global: 1
// arg: buf:double:8=1.00048828125000001, 1.0004882812500002, 1.0004882812500004, 1.0004882812500007, 1.00048828125001,
//   1.0004882812501, 1.000488281251, 1.00048828126
// arg: buf:half:8
// expect: 1, 1.0009765625, 1.0009765625, 1.0009765625, 1.0009765625, 1.0009765625, 1.0009765625, 1.0009765625
kernel void eight(global const double *in, global double *out) {
    double8 v = vload8(0, in);
    vstore8(convert_double8(convert_float8(v)), 0, out);
}
// 1 + 2^-11 is in the middle of two halves; what is above it by less than a float tells goes up.
kernel void halves(global const double *in, global half *out) {
    half8 h = convert_half8(vload8(0, in));
    vstore8(h, 0, out);
}
