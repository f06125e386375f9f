// -w keeps quiet.
// options: -w
// kernel: run
// arg: buf:int:1=3
// expect: 3
kernel void run(global int *p) { p[0] + 1; }
