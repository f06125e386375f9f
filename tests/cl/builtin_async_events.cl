// Several copies share one event, or are waited for by an array of events.
// kernel: run
// global: 3
// local: 3
// arg: buf:uchar:8=1, 2, 3, 4, 5, 6, 7, 8
// arg: buf:int:2
// expect: 36, 36
kernel void run(global const uchar *in, global int *out) {
    local uchar a[4], b[4];
    event_t e = async_work_group_copy(a, in, 4, 0);
    e = async_work_group_copy(b, in + 4, 4, e);
    wait_group_events(1, &e);
    int sum = 0;
    for (int i = 0; i < 4; i++) sum += a[i] + b[i];
    if (get_local_id(0) == 0) out[0] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t events[2];
    events[0] = async_work_group_copy(a, in + 4, 4, 0);
    events[1] = async_work_group_copy(b, in, 4, 0);
    wait_group_events(2, events);
    sum = 0;
    for (int i = 0; i < 4; i++) sum += a[i] + b[i];
    if (get_local_id(0) == 2) out[1] = sum;
}
