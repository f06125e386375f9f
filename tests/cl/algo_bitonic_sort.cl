// Bitonic sort of 32 numbers in one work-group.
// kernel: sort
// global: 32
// local: 32
// arg: buf:int:32=-275, -428, 428, 275, 122, -31, -184, -337, -490, 366, 213, 60, -93, -246, -399, 457,
//         304, 151, -2, -155, -308, -461, 395, 242, 89, -64, -217, -370, 486, 333, 180, 27
// expect: -490, -461, -428, -399, -370, -337, -308, -275, -246, -217, -184, -155, -93, -64, -31,
//         -2, 27, 60, 89, 122, 151, 180, 213, 242, 275, 304, 333, 366, 395, 428, 457, 486
kernel void sort(global int *data) {
    local int v[32];
    int l = get_local_id(0);
    v[l] = data[l];
    for (int k = 2; k <= 32; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int other = l ^ j, a = v[l], b = v[other];
            bool up = (l & k) == 0, low = l < other;
            barrier(CLK_LOCAL_MEM_FENCE);
            v[l] = up == low ? min(a, b) : max(a, b);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[l] = v[l];
}
