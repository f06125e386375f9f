/* Error and gamma functions. erfc is e^(-x^2) / (1 + 2 x) times a polynomial in (x - 4) / (x + 4), which
   covers all positive x (Shepherd and Laframboise, Chebyshev approximation of (1 + 2 x) exp(x^2) erfc(x),
   Math. Comp. 36 (1981)). Gamma is Stirling's series for large arguments, to which small ones are moved by
   its recurrence and negative ones by its reflection. */

/* erfc for x >= 0. With n ln 2 near x^2, the rest x^2 - n ln 2 is rounded once: n has 8 bits and the high part
   of ln 2 has 16. One division gives 1 / (x + 4) and 1 / (1 + 2 x), the latter 2^-24 times, for which the
   exponential is 2^24 times, so that only the last product is a denormal number. */
float erfc_positive_f32(float x) {
    float c = x > 10.1f ? 10.1f : x;
    float t = fma(c * c, -0x1.715476p+0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = fma(n, -0x1.7f7d1cp-20f, -fma(c, c, n * 0x1.62e4p-1f));
    float power = fma(fma(r, poly_exp_f32(r), 1.0f), r, 1.0f);
    float e = power * as_float((as_int(t) << 23) + 0x4b800000);
    float a = c + 4.0f;
    float b = fma(0x1p25f, c, 0x1p24f);
    float reciprocal = 1.0f / (a * b);
    float p = poly_erfc_f32((c - 4.0f) * (b * reciprocal));
    return e * (p * (a * reciprocal));
}
float erfc(float x) {
    float tail = erfc_positive_f32(fabs(x));
    return x < 0.0f ? 2.0f - tail : tail;
}
float erf(float x) {
    float a = fabs(x);
    float small = a * poly_erf_f32(a < 1.0f ? a * a : 1.0f);
    return copysign(a < 1.0f ? small : 1.0f - erfc_positive_f32(a), x);
}

/* x >= 1/2: the x >= 6.0f that it is moved to, what was lost by rounding on the way, and the product of the
   steps in two parts. */
float gamma_moved_f32(float x, float *lost, float *product, float *product_low) {
    float p = 1.0f;
    float p_low = 0.0f;
    float rest = 0.0f;
    for (int i = 0; i < 6; i++) {
        float next = x + 1.0f;
        float larger = p * x;
        int is_small = x < 6.0f;
        p_low = is_small ? fma(p, x, -larger) + fma(p_low, x, p * rest) : p_low;
        p = is_small ? larger : p;
        rest = is_small ? rest + (x - (next - 1.0f)) : rest;
        x = is_small ? next : x;
    }
    *product = p;
    *product_low = p_low;
    *lost = rest;
    return x;
}

/* Gamma(x) for 1/2 <= x < 200: sqrt(2 pi) x^(x - 1/2) e^(-x) e^(s(x)), the powers together as one of 2; as
   result 2^*exponent, which may be beyond the range. */
float gamma_positive_f32(float x, int *exponent) {
    float product;
    float product_low;
    float lost;
    float low;
    float large = gamma_moved_f32(x, &lost, &product, &product_low);
    float high = log2_extended_f32(large, &low);
    float y = large - 0.5f;
    float a = y * high;
    float a_low = fma(y, high, -a) + fma(y, low, lost * high);
    float b = large * -0x1.715476p+0f;
    float b_low = fma(large, -0x1.715476p+0f, -b) - large * 0x1.4ae0cp-26f;
    float sum = a + b;
    float part = sum - a;
    float sum_low = (a - (sum - part)) + (b - part) + (a_low + b_low);
    float s = poly_stirling_f32(1.0f / (large * large)) / large;
    sum_low += fma(s, 0x1.715476p+0f, 0x1.53643ap+0f);
    float total = sum + sum_low;
    float n = rint(total);
    *exponent = (int)n;
    float value = exp2_sum_f32(total - n, sum_low - (total - sum)) / product;
    return fma(value, -product_low / product, value);
}

/* erfc for x >= 0; the low part of x^2 enters as a factor. */
double erfc_positive_f64(double x) {
    double c = x > 27.3 ? 27.3 : x;
    double square = c * c;
    double rest = fma(c, c, -square);
    double e = exp(-square);
    double p = poly_erfc_f64((c - 4.0) / (c + 4.0));
    return fma(e, -rest, e) * (p / fma(2.0, c, 1.0));
}
double erfc(double x) {
    double tail = erfc_positive_f64(fabs(x));
    return x < 0.0 ? 2.0 - tail : tail;
}
double erf(double x) {
    double a = fabs(x);
    double small = a * poly_erf_f64(a < 1.0 ? a * a : 1.0);
    return copysign(a < 1.0 ? small : 1.0 - erfc_positive_f64(a), x);
}

/* x >= 1/2: the x >= 12.0 that it is moved to, what was lost by rounding on the way, and the product of the
   steps in two parts. */
double gamma_moved_f64(double x, double *lost, double *product, double *product_low) {
    double p = 1.0;
    double p_low = 0.0;
    double rest = 0.0;
    for (int i = 0; i < 12; i++) {
        double next = x + 1.0;
        double larger = p * x;
        int is_small = x < 12.0;
        p_low = is_small ? fma(p, x, -larger) + fma(p_low, x, p * rest) : p_low;
        p = is_small ? larger : p;
        rest = is_small ? rest + (x - (next - 1.0)) : rest;
        x = is_small ? next : x;
    }
    *product = p;
    *product_low = p_low;
    *lost = rest;
    return x;
}

/* Gamma(x) for 1/2 <= x < 200: sqrt(2 pi) x^(x - 1/2) e^(-x) e^(s(x)), the powers together as one of 2; as
   result 2^*exponent, which may be beyond the range. */
double gamma_positive_f64(double x, int *exponent) {
    double product;
    double product_low;
    double lost;
    double low;
    double large = gamma_moved_f64(x, &lost, &product, &product_low);
    double high = log2_extended_f64(large, &low);
    double y = large - 0.5;
    double a = y * high;
    double a_low = fma(y, high, -a) + fma(y, low, lost * high);
    double b = large * -0x1.71547652b82fep+0;
    double b_low = fma(large, -0x1.71547652b82fep+0, -b) - large * 0x1.777d0ffda0d24p-56;
    double sum = a + b;
    double part = sum - a;
    double sum_low = (a - (sum - part)) + (b - part) + (a_low + b_low);
    double s = poly_stirling_f64(1.0 / (large * large)) / large;
    sum_low += fma(s, 0x1.71547652b82fep+0, 0x1.536439a4c6efcp+0);
    double total = sum + sum_low;
    double n = rint(total);
    *exponent = (int)n;
    double value = exp2_sum_f64(total - n, sum_low - (total - sum)) / product;
    return fma(value, -product_low / product, value);
}

/* For negative x, with a = -x: -pi / (a sin(pi a) Gamma(a)). */
float tgamma(float x) {
    int exponent;
    float a = fabs(x);
    float c = a < 44.0f ? a : 44.0f;
    int is_small = c < 0.5f;
    float value = gamma_positive_f32(is_small ? c + 1.0f : c, &exponent);
    float s = sinpi(a);
    float positive = scale_f32(is_small ? value / c : value, exponent);
    float negative = scale_f32(-0x1.921fb6p+1f / ((is_small ? s : c * s) * value), -exponent);
    negative = s == 0.0f || isinf(x) ? 0.0f / 0.0f : negative;
    float result = x < 0.0f ? negative : positive;
    return isnan(x) ? x : a < 0x1p-40f ? 1.0f / x : result;
}

/* log Gamma for x > 0: near its zeros at 1 and 2 these are factors, and up to 6.0f the recurrence leads
 * there. */
float lgamma_positive_f32(float x) {
    if (x < 0.7f) return fma(x * (x - 1.0f), poly_lgamma_f32(x - 0.5f), -log(x));
    if (x >= 6.0f) {
        float s = poly_stirling_f32(1.0f / (x * x)) / x;
        return fma(x - 0.5f, log(x) - 1.0f, s + 0x1.acfe390p-2f);
    }
    float product = 1.0f;
    for (int i = 0; i < 4; i++) {
        int is_large = x >= 2.5f;
        x = is_large ? x - 1.0f : x;
        product = is_large ? product * x : product;
    }
    return fma((x - 1.0f) * (x - 2.0f), poly_lgamma_f32(x - 1.5f), log(product));
}
float lgamma(float x) {
    float a = fabs(x);
    float value = a == 0.0f || isinf(x) ? 1.0f / 0.0f : lgamma_positive_f32(a);
    float s = fabs(a * sinpi(a));
    float negative = s == 0.0f ? 1.0f / 0.0f : log(0x1.921fb6p+1f / s) - value;
    float tiny = -log(a);
    float result = x < 0.0f && !isinf(x) ? negative : value;
    return isnan(x) ? x : a < 0x1p-40f ? tiny : result;
}
int lgamma_sign(float x) {
    float whole = floor(x);
    int is_odd = trunc(whole * 0.5f) != whole * 0.5f;
    if (x <= 0.0f && whole == x && isfinite(x)) return 0;
    return x < 0.0f && is_odd ? -1 : 1;
}

/* For negative x, with a = -x: -pi / (a sin(pi a) Gamma(a)). */
double tgamma(double x) {
    int exponent;
    double a = fabs(x);
    double c = a < 184.0 ? a : 184.0;
    int is_small = c < 0.5;
    double value = gamma_positive_f64(is_small ? c + 1.0 : c, &exponent);
    double s = sinpi(a);
    double positive = scale_f64(is_small ? value / c : value, exponent);
    double negative = scale_f64(-0x1.921fb54442d18p+1 / ((is_small ? s : c * s) * value), -exponent);
    negative = s == 0.0 || isinf(x) ? 0.0 / 0.0 : negative;
    double result = x < 0.0 ? negative : positive;
    return isnan(x) ? x : a < 0x1p-80 ? 1.0 / x : result;
}

/* log Gamma for x > 0: near its zeros at 1 and 2 these are factors, and up to 12.0 the recurrence leads
 * there. */
double lgamma_positive_f64(double x) {
    if (x < 0.7) return fma(x * (x - 1.0), poly_lgamma_f64(x - 0.5), -log(x));
    if (x >= 12.0) {
        double s = poly_stirling_f64(1.0 / (x * x)) / x;
        return fma(x - 0.5, log(x) - 1.0, s + 0x1.acfe390c97d68p-2);
    }
    double product = 1.0;
    for (int i = 0; i < 10; i++) {
        int is_large = x >= 2.5;
        x = is_large ? x - 1.0 : x;
        product = is_large ? product * x : product;
    }
    return fma((x - 1.0) * (x - 2.0), poly_lgamma_f64(x - 1.5), log(product));
}
double lgamma(double x) {
    double a = fabs(x);
    double value = a == 0.0 || isinf(x) ? 1.0 / 0.0 : lgamma_positive_f64(a);
    double s = fabs(a * sinpi(a));
    double negative = s == 0.0 ? 1.0 / 0.0 : log(0x1.921fb54442d18p+1 / s) - value;
    double tiny = -log(a);
    double result = x < 0.0 && !isinf(x) ? negative : value;
    return isnan(x) ? x : a < 0x1p-80 ? tiny : result;
}
int lgamma_sign(double x) {
    double whole = floor(x);
    int is_odd = trunc(whole * 0.5) != whole * 0.5;
    if (x <= 0.0 && whole == x && isfinite(x)) return 0;
    return x < 0.0 && is_odd ? -1 : 1;
}
