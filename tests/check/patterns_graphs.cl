// Irregular code on a graph in compressed rows, with the bugs that Indigo plants: an atomic left out, a bound one off, a guard
// left out, a barrier left out.
// options: -D COUNT=6
// kernel: pull, pull_bound, pull_guard, push, push_plain
// global: 8
// local: 8
// arg: buf:int:7=0,2,4,5,7,8,9
// arg: buf:int:9=1,2,0,3,4,1,5,3,0
// arg: buf:int:6=5,4,3,2,1,0
// arg: buf:int:6
// kernel: worklist, worklist_plain
// global: 8
// local: 4
// arg: buf:int:6=5,4,3,2,1,0
// arg: buf:int:6
// arg: buf:int:1
// kernel: worklist_by_group, worklist_by_group_sync
// global: 8
// local: 8
// arg: buf:int:6=5,4,3,2,1,0
// arg: buf:int:6
// arg: buf:int:1
// kernel: largest, largest_checked_first
// global: 8
// local: 8
// arg: buf:int:6=5,4,3,2,1,0
// arg: buf:int:1
kernel void pull(global const int *rows, global const int *ends, global const int *data, global int *out) {
    int v = get_global_id(0), sum = 0;
    if (v >= COUNT) return;
    for (int e = rows[v]; e < rows[v + 1]; e++) sum += data[ends[e]];
    out[v] = sum;
}
kernel void pull_bound(global const int *rows, global const int *ends, global const int *data, global int *out) {
    int v = get_global_id(0), sum = 0;
    if (v >= COUNT) return;
    for (int e = rows[v]; e <= rows[v + 1]; e++) sum += data[ends[e]]; // finds: out-of-bounds
    out[v] = sum;
}
kernel void pull_guard(global const int *rows, global const int *ends, global const int *data, global int *out) {
    int v = get_global_id(0), sum = 0;
    for (int e = rows[v]; e < rows[v + 1]; e++) sum += data[ends[e]]; // finds: out-of-bounds, out-of-bounds
    out[v] = sum; // finds: out-of-bounds
}
kernel void push(global const int *rows, global const int *ends, global const int *data, global int *out) {
    int v = get_global_id(0);
    if (v >= COUNT) return;
    for (int e = rows[v]; e < rows[v + 1]; e++) atomic_add(&out[ends[e]], data[v]);
}
kernel void push_plain(global const int *rows, global const int *ends, global const int *data, global int *out) {
    int v = get_global_id(0);
    if (v >= COUNT) return;
    for (int e = rows[v]; e < rows[v + 1]; e++) out[ends[e]] += data[v]; // finds: race
}
kernel void worklist(global const int *data, global int *list, global int *count) {
    int v = get_global_id(0);
    if (v < COUNT && data[v] > 2) list[atomic_add(count, 1)] = v;
}
kernel void worklist_plain(global const int *data, global int *list, global int *count) {
    int v = get_global_id(0);
    if (v < COUNT && data[v] > 2) {
        int at = *count;
        *count = at + 1; // finds: race
        list[at] = v; // finds: race
    }
}
kernel void worklist_by_group(global const int *data, global int *list, global int *count) {
    local int n, base;
    int v = get_global_id(0), l = get_local_id(0), mine = -1;
    if (l == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v < COUNT && data[v] > 2) mine = atomic_inc(&n);
    if (l == 0) base = atomic_add(count, n); // finds: race
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine >= 0) list[base + mine] = v;
}
kernel void worklist_by_group_sync(global const int *data, global int *list, global int *count) {
    local int n, base;
    int v = get_global_id(0), l = get_local_id(0), mine = -1;
    if (l == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v < COUNT && data[v] > 2) mine = atomic_inc(&n);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) base = atomic_add(count, n);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine >= 0) list[base + mine] = v;
}
kernel void largest(global const int *data, global int *most) {
    int v = get_global_id(0);
    if (v < COUNT) atomic_max(most, data[v]);
}
kernel void largest_checked_first(global const int *data, global int *most) {
    int v = get_global_id(0);
    if (v < COUNT && data[v] > *most) // finds: race
        atomic_max(most, data[v]);
}
