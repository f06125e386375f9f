//~ 2 0 85 -cl-std=CL2.0
struct s { int a; global struct s *next; };
int f(struct s x, int *p);
extern constant int t[];
static int own(int x) { return x + t[1]; }
kernel void a(global struct s *x) { int v = 1; x->a = f(*x, &v) + own(2); }
//~file
struct s { int a; global struct s *next; };
extern global int n;
constant int t[2] = {1, 2};
static int own(int x) { return x * n++; }
int f(struct s x, int *p) { return own(x.a) + *p; }
//~file
global int n = 3;
inline int g(int x) { return x; }
kernel void b(global int *x) { extern constant int t[2]; x[0] = g(t[0]); }
