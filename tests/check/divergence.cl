// Barriers and collectives that only some of the work-items reach, and twins that all of them do.
// options: -w
// kernel: half_of_them, all, both_sides, collective
// global: 16
// local: 16
// arg: buf:int:16
// kernel: returned
// global: 16
// local: 16
// arg: buf:int:16
// arg: int:10
// kernel: whole
// global: 16
// local: 16
// arg: buf:int:16
// arg: int:16
// kernel: by_group
// global: 32
// local: 16
// arg: buf:int:32
// kernel: uneven_loop
// global: 16
// local: 16
// arg: buf:int:16=1,2,3,4,5,6,7,8
// kernel: even_loop
// global: 16
// local: 16
// arg: buf:int:16=3
kernel void half_of_them(global int *x) {
    int l = get_local_id(0);
    if (l < 8) barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    x[l] = l;
}
kernel void all(global int *x) {
    int l = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8) x[l] = l;
}
kernel void returned(global int *x, int n) {
    if ((int)get_local_id(0) >= n) return;
    barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    x[get_local_id(0)] = 1;
}
kernel void whole(global int *x, int n) {
    bool mine = (int)get_local_id(0) < n;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine) x[get_local_id(0)] = 1;
}
kernel void both_sides(global int *x) {
    int l = get_local_id(0);
    if (l & 1)
        barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    else
        barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    x[l] = l;
}
kernel void by_group(global int *x) {
    if (get_group_id(0) & 1) barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = 1;
}
kernel void uneven_loop(global int *x) {
    int l = get_local_id(0), n = x[l];
    for (int i = 0; i < n; i++) barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    x[l] = n;
}
kernel void even_loop(global int *x) {
    int l = get_local_id(0), n = x[l];
    for (int i = 0; i < n; i++) barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = n;
}
kernel void collective(global int *x) {
    int l = get_local_id(0);
    if (x[l] == l) x[l] = work_group_reduce_add(l); // finds: divergence
}
