// An exclusive prefix sum in one work-group: up-sweep and down-sweep.
// kernel: scan
// global: 16
// local: 16
// arg: buf:int:32=3, 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, 0, 7, 4, 1, 8, 5, 2, 9, 6,
//         3, 0
// expect: 0, 3, 3, 10, 14, 15, 23, 28, 30, 39, 45, 48, 48, 55, 59, 60, 68, 73, 75, 84, 90, 93, 93,
//         100, 104, 105, 113, 118, 120, 129, 135, 138
kernel void scan(global int *data) {
    local int tree[32];
    int l = get_local_id(0), n = 32, offset = 1;
    tree[2 * l] = data[2 * l];
    tree[2 * l + 1] = data[2 * l + 1];
    for (int d = n >> 1; d > 0; d >>= 1, offset *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) tree[offset * (2 * l + 2) - 1] += tree[offset * (2 * l + 1) - 1];
    }
    if (l == 0) tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1, t = tree[a];
            tree[a] = tree[b];
            tree[b] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[2 * l] = tree[2 * l];
    data[2 * l + 1] = tree[2 * l + 1];
}
