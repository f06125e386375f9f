// generic is a keyword since OpenCL C 2.0, spelled with underscores or without; a pointer's space follows from what it
// gets. Before, it is a name.
// kernel: sums
// global: 1
// arg: buf:int:4=1,2,3,4
// arg: buf:int:2
// options: -cl-std=CL2.0
// expect: 10, 26
// kernel: sums
// global: 1
// arg: buf:int:4=1,2,3,4
// arg: buf:int:2
// options: -cl-std=CL1.2
// expect: 10, 26
#if __OPENCL_C_VERSION__ >= 200
int sum(generic const int *values, __generic int *more) {
#else
int generic(const int *values) { return values[0]; }
int sum(global const int *values, int *more) {
#endif
    int s = 0;
    for (int i = 0; i < 4; i++) s += values[i] + more[i];
    return s;
}
kernel void sums(global const int *values, global int *out) {
    int own[4] = {4, 4, 4, 4}, none[4] = {0};
    out[0] = sum(values, none);
    out[1] = sum(values, own);
}
