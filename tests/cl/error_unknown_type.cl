// A type, or a macro before a declaration, that is not known is reported where it is met first.
// error: 6: unknown type name 'real'
// error: 10: undeclared identifier 'missing'
// error: 13: unknown name 'ENTRY' before a declaration
// error: 15: unknown name 'INLINE' before a declaration
real half_of(real x) { return x / (real)2; }
real *first(global real *x) { return x; }
kernel void run(global real *x, real y) {
    real z = half_of(y), list[3];
    const real w = z + sizeof(real) + missing;
    for (real i = 0; i < 3; i++) x[0] = w * (real)i;
}
ENTRY void more(global int *x) { x[0] = 1; }
ENTRY void less(global int *x) { if (x[1]) { x[0] = 1; } }
INLINE static int three(void) { return 3; }
