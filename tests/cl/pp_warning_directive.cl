// #warning does not.
// warning: 6: mind the gap
// kernel: run
// arg: buf:int:1
// expect: 1
#warning mind the gap
kernel void run(global int *out) { out[0] = 1; }
