// A pointer chosen at run time among buffers, and among elements of private arrays.
// kernel: run
// global: 4
// arg: buf:int:4=1,2,3,4
// arg: buf:int:4=10,20,30,40
// arg: buf:int:4
// expect: 8, 22, 10, 44
kernel void run(global int *a, global int *b, global int *out) {
    int i = get_global_id(0);
    global int *p = i % 2 ? b : a;
    int x[2] = {1, 3}, y[2] = {5, 7};
    int *q = i < 2 ? y : x;
    q += i == 0;
    if (i == 1) q = x + 0, q[1] = 2, q++;
    if (i == 2) q = y + 1;
    if (i == 3) q[0] = 4, q = &x[0];
    out[i] = p[i] + *q;
}
