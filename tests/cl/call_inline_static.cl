// static, inline and both; unused ones do no harm.
// kernel: run
// arg: buf:int:1
// expect: 10
static int a(int x) { return x + 1; }
inline int b(int x) { return a(x) + 2; }
static inline int c(int x) { return b(x) + 3; }
inline static __attribute__((always_inline)) int d(int x) { return c(x) + 4; }
static int unused(int x) { return x; }
kernel void run(global int *out) { out[0] = d(0); }
