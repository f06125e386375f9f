/* Logarithms: x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m - 1. In float log(1 + f) is a polynomial in f;
   in double it is 2 atanh(s) with s = f / (2 + f), arranged so that f itself enters exactly (Tang,
   Table-driven implementation of the logarithm function, ACM TOMS 16 (1990), without the table). */

/* f, and the exponent as a float; denormal numbers are scaled up first. */
float log_split_f32(float x, float *exponent) {
    int is_small = x < 0x1p-126f;
    int bits = as_int(is_small ? x * 0x1p23f : x);
    int shifted = (bits - 0x3f3504f3) & ~0x7fffff;
    *exponent = fma((float)shifted, 0x1p-23f, is_small ? -23.0f : 0.0f);
    return as_float(bits - shifted) - 1.0f;
}
double log_split_f64(double x, double *exponent) {
    int is_small = x < 0x1p-1022;
    long bits = as_long(is_small ? x * 0x1p52 : x) - 0x3fe6a09e667f3bcdl;
    *exponent = (double)(int)(bits >> 52) - (is_small ? 52.0 : 0.0);
    return as_double((bits & 0xfffffffffffffl) + 0x3fe6a09e667f3bcdl) - 1.0;
}

/* log of zero, infinity, NaN and negative numbers; `value` else. */
float log_special_f32(float x, float value) {
    float result = as_uint(x) < 0x7f800000u ? value : fma(x, 1.0f / 0.0f, 1.0f / 0.0f);
    return x == 0.0f ? -1.0f / 0.0f : result;
}
double log_special_f64(double x, double value) {
    double result = x < 1.0 / 0.0 ? value : x + x;
    result = x == 0.0 ? -1.0 / 0.0 : result;
    return x < 0.0 ? 0.0 / 0.0 : result;
}

/* log(1 + f) - f, and that by f^2 */
float log_rest_f32(float f) { return fma(f, poly_log_f32(f), -0.5f); }
float log_tail_f32(float f) { return f * f * log_rest_f32(f); }
double log_tail_f64(double f) {
    double s = f / (2.0 + f);
    double z = s * s;
    double half_square = 0.5 * f * f;
    return fma(s, fma(2.0 * z, poly_atanh_f64(z), half_square), -half_square);
}

float log(float x) {
    float e;
    float f = log_split_f32(x, &e);
    return log_special_f32(x, fma(e, 0x1.62e43p-1f, fma(f * f, log_rest_f32(f), f)));
}
double log(double x) {
    double e;
    double f = log_split_f64(x, &e);
    double tail = fma(e, 0x1.abc9e3b39803fp-56, log_tail_f64(f));
    return log_special_f64(x, fma(e, 0x1.62e42fefa39efp-1, f + tail));
}

float log2(float x) {
    float e;
    float f = log_split_f32(x, &e);
    float tail = log_tail_f32(f);
    float low = fma(f, 0x1.4ae0cp-26f, tail * 0x1.715476p+0f);
    return log_special_f32(x, e + fma(f, 0x1.715476p+0f, low));
}
double log2(double x) {
    double e;
    double f = log_split_f64(x, &e);
    double tail = log_tail_f64(f);
    double low = fma(f, 0x1.777d0ffda0d24p-56, tail * 0x1.71547652b82fep+0);
    return log_special_f64(x, e + fma(f, 0x1.71547652b82fep+0, low));
}

float log10(float x) {
    float e;
    float f = log_split_f32(x, &e);
    float low = fma(e, -0x1.ec10cp-27f, fma(f, -0x1.5b235ep-27f, log_tail_f32(f) * 0x1.bcb7b2p-2f));
    return log_special_f32(x, fma(e, 0x1.344136p-2f, fma(f, 0x1.bcb7b2p-2f, low)));
}
double log10(double x) {
    double e;
    double f = log_split_f64(x, &e);
    double low =
        fma(e, -0x1.9dc1da994fd21p-59, fma(f, 0x1.95355baaafad3p-57, log_tail_f64(f) * 0x1.bcb7b1526e50ep-2));
    return log_special_f64(x, fma(e, 0x1.34413509f79ffp-2, fma(f, 0x1.bcb7b1526e50ep-2, low)));
}

/* The exponent is that of 1 + x; f = 2^-e x + (2^-e - 1) is rounded once. */
float log1p(float x) {
    float e;
    float unused = log_split_f32(1.0f + x, &e);
    int n = (int)e;
    int first = n >> 1;
    float a = as_float((127 - first) << 23);
    float b = as_float((127 - (n - first)) << 23);
    float f = fma(x * a, b, fma(a, b, -1.0f));
    float result = log_special_f32(1.0f + x, fma(e, 0x1.62e43p-1f, fma(f * f, log_rest_f32(f), f)));
    return fabs(x) < 0x1p-60f ? x : result;
}
double log1p(double x) {
    double e;
    double unused = log_split_f64(1.0 + x, &e);
    int n = (int)e;
    int first = n >> 1;
    double a = as_double((long)(1023 - first) << 52);
    double b = as_double((long)(1023 - (n - first)) << 52);
    double f = fma(x * a, b, fma(a, b, -1.0));
    double tail = fma(e, 0x1.abc9e3b39803fp-56, log_tail_f64(f));
    double result = log_special_f64(1.0 + x, fma(e, 0x1.62e42fefa39efp-1, f + tail));
    return fabs(x) < 0x1p-120 ? x : result;
}
