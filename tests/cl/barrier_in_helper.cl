// A barrier inside a helper function, called twice.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4=10,20,30,40
// expect: 30, 40, 10, 20
int neighbour(local int *tile, int value, int step) {
    int l = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return tile[(l + step) % 4];
}
kernel void run(global int *v) {
    local int tile[4];
    int x = neighbour(tile, v[get_local_id(0)], 1);
    v[get_local_id(0)] = neighbour(tile, x, 1);
}
