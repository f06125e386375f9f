/* Math functions that hold for all float types, scalar or vector, as they stand (OpenCL C 6.12.2). */

T fdim(T x, T y) { return x <= y ? (T)0 : x - y; }
T maxmag(T x, T y) { return fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y); }
T minmag(T x, T y) { return fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y); }

/* Half away from zero. x - trunc(x) is exact. */
T round(T x) {
    T whole = trunc(x);
    T up = fabs(x - whole) >= (T)0.5f ? (T)1 : (T)0;
    return copysign(whole + copysign(up, x), x);
}

/* The code goes into the significand of a quiet NaN. */
N nan(T code) {
    T quiet = (T)(sizeof(S) == 2 ? 0x7e00ul : sizeof(S) == 4 ? 0x7fc00000ul : 0x7ff8000000000000ul);
    T payload = (T)(sizeof(S) == 2 ? 0x1fful : sizeof(S) == 4 ? 0x3ffffful : 0x7fffffffffffful);
    return as_N((T)(quiet | (code & payload)));
}

T modf(T x, P whole) {
    T t = trunc(x);
    *whole = t;
    return copysign(isinf(x) ? (T)0 : x - t, x);
}

/* Where x - floor(x) rounds up to 1, the largest value below. */
T fract(T x, P whole) {
    T down = floor(x);
    *whole = down;
    T rest = fmin(x - down, __qn_below_one(x));
    return isnan(x) ? x : isinf(x) ? copysign((T)0, x) : copysign(rest, x < (T)0 ? (T)1 : x);
}

T frexp(T x, P exponent) {
    *exponent = __qn_frexp_exponent(x);
    return __qn_frexp_mantissa(x);
}

T remquo(T x, T y, P bits) {
    *bits = __qn_remquo_bits(x, y);
    return remainder(x, y);
}

T sincos(T x, P cosine) {
    *cosine = cos(x);
    return sin(x);
}

T lgamma_r(T x, P sign) {
    *sign = __qn_lgamma_sign(x);
    return lgamma(x);
}

T native_exp(T x) { return native_exp2(x * (T)0x1.715476p+0f); }
T native_exp10(T x) { return native_exp2(x * (T)0x1.a934fp+1f); }
T native_log(T x) { return native_log2(x) * (T)0x1.62e43p-1f; }
T native_log10(T x) { return native_log2(x) * (T)0x1.344136p-2f; }
T native_powr(T x, T y) { return native_exp2(y * native_log2(x)); }
T native_tan(T x) { return native_divide(native_sin(x), native_cos(x)); }
