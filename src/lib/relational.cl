/* Relational functions (OpenCL C 6.12.6): a comparison's own result, 0 and 1 for scalars, 0 and -1 for
   vectors, is just what they return. */

R isequal(T x, T y) { return x == y; }
R isnotequal(T x, T y) { return x != y; }
R isgreater(T x, T y) { return x > y; }
R isgreaterequal(T x, T y) { return x >= y; }
R isless(T x, T y) { return x < y; }
R islessequal(T x, T y) { return x <= y; }
R islessgreater(T x, T y) { return (x < y) | (x > y); }
R isfinite(T x) { return fabs(x) < (T)(1.0f / 0.0f); }
R isinf(T x) { return fabs(x) == (T)(1.0f / 0.0f); }
R isnan(T x) { return x != x; }
R isnormal(T x) { return (fabs(x) < (T)(1.0f / 0.0f)) & (fabs(x) >= __qn_min_normal(x)); }
R isordered(T x, T y) { return (x == x) & (y == y); }
R isunordered(T x, T y) { return (x != x) | (y != y); }
R signbit(T x) { return as_D(x) < (D)0; }

half min_normal(half x) { return (half)0x1p-14f; }
float min_normal(float x) { return 0x1p-126f; }
double min_normal(double x) { return 0x1p-1022; }

int any1(T x) { return x < (T)0; }
int any2(T x) { return (x.x | x.y) < (S)0; }
int any3(T x) { return (x.x | x.y | x.z) < (S)0; }
int any_halves(T x) { return any(x.lo | x.hi); }
int all1(T x) { return x < (T)0; }
int all2(T x) { return (x.x & x.y) < (S)0; }
int all3(T x) { return (x.x & x.y & x.z) < (S)0; }
int all_halves(T x) { return all(x.lo & x.hi); }

T bitselect(T a, T b, T c) { return as_T((U)((as_U(a) & (U)~as_U(c)) | (as_U(b) & as_U(c)))); }
