// A type that is not known is reported where it is met first.
// error: 4: unknown type name 'real'
// error: 8: undeclared identifier 'missing'
real half_of(real x) { return x / (real)2; }
real *first(global real *x) { return x; }
kernel void run(global real *x, real y) {
    real z = half_of(y), list[3];
    const real w = z + sizeof(real) + missing;
    for (real i = 0; i < 3; i++) x[0] = w * (real)i;
}
