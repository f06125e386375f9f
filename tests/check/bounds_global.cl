// Accesses of buffers: one past the end, before the beginning, of a vector, by a cast, with a stride; and twins that stay within.
// kernel: past_end
// global: 9
// arg: buf:int:8
// arg: int:8
// kernel: up_to_end
// global: 9
// arg: buf:int:8
// expect: 0, 1, 2, 3, 4, 5, 6, 7
// arg: int:8
// kernel: before_begin
// global: 8
// arg: buf:int:8=1,2,3,4,5,6,7,8
// arg: buf:int:8
// expect: 0, 1, 2, 3, 4, 5, 6, 7
// kernel: from_begin
// global: 8
// arg: buf:int:8=1,2,3,4,5,6,7,8
// arg: buf:int:8
// kernel: vector_tail
// global: 3
// arg: buf:float:10
// kernel: vector_whole
// global: 2
// arg: buf:float:10
// kernel: wide_cast, narrow_cast
// global: 4
// arg: buf:int:4
// kernel: strided
// global: 4
// arg: buf:int:12
// arg: int:4
// kernel: strided
// global: 4
// arg: buf:int:13
// arg: int:4
// kernel: unused
// global: 5
// arg: buf:int:4
kernel void past_end(global int *x, int n) {
    int i = get_global_id(0);
    if (i <= n) x[i] = i; // finds: out-of-bounds
}
kernel void up_to_end(global int *x, int n) {
    int i = get_global_id(0);
    if (i < n) x[i] = i;
}
kernel void before_begin(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x[i - 1]; // finds: out-of-bounds
}
kernel void from_begin(global const int *x, global int *y) {
    int i = get_global_id(0);
    if (i > 0) y[i] = x[i - 1];
}
kernel void vector_tail(global float *x) {
    int i = get_global_id(0);
    vstore4(vload4(i, x) + 1, i, x); // finds: out-of-bounds, out-of-bounds
}
kernel void vector_whole(global float *x) {
    int i = get_global_id(0);
    vstore4(vload4(i, x) + 1, i, x);
}
kernel void wide_cast(global int *x) {
    ((global long *)x)[get_global_id(0)] = 1; // finds: out-of-bounds
}
kernel void narrow_cast(global int *x) {
    ((global short *)x)[get_global_id(0)] = 1;
}
kernel void strided(global int *x, int stride) {
    x[get_global_id(0) * stride] = 1; // finds: out-of-bounds
}
kernel void unused(global const int *x) {
    int nobody_wants_it = x[get_global_id(0)]; // finds: out-of-bounds
    (void)nobody_wants_it;
}
