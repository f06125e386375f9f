// y = a*x + y, one element a work-item: the smallest useful kernel, bound by memory bandwidth.
kernel void saxpy(uint n, float a, global const float *restrict x, global float *restrict y) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
