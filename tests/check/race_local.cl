// Local memory between work-items of a group: a barrier left out, one of the wrong fence, in a loop, reductions.
// kernel: reverse_unsafe, reverse_safe, wrong_fence, reduce_unsafe, reduce_safe
// global: 64
// local: 64
// arg: buf:int:64
// kernel: second_tile_unsafe, second_tile_safe, same_value, other_value
// global: 32
// local: 32
// arg: buf:int:64
// kernel: histogram_unsafe, histogram_safe, bytes_apart, bytes_shared
// global: 32
// local: 32
// arg: buf:int:64=3
kernel void reverse_unsafe(global int *x) {
    local int t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    x[l] = t[63 - l]; // finds: race
}
kernel void reverse_safe(global int *x) {
    local int t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[63 - l];
}
kernel void wrong_fence(global int *x) {
    local int t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[l] = t[63 - l]; // finds: race
}
kernel void reduce_unsafe(global int *x) {
    local int t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 32; n > 0; n /= 2)
        if (l < n) t[l] += t[l + n]; // finds: race
    if (l == 0) x[0] = t[0];
}
kernel void reduce_safe(global int *x) {
    local int t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    for (int n = 32; n > 0; n /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n) t[l] += t[l + n];
    }
    if (l == 0) x[0] = t[0];
}
kernel void second_tile_unsafe(global int *x) {
    local int t[32];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < 2; k++) {
        t[l] = x[k * 32 + l]; // finds: race
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += t[31 - l];
    }
    x[l] = sum;
}
kernel void second_tile_safe(global int *x) {
    local int t[32];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < 2; k++) {
        t[l] = x[k * 32 + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += t[31 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[l] = sum;
}
kernel void same_value(global int *x) {
    local int found;
    int l = get_local_id(0);
    if (l == 0) found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x[l] == 0) found = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = found;
}
kernel void other_value(global int *x) {
    local int found;
    int l = get_local_id(0);
    if (x[l] == 0) found = l; // finds: race
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = found;
}
kernel void histogram_unsafe(global int *x) {
    local int bins[4];
    int l = get_local_id(0);
    if (l < 4) bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    bins[x[l] & 3]++; // finds: race
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4) x[l] = bins[l];
}
kernel void histogram_safe(global int *x) {
    local int bins[4];
    int l = get_local_id(0);
    if (l < 4) bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[x[l] & 3]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4) x[l] = bins[l];
}
kernel void bytes_apart(global int *x) {
    local uchar t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    x[l] = t[l];
}
kernel void bytes_shared(global int *x) {
    local uchar t[64];
    int l = get_local_id(0);
    t[l] = l;
    x[l] = t[l ^ 1]; // finds: race
}
