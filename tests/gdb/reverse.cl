/* A kernel with a barrier: what lives across it is in arrays over the work-items. */
static int double_of(int x) {
    int twice = x + x;
    return twice;
}

kernel void reverse(global int *out, local int *tmp) {
    int lid = get_local_id(0), last = get_local_size(0) - 1;
    tmp[lid] = double_of(lid);
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = tmp[last - lid];
    out[lid] = other;
}
