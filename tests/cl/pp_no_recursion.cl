// A macro does not expand inside its own expansion, directly or through another (C99 6.10.3.4).
// kernel: run
// arg: buf:int:3
// expect: 11, 4, 8
#define x (x + 1)
#define a b
#define b a
#define f(y) f(y * 2)
int (f)(int v) { return v; }
kernel void run(global int *out) {
    int
#undef x
        x = 10;
#define x (x + 1)
    out[0] = x;
#undef x
    int
#undef a
        a = 4;
#define a b
    out[1] = a;
    out[2] = f(4);
}
