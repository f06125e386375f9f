// Object-like macros: use inside others, #undef, a new definition.
// kernel: run
// arg: buf:int:4
// expect: 7, 12, 8, 5
#define A 7
#define B (A + 5)
#define C D
#define D 8
kernel void run(global int *out) {
    out[0] = A;
    out[1] = B;
    out[2] = C;
#undef A
#define A 5
    out[3] = A;
}
