// A sum in two levels: each work-item strides over the input, each group reduces in local memory.
// kernel: reduce
// global: 32
// local: 8
// arg: int:100
// arg: buf:int:100=11, 48, 85, 21, 58, 95, 31, 68, 4, 41, 78, 14, 51, 88, 24, 61, 98, 34, 71, 7, 44, 81, 17,
//         54, 91, 27, 64, 0, 37, 74, 10, 47, 84, 20, 57, 94, 30, 67, 3, 40, 77, 13, 50, 87, 23, 60,
//         97, 33, 70, 6, 43, 80, 16, 53, 90, 26, 63, 100, 36, 73, 9, 46, 83, 19, 56, 93, 29, 66, 2,
//         39, 76, 12, 49, 86, 22, 59, 96, 32, 69, 5, 42, 79, 15, 52, 89, 25, 62, 99, 35, 72, 8, 45,
//         82, 18, 55, 92, 28, 65, 1, 38
// arg: local:32
// arg: buf:int:4
// expect: 1317, 1219, 1253, 1186
kernel void reduce(int n, global const int *in, local int *part, global int *out) {
    int l = get_local_id(0), sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s; s /= 2) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}
