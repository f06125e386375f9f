// OpenCL C 2.0: what lives as long as the program and names no address space is global; a function that is called for
// several address spaces has its static variables once.
// options: -cl-std=CL2.0
// kernel: run
// arg: buf:int:4
// expect: 12, 2, 5, 3
int start = 10;
const int table[] = {1, 2, 3};
int add(int *to) {
    static int calls = 1;
    *to = start;
    return ++calls;
}
kernel void run(global int *out) {
    int mine;
    const int before = add(&mine);
    out[0] = add(out + 3) + mine - 1;
    out[1] = before;
    out[2] = table[1] + table[2];
    out[3] = out[0] - 9;
}
