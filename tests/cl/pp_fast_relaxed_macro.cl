// -cl-fast-relaxed-math is visible to the preprocessor.
// options: -cl-fast-relaxed-math
// kernel: run
// arg: buf:int:1
// expect: 1
kernel void run(global int *out) {
#ifdef __FAST_RELAXED_MATH__
    out[0] = 1;
#endif
}
