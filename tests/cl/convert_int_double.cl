// Integers of 32 bits, of both signs, as doubles: exactly, however they are rounded.
// needs: f64
// kernel: run
// global: 6
// arg: buf:int:6=0,1,-1,-2,-1499000000,-2147483648
// arg: buf:double:6
// expect: 0, 1, -1, -2, -1499000000, -2147483648
// arg: buf:double:6
// expect: 0, 1, 4294967295, 4294967294, 2795967296, 2147483648
kernel void run(global const int *x, global double *from_int, global double *from_uint) {
    size_t i = get_global_id(0);
    from_int[i] = convert_double_rtz(x[i]);
    from_uint[i] = convert_double((uint)x[i]);
}
