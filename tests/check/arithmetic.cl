// Arithmetic that OpenCL C leaves undefined, and values beside those.
// kernel: by_zero, not_by_zero
// global: 4
// arg: buf:int:4=8
// arg: buf:int:4=2,1,0,4
// kernel: least
// global: 2
// arg: buf:int:2=-2147483648
// arg: buf:int:2=1,-1
// kernel: remainder
// global: 2
// arg: buf:uint:2=5
// arg: buf:uint:2=3,0
// kernel: too_large, saturated
// global: 2
// arg: buf:float:2=1,3e9
// arg: buf:int:2
// kernel: large_enough
// global: 2
// arg: buf:float:2=1,2e9
// arg: buf:int:2
// kernel: negative
// global: 2
// arg: buf:float:2=-0.5,-2
// arg: buf:uint:2
// kernel: not_a_number
// global: 2
// arg: buf:float:2=1,nan
// arg: buf:int:2
kernel void by_zero(global int *x, global const int *y) {
    int i = get_global_id(0);
    x[i] = x[i] / y[i]; // finds: division
}
kernel void not_by_zero(global int *x, global const int *y) {
    int i = get_global_id(0);
    if (y[i]) x[i] = x[i] / y[i];
}
kernel void least(global int *x, global const int *y) {
    int i = get_global_id(0);
    x[i] = x[i] / y[i]; // finds: division
}
kernel void remainder(global uint *x, global const uint *y) {
    int i = get_global_id(0);
    x[i] = x[i] % y[i]; // finds: division
}
kernel void too_large(global const float *x, global int *y) {
    int i = get_global_id(0);
    y[i] = (int)x[i]; // finds: conversion
}
kernel void large_enough(global const float *x, global int *y) {
    int i = get_global_id(0);
    y[i] = (int)x[i];
}
kernel void saturated(global const float *x, global int *y) {
    int i = get_global_id(0);
    y[i] = convert_int_sat(x[i]);
}
kernel void negative(global const float *x, global uint *y) {
    int i = get_global_id(0);
    y[i] = convert_uint(x[i]); // finds: conversion
}
kernel void not_a_number(global const float *x, global int *y) {
    int i = get_global_id(0);
    y[i] = convert_int_rte(x[i]); // finds: conversion
}
