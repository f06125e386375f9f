
#define EMPTY
#define f(x) x
-EMPTY- f(-)- f(+)f(+) f(a)f(b)