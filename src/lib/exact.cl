/* Functions that take numbers apart or compute exactly: exponents, remainders, neighbours (OpenCL C 6.12.2).
   The layouts are those of IEEE 754. */

half below_one(half x) { return (half)0x1.ffcp-1f; }
float below_one(float x) { return 0x1.fffffep-1f; }
double below_one(double x) { return 0x1.fffffffffffffp-1; }

/* Denormal numbers are scaled up before their exponent is read. */
float frexp_mantissa(float x) {
    float scaled = fabs(x) < 0x1p-126f ? x * 0x1p24f : x;
    float result = as_float((as_uint(scaled) & 0x807fffffu) | 0x3f000000u);
    return x == 0.0f || !isfinite(x) ? x : result;
}
int frexp_exponent(float x) {
    int is_small = fabs(x) < 0x1p-126f;
    float scaled = is_small ? x * 0x1p24f : x;
    int exponent = (int)(as_uint(scaled) >> 23 & 0xffu) - (is_small ? 150 : 126);
    return x == 0.0f || !isfinite(x) ? 0 : exponent;
}
double frexp_mantissa(double x) {
    double scaled = fabs(x) < 0x1p-1022 ? x * 0x1p54 : x;
    double result = as_double((as_ulong(scaled) & 0x800ffffffffffffful) | 0x3fe0000000000000ul);
    return x == 0.0 || !isfinite(x) ? x : result;
}
int frexp_exponent(double x) {
    int is_small = fabs(x) < 0x1p-1022;
    double scaled = is_small ? x * 0x1p54 : x;
    int exponent = (int)(as_ulong(scaled) >> 52 & 0x7fful) - (is_small ? 1076 : 1022);
    return x == 0.0 || !isfinite(x) ? 0 : exponent;
}

/* FP_ILOGB0 and FP_ILOGBNAN are the smallest and the largest int. */
int ilogb(float x) {
    int exponent = __qn_frexp_exponent(x) - 1;
    return x == 0.0f ? -0x7fffffff - 1 : isfinite(x) ? exponent : 0x7fffffff;
}
int ilogb(double x) {
    int exponent = __qn_frexp_exponent(x) - 1;
    return x == 0.0 ? -0x7fffffff - 1 : isfinite(x) ? exponent : 0x7fffffff;
}
float logb(float x) {
    float exponent = (float)(__qn_frexp_exponent(x) - 1);
    return x == 0.0f ? -1.0f / 0.0f : isfinite(x) ? exponent : x * x;
}
double logb(double x) {
    double exponent = (double)(__qn_frexp_exponent(x) - 1);
    return x == 0.0 ? -1.0 / 0.0 : isfinite(x) ? exponent : x * x;
}

/* The significand is scaled twice, of which only the second time may round. */
float ldexp(float x, int n) {
    int k = clamp(__qn_frexp_exponent(x) + clamp(n, -400, 400), -200, 200);
    int first = clamp(k, -100, 100);
    return __qn_frexp_mantissa(x) * as_float((127 + first) << 23) * as_float((127 + k - first) << 23);
}
double ldexp(double x, int n) {
    int k = clamp(__qn_frexp_exponent(x) + clamp(n, -3000, 3000), -1200, 1200);
    int first = clamp(k, -600, 600);
    return __qn_frexp_mantissa(x) * as_double((long)(1023 + first) << 52) *
           as_double((long)(1023 + k - first) << 52);
}

/* x rem y for x >= 0, y > 0, and the low bits of the quotient. A quotient of few bits is exact but for one, up or
   down, as a division may be off by 2.5 ulp, and the remainder by fma exact (of f32 that are not tiny: fma may take
   denormal numbers for zero; of f64 that are not huge: where fma is computed in pairs, its parts may overflow); else
   long division of the significands, as many bits a step as fit. */
