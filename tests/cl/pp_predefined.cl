// Macros that the specification predefines.
// kernel: run
// arg: buf:int:10
// expect: 1, 1, 1, 1, 1, 8, 127, -128, 65535, 2147483647
kernel void run(global int *out) {
#ifdef __OPENCL_VERSION__
    out[0] = __OPENCL_VERSION__ >= 120;
#endif
    out[1] = CL_VERSION_1_0 == 100 && CL_VERSION_1_1 == 110 && CL_VERSION_1_2 == 120;
    out[2] = __OPENCL_C_VERSION__ >= 120;
#ifdef __ENDIAN_LITTLE__
    out[3] = __ENDIAN_LITTLE__;
#endif
#if !defined(__FAST_RELAXED_MATH__)
    out[4] = 1;
#endif
    out[5] = CHAR_BIT;
    out[6] = SCHAR_MAX;
    out[7] = CHAR_MIN;
    out[8] = USHRT_MAX;
    out[9] = INT_MAX;
}
