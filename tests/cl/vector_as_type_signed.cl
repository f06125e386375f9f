// as_type and sign: uchar to char, float's sign bit, double as two words.
// needs: f64
// kernel: run
// arg: buf:int:5
// expect: -1, -2147483648, 0, 1073741824, -3
kernel void run(global int *out) {
    out[0] = as_char((uchar)255);
    out[1] = as_int(-0.0f);
    int2 d = as_int2(2.0);
    out[2] = d.x;
    out[3] = d.y;
    out[4] = as_int(as_float(-3));
}
