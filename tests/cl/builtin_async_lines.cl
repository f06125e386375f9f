// async_work_group_copy_2D2D of lines of elements of several sizes, into local memory and back: `way` says whether places are
// aligned to more than an element. What is between lines is left alone.
// kernel: bytes
// global: 8
// local: 8
// arg: buf:uchar:24=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
// arg: buf:uchar:16=99
// expect: 9, 10, 11, 99, 99, 16, 17, 18, 99, 99, 99, 99, 99, 99, 99, 99
// kernel: floats
// global: 8
// local: 8
// arg: buf:float:32=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
// arg: buf:float:20=-1
// expect: 8, 9, 10, 11, -1, 16, 17, 18, 19, -1, 9, 10, 11, 12, -1, 17, 18, 19, 20, -1
// kernel: vectors
// global: 8
// local: 8
// arg: buf:float:32=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
// arg: buf:float:12=-1
// expect: 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23

kernel void bytes(global const uchar *in, global uchar *out) {
    local uchar tile[16];
    // Two lines of three, seven apart there and four here, from the second element on; back five apart.
    event_t e = async_work_group_copy_2D2D(tile, 1, in, 9, 1, 3, 2, 7, 4, 0);
    wait_group_events(1, &e);
    e = async_work_group_copy_2D2D(out, 0, tile, 1, sizeof(uchar), 3, 2, 4, 5, 0);
    wait_group_events(1, &e);
}

kernel void floats(global const float *in, global float *out) {
    local float tile[8];
    for (int way = 0; way < 2; way++) {
        event_t e = async_work_group_copy_2D2D(tile, 0, in + way, 8, sizeof(float), 4, 2, 8, 4, 0);
        wait_group_events(1, &e);
        e = async_work_group_copy_2D2D(out, 10 * way, tile, 0, sizeof(float), 4, 2, 4, 5, 0);
        wait_group_events(1, &e);
    }
}

kernel void vectors(global const float4 *in, global float4 *out) {
    local float4 tile[3];
    // A column.
    event_t e = async_work_group_copy_2D2D(tile, 0, in, 1, sizeof(float4), 1, 3, 2, 1, 0);
    wait_group_events(1, &e);
    e = async_work_group_copy_2D2D(out, 0, tile, 0, sizeof(float4), 3, 1, 3, 3, 0);
    wait_group_events(1, &e);
}
