// An assignment where a comparison was meant.
// warning: 8: assignment
// kernel: run
// arg: buf:int:1
// expect: 2
kernel void run(global int *p) {
    int x = 0;
    if (x = 2) p[0] = x;
}
