/* Powers: 2^(y log2 x) with the logarithm in two floats (doubles), so that its error, which y multiplies,
   stays below 2^-30 (2^-59) relative: log2 x = e + 2 / ln 2 (s + s^3 q(s^2)), s = (m - 1) / (m + 1), where
   all but q needs the second part (Muller et al., Handbook of Floating-Point Arithmetic, ch. 4 and 10). */

float log2_extended_f32(float x, float *low) {
    int is_small = x < 0x1p-126f;
    int bits = as_int(is_small ? x * 0x1p23f : x) - 0x3f3504f3;
    float e = (float)(bits >> 23) - (is_small ? 23.0f : 0.0f);
    float m = as_float((bits & 0x7fffff) + 0x3f3504f3);
    float f = m - 1.0f;
    float d = m + 1.0f;
    float d_low = m - (d - 1.0f);
    float r = 1.0f / d;
    float s = f * r;
    float s_low = fma(-s, d_low, fma(-s, d, f)) * r;
    float z = s * s;
    float cube = s * z;
    float cube_low = fma(s, z, -cube) + fma(s, fma(s, s, -z), 3.0f * z * s_low);
    float q = poly_atanh_f32(z);
    float cubic = cube * q;
    float a = s + cubic;
    float a_low = ((s - a) + cubic) + (s_low + fma(cube_low, q, fma(cube, q, -cubic)));
    float p = a * 0x1.715476p+1f;
    float p_low = fma(a, 0x1.715476p+1f, -p) + fma(a, 0x1.4ae0cp-25f, a_low * 0x1.715476p+1f);
    float sum = e + p;
    float rest = e == 0.0f ? p_low : (p - (sum - e)) + p_low;
    float high = sum + rest;
    *low = rest - (high - sum);
    return high;
}

/* x^(y + y_low) for x >= 0, infinities in y too. */
float pow_positive_f32(float x, float y, float y_low) {
    float low;
    float high = log2_extended_f32(x, &low);
    float c = y < -0x1p36f ? -0x1p36f : y;
    c = c > 0x1p36f ? 0x1p36f : c;
    float product = c * high;
    float rest = fma(c, high, -product) + fma(c, low, y_low * high);
    float result = exp2_sum_f32(product, fabs(product) < 0x1p10f ? rest : 0.0f);
    float edge = (x == 0.0f) == (y < 0.0f) ? 1.0f / 0.0f : 0.0f;
    return x == 0.0f || x == 1.0f / 0.0f ? edge : result;
}

/* Beyond 2^24 (2^53) all numbers are even. Comparisons alone, which C compilers make masks of vectors of. */
int is_odd_f32(float y) {
    float halved = y * 0.5f;
    return trunc(y) == y && trunc(halved) != halved;
}

float pow(float x, float y) {
    float result = pow_positive_f32(fabs(x), y, 0.0f);
    result = signbit(x) && is_odd_f32(y) ? -result : result;
    result = x < 0.0f && x > -1.0f / 0.0f && trunc(y) != y ? 0.0f / 0.0f : result;
    result = isnan(x) || isnan(y) ? x + y : result;
    result = x == -1.0f && isinf(y) ? 1.0f : result;
    return x == 1.0f || y == 0.0f ? 1.0f : result;
}

float powr(float x, float y) {
    float result = pow_positive_f32(x, y, 0.0f);
    result = y == 0.0f ? 1.0f : result;
    int is_invalid = x < 0.0f || ((x == 0.0f || isinf(x)) && y == 0.0f) || (x == 1.0f && isinf(y));
    result = is_invalid ? 0.0f / 0.0f : result;
    return isnan(x) || isnan(y) ? x + y : result;
}

float pown(float x, int n) {
    float y = (float)n;
    float y_low = (float)(n - (int)y);
    y_low = y == 0x1p31f ? -(float)(0x7fffffff - n) - 1.0f : y_low;
    float result = pow_positive_f32(fabs(x), y, y_low);
    result = signbit(x) && (n & 1) ? -result : result;
    result = isnan(x) ? x : result;
    return n == 0 ? 1.0f : result;
}

float rootn(float x, int n) {
    float d = (float)n;
    float y = 1.0f / d;
    float y_low = fma(-y, d, 1.0f) * y;
    float result = pow_positive_f32(fabs(x), y, n == 0 ? 0.0f : y_low);
    result = signbit(x) && (n & 1) ? -result : result;
    int is_invalid = n == 0 || (x < 0.0f && !(n & 1));
    result = is_invalid ? 0.0f / 0.0f : result;
    return isnan(x) ? x : result;
}

