// Accesses of local memory, static and given at the launch, of one array beside another.
// kernel: tile_edge, tile_halo
// global: 8
// local: 8
// arg: buf:int:8
// kernel: given
// global: 8
// local: 8
// arg: buf:int:8
// arg: local:28
// kernel: given_enough
// global: 8
// local: 8
// arg: buf:int:8
// arg: local:32
// kernel: neighbour
// global: 4
// local: 4
// arg: buf:int:4
kernel void tile_edge(global int *x) {
    local int tile[8];
    int i = get_local_id(0);
    tile[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = tile[i] + tile[i + 1]; // finds: out-of-bounds
}
kernel void tile_halo(global int *x) {
    local int tile[9];
    int i = get_local_id(0);
    tile[i] = x[i];
    if (i == 0) tile[8] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = tile[i] + tile[i + 1];
}
kernel void given(global int *x, local int *t) {
    int i = get_local_id(0);
    t[i] = x[i]; // finds: out-of-bounds
    x[i] = t[i]; // finds: out-of-bounds
}
kernel void given_enough(global int *x, local int *t) {
    int i = get_local_id(0);
    t[i] = x[i];
    x[i] = t[i];
}
kernel void neighbour(global int *x) {
    local int a[4];
    local int b[4];
    int i = get_local_id(0);
    a[i] = 1;
    b[i] = 2;
    a[i + 4] = 3; // finds: out-of-bounds
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = a[i] + b[i];
}
