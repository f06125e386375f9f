// Vectors that live through a loop: widened bytes, float and integer sums, a choice of vectors, a lane by itself.
// kernel: run
// global: 3
// arg: int:3
// arg: buf:uchar4:4=1,2,3,4,10,20,30,40,100,110,120,130,200,210,220,255
// arg: buf:float4:3
// expect: 111, 132, 153, 174, 310.5, 340.5, 370.5, 425.5, 500, 530, 560, 640
// arg: buf:int4:3
// expect: 12, 22, 32, 42, 103, 112, 122, 132, 204, 212, 222, 257
kernel void run(int count, global const uchar4 *in, global float4 *sums, global int4 *others) {
    int g = get_global_id(0);
    float4 sum = (float4)(g == 1 ? 0.5f : 0.0f);
    int4 other = (int4)(0);
    for (int i = 0; i < count; i++) {
        uchar4 pixel = in[min(g + i, 3)];
        float4 value = convert_float4(pixel);
        sum = fma(value, (float4)(1.0f), sum);
        other += i & 1 ? convert_int4(pixel) : (int4)(1);
        if (i == 1) other.x += g;
    }
    sums[g] = sum;
    others[g] = other;
}
