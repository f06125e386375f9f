// The Mandelbrot set: how many steps of z = z*z + c it takes to leave the circle of radius 2, for each pixel's
// point c. Global size: width, height.
kernel void mandelbrot(float left, float top, float pixel, uint limit, global uint *restrict steps) {
    size_t px = get_global_id(0), py = get_global_id(1);
    float cx = left + pixel * (float)px, cy = top - pixel * (float)py;
    float x = 0.0f, y = 0.0f;
    uint count = 0;
    while (count < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        count++;
    }
    steps[py * get_global_size(0) + px] = count;
}

// The same as a picture. The count is made smooth with the logarithm of how far z got, and coloured with three
// cosines out of phase (Inigo Quilez, "Palettes"); what never leaves stays dark.
kernel void mandelbrot_picture(float left, float top, float pixel, uint limit, global uchar4 *restrict picture) {
    size_t px = get_global_id(0), py = get_global_id(1);
    float cx = left + pixel * (float)px, cy = top - pixel * (float)py;
    float x = 0.0f, y = 0.0f;
    uint count = 0;
    while (count < limit && x * x + y * y <= 256.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        count++;
    }
    float4 colour = (float4)(8.0f, 6.0f, 20.0f, 255.0f);
    if (count < limit) {
        float smooth = (float)count + 1.0f - log2(0.5f * log2(x * x + y * y));
        float t = 0.18f * sqrt(max(smooth, 0.0f));
        float3 wave = cospi(2.0f * ((float3)(t) + (float3)(0.50f, 0.58f, 0.68f)));
        colour.xyz = 255.0f * (0.5f + 0.5f * wave);
    }
    picture[py * get_global_size(0) + px] = convert_uchar4_sat_rte(colour);
}
