// Keywords with and without underscores mean the same.
// kernel: a
// arg: buf:int:1=1
// expect: 2
// kernel: b
// arg: buf:int:1=1
// expect: 2
__kernel void a(__global int *p) { __private int x = *p; *p = x + 1; }
kernel void b(global int *p) { private int x = *p; *p = x + 1; }
