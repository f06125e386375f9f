// Kernels and variables named as functions that emitters add to the text.
// kernel: from_half
// global: 2
// arg: buf:half:2=1.5,-2
// arg: buf:float:2
// expect: 1.5, -2
// kernel: atomic_load_u32
// arg: buf:uint:1=7
// expect: 8
// kernel: constant_0
// arg: buf:int:2
// expect: 2, 3
// kernel: named
// global: 4
// local: 4
// arg: buf:int:4=1, 2, 3, 4
// expect: 24, 33, 42, 51
// arg: buf:int:4=1, 1, 1, 1
// expect: 2, 2, 2, 2
// arg: int:20
kernel void from_half(global const half *in, global float *out) {
    size_t i = get_global_id(0);
    out[i] = vload_half(i, in);
}
kernel void atomic_load_u32(global atomic_uint *x) { atomic_store(x, atomic_load(x) + 1); }
constant int table[] = {1, 2, 3};
kernel void constant_0(global int *out) {
    int fma = table[get_work_dim()];
    out[0] = fma;
    out[1] = table[fma];
}
kernel void named(global int *params, global int *local1, int qn_kernel_named) {
    local int local0[4];
    size_t i = get_local_id(0);
    local0[i] = params[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    local1[i]++;
    params[i] = local0[3 - i] + qn_kernel_named + 10 * (int)i;
}
