// A 3x3 box sum with clamped edges.
// kernel: blur
// global: 6, 5
// arg: buf:int:30=0, 13, 26, 39, 2, 15, 28, 41, 4, 17, 30, 43, 6, 19, 32, 45, 8, 21, 34, 47, 10, 23, 36,
//         49, 12, 25, 38, 1, 14, 27
// arg: buf:int:30
// expect: 123, 151, 218, 185, 202, 180, 141, 169, 236, 203, 220, 198, 243, 221, 238, 205, 272, 300,
//         195, 223, 240, 207, 224, 252, 213, 241, 208, 175, 192, 270
kernel void blur(global const int *in, global int *out) {
    int w = get_global_size(0), h = get_global_size(1), x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
    out[y * w + x] = sum;
}
