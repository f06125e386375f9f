// Edges of a picture: the length of the brightness gradient, measured with Sobel's pair of 3 by 3 masks.
// Beyond the edge the nearest pixel counts. Global size: width, height.
static float brightness(global const uchar4 *in, int x, int y, int width, int height) {
    uchar4 p = in[(size_t)clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
    return 0.299f * p.x + 0.587f * p.y + 0.114f * p.z;
}

kernel void sobel(float gain, global const uchar4 *restrict in, global uchar4 *restrict out) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int width = (int)get_global_size(0), height = (int)get_global_size(1);
    float around[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) around[j][i] = brightness(in, x + i - 1, y + j - 1, width, height);
    float gx = around[0][2] - around[0][0] + 2.0f * (around[1][2] - around[1][0]) + around[2][2] - around[2][0];
    float gy = around[2][0] - around[0][0] + 2.0f * (around[2][1] - around[0][1]) + around[2][2] - around[0][2];
    uchar edge = convert_uchar_sat_rte(gain * sqrt(gx * gx + gy * gy));
    out[(size_t)y * width + x] = (uchar4)(edge, edge, edge, 255);
}
