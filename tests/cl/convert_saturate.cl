// convert_T_sat: values outside of the target's range become its ends; NaN becomes 0.
// kernel: run
// arg: buf:float:6=300.7, -300.7, 127.9, -0.9, inf, nan
// arg: buf:int:6
// expect: 127, -128, 127, 0, 127, 0
// arg: buf:int:6
// expect: 255, 0, 127, 0, 255, 0
kernel void run(global float *in, global int *narrow, global int *unsigned_narrow) {
    for (int i = 0; i < 6; i++) {
        narrow[i] = convert_char_sat(in[i]);
        unsigned_narrow[i] = convert_uchar_sat(in[i]);
    }
}
