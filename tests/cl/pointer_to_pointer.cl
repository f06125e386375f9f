// Pointers to pointers, and a pointer changed through its address.
// kernel: run
// arg: buf:int:4=1,2,3,4
// expect: 1, 20, 3, 40
void advance(global int *private *p, int n) { *p += n; }
kernel void run(global int *v) {
    global int *p = v;
    global int **pp = &p;
    advance(pp, 1);
    **pp *= 10;
    advance(&p, 2);
    *p *= 10;
}
