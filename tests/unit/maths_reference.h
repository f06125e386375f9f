/* What the functions of the maths library should give, computed in long double (on x86 with 11 bits more than
   double). `type` is 0 for half, 1 for float, 2 for double, where a result depends on it. */
#ifndef MATHS_REFERENCE_H
#define MATHS_REFERENCE_H

#include <math.h>
#include <stdint.h>

typedef long double maths_reference(long double a, long double b, int n, int type);

#define REF(name, ...)                                                                                       \
    static long double ref_##name(long double a, long double b, int n, int type) {                           \
        (void)a, (void)b, (void)n, (void)type;                                                               \
        __VA_ARGS__                                                                                          \
    }
#define REF1(name)          REF(name, return name##l(a);)
#define REF2(name)          REF(name, return name##l(a, b);)
#define REF_AS(name, value) REF(name, return (value);)

#define PI_L 3.14159265358979323846264338327950288L

REF1(acos)
REF1(acosh)
REF1(asin)
REF1(asinh)
REF1(atan)
REF1(atanh)
REF1(cbrt)
REF1(ceil)
REF1(cos)
REF1(cosh)
REF1(erf)
REF1(erfc)
REF1(exp)
REF1(exp2)
REF1(expm1)
REF1(fabs)
REF1(floor)
REF_AS(lgamma, a > 0 ? lgammal(a) : a)
REF1(log)
REF1(log2)
REF1(log10)
REF1(log1p)
REF1(logb)
REF1(rint)
REF1(round)
REF1(sin)
REF1(sinh)
REF1(sqrt)
REF1(tan)
REF1(tanh)
REF1(tgamma)
REF1(trunc)
REF2(atan2)
REF2(copysign)
REF2(fmod)
REF2(hypot)
REF2(remainder)
REF_AS(acospi, acosl(a) / PI_L)
REF_AS(asinpi, asinl(a) / PI_L)
REF_AS(atanpi, atanl(a) / PI_L)
REF_AS(atan2pi, atan2l(a, b) / PI_L)
REF_AS(exp10, powl(10, a))
REF_AS(rsqrt, 1 / sqrtl(a))
REF_AS(fdim, a <= b ? 0 : a - b)
REF_AS(fmax, fmaxl(a, b))
REF_AS(fmin, fminl(a, b))
REF_AS(maxmag, fabsl(a) > fabsl(b) ? a : fabsl(b) > fabsl(a) ? b : fmaxl(a, b))
REF_AS(minmag, fabsl(a) < fabsl(b) ? a : fabsl(b) < fabsl(a) ? b : fminl(a, b))
REF_AS(ldexp, scalbnl(a, n<-9999 ? -9999 : n> 9999 ? 9999 : n))
REF_AS(fma, type == 2 ? (long double)fma((double)a, (double)b, (double)a) : fmal(a, b, a))

/* pi times the distance to the nearest multiple of 1/2, after exact reduction by 2. */
static inline long double turn(long double a, int quarter) {
    long double r = fmodl(fabsl(a), 2) + 0.5L * quarter;
    long double q = rintl(2 * r), d = PI_L * (r - 0.5L * q);
    int turns = (int)q & 3;
    long double value = turns & 1 ? cosl(d) : sinl(d);
    return turns & 2 ? -value : value;
}
REF(sinpi, if (isinf(a)) return NAN; long double s = turn(a, 0); return s == 0  ? copysignl(0, a)
                                                                        : a < 0 ? -s
                                                                                : s;)
REF(cospi, if (isinf(a)) return NAN; long double s = turn(a, 1); return s == 0 ? 0 : s;)
REF(tanpi, if (isinf(a)) return NAN; long double s = turn(a, 0), c = turn(a, 1);
    long double whole = floorl(a); int odd = fmodl(whole, 2) != 0;
    if (s == 0) return copysignl(0, odd ? -a : a); if (c == 0) return odd ? -INFINITY : INFINITY;
    return a < 0 ? -s / c : s / c;)

/* glibc's x87 powl of minus infinity and -2^63 is infinite. */
REF_AS(pow, isinf(a) && b <= -0x1p63L && !isinf(b) ? 0 : powl(a, b))
REF(powr,
    if (isnan(a) || isnan(b) || a < 0 || ((a == 0 || isinf(a)) && b == 0) || (a == 1 && isinf(b))) return NAN;
    return powl(fabsl(a), b);)
REF(pown, if (n == 0) return 1; return powl(a, n);)
REF(rootn, if (isnan(a) || n == 0 || (a < 0 && !(n & 1))) return NAN;
    if (a == 0 && n < 0) return n & 1 ? 1 / a : INFINITY;
    long double r = a == 0 ? 0 : powl(fabsl(a), 1.0L / n); return n & 1 ? copysignl(r, a) : r;)

REF_AS(frexp_mantissa, frexpl(a, &n))
REF(frexp_exponent, int e = 0; if (isfinite(a)) frexpl(a, &e); return e;)
REF_AS(ilogb, a == 0 ? (long double)INT32_MIN : isfinite(a) ? ilogbl(a) : (long double)INT32_MAX)
REF(modf_fraction, return isnan(a) ? a : copysignl(isinf(a) ? 0 : a - truncl(a), a);)
REF(fract, if (isnan(a)) return a; if (isinf(a)) return copysignl(0, a);
    long double below = 1 - ldexpl(1, type == 0   ? -11
                                      : type == 1 ? -24
                                                  : -53),
    r = a - floorl(a);
    return a == 0      ? a
           : r < below ? r
                       : below;)
REF(remquo_bits, if (isnan(a) || isnan(b) || isinf(a) || b == 0) return 0; int q; remquol(a, b, &q);
    return q % 8;)
REF(nextafter, if (isnan(a) || isnan(b)) return NAN; if (a == b) return b;
    long double least = ldexpl(1, type == 0   ? -24
                                  : type == 1 ? -149
                                              : -1074);
    if (a == 0) return copysignl(least, b); if (type == 1) return nextafterf((float)a, (float)b);
    if (type == 2) return nextafter((double)a, (double)b); if (isinf(a)) return copysignl(65504, a); int e;
    frexpl(a, &e); int up = (a < b) == (a > 0); if (!up && fabsl(a) == ldexpl(1, e - 1)) e--;
    long double step = fmaxl(ldexpl(1, e - 11), least), r = fabsl(a) + (up ? step : -step);
    return copysignl(r > 65504 ? INFINITY : r, a);)

#endif
