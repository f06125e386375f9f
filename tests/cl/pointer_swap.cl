// Values exchanged through private pointers; two pointers to the same variable.
// kernel: run
// arg: buf:int:3
// expect: 2, 1, 7
void swap(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}
kernel void run(global int *out) {
    int x = 1, y = 2;
    swap(&x, &y);
    out[0] = x;
    out[1] = y;
    int *p = &x, *q = &x;
    *p = 3;
    *q += 4;
    out[2] = *p;
}
