// #error stops the compilation with its text.
// error: 4: kernels need N
#ifndef N
#error kernels need N
#endif
kernel void run(global int *out) { out[0] = 1; }
