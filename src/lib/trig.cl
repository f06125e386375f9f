/* Sine, cosine and tangent: x = n pi/2 + r with |r| <= pi/4, then polynomials in r^2. Moderate arguments are
   reduced with pi/2 in three parts and fma, which keeps every step exact where the result is small (Cody and
   Waite); large ones by the bits of 2/pi that matter for x modulo 2 pi (Payne and Hanek, Radian reduction for
   trigonometric functions, SIGNUM 18 (1983)). */

/* 64 zero bits, then 2/pi. */
__constant ulong two_over_pi[] = {
    0x0000000000000000ul, 0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul,
    0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul, 0xfe1deb1cb129a73eul,
    0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul, 0x3991d639835339f4ul, 0x9c845f8bbdf9283bul,
    0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul, 0x4f463f669e5fea2dul,
    0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul, 0x56033046fc7b6babul};

/* 32 zero bits, then 2/pi. */
__constant uint two_over_pi_short[] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

/* x = m 2^e; of 2/pi the bits from weight 4 / 2^e down are enough: 96 of them times m, modulo 2^96, is 2^94
   times x 2/pi modulo 4. */
float reduce_large_f32(float x, int *quadrant) {
    int e = (as_int(x) >> 23 & 0xff) - 150;
    uint m = (as_uint(x) & 0x7fffffu) | 0x800000u;
    int start = clamp(e + 30, 0, 159);
    int word = start >> 5;
    int shift = start & 31;
    uint t1 = two_over_pi_short[word + 1];
    uint t2 = two_over_pi_short[word + 2];
    ulong start_bits = ((ulong)two_over_pi_short[word] << 32) | t1;
    ulong middle_bits = ((ulong)t1 << 32) | t2;
    ulong end_bits = ((ulong)t2 << 32) | two_over_pi_short[word + 3];
    ulong w0 = (start_bits << shift) >> 32;
    ulong w1 = (middle_bits << shift) >> 32;
    ulong w2 = (end_bits << shift) >> 32;
    ulong p2 = w2 * m;
    ulong p1 = w1 * m + (p2 >> 32);
    ulong p0 = w0 * m + (p1 >> 32);
    ulong top = (p0 << 32) | (p1 & 0xfffffffful);
    ulong fraction = top << 2;
    int q = (int)(top >> 62) + (int)(fraction >> 63);
    float high = (float)(long)fraction;
    float r = fma(high, 0x1.921fb6p-64f, high * -0x1.777a5cp-89f);
    *quadrant = x < 0.0f ? -q : q;
    r = x < 0.0f ? -r : r;
    return isfinite(x) ? r : 0.0f / 0.0f;
}

/* The same with 192 bits and a 53-bit m; two words of the fraction, for results close to zero. */
double reduce_large_f64(double x, int *quadrant) {
    int e = (int)(as_long(x) >> 52 & 0x7ffl) - 1075;
    ulong m = (as_ulong(x) & 0xffffffffffffful) | 0x10000000000000ul;
    int start = clamp(e + 62, 0, 1033);
    int word = start >> 6;
    int shift = start & 63;
    ulong t0 = two_over_pi[word];
    ulong t1 = two_over_pi[word + 1];
    ulong t2 = two_over_pi[word + 2];
    ulong t3 = two_over_pi[word + 3];
    ulong w0 = shift == 0 ? t0 : (t0 << shift) | (t1 >> (64 - shift));
    ulong w1 = shift == 0 ? t1 : (t1 << shift) | (t2 >> (64 - shift));
    ulong w2 = shift == 0 ? t2 : (t2 << shift) | (t3 >> (64 - shift));
    ulong p2 = mul_hi(w2, m);
    ulong p1 = w1 * m + p2;
    ulong carry = p1 < p2 ? 1ul : 0ul;
    ulong p0 = w0 * m + mul_hi(w1, m) + carry;
    ulong f0 = (p0 << 2) | (p1 >> 62);
    ulong f1 = p1 << 2;
    int q = (int)(p0 >> 62) + (int)(f0 >> 63);
    double high = (double)(long)f0;
    double low = (double)((long)f0 - (long)high) + (double)f1 * 0x1p-64;
    double r =
        fma(high, 0x1.921fb54442d18p-64, fma(high, 0x1.1a62633145c07p-118, low * 0x1.921fb54442d18p-64));
    *quadrant = x < 0.0 ? -q : q;
    r = x < 0.0 ? -r : r;
    return isfinite(x) ? r : 0.0 / 0.0;
}

