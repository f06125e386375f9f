// A kernel with a required group size runs full groups and smaller ones at the edges.
// kernel: run
// global: 6, 3
// local: 4, 2
// arg: buf:int:18
// expect: 3, 2, 1, 0, 5, 4, 9, 8, 7, 6, 11, 10, 15, 14, 13, 12, 17, 16
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void run(global int *out) {
    local int row[2][4];
    int x = get_local_id(0), y = get_local_id(1);
    int at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    row[y][x] = at;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[at] = row[y][get_local_size(0) - 1 - x];
}
