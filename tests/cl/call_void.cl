// Functions without a result, without parameters, with an early return.
// kernel: run
// arg: buf:int:2
// expect: 5, 0
void set(global int *p, int v) {
    if (v < 0) return;
    *p = v;
}
int five(void) { return 5; }
kernel void run(global int *out) {
    set(out, five());
    set(out + 1, -1);
}
