// Images and samplers are not supported, and named as the reason.
// error: 3: image
kernel void run(read_only image2d_t picture, global int *out) { out[0] = 1; }
