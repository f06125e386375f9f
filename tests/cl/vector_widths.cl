// 2, 3, 4, 8 and 16 components: alignment in memory, and that three take the space of four.
// kernel: run
// global: 3
// arg: buf:int2:3=1,2
// arg: buf:int3:3=1,2,3
// arg: buf:int8:3=1,2,3,4,5,6,7,8
// arg: buf:int16:3=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
// arg: buf:int:3
// expect: 29, 30, 31
kernel void run(global int2 *a, global int3 *b, global int8 *c, global int16 *d, global int *out) {
    size_t i = get_global_id(0);
    out[i] = a[i].y + b[i].z + c[i].s7 + d[i].sf + i;
}
