/* Hyperbolic functions from exponentials, and their inverses from logarithms; polynomials or log1p and expm1
   where the formulas would cancel. Roots too. */

float rsqrt(float x) { return half_rsqrt(x); }
double rsqrt(double x) { return 1.0 / sqrt(x); }

float sinh(float x) {
    float a = fabs(x);
    float z = a * a;
    float small = fma(a * z, poly_sinh_f32(z), a);
    float e = exp_scaled_f32(a, -1);
    return a < 0x1p-60f ? x : copysign(a < 1.0f ? small : e - 0.25f / e, x);
}
float cosh(float x) {
    float e = exp_scaled_f32(fabs(x), -1);
    return e + 0.25f / e;
}
float tanh(float x) {
    float a = fabs(x);
    float e = expm1(a > 30.0f ? 60.0f : a + a);
    return isnan(x) ? x : copysign(e / (e + 2.0f), x);
}

float asinh(float x) {
    float a = fabs(x);
    float c = a < 0x1p30f ? a : 0x1p30f;
    float square = c * c;
    float small = log1p(c + square / (1.0f + sqrt(1.0f + square)));
    float result = a < 0x1p30f ? small : log(a) + 0x1.62e43p-1f;
    return isnan(x) ? x : copysign(result, x);
}
float acosh(float x) {
    float t = x - 1.0f;
    float small = log1p(t + sqrt(fma(t, t, t + t)));
    float result = x < 0x1p30f ? small : log(x) + 0x1.62e43p-1f;
    return x < 1.0f ? 0.0f / 0.0f : result;
}
float atanh(float x) {
    float a = fabs(x);
    float result = 0.5f * log1p((a + a) / (1.0f - a));
    return copysign(a < 0x1p-30f ? a : result, x);
}

float hypot(float x, float y) {
    float a = fmax(fabs(x), fabs(y));
    float b = fmin(fabs(x), fabs(y));
    int exponent = clamp(__qn_frexp_exponent(a), -120, 120);
    float down = as_float((int)(127 - exponent) << 23);
    float up = as_float((int)(127 + exponent) << 23);
    float p = a * down;
    float q = b * down;
    float result = sqrt(fma(p, p, q * q)) * up;
    result = isnan(x) || isnan(y) ? x + y : result;
    return isinf(x) || isinf(y) ? 1.0f / 0.0f : result;
}

double sinh(double x) {
    double a = fabs(x);
    double z = a * a;
    double small = fma(a * z, poly_sinh_f64(z), a);
    double e = exp_scaled_f64(a, -1);
    return copysign(a < 1.0 ? small : e - 0.25 / e, x);
}
double cosh(double x) {
    double e = exp_scaled_f64(fabs(x), -1);
    return e + 0.25 / e;
}
double tanh(double x) {
    double a = fabs(x);
    double e = expm1(a > 30.0 ? 60.0 : a + a);
    return isnan(x) ? x : copysign(e / (e + 2.0), x);
}

double asinh(double x) {
    double a = fabs(x);
    double c = a < 0x1p500 ? a : 0x1p500;
    double square = c * c;
    double small = log1p(c + square / (1.0 + sqrt(1.0 + square)));
    double result = a < 0x1p500 ? small : log(a) + 0x1.62e42fefa39efp-1;
    return isnan(x) ? x : copysign(result, x);
}
double acosh(double x) {
    double t = x - 1.0;
    double small = log1p(t + sqrt(fma(t, t, t + t)));
    double result = x < 0x1p500 ? small : log(x) + 0x1.62e42fefa39efp-1;
    return x < 1.0 ? 0.0 / 0.0 : result;
}
double atanh(double x) {
    double a = fabs(x);
    double result = 0.5 * log1p((a + a) / (1.0 - a));
    return copysign(a < 0x1p-60 ? a : result, x);
}

double hypot(double x, double y) {
    double a = fmax(fabs(x), fabs(y));
    double b = fmin(fabs(x), fabs(y));
    int exponent = clamp(__qn_frexp_exponent(a), -1000, 1000);
    double down = as_double((long)(1023 - exponent) << 52);
    double up = as_double((long)(1023 + exponent) << 52);
    double p = a * down;
    double q = b * down;
    double result = sqrt(fma(p, p, q * q)) * up;
    result = isnan(x) || isnan(y) ? x + y : result;
    return isinf(x) || isinf(y) ? 1.0 / 0.0 : result;
}

/* x = 8^k m with m in [1, 8): a polynomial, then Newton's steps, the last one with the residue by fma. */
float cbrt(float x) {
    int e = __qn_frexp_exponent(x) - 1 + 150;
    int k = e / 3;
    float m = fabs(__qn_frexp_mantissa(x)) * as_float((128 + e - 3 * k) << 23);
    float y = poly_cbrt_f32(m);
    y += fma(-y * y, y, m) / (3.0f * y * y);
    float square = y * y;
    float rest = fma(-y, fma(y, y, -square), fma(-square, y, m));
    y += rest / (3.0f * square);
    float result = copysign(y * as_float((127 + k - 50) << 23), x);
    return x == 0.0f || !isfinite(x) ? x : result;
}
double cbrt(double x) {
    int e = __qn_frexp_exponent(x) - 1 + 1080;
    int k = e / 3;
    double m = fabs(__qn_frexp_mantissa(x)) * as_double((long)(1024 + e - 3 * k) << 52);
    double y = poly_cbrt_f64(m);
    y += fma(-y * y, y, m) / (3.0 * y * y);
    y += fma(-y * y, y, m) / (3.0 * y * y);
    double square = y * y;
    double rest = fma(-y, fma(y, y, -square), fma(-square, y, m));
    y += rest / (3.0 * square);
    double result = copysign(y * as_double((long)(1023 + k - 360) << 52), x);
    return x == 0.0 || !isfinite(x) ? x : result;
}
