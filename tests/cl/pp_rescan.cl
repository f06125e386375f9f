// The C99 standard's example of rescanning (6.10.3.5, example 3), with functions of the same names behind it.
// kernel: run
// arg: buf:int:2
// expect: 118, -5
int f(int a) { return a + 7; }
int t(int a) { return a + 100; }
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define t(a) a
kernel void run(global int *out) {
    int y = 1;
#undef z
    int z[1] = {5};
#define z z[0]
    out[0] = f(y + 1) + f(f(z)) % t(t(g)(0) + t)(1);
    out[1] = h 5);
}