float reduce_f32(float x, int *quadrant) {
    float t = fma(x, 0x1.45f306p-1f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    *quadrant = as_int(t);
    float r = fma(n, 0x1.ee59dap-50f, fma(n, 0x1.777a5cp-25f, fma(n, -0x1.921fb6p+0f, x)));
    if (!(fabs(x) < 0x1p17f)) r = reduce_large_f32(x, quadrant);
    return r;
}

float sin_near_zero_f32(float r) {
    float z = r * r;
    return fma(r * z, poly_sin_f32(z), r);
}
float cos_near_zero_f32(float r) {
    float z = r * r;
    float half_square = 0.5f * z;
    float c = 1.0f - half_square;
    return c + fma(z * z, poly_cos_f32(z), (1.0f - c) - half_square);
}

/* sin of r + quadrant pi/2 */
float sin_turned_f32(float r, int quadrant) {
    float value = quadrant & 1 ? cos_near_zero_f32(r) : sin_near_zero_f32(r);
    return quadrant & 2 ? -value : value;
}

float sin(float x) {
    int quadrant;
    float r = reduce_f32(x, &quadrant);
    return fabs(x) < 0x1p-60f ? x : sin_turned_f32(r, quadrant);
}
float cos(float x) {
    int quadrant;
    float r = reduce_f32(x, &quadrant);
    return sin_turned_f32(r, quadrant + 1);
}
float tan(float x) {
    int quadrant;
    float r = reduce_f32(x, &quadrant);
    float s = sin_near_zero_f32(r);
    float c = cos_near_zero_f32(r);
    float value = quadrant & 1 ? -c / s : s / c;
    return fabs(x) < 0x1p-60f ? x : value;
}

/* x = n / 2 + r exactly; pi r in r's place, n modulo 4 the quadrant. */
float reduce_turns_f32(float x, int *quadrant) {
    float n = rint(x + x);
    n = fabs(x) < 0x1p24f ? n : 0.0f;
    float r = fabs(x) < 0x1p24f ? fma(n, -0.5f, x) : x - x;
    *quadrant = (int)(n - 4.0f * floor(n * 0.25f));
    return r * 0x1.921fb6p+1f;
}
float sinpi(float x) {
    int quadrant;
    float r = reduce_turns_f32(x, &quadrant);
    float value = sin_turned_f32(r, quadrant);
    value = value == 0.0f ? copysign(value, x) : value;
    return fabs(x) < 0x1p-60f ? x * 0x1.921fb6p+1f : value;
}
float cospi(float x) {
    int quadrant;
    float r = reduce_turns_f32(x, &quadrant);
    return sin_turned_f32(r, quadrant + 1) + 0.0f;
}
float tanpi(float x) {
    int quadrant;
    float r = reduce_turns_f32(x, &quadrant);
    float s = sin_near_zero_f32(r);
    float c = cos_near_zero_f32(r);
    float value = quadrant & 1 ? -c / s : s / c;
    float pole = quadrant & 2 ? -1.0f / 0.0f : 1.0f / 0.0f;
    float zero = copysign(0.0f, quadrant & 2 ? -x : x);
    value = r == 0.0f ? (quadrant & 1 ? pole : zero) : value;
    return fabs(x) < 0x1p-60f ? x * 0x1.921fb6p+1f : value;
}

double reduce_f64(double x, int *quadrant) {
    double t = fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
    double n = t - 0x1.8p52;
    *quadrant = (int)as_long(t);
    double r =
        fma(n, 0x1.f1976b7ed8fbcp-110, fma(n, -0x1.1a62633145c07p-54, fma(n, -0x1.921fb54442d18p+0, x)));
    if (!(fabs(x) < 0x1p20)) r = reduce_large_f64(x, quadrant);
    return r;
}

double sin_near_zero_f64(double r) {
    double z = r * r;
    return fma(r * z, poly_sin_f64(z), r);
}
double cos_near_zero_f64(double r) {
    double z = r * r;
    double half_square = 0.5 * z;
    double c = 1.0 - half_square;
    return c + fma(z * z, poly_cos_f64(z), (1.0 - c) - half_square);
}

/* sin of r + quadrant pi/2 */
double sin_turned_f64(double r, int quadrant) {
    double value = quadrant & 1 ? cos_near_zero_f64(r) : sin_near_zero_f64(r);
    return quadrant & 2 ? -value : value;
}

double sin(double x) {
    int quadrant;
    double r = reduce_f64(x, &quadrant);
    return x == 0.0 ? x : sin_turned_f64(r, quadrant);
}
double cos(double x) {
    int quadrant;
    double r = reduce_f64(x, &quadrant);
    return sin_turned_f64(r, quadrant + 1);
}
double tan(double x) {
    int quadrant;
    double r = reduce_f64(x, &quadrant);
    double s = sin_near_zero_f64(r);
    double c = cos_near_zero_f64(r);
    double value = quadrant & 1 ? -c / s : s / c;
    return x == 0.0 ? x : value;
}

/* x = n / 2 + r exactly; pi r in r's place, n modulo 4 the quadrant. */
double reduce_turns_f64(double x, int *quadrant) {
    double n = rint(x + x);
    n = fabs(x) < 0x1p53 ? n : 0.0;
    double r = fabs(x) < 0x1p53 ? fma(n, -0.5, x) : x - x;
    *quadrant = (int)(n - 4.0 * floor(n * 0.25));
    return r * 0x1.921fb54442d18p+1;
}
double sinpi(double x) {
    int quadrant;
    double r = reduce_turns_f64(x, &quadrant);
    double value = sin_turned_f64(r, quadrant);
    return value == 0.0 ? copysign(value, x) : value;
}
double cospi(double x) {
    int quadrant;
    double r = reduce_turns_f64(x, &quadrant);
    return sin_turned_f64(r, quadrant + 1) + 0.0;
}
double tanpi(double x) {
    int quadrant;
    double r = reduce_turns_f64(x, &quadrant);
    double s = sin_near_zero_f64(r);
    double c = cos_near_zero_f64(r);
    double value = quadrant & 1 ? -c / s : s / c;
    double pole = quadrant & 2 ? -1.0 / 0.0 : 1.0 / 0.0;
    double zero = copysign(0.0, quadrant & 2 ? -x : x);
    return r == 0.0 ? (quadrant & 1 ? pole : zero) : value;
}
