// More of them: accesses that overlap in part, locks, lists, tiles, sub-groups; beside twins that are right.
// options: -w -cl-std=CL3.0
// kernel: words_over_bytes
// global: 8
// local: 8
// arg: buf:int:8
// kernel: halves_of_words
// global: 8
// local: 8
// arg: buf:int:4
// kernel: structure_overlap
// global: 8
// local: 8
// arg: buf:int:33
// kernel: structure_apart
// global: 8
// local: 8
// arg: buf:int:32
// kernel: vector_overlap
// global: 8
// local: 8
// arg: buf:float:32
// kernel: lock_with_fences, lock_relaxed
// global: 64
// local: 1
// arg: buf:int:2
// kernel: work_list, work_list_plain_end
// global: 64
// local: 32
// arg: buf:int:65
// kernel: maximum_unlocked, maximum
// global: 64
// local: 32
// arg: buf:int:64=5,4,9
// arg: buf:int:1
// kernel: scan_of_sub_group, shuffle_in_branch
// global: 32
// local: 32
// arg: buf:int:32=1
// kernel: tile_without_second_barrier, tile
// global: 16
// local: 16
// arg: buf:int:64=1
// arg: buf:int:16
// kernel: returned_before_tile
// global: 20
// local: 16
// arg: buf:int:32
// arg: int:18
// kernel: by_row_and_column, by_row_only
// global: 4, 4
// local: 4, 4
// arg: buf:int:16
// arg: buf:int:4
kernel void words_over_bytes(global int *x) {
    int i = get_global_id(0);
    x[i] = i;
    ((global char *)x)[4 * i + 4 * (i < 7)] = 1; // finds: race
}
kernel void halves_of_words(global int *x) {
    ((global short *)x)[get_global_id(0)] = 1;
}
typedef struct quad {
    int a, b, c, d;
} quad;
kernel void structure_overlap(global int *x) {
    quad q = {1, 2, 3, get_global_id(0)};
    *(global quad *)(x + 3 * get_global_id(0)) = q; // finds: race
}
kernel void structure_apart(global int *x) {
    quad q = {1, 2, 3, get_global_id(0)};
    *(global quad *)(x + 4 * get_global_id(0)) = q;
}
kernel void vector_overlap(global float *x) {
    vstore4((float4)(get_global_id(0)), 0, x + 3 * get_global_id(0)); // finds: race
}
kernel void lock_with_fences(global atomic_int *lock) {
    int zero = 0;
    while (!atomic_compare_exchange_strong_explicit(lock, &zero, 1, memory_order_acquire, memory_order_relaxed,
                                                    memory_scope_device))
        zero = 0;
    ((global int *)lock)[1]++;
    atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
}
kernel void lock_relaxed(global atomic_int *lock) {
    int zero = 0;
    while (!atomic_compare_exchange_strong_explicit(lock, &zero, 1, memory_order_relaxed, memory_order_relaxed,
                                                    memory_scope_device))
        zero = 0;
    ((global int *)lock)[1]++; // finds: race
    atomic_store_explicit(lock, 0, memory_order_relaxed, memory_scope_device);
}
kernel void work_list(global int *x) {
    int at = atomic_inc(x);
    x[1 + at] = get_global_id(0);
}
kernel void work_list_plain_end(global int *x) {
    int at = atomic_inc(x);
    x[1 + at] = get_global_id(0);
    if (x[0] == 64) x[1] = 0; // finds: race
}
kernel void maximum_unlocked(global const int *x, global int *most) {
    int v = x[get_global_id(0)];
    if (v > most[0]) atomic_max(most, v); // finds: race
}
kernel void maximum(global const int *x, global int *most) {
    atomic_max(most, x[get_global_id(0)]);
}
kernel void scan_of_sub_group(global int *x) {
    int l = get_local_id(0), v = x[l];
    for (uint d = 1; d < get_sub_group_size(); d *= 2) {
        int other = sub_group_shuffle_up(v, d);
        if (get_sub_group_local_id() >= d) v += other;
    }
    x[l] = v;
}
kernel void shuffle_in_branch(global int *x) {
    int l = get_local_id(0);
    if (l & 1) x[l] = sub_group_broadcast(x[l], 1); // finds: divergence
}
kernel void tile_without_second_barrier(global const int *x, global int *sum) {
    local int t[16];
    int l = get_local_id(0), s = 0;
    for (int tile = 0; tile < 4; tile++) {
        t[l] = x[16 * tile + l]; // finds: race
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) s += t[k];
    }
    sum[l] = s;
}
kernel void tile(global const int *x, global int *sum) {
    local int t[16];
    int l = get_local_id(0), s = 0;
    for (int tile = 0; tile < 4; tile++) {
        t[l] = x[16 * tile + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) s += t[k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum[l] = s;
}
kernel void returned_before_tile(global int *x, int n) {
    local int t[16];
    if (get_global_id(0) >= n) return;
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    x[get_global_id(0)] = t[0];
}
kernel void by_row_and_column(global int *m, global int *rows) {
    int x = get_global_id(0), y = get_global_id(1);
    m[y * 4 + x] = x;
    rows[y] = y;
}
kernel void by_row_only(global int *m, global int *rows) {
    int x = get_global_id(0), y = get_global_id(1);
    m[y * 4 + x] = x;
    rows[y] += x; // finds: race
}
