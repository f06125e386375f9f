// async_work_group_copy to local memory and back, of scalars and vectors; the group is larger than the data.
// kernel: run
// global: 16
// local: 8
// arg: buf:int:10=1, 2, 3, 4, 5, 6, 7, 8, 9, 10
// arg: buf:int:10
// expect: 5, 4, 3, 2, 1, 10, 9, 8, 7, 6
// kernel: vectors
// global: 4
// local: 4
// arg: buf:float4:6=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
// arg: buf:float4:6
// expect: 21, 22, 23, 24, 17, 18, 19, 20, 13, 14, 15, 16, 9, 10, 11, 12, 5, 6, 7, 8, 1, 2, 3, 4
kernel void run(global const int *in, global int *out) {
    local int here[5], turned[5];
    size_t group = get_group_id(0), i = get_local_id(0);
    event_t e = async_work_group_copy(here, in + 5 * group, 5, 0);
    wait_group_events(1, &e);
    if (i < 5) turned[i] = here[4 - i];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + 5 * group, turned, 5, 0);
    wait_group_events(1, &e);
}
kernel void vectors(global const float4 *in, global float4 *out) {
    local float4 here[6], turned[6];
    event_t e = async_work_group_copy(here, in, 6, 0);
    wait_group_events(1, &e);
    for (size_t i = get_local_id(0); i < 6; i += get_local_size(0)) turned[i] = here[5 - i];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out, turned, 6, 0);
    wait_group_events(1, &e);
}
