// Storing a 3-vector writes three components; the fourth place of each element stays free for others to read.
// kernel: run
// global: 4
// arg: buf:float3:4=1,2,3,4,5,6,7,8,9,10,11,12
// arg: buf:float3:4
// expect: 3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10
kernel void run(global const float3 *in, global float3 *out) {
    size_t i = get_global_id(0);
    out[i] = in[i].zyx;
}
