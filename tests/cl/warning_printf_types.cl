// printf with arguments that do not fit its format.
// warning: 8: %d
// warning: 9: %f
// warning: 10: argument
// kernel: run
// arg: buf:int:1
kernel void run(global int *p) {
    if (*p) printf("%d\n", 1.5f);
    if (*p) printf("%f\n", 1);
    if (*p) printf("%d %d\n", 1);
}