double log2_extended_f64(double x, double *low) {
    int is_small = x < 0x1p-1022;
    long bits = as_long(is_small ? x * 0x1p52 : x) - 0x3fe6a09e667f3bcdl;
    double e = (double)(int)(bits >> 52) - (is_small ? 52.0 : 0.0);
    double m = as_double((bits & 0xfffffffffffffl) + 0x3fe6a09e667f3bcdl);
    double f = m - 1.0;
    double d = m + 1.0;
    double d_low = m - (d - 1.0);
    double r = 1.0 / d;
    double s = f * r;
    double s_low = fma(-s, d_low, fma(-s, d, f)) * r;
    double z = s * s;
    double cube = s * z;
    double cube_low = fma(s, z, -cube) + fma(s, fma(s, s, -z), 3.0 * z * s_low);
    double q = poly_atanh_f64(z);
    double cubic = cube * q;
    double a = s + cubic;
    double a_low = ((s - a) + cubic) + (s_low + fma(cube_low, q, fma(cube, q, -cubic)));
    double p = a * 0x1.71547652b82fep+1;
    double p_low =
        fma(a, 0x1.71547652b82fep+1, -p) + fma(a, 0x1.777d0ffda0d24p-55, a_low * 0x1.71547652b82fep+1);
    double sum = e + p;
    double rest = e == 0.0 ? p_low : (p - (sum - e)) + p_low;
    double high = sum + rest;
    *low = rest - (high - sum);
    return high;
}

/* x^(y + y_low) for x >= 0, infinities in y too. */
double pow_positive_f64(double x, double y, double y_low) {
    double low;
    double high = log2_extended_f64(x, &low);
    double c = y < -0x1p70 ? -0x1p70 : y;
    c = c > 0x1p70 ? 0x1p70 : c;
    double product = c * high;
    double rest = fma(c, high, -product) + fma(c, low, y_low * high);
    double result = exp2_sum_f64(product, fabs(product) < 0x1p13 ? rest : 0.0);
    double edge = (x == 0.0) == (y < 0.0) ? 1.0 / 0.0 : 0.0;
    return x == 0.0 || x == 1.0 / 0.0 ? edge : result;
}

/* Beyond 2^24 (2^53) all numbers are even. Comparisons alone, which C compilers make masks of vectors of. */
int is_odd_f64(double y) {
    double halved = y * 0.5;
    return trunc(y) == y && trunc(halved) != halved;
}

double pow(double x, double y) {
    double result = pow_positive_f64(fabs(x), y, 0.0);
    result = signbit(x) && is_odd_f64(y) ? -result : result;
    result = x < 0.0 && x > -1.0 / 0.0 && trunc(y) != y ? 0.0 / 0.0 : result;
    result = isnan(x) || isnan(y) ? x + y : result;
    result = x == -1.0 && isinf(y) ? 1.0 : result;
    return x == 1.0 || y == 0.0 ? 1.0 : result;
}

double powr(double x, double y) {
    double result = pow_positive_f64(x, y, 0.0);
    result = y == 0.0 ? 1.0 : result;
    int is_invalid = x < 0.0 || ((x == 0.0 || isinf(x)) && y == 0.0) || (x == 1.0 && isinf(y));
    result = is_invalid ? 0.0 / 0.0 : result;
    return isnan(x) || isnan(y) ? x + y : result;
}

double pown(double x, int n) {
    double y = (double)n;
    double y_low = 0.0;
    double result = pow_positive_f64(fabs(x), y, y_low);
    result = signbit(x) && (n & 1) ? -result : result;
    result = isnan(x) ? x : result;
    return n == 0 ? 1.0 : result;
}

double rootn(double x, int n) {
    double d = (double)n;
    double y = 1.0 / d;
    double y_low = fma(-y, d, 1.0) * y;
    double result = pow_positive_f64(fabs(x), y, n == 0 ? 0.0 : y_low);
    result = signbit(x) && (n & 1) ? -result : result;
    int is_invalid = n == 0 || (x < 0.0 && !(n & 1));
    result = is_invalid ? 0.0 / 0.0 : result;
    return isnan(x) ? x : result;
}
