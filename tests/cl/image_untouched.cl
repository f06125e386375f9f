// Files that share a header with samplers and image helpers: kernels that touch none run, the others cannot be created.
// kernel: copy
// global: 4
// arg: buf:float:4=1,2,3,4
// arg: buf:float:4
// expect: 2, 3, 4, 5
// kernel: blur
// arg: raw:0000000000000000
// arg: buf:float:4
// fails: QN_ERROR_UNSUPPORTED tests/cl/image_untouched.cl:28: kernel 'blur' uses 'image2d_t': quern has no images
// kernel: calls
// arg: buf:float:4
// fails: QN_ERROR_UNSUPPORTED tests/cl/image_untouched.cl:25: kernel 'calls' uses 'sampler_t': quern has no images
// warning: 28: kernel 'blur' uses 'image2d_t'
// warning: 32: kernel 'calls' uses 'sampler_t'
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
const sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
float4 fetch(read_only image2d_t image, int2 at);
float4 fetch(read_only image2d_t image, int2 at) {
    const int2 size = get_image_dim(image);
    if (get_image_channel_order(image) == CLK_RGBA) return read_imagef(image, at);
    return any(at >= size) ? (float4)(0) : read_imagef(image, nearest, at) + (float)get_image_width(image);
}
int kind(void) {
    sampler_t mine = linear;
    return 1;
}
kernel void blur(read_only image2d_t in, global float *out) {
    write_imagef(in, (int2)(0, 0), fetch(in, (int2)(1, 2)) * out[0]);
}
float plain(float x) { return x + 1; }
kernel void calls(global float *out) { out[0] = kind(); }
kernel void copy(global const float *in, global float *out) {
    const int i = get_global_id(0);
    out[i] = plain(in[i]);
}
