// A null pointer argument, NULL, and tests of pointers.
// kernel: run
// arg: null
// arg: buf:int:4
// expect: 1, 0, 1, 1
kernel void run(global int *p, global int *out) {
    global int *q = NULL;
    out[0] = !p;
    out[1] = out == 0;
    out[2] = q == p;
    out[3] = out ? 1 : 2;
}