float fmod_parts_f32(float x, float y, ulong *quotient) {
    if (x < y * 0x1p22f && y < 0x1p127f && x >= 0x1p-100f && y >= 0x1p-100f) {
        float q = trunc(x / y);
        float rest = fma(-q, y, x);
        q = rest < 0.0f ? q - 1.0f : rest >= y ? q + 1.0f : q;
        *quotient = (ulong)(uint)(int)q;
        return fma(-q, y, x);
    }
    *quotient = 0ul;
    if (!(x >= y)) return x;
    int exponent = __qn_frexp_exponent(y);
    int shift = __qn_frexp_exponent(x) - exponent;
    ulong divisor = (ulong)(uint)(int)(__qn_frexp_mantissa(y) * 0x1p24f);
    ulong rest = (ulong)(uint)(int)(__qn_frexp_mantissa(x) * 0x1p24f);
    ulong q = rest / divisor;
    rest = rest % divisor;
    while (shift > 0) {
        int step = min(shift, 40);
        rest <<= step;
        q = (q << step) + rest / divisor;
        rest = rest % divisor;
        shift -= step;
    }
    *quotient = q;
    return ldexp((float)(uint)rest, exponent - 24);
}
double fmod_parts_f64(double x, double y, ulong *quotient) {
    if (x < y * 0x1p50 && x < 0x1p990 && y < 0x1p990) {
        double q = trunc(x / y);
        double rest = fma(-q, y, x);
        q = rest < 0.0 ? q - 1.0 : rest >= y ? q + 1.0 : q;
        *quotient = (ulong)(long)q;
        return fma(-q, y, x);
    }
    *quotient = 0ul;
    if (!(x >= y)) return x;
    int exponent = __qn_frexp_exponent(y);
    int shift = __qn_frexp_exponent(x) - exponent;
    ulong divisor = (ulong)(long)(__qn_frexp_mantissa(y) * 0x1p53);
    ulong rest = (ulong)(long)(__qn_frexp_mantissa(x) * 0x1p53);
    ulong q = rest / divisor;
    rest = rest % divisor;
    while (shift > 0) {
        int step = min(shift, 11);
        rest <<= step;
        q = (q << step) + rest / divisor;
        rest = rest % divisor;
        shift -= step;
    }
    *quotient = q;
    return ldexp((double)(long)rest, exponent - 53);
}

float fmod(float x, float y) {
    ulong quotient;
    if (!isfinite(x) || !(fabs(y) > 0.0f)) return (x - x) / (y - y);
    return copysign(fmod_parts_f32(fabs(x), fabs(y), &quotient), x);
}
double fmod(double x, double y) {
    ulong quotient;
    if (!isfinite(x) || !(fabs(y) > 0.0)) return (x - x) / (y - y);
    return copysign(fmod_parts_f64(fabs(x), fabs(y), &quotient), x);
}

/* The quotient is rounded to nearest even: one more where the rest is over half of y, or half and it is odd.
 */
float remainder(float x, float y) {
    ulong quotient;
    float divisor = fabs(y);
    if (!isfinite(x) || !(divisor > 0.0f)) return (x - x) / (y - y);
    float rest = fmod_parts_f32(fabs(x), divisor, &quotient);
    int is_over = rest > divisor - rest || (rest == divisor - rest && (quotient & 1ul));
    rest = is_over ? rest - divisor : rest;
    return x < 0.0f || rest == 0.0f ? copysign(1.0f, x) * rest : rest;
}
double remainder(double x, double y) {
    ulong quotient;
    double divisor = fabs(y);
    if (!isfinite(x) || !(divisor > 0.0)) return (x - x) / (y - y);
    double rest = fmod_parts_f64(fabs(x), divisor, &quotient);
    int is_over = rest > divisor - rest || (rest == divisor - rest && (quotient & 1ul));
    rest = is_over ? rest - divisor : rest;
    return x < 0.0 || rest == 0.0 ? copysign(1.0, x) * rest : rest;
}

/* Seven bits of the rounded quotient, with its sign. */
int remquo_bits(float x, float y) {
    ulong quotient;
    float divisor = fabs(y);
    if (!isfinite(x) || !(divisor > 0.0f)) return 0;
    float rest = fmod_parts_f32(fabs(x), divisor, &quotient);
    if (rest > divisor - rest || (rest == divisor - rest && (quotient & 1ul))) quotient += 1ul;
    int bits = (int)(quotient & 127ul);
    return signbit(x) != signbit(y) ? -bits : bits;
}
int remquo_bits(double x, double y) {
    ulong quotient;
    double divisor = fabs(y);
    if (!isfinite(x) || !(divisor > 0.0)) return 0;
    double rest = fmod_parts_f64(fabs(x), divisor, &quotient);
    if (rest > divisor - rest || (rest == divisor - rest && (quotient & 1ul))) quotient += 1ul;
    int bits = (int)(quotient & 127ul);
    return signbit(x) != signbit(y) ? -bits : bits;
}

/* Floats of one sign are in the order of their bits. */
half nextafter(half x, half y) {
    short away = (short)(as_short(x) + ((x < y) == (x > (half)0) ? 1 : -1));
    half smallest = copysign(as_half((short)1), y);
    return isnan(x) || isnan(y) ? x + y : x == y ? y : x == (half)0 ? smallest : as_half(away);
}
float nextafter(float x, float y) {
    int away = as_int(x) + ((x < y) == (x > 0.0f) ? 1 : -1);
    float smallest = copysign(0x1p-149f, y);
    return isnan(x) || isnan(y) ? x + y : x == y ? y : x == 0.0f ? smallest : as_float(away);
}
double nextafter(double x, double y) {
    long away = as_long(x) + ((x < y) == (x > 0.0) ? 1l : -1l);
    double smallest = copysign(0x1p-1074, y);
    return isnan(x) || isnan(y) ? x + y : x == y ? y : x == 0.0 ? smallest : as_double(away);
}
