// Operands and conversions that do not fit.
// error: 8: struct
// error: 9: float
// error: 10: cannot convert
// error: 11: float
struct point { int x, y; };
kernel void run(global int *out, struct point p, float f) {
    out[0] = p;
    out[1] = 5 % f;
    out = 5.0f;
    out[2] = f << 1;
}
