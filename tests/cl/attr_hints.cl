// work_group_size_hint, vec_type_hint and opencl_unroll_hint are accepted and change nothing.
// kernel: run
// global: 2
// arg: buf:int:2
// expect: 28, 29
kernel __attribute__((work_group_size_hint(64, 1, 1))) __attribute__((vec_type_hint(float4)))
void run(global int *out) {
    int sum = get_global_id(0);
    __attribute__((opencl_unroll_hint(4)))
    for (int i = 0; i < 8; i++) sum += i;
    __attribute__((opencl_unroll_hint))
    for (int i = 0; i < 1; i++) sum += i;
    out[get_global_id(0)] = sum;
}
