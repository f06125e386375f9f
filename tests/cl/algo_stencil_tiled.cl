// A 1-D stencil whose tile in local memory has a halo on both sides.
// kernel: stencil
// global: 16
// local: 4
// arg: buf:int:16=0, 11, 5, 16, 10, 4, 15, 9, 3, 14, 8, 2, 13, 7, 1, 12
// arg: buf:int:16
// expect: 27, 59, 79, 93, 90, 87, 84, 81, 78, 75, 72, 69, 66, 63, 54, 45
int at(global const int *in, int i, int n) { return i >= 0 && i < n ? in[i] : 0; }
kernel void stencil(global const int *in, global int *out) {
    local int tile[4 + 4];
    int l = get_local_id(0), i = get_global_id(0), n = get_global_size(0);
    tile[l + 2] = in[i];
    if (l < 2) {
        tile[l] = at(in, i - 2, n);
        tile[l + 6] = at(in, i + 4, n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *centre = tile + l + 2;
    out[i] = centre[-2] + 2 * centre[-1] + 3 * centre[0] + 2 * centre[1] + centre[2];
}
