// Macros may have the names of keywords and of built-in functions.
// kernel: run
// arg: buf:int:2
// expect: 3, 100
#define if while
#define max(a, b) 100
kernel void run(global int *out) {
    int n = 0;
    if (n < 3) n++;
    out[0] = n;
    out[1] = max(1, 2);
}
