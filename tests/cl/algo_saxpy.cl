// saxpy: y = a x + y.
// kernel: saxpy
// global: 6
// arg: float:2
// arg: buf:float:6=1,2,3,4,5,6
// arg: buf:float:6=10,20,30,40,50,60
// expect: 12, 24, 36, 48, 60, 72
kernel void saxpy(float a, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
