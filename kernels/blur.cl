// Gaussian blur of a picture of uchar4 pixels, in two passes, since the two-dimensional bell curve is the
// product of a horizontal and a vertical one: 2(2r+1) reads a pixel instead of (2r+1) squared. `weights` has
// 2*radius+1 floats whose sum is 1. Beyond the edge the nearest pixel counts. Between the passes pixels stay
// float4, so that rounding happens once. Global size: width, height.
kernel void blur_rows(int radius, constant float *weights, global const uchar4 *restrict in,
                      global float4 *restrict out) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1), width = (int)get_global_size(0);
    global const uchar4 *row = in + (size_t)y * width;
    float4 sum = 0.0f;
    for (int d = -radius; d <= radius; d++)
        sum += weights[d + radius] * convert_float4(row[clamp(x + d, 0, width - 1)]);
    out[(size_t)y * width + x] = sum;
}

kernel void blur_columns(int radius, constant float *weights, global const float4 *restrict in,
                         global uchar4 *restrict out) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int width = (int)get_global_size(0), height = (int)get_global_size(1);
    float4 sum = 0.0f;
    for (int d = -radius; d <= radius; d++)
        sum += weights[d + radius] * in[(size_t)clamp(y + d, 0, height - 1) * width + x];
    out[(size_t)y * width + x] = convert_uchar4_sat_rte(sum);
}
