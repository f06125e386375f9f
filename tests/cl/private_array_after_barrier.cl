// A private array that only the code after a barrier uses, in a kernel that needs its ids before and after.
// kernel: run
// global: 8
// local: 4
// arg: buf:int:8
// expect: 30, 1, 12, 23, 74, 45, 56, 67
// arg: local:16
kernel void run(global int *out, local int *tile) {
    int seen[4];
    int l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    tile[l] = g;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < n; i++) seen[i] = tile[(l + i) % n];
    out[g] = seen[0] + 10 * seen[n - 1];
}
