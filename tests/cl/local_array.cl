// A __local array: work-items of a group exchange values through it.
// kernel: run
// global: 8
// local: 4
// arg: buf:int:8=1,2,3,4,5,6,7,8
// expect: 4, 3, 2, 1, 8, 7, 6, 5
kernel void run(global int *v) {
    local int tile[4];
    size_t g = get_global_id(0), l = get_local_id(0);
    tile[l] = v[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    v[g] = tile[3 - l];
}
