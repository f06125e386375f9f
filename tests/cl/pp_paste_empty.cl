// Pasting with an empty argument gives the other operand.
// kernel: run
// arg: buf:int:2
// expect: 5, 6
#define JOIN(a, b, c) a##b##c
kernel void run(global int *out) {
    int x = 5, xy = 6;
    out[0] = JOIN(, x, );
    out[1] = JOIN(x, , y);
}
