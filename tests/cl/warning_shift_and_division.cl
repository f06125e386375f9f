// A constant shift by the width, and a division by a constant zero.
// warning: 7: shift
// warning: 8: zero
// kernel: run
// arg: buf:int:2=1
kernel void run(global int *p) {
    p[0] = p[0] << 32;
    p[1] = p[1] / 0; // quern-check: allow division
}
