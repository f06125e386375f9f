// Copies that each work-item orders for itself, with one event for several: what is waited for is there for all of the group.
// kernel: rotated
// global: 8
// local: 8
// arg: buf:int:40=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
//   27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40
// arg: int:5
// arg: buf:int:8
// expect: 120, 115, 110, 105, 100, 95, 90, 85
// kernel: sizes
// global: 4
// local: 4
// arg: buf:uchar:64=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
//   29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,
//   58, 59, 60, 61, 62, 63
// arg: buf:int:4=-1
// expect: 0, 0, 0, 0

// Two tiles are on their way while a third is read.
kernel void rotated(global const int *in, int tiles, global int *out) {
    local int tile[3][8];
    event_t events[2];
    int sum = 0;
    size_t i = get_local_id(0);
    for (int t = 0; t < 2; t++) {
        qn_async_copy(&tile[t][i], in + 8 * t + i);
        events[t] = qn_async_commit(0);
    }
    for (int t = 0; t < tiles; t++) {
        wait_group_events(1, &events[0]);
        sum += tile[t % 3][7 - i];
        events[0] = events[1];
        if (t + 2 < tiles) {
            qn_async_copy(&tile[(t + 2) % 3][i], in + 8 * (t + 2) + i);
            events[1] = qn_async_commit(0);
        }
    }
    out[i] = sum;
}
kernel void sizes(global const uchar *in, global int *wrong) {
    local uint4 a[4];
    local ulong b[4];
    local float2 c[4];
    local short d[4];
    local uchar e[4];
    size_t i = get_local_id(0), other = 3 - i;
    int bad = 0;
    qn_async_copy(a + i, (global const uint4 *)in + i);
    qn_async_copy(b + i, (global const ulong *)in + i);
    qn_async_copy(c + i, (global const float2 *)in + i);
    qn_async_copy(d + i, (global const short *)in + i);
    qn_async_copy(e + i, in + i);
    event_t event = qn_async_commit(0);
    wait_group_events(1, &event);
    bad += any(a[other] != ((global const uint4 *)in)[other]);
    bad += b[other] != ((global const ulong *)in)[other];
    bad += any(as_int2(c[other]) != ((global const int2 *)in)[other]);
    bad += d[other] != ((global const short *)in)[other] || e[other] != in[other];
    wrong[i] = bad;
}
