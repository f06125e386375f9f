// Rank sort: each work-item counts who goes before its element; stable.
// kernel: rank
// global: 20
// arg: buf:int:20=0, 5, 3, 1, 6, 4, 2, 0, 5, 3, 1, 6, 4, 2, 0, 5, 3, 1, 6, 4
// arg: buf:int:20
// expect: 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6
// arg: buf:int:20
// expect: 0, 7, 14, 3, 10, 17, 6, 13, 2, 9, 16, 5, 12, 19, 1, 8, 15, 4, 11, 18
kernel void rank(global const int *in, global int *out, global int *order) {
    int i = get_global_id(0), before = 0, x = in[i];
    for (int j = 0; j < (int)get_global_size(0); j++) before += in[j] < x || (in[j] == x && j < i);
    out[before] = x;
    order[before] = i;
}
