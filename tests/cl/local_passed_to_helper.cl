// Local memory passed to functions, with an offset.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 1, 0, 3, 2
int take(local const int *p, int i) { return p[i]; }
void put(local int *p, int v) { *p = v; }
kernel void run(global int *out) {
    local int tile[8];
    int l = get_local_id(0);
    put(tile + 4 + l, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = take(&tile[4], l ^ 1);
}
