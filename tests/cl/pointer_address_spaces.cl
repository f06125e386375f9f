// Pointers to all four address spaces in one kernel.
// kernel: run
// local: 1
// arg: buf:int:1=5
// arg: buf:int:1=7
// arg: buf:int:4
// expect: 5, 7, 11, 13
constant int eleven = 11;
kernel void run(global int *g, constant int *c, global int *out) {
    local int l;
    l = 13;
    local int *pl = &l;
    constant int *pc = &eleven;
    private int p = *g;
    private int *pp = &p;
    out[0] = *pp;
    out[1] = *c;
    out[2] = *pc;
    out[3] = *pl;
}
