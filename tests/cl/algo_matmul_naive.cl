// C = A B, one work-item an element, sizes that are not powers of two.
// kernel: matmul
// global: 3, 5
// arg: int:4
// arg: buf:float:20=-3, 0, 3, -1, 2, -2, 1, -3, 0, 3, -1, 2, -2, 1, -3, 0, 3, -1, 2, -2
// arg: buf:float:12=-4, 1, -3, 2, -2, 3, -1, 4, 0, -4, 1, -3
// arg: buf:float:15
// expect: 13, 8, 12, -1, 7, -3, -1, -8, 3, 13, -16, 9, -8, 11, -6
kernel void matmul(int depth, global const float *a, global const float *b, global float *c) {
    int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
    float sum = 0;
    for (int k = 0; k < depth; k++) sum += a[y * depth + k] * b[k * width + x];
    c[y * width + x] = sum;
}
