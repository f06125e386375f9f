/* Exponentials: x = n ln 2 + r with |r| <= ln 2 / 2, then 2^n (1 + r + r^2 q(r)) (Cody and Waite, Software
   Manual for the Elementary Functions, ch. 6). n comes from adding 1.5 * 2^23 (2^52), which leaves the
   integer in the low bits of the sum. All paths are straight lines. */

float scale_f32(float x, int n) {
    int first = n >> 1;
    return x * as_float((127 + first) << 23) * as_float((127 + n - first) << 23);
}
double scale_f64(double x, int n) {
    int first = n >> 1;
    return x * as_double((long)(1023 + first) << 52) * as_double((long)(1023 + n - first) << 52);
}

/* The same by n + `by`, with n in the low bits of t as above. */
float scale_sum_f32(float x, float t, int by) {
    int bits = as_int(t) + by;
    int first = bits >> 1;
    return x * as_float((first << 23) + 0x3f800000) * as_float(((bits - first) << 23) + 0x3f800000);
}

/* 2^by e^x; `by` is small. */
float exp_scaled_f32(float x, int by) {
    float c = x < -105.0f ? -105.0f : x;
    c = c > 90.0f ? 90.0f : c;
    float t = fma(c, 0x1.715476p+0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = fma(n, 0x1.05c61p-29f, fma(n, -0x1.62e43p-1f, c));
    return scale_sum_f32(fma(fma(r, poly_exp_f32(r), 1.0f), r, 1.0f), t, by);
}
double exp_scaled_f64(double x, int by) {
    double c = x < -746.0 ? -746.0 : x;
    c = c > 711.0 ? 711.0 : c;
    double t = fma(c, 0x1.71547652b82fep+0, 0x1.8p52);
    double n = t - 0x1.8p52;
    double r = fma(n, -0x1.abc9e3b39803fp-56, fma(n, -0x1.62e42fefa39efp-1, c));
    double p = fma(r * r, poly_exp_f64(r), r);
    return scale_f64(1.0 + p, (int)as_long(t) + by);
}

float exp(float x) { return exp_scaled_f32(x, 0); }
double exp(double x) { return exp_scaled_f64(x, 0); }

/* 2^(high + low), |low| far below 1. */
float exp2_sum_f32(float high, float low) {
    float c = high < -160.0f ? -160.0f : high;
    c = c > 140.0f ? 140.0f : c;
    float t = c + 0x1.8p23f;
    float r = ((c - (t - 0x1.8p23f)) + low) * 0x1.62e43p-1f;
    return scale_sum_f32(fma(fma(r, poly_exp_f32(r), 1.0f), r, 1.0f), t, 0);
}
double exp2_sum_f64(double high, double low) {
    double c = high < -1100.0 ? -1100.0 : high;
    c = c > 1030.0 ? 1030.0 : c;
    double t = c + 0x1.8p52;
    double r = ((c - (t - 0x1.8p52)) + low) * 0x1.62e42fefa39efp-1;
    double p = fma(r * r, poly_exp_f64(r), r);
    return scale_f64(1.0 + p, (int)as_long(t));
}

float exp2(float x) { return exp2_sum_f32(x, 0.0f); }
double exp2(double x) { return exp2_sum_f64(x, 0.0); }

float exp10(float x) {
    float c = x < -46.0f ? -46.0f : x;
    c = c > 40.0f ? 40.0f : c;
    float t = fma(c, 0x1.a934fp+1f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = fma(n, 0x1.ec10cp-27f, fma(n, -0x1.344136p-2f, c)) * 0x1.26bb1cp+1f;
    return scale_sum_f32(fma(fma(r, poly_exp_f32(r), 1.0f), r, 1.0f), t, 0);
}
double exp10(double x) {
    double c = x < -330.0 ? -330.0 : x;
    c = c > 310.0 ? 310.0 : c;
    double t = fma(c, 0x1.a934f0979a371p+1, 0x1.8p52);
    double n = t - 0x1.8p52;
    double r = fma(n, 0x1.9dc1da994fd21p-59, fma(n, -0x1.34413509f79ffp-2, c)) * 0x1.26bb1bbb55516p+1;
    double p = fma(r * r, poly_exp_f64(r), r);
    return scale_f64(1.0 + p, (int)as_long(t));
}

/* 2^n p + (2^n - 1), halved in between so that 2^n does not overflow. */
float expm1(float x) {
    float c = x < -30.0f ? -30.0f : x;
    c = c > 89.0f ? 89.0f : c;
    float t = fma(c, 0x1.715476p+0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = fma(n, 0x1.05c61p-29f, fma(n, -0x1.62e43p-1f, c));
    float p = fma(r * r, poly_exp_f32(r), r);
    float half_power = as_float((126 + as_int(t) - 0x4b400000) << 23);
    float large = 2.0f * fma(half_power, p, half_power - 0.5f);
    return fabs(x) < 0x1p-60f ? x : n == 0.0f ? p : large;
}
double expm1(double x) {
    double c = x < -50.0 ? -50.0 : x;
    c = c > 710.0 ? 710.0 : c;
    double t = fma(c, 0x1.71547652b82fep+0, 0x1.8p52);
    double n = t - 0x1.8p52;
    double r = fma(n, -0x1.abc9e3b39803fp-56, fma(n, -0x1.62e42fefa39efp-1, c));
    double p = fma(r * r, poly_exp_f64(r), r);
    double half_power = as_double((long)(1022 + (int)as_long(t)) << 52);
    double large = 2.0 * fma(half_power, p, half_power - 0.5);
    return x == 0.0 ? x : n == 0.0 ? p : large;
}
