// saxpy: y = a x + y.
// kernel: saxpy
// global: 6
// arg: uint:6
// arg: float:2
// arg: buf:float:6=1,2,3,4,5,6
// arg: buf:float:6=10,20,30,40,50,60
// expect: 12, 24, 36, 48, 60, 72
kernel void saxpy(uint n, float a, global const float *restrict x, global float *restrict y) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
