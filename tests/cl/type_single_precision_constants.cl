// With -cl-single-precision-constant a literal without suffix is a float.
// options: -cl-single-precision-constant
// kernel: run
// arg: buf:int:1
// expect: 4
kernel void run(global int *out) { out[0] = sizeof(1.0); }
