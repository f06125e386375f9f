// A barrier with a global fence orders global memory within a group.
// kernel: run
// global: 8
// local: 4
// arg: buf:int:8
// arg: buf:int:8
// expect: 1, 2, 3, 0, 5, 6, 7, 4
kernel void run(global int *scratch, global int *out) {
    int g = get_global_id(0), l = get_local_id(0);
    scratch[g] = g;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[g] = scratch[g - l + (l + 1) % 4];
}
