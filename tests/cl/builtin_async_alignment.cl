// async_work_group_copy of elements of every size, from places and to places that are aligned to the element only, of
// lengths that no larger piece divides: `way` says whether either lies an element further.
// kernel: bytes
// global: 4
// local: 4
// arg: buf:uchar:48=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
//   25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47
// arg: buf:uint:4
// expect: 666, 666, 703, 703
// kernel: shorts
// global: 4
// local: 4
// arg: buf:short:24=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
// arg: buf:int:4
// expect: 171, 171, 190, 190
// kernel: floats
// global: 4
// local: 4
// arg: buf:float:12=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
// arg: buf:float:4
// expect: 36, 36, 45, 45
// kernel: pairs
// global: 4
// local: 4
// arg: buf:uint2:6=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
// arg: buf:uint2:4
// expect: 6, 9, 6, 9, 12, 15, 12, 15
// kernel: triples
// global: 3
// local: 3
// arg: buf:int3:3=1, 2, 3, 4, 5, 6, 7, 8, 9
// arg: buf:int3:3
// expect: 7, 8, 9, 4, 5, 6, 1, 2, 3
// kernel: sixteens
// global: 2
// local: 2
// arg: buf:int16:2=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
//   26, 27, 28, 29, 30, 31, 32
// arg: buf:int16:2
// expect: 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
//   12, 13, 14, 15, 16
// kernel: every_other
// global: 2
// local: 2
// arg: buf:int8:4=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
//   26, 27, 28, 29, 30, 31, 32
// arg: buf:int8:2
// expect: 17, 18, 19, 20, 21, 22, 23, 24, 1, 2, 3, 4, 5, 6, 7, 8
// kernel: argument
// global: 4
// local: 4
// arg: buf:float:12=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
// arg: local:64
// arg: buf:float:4
// expect: 36, 36, 45, 45

#define WAYS(T, tile, COUNT)                                                                                 \
    for (int way = 0; way < 4; way++) {                                                                      \
        event_t e = async_work_group_copy(tile + (way & 1), in + (way >> 1), COUNT, 0);                      \
        wait_group_events(1, &e);                                                                            \
        T sum = 0;                                                                                           \
        for (int k = 0; k < COUNT; k++) sum += tile[(way & 1) + k];                                          \
        if (get_local_id(0) == way) out[way] = sum;                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    }
kernel void bytes(global const uchar *in, global uint *out) {
    local uchar tile[38];
    WAYS(uint, tile, 37)
}
kernel void shorts(global const short *in, global int *out) {
    local short tile[20];
    WAYS(int, tile, 19)
}
kernel void floats(global const float *in, global float *out) {
    local float tile[10];
    WAYS(float, tile, 9)
}
kernel void pairs(global const uint2 *in, global uint2 *out) {
    local uint2 tile[4];
    WAYS(uint2, tile, 3)
}
kernel void argument(global const float *in, local float *tile, global float *out) { WAYS(float, tile, 9) }
kernel void triples(global const int3 *in, global int3 *out) {
    local int3 tile[3];
    event_t e = async_work_group_copy(tile, in, 3, 0);
    wait_group_events(1, &e);
    out[get_local_id(0)] = tile[2 - get_local_id(0)];
}
kernel void sixteens(global const int16 *in, global int16 *out) {
    local int16 tile[2];
    event_t e = async_work_group_copy(tile, in, 2, 0);
    wait_group_events(1, &e);
    out[get_local_id(0)] = tile[1 - get_local_id(0)];
}
kernel void every_other(global const int8 *in, global int8 *out) {
    local int8 tile[2];
    event_t e = async_work_group_strided_copy(tile, in, 2, 2, 0);
    wait_group_events(1, &e);
    out[get_local_id(0)] = tile[1 - get_local_id(0)];
}
