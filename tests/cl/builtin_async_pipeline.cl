// Async copies with several events in flight, which come back in any order: double-buffered tiles, four tiles at once,
// an event that a later copy joins, and one event for two copies with others between.
// kernel: double_buffered
// global: 8
// local: 8
// arg: buf:float:40=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
//   27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40
// arg: int:5
// arg: buf:float:8
// expect: 120, 115, 110, 105, 100, 95, 90, 85
// kernel: four_ahead
// global: 4
// local: 4
// arg: buf:int:16=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
// arg: buf:int:16
// expect: 4, 3, 2, 1, 16, 15, 14, 13, 8, 7, 6, 5, 12, 11, 10, 9
// kernel: joined
// global: 4
// local: 4
// arg: buf:int:16=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
// arg: buf:int:8
// expect: 4, 3, 2, 1, 12, 11, 10, 9
// kernel: no_event
// global: 4
// local: 4
// arg: buf:int:4=1, 2, 3, 4
// arg: buf:int:4=5, 6, 7, 8
// arg: buf:int:4
// expect: 9, 9, 9, 9
kernel void double_buffered(global const float *in, int tiles, global float *out) {
    local float tile[2][8];
    event_t events[2];
    float sum = 0;
    size_t i = get_local_id(0);
    events[0] = async_work_group_copy(tile[0], in, 8, 0);
    for (int t = 0; t < tiles; t++) {
        int next = (t + 1) & 1;
        if (t + 1 < tiles) events[next] = async_work_group_copy(tile[next], in + 8 * (t + 1), 8, 0);
        wait_group_events(1, &events[t & 1]);
        sum += tile[t & 1][7 - i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sum;
}
// The second is waited for last, when all of the others are there.
kernel void four_ahead(global const int *in, global int *out) {
    local int a[4], b[4], c[4], d[4];
    size_t i = get_local_id(0);
    event_t first = async_work_group_copy(a, in, 4, 0);
    event_t second = async_work_group_copy(b, in + 12, 4, 0);
    event_t third = async_work_group_copy(c, in + 4, 4, 0);
    event_t fourth = async_work_group_copy(d, in + 8, 4, 0);
    wait_group_events(1, &first);
    out[i] = a[3 - i];
    wait_group_events(1, &third);
    out[i + 8] = c[3 - i];
    wait_group_events(1, &fourth);
    out[i + 12] = d[3 - i];
    wait_group_events(1, &second);
    out[i + 4] = b[3 - i];
}
// The event that the copy was given stands for it, too, whatever became of its result.
kernel void joined(global const int *in, global int *out) {
    local int a[4], b[4], c[4];
    size_t i = get_local_id(0);
    event_t event = async_work_group_copy(a, in, 4, 0);
    event_t other = async_work_group_copy(b, in + 4, 4, 0);
    async_work_group_copy(c, in + 8, 4, event);
    wait_group_events(1, &event);
    out[i] = a[3 - i];
    out[i + 4] = c[3 - i];
    wait_group_events(1, &other);
}
// A copy out of local memory has an event that one into it may join.
kernel void no_event(global const int *in, global int *inout, global int *out) {
    local int a[4], b[4];
    size_t i = get_local_id(0);
    a[i] = inout[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t event = async_work_group_copy(out, a, 4, 0);
    async_work_group_copy(b, in, 4, event);
    wait_group_events(1, &event);
    out[i] = a[i] + b[3 - i];
}
