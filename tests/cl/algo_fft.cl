// A radix-2 FFT of 16 points in one work-group, on float2 in local memory.
// kernel: fft
// global: 8
// local: 8
// arg: buf:float2:16=-3, -2, 2, 1, 0, -1, -2, 2, 3, 0, 1, -2, -1, 1, -3, -1, 2, 2, 0, 0, -2, -2, 3, 1, 1, -1,
//         -1, 2, -3, 0, 2, -2
// expect: -1, -2, -0.803685469, -2.99532107, -4.05025253, -7.36396103, 7.55596368, -7.82423649, 10,
//         -1, -11.564345, 3.07141309, 3.94974747, 3.70710678, -13.208858, 2.83469886, -5, -4,
//         -4.36788741, -14.6615332, -13.9497475, 5.36396103, -16.7275366, -1.83261776, 8, 3,
//         0.73591783, -9.41455884, -5.94974747, 2.29289322, -1.61956913, -1.17784461 ~1e-5
kernel void fft(global float2 *data) {
    local float2 v[16];
    int l = get_local_id(0);
    for (int i = l; i < 16; i += 8) {
        int reversed = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3;
        v[reversed] = data[i];
    }
    for (int half_size = 1; half_size < 16; half_size *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int k = l & (half_size - 1), a = 2 * l - k, b = a + half_size;
        float angle = -M_PI_F * k / half_size, c, s = sincos(angle, &c);
        float2 x = v[a], y = (float2)(v[b].x * c - v[b].y * s, v[b].x * s + v[b].y * c);
        v[a] = x + y;
        v[b] = x - y;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[l] = v[l];
    data[l + 8] = v[l + 8];
}
