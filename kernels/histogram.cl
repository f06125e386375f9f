// Histogram of bytes. Each group counts into its own bins in local memory, where atomics are cheap, and adds
// them to the result at the end. `bins` has 256 zeros at the start. Any global size: work-items take bytes a
// whole launch apart.
kernel void histogram(uint n, global const uchar *restrict data, global uint *restrict bins) {
    local uint counts[256];
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
        if (counts[i]) atomic_add(&bins[i], counts[i]);
}
