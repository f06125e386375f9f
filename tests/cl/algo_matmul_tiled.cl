// C = A B with tiles of A and B in local memory.
// kernel: matmul
// global: 8, 8
// local: 4, 4
// arg: buf:float:64=-3, 0, 3, -1, 2, -2, 1, -3, 1, -3, 0, 3, -1, 2, -2, 1, -2, 1, -3, 0, 3, -1, 2, -2, 2, -2,
//         1, -3, 0, 3, -1, 2, -1, 2, -2, 1, -3, 0, 3, -1, 3, -1, 2, -2, 1, -3, 0, 3, 0, 3, -1, 2,
//         -2, 1, -3, 0, -3, 0, 3, -1, 2, -2, 1, -3
// arg: buf:float:64=-4, 1, -3, 2, -2, 3, -1, 4, 1, -3, 2, -2, 3, -1, 4, 0, -3, 2, -2, 3, -1, 4, 0, -4, 2, -2,
//         3, -1, 4, 0, -4, 1, -2, 3, -1, 4, 0, -4, 1, -3, 3, -1, 4, 0, -4, 1, -3, 2, -1, 4, 0, -4,
//         1, -3, 2, -2, 4, 0, -4, 1, -3, 2, -2, 3
// arg: buf:float:64
// expect: -22, 17, 2, 5, 17, -16, 23, -46, 13, -9, 5, 10, -12, 20, -38, 21, -1, 7, 15, -13, 22,
//         -42, 20, -17, -1, 9, -17, 20, -42, 22, -13, 15, 13, -10, 21, -38, 20, -12, 10, 5, -22,
//         20, -46, 23, -16, 17, 5, 2, 20, -34, 20, -7, 11, 11, -7, 20, -22, 17, 2, 5, 17, -16, 23,
//         -46
#define N 8
#define TILE 4
kernel void matmul(global const float *a, global const float *b, global float *c) {
    local float ta[TILE][TILE], tb[TILE][TILE];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0;
    for (int t = 0; t < N; t += TILE) {
        ta[ly][lx] = a[y * N + t + lx];
        tb[ly][lx] = b[(t + ly) * N + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * N + x] = sum;
}
