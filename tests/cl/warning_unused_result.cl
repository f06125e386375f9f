// The result of a call without effects is dropped.
// warning: 7: unused
// warning: 8: unused
// kernel: run
// arg: buf:float:1=4
kernel void run(global float *p) {
    sqrt(p[0]);
    p[0] + 1;
}
