// Pointers: addition, difference, comparison, increment, indexing from both sides.
// kernel: run
// arg: buf:int:8=0,10,20,30,40,50,60,70
// arg: buf:int:8
// expect: 30, 5, 1, 10, 20, 60, 20, 70
kernel void run(global int *p, global int *out) {
    global int *q = p + 5;
    out[0] = *(p + 3);
    out[1] = q - p;
    out[2] = p < q && q >= p && p != q;
    global int *r = p;
    r++;
    out[3] = *r++;
    out[4] = *r;
    out[5] = q[1];
    out[6] = 2 [p];
    out[7] = *(&p[8] - 1);
}
