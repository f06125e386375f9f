/* Inverse trigonometric functions. asin by its series for |x| <= 1/2, beyond from asin x = pi/2 - 2 asin
   sqrt((1-x)/2); atan from a quotient n/d turned by pi/4 or pi/2 so that its argument stays below tan(pi/8)
   (Cody and Waite, ch. 10 and 11). */

float asin_core_f32(float s, float z) { return fma(s * z, poly_asin_f32(z), s); }

float asin(float x) {
    float a = fabs(x);
    int is_large = a > 0.5f;
    float z = is_large ? fma(a, -0.5f, 0.5f) : a * a;
    float s = is_large ? sqrt(z) : a;
    float p = asin_core_f32(s, z);
    float result = copysign(is_large ? fma(-2.0f, p, 0x1.921fb6p+0f) : p, x) +
                   (is_large ? copysign(-0x1.777a5cp-25f, x) : 0.0f);
    return a < 0x1p-60f ? x : result;
}

float acos(float x) {
    float a = fabs(x);
    int is_large = a > 0.5f;
    float z = is_large ? fma(a, -0.5f, 0.5f) : a * a;
    float s = is_large ? sqrt(z) : a;
    float p = asin_core_f32(s, z);
    float near_one = x > 0.0f ? 2.0f * p : fma(-2.0f, p, 0x1.921fb6p+1f) + -0x1.777a5cp-24f;
    return is_large ? near_one : 0x1.921fb6p+0f - (copysign(p, x) - -0x1.777a5cp-25f);
}

/* atan(y / x) for y, x >= 0, not both infinite. */
float atan_quotient_f32(float y, float x) {
    int is_steep = y > x * 2.41421356f;
    int is_middle = !is_steep && y > x * 0.41421356f;
    float n = is_steep ? -x : is_middle ? y - x : y;
    float d = is_steep ? y : is_middle ? y + x : x;
    float high = is_steep ? 0x1.921fb6p+0f : is_middle ? 0x1.921fb6p-1f : 0.0f;
    float low = is_steep ? -0x1.777a5cp-25f : is_middle ? -0x1.777a5cp-26f : 0.0f;
    float t = n / d;
    float z = t * t;
    return high + (t + fma(t * z, poly_atan_f32(z), low));
}

float atan(float x) {
    float a = fabs(x);
    return copysign(atan_quotient_f32(a > 0x1p100f ? 0x1p100f : a, 1.0f), x);
}

/* Both are scaled: down where their sum could overflow, up where their parts would be denormal; equal infinities stand
   for equal numbers. */
float atan2_plain_f32(float y, float x) {
    float a = fabs(y);
    float b = fabs(x);
    int both = isinf(a) && isinf(b);
    float scale = a > 0x1p100f || b > 0x1p100f ? 0.25f : a < 0x1p-100f && b < 0x1p-100f ? 0x1p64f : 1.0f;
    a = both ? 1.0f : a * scale;
    b = both ? 1.0f : a == 0.0f && b == 0.0f ? 1.0f : b * scale;
    return atan_quotient_f32(a, b);
}
float atan2(float y, float x) {
    float angle = atan2_plain_f32(y, x);
    angle = signbit(x) ? (0x1.921fb6p+1f - angle) + -0x1.777a5cp-24f : angle;
    return isnan(x) || isnan(y) ? x + y : copysign(angle, y);
}

float asinpi(float x) { return asin(x) * 0x1.45f306p-2f; }
float acospi(float x) { return acos(x) * 0x1.45f306p-2f; }
float atanpi(float x) { return atan(x) * 0x1.45f306p-2f; }
float atan2pi(float y, float x) {
    float angle = atan2_plain_f32(y, x) * 0x1.45f306p-2f;
    angle = signbit(x) ? 1.0f - angle : angle;
    return isnan(x) || isnan(y) ? x + y : copysign(angle, y);
}

double asin_core_f64(double s, double z) { return fma(s * z, poly_asin_f64(z), s); }

double asin(double x) {
    double a = fabs(x);
    int is_large = a > 0.5;
    double z = is_large ? fma(a, -0.5, 0.5) : a * a;
    double s = is_large ? sqrt(z) : a;
    double p = asin_core_f64(s, z);
    return copysign(is_large ? fma(-2.0, p, 0x1.921fb54442d18p+0) : p, x) +
           (is_large   ? copysign(0x1.1a62633145c07p-54, x)
            : x == 0.0 ? x
                       : 0.0);
}

double acos(double x) {
    double a = fabs(x);
    int is_large = a > 0.5;
    double z = is_large ? fma(a, -0.5, 0.5) : a * a;
    double s = is_large ? sqrt(z) : a;
    double p = asin_core_f64(s, z);
    double near_one = x > 0.0 ? 2.0 * p : fma(-2.0, p, 0x1.921fb54442d18p+1) + 0x1.1a62633145c07p-53;
    return is_large ? near_one : 0x1.921fb54442d18p+0 - (copysign(p, x) - 0x1.1a62633145c07p-54);
}

/* atan(y / x) for y, x >= 0, not both infinite. */
double atan_quotient_f64(double y, double x) {
    int is_steep = y > x * 2.41421356;
    int is_middle = !is_steep && y > x * 0.41421356;
    double n = is_steep ? -x : is_middle ? y - x : y;
    double d = is_steep ? y : is_middle ? y + x : x;
    double high = is_steep ? 0x1.921fb54442d18p+0 : is_middle ? 0x1.921fb54442d18p-1 : 0.0;
    double low = is_steep ? 0x1.1a62633145c07p-54 : is_middle ? 0x1.1a62633145c07p-55 : 0.0;
    double t = n / d;
    double z = t * t;
    return high + (t + fma(t * z, poly_atan_f64(z), low));
}

double atan(double x) {
    double a = fabs(x);
    return copysign(atan_quotient_f64(a > 0x1p1000 ? 0x1p1000 : a, 1.0), x);
}

/* Both are scaled: down where their sum could overflow, up where their parts would be denormal; equal infinities stand
   for equal numbers. */
double atan2_plain_f64(double y, double x) {
    double a = fabs(y);
    double b = fabs(x);
    int both = isinf(a) && isinf(b);
    double scale = a > 0x1p1000 || b > 0x1p1000 ? 0.25 : a < 0x1p-900 && b < 0x1p-900 ? 0x1p600 : 1.0;
    a = both ? 1.0 : a * scale;
    b = both ? 1.0 : a == 0.0 && b == 0.0 ? 1.0 : b * scale;
    return atan_quotient_f64(a, b);
}
double atan2(double y, double x) {
    double angle = atan2_plain_f64(y, x);
    angle = signbit(x) ? (0x1.921fb54442d18p+1 - angle) + 0x1.1a62633145c07p-53 : angle;
    return isnan(x) || isnan(y) ? x + y : copysign(angle, y);
}

double asinpi(double x) { return asin(x) * 0x1.45f306dc9c883p-2; }
double acospi(double x) { return acos(x) * 0x1.45f306dc9c883p-2; }
double atanpi(double x) { return atan(x) * 0x1.45f306dc9c883p-2; }
double atan2pi(double y, double x) {
    double angle = atan2_plain_f64(y, x) * 0x1.45f306dc9c883p-2;
    angle = signbit(x) ? 1.0 - angle : angle;
    return isnan(x) || isnan(y) ? x + y : copysign(angle, y);
}
