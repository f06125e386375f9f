// vstore_half of every width, float and double, rounded to nearest even by default.
// needs: f64
// kernel: run
// arg: buf:half:40
// expect: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
//   0.099975586, 0.099975586, 0.199951172, 0.30004883, 2048, 2052
constant float many[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
kernel void run(global half *out) {
    vstore_half(many[0], 0, out);
    vstore_half2(vload2(0, many + 1), 0, out + 1);
    vstore_half3(vload3(0, many + 3), 1, out);
    vstore_half4(vload4(0, many + 6), 0, out + 6);
    vstore_half8(vload8(0, many), 0, out + 10);
    vstore_half16(vload16(0, many), 0, out + 18);
    vstore_half(0.1f, 34, out);
    vstore_half3((double3)(0.1, 0.2, 0.3), 0, out + 35);
    vstore_half2((float2)(2049, 2051), 19, out);
}
