// prefetch changes nothing, whatever the element type.
// kernel: run
// global: 4
// arg: buf:float4:4=1, 2, 3, 4
// arg: buf:float4:4
// expect: 2, 4, 6, 8
// arg: buf:char:4=1, 2, 3, 4
kernel void run(global const float4 *in, global float4 *out, global const char *bytes) {
    size_t i = get_global_id(0);
    prefetch(in + i, 1);
    prefetch(bytes, 4);
    out[i] = in[i] * 2;
}
