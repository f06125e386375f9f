// The address of a vector, and its components through a pointer to the element type.
// kernel: run
// arg: buf:int4:2=1,2,3,4,5,6,7,8
// expect: 1, 2, 30, 4, 5, 6, 7, 80
kernel void run(global int4 *v) {
    global int *p = (global int *)v;
    p[2] = 30;
    *(p + 7) *= 10;
}
