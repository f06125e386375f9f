// Patterns of others, written anew: what memcheck, racecheck, initcheck and synccheck are for (NVIDIA), GPUVerify's examples, DataRaceBench and
// Indigo, each beside a twin that is right.
// kernel: last_vector
// global: 4
// local: 4
// arg: buf:float:15
// kernel: last_vector_fits
// global: 4
// local: 4
// arg: buf:float:16
// kernel: negative_index, negative_guarded, wrapped_index, null_by_branch
// global: 4
// local: 4
// arg: buf:int:4
// kernel: matrix_row_past, inner_row_past
// global: 4
// local: 4
// arg: buf:float:12
// kernel: short_as_int
// global: 4
// local: 4
// arg: buf:short:7
// kernel: odd_vector, packed_vector
// global: 4
// local: 4
// arg: buf:float:32
// kernel: odd_atomic
// global: 1
// local: 1
// arg: buf:int:4
// kernel: async_too_long
// global: 8
// local: 8
// arg: buf:int:8
// kernel: async_strided, async_strided_too_long
// global: 8
// local: 8
// arg: buf:int:16
// kernel: constant_past
// global: 4
// local: 4
// arg: buf:int:8
// kernel: local_argument_past
// global: 4
// local: 4
// arg: buf:int:4
// arg: local:12
kernel void last_vector(global float *x) {
    int i = get_global_id(0);
    float4 v = vload4(i, x); // finds: out-of-bounds
    if (v.x > 1) x[0] = 1;
}
kernel void last_vector_fits(global float *x) {
    int i = get_global_id(0);
    float4 v = vload4(i, x);
    if (v.x > 1) x[15] = 1;
}
kernel void negative_index(global int *x) {
    int i = get_global_id(0);
    int left = x[i - 1]; // finds: out-of-bounds
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[i] = left;
}
kernel void negative_guarded(global int *x) {
    int i = get_global_id(0);
    int left = i > 0 ? x[i - 1] : 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[i] = left;
}
kernel void wrapped_index(global int *x) {
    uint i = get_global_id(0);
    if (i - 1 < 3u) x[i - 1] = 1;
    if (i - 1 > 3u) x[i - 1] = 2; // finds: out-of-bounds
}
kernel void matrix_row_past(global float *m) {
    int row = get_global_id(0), columns = 3;
    for (int c = 0; c <= columns; c++)
        m[row * columns + c] = row; // finds: out-of-bounds, race
}
kernel void inner_row_past(global float *m) {
    private float rows[2][3];
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 3; c++) rows[r][c] = r + c;
    float sum = 0;
    int i = get_global_id(0);
    for (int c = 0; c < 3; c++) sum += rows[1 + (i == 3)][c]; // finds: out-of-bounds
    m[i] = sum;
}
kernel void short_as_int(global short *x) {
    global int *y = (global int *)x;
    if (get_global_id(0) < 3) y[get_global_id(0)] = 1;
    if (get_global_id(0) == 3) y[3] = 1; // finds: out-of-bounds
}
kernel void odd_vector(global float *x) {
    global float4 *y = (global float4 *)(x + 1);
    y[get_global_id(0)] = 0; // finds: misaligned
}
kernel void packed_vector(global float *x) {
    vstore4((float4)(0), get_global_id(0), x + 1);
}
kernel void odd_atomic(global int *x) {
    atomic_inc((global int *)((global char *)x + 2)); // finds: misaligned
}
kernel void async_too_long(global int *x) {
    local int t[16];
    event_t e = async_work_group_copy(t, x, 16, 0); // finds: out-of-bounds
    wait_group_events(1, &e);
    x[get_local_id(0)] = t[7 - get_local_id(0)];
}
kernel void async_strided(global int *x) {
    local int t[8];
    event_t e = async_work_group_strided_copy(t, x, 8, 2, 0);
    wait_group_events(1, &e);
    x[get_local_id(0)] = t[7 - get_local_id(0)];
}
kernel void async_strided_too_long(global int *x) {
    local int t[8];
    event_t e = async_work_group_strided_copy(t, x, 8, 3, 0); // finds: out-of-bounds
    wait_group_events(1, &e);
    if (t[7 - get_local_id(0)] > 100) x[0] = 1;
}
constant int weights[3] = {1, 2, 3};
kernel void constant_past(global int *x) {
    int i = get_global_id(0);
    x[i] = weights[i]; // finds: out-of-bounds
}
kernel void local_argument_past(global int *x, local int *t) {
    int l = get_local_id(0);
    t[l] = l; // finds: out-of-bounds
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[0];
}
kernel void null_by_branch(global int *x) {
    int i = get_global_id(0);
    global int *p = 0;
    if (i < 3) p = x + i;
    *p = 1; // finds: null-pointer
}
