// Sum of an array, in two launches of the same kernel: first many groups, each leaving one partial sum in
// out[group]; then one group over those. Work-items first add elements a whole launch apart, so that
// neighbours read neighbouring addresses, then the group halves its sums in local memory.
// The local size is a power of two; `partial` has a float for each work-item of a group.
kernel void sum(uint n, global const float *restrict x, global float *restrict out, local float *partial) {
    size_t lid = get_local_id(0);
    float total = 0.0f;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) total += x[i];
    partial[lid] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (lid < half_size) partial[lid] += partial[lid + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) out[get_group_id(0)] = partial[0];
}
