/* Geometric functions (OpenCL C 6.12.5). Lengths are computed plainly where the sum of squares is far from
   overflow and underflow, else from scaled components. */

T cross3(T a, T b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
T cross4(T a, T b) {
    S zero = 0;
    return (T)(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, zero);
}

S dot1(T a, T b) { return a * b; }
S dot2(T a, T b) { return fma(a.y, b.y, a.x * b.x); }
S dot3(T a, T b) { return fma(a.z, b.z, fma(a.y, b.y, a.x * b.x)); }
S dot4(T a, T b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, a.x * b.x))); }

S max_lane2(T v) { return fmax(v.x, v.y); }
S max_lane3(T v) { return fmax(fmax(v.x, v.y), v.z); }
S max_lane4(T v) { return fmax(fmax(v.x, v.y), fmax(v.z, v.w)); }

S length1(T v) { return fabs(v); }

/* x over the power of two in `largest`, and back: what the slow ways below scale with. */
float near_one(float x, float largest) {
    int exponent = clamp(as_int(largest) & 0x7f800000, 0x00800000, 0x7e800000);
    float one = fabs(x) == 1.0f / 0.0f ? 1.0f : 0.0f;
    return largest == 1.0f / 0.0f ? copysign(one, x) : x * as_float(0x7f000000 - exponent);
}
float from_one(float x, float largest) {
    int exponent = clamp(as_int(largest) & 0x7f800000, 0x00800000, 0x7e800000);
    return largest == 1.0f / 0.0f ? largest : x * as_float(exponent);
}
double near_one(double x, double largest) {
    long exponent = clamp(as_long(largest) & 0x7ff0000000000000l, 0x0010000000000000l, 0x7fd0000000000000l);
    double one = fabs(x) == 1.0 / 0.0 ? 1.0 : 0.0;
    return largest == 1.0 / 0.0 ? copysign(one, x) : x * as_double(0x7fe0000000000000l - exponent);
}
double from_one(double x, double largest) {
    long exponent = clamp(as_long(largest) & 0x7ff0000000000000l, 0x0010000000000000l, 0x7fd0000000000000l);
    return largest == 1.0 / 0.0 ? largest : x * as_double(exponent);
}

S length(T v) {
    S square = dot(v, v);
    S tiny = __qn_min_normal(square) * (S)4096;
    if (square > tiny && square < (S)1 / tiny) return sqrt(square);
    S largest = __qn_max_lane(fabs(v));
    T scaled = __qn_near_one(v, (T)largest);
    return __qn_from_one(sqrt(dot(scaled, scaled)), largest);
}

S distance(T a, T b) { return length(a - b); }

T normalize1(T v) { return sign(v); }

T normalize(T v) {
    S square = dot(v, v);
    S tiny = __qn_min_normal(square) * (S)4096;
    if (square > tiny && square < (S)1 / tiny) return v / (T)sqrt(square);
    S largest = __qn_max_lane(fabs(v));
    if (largest == (S)0) return v;
    T scaled = __qn_near_one(v, (T)largest);
    return scaled / (T)sqrt(dot(scaled, scaled));
}

S fast_length(T v) { return half_sqrt(dot(v, v)); }
S fast_distance(T a, T b) { return fast_length(a - b); }
T fast_normalize(T v) {
    S square = dot(v, v);
    return square == (S)0 ? v : v * half_rsqrt(square);
}
