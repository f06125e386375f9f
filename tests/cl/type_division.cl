// Integer division truncates towards zero; the remainder has the dividend's sign.
// kernel: run
// global: 4
// arg: buf:int:4=7, -7, 7, -7
// arg: buf:int:4=2, 2, -2, -2
// arg: buf:int:4
// expect: 3, -3, -3, 3
// arg: buf:int:4
// expect: 1, -1, 1, -1
kernel void run(global int *a, global int *b, global int *quotient, global int *remainder) {
    size_t i = get_global_id(0);
    quotient[i] = a[i] / b[i];
    remainder[i] = a[i] % b[i];
}
