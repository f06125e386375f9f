// restrict, volatile and const in every place a kernel has for them.
// kernel: run
// global: 4
// arg: buf:int:4=1,2,3,4
// arg: buf:int:4
// expect: 11, 12, 13, 14
kernel void run(__global const int *restrict in, __global volatile int *__restrict out) {
    const size_t i = get_global_id(0);
    volatile int x = in[i];
    const int *const p = (const int *)&x;
    out[i] = *p;
    out[i] += 10;
}
