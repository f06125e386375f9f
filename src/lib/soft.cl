/* Doubles for devices that have none (-qn-soft-f64, pass/lower_f64.c), on the bits of IEEE 754's binary64: every result is the
   exact one, rounded once to nearest even; denormal numbers are kept, and a NaN that is made is the quiet one. A text that C
   reads likewise (tests/unit/front_soft.c). "Size" is what is left without the sign. */

/* To the right; what goes out stays to be seen in the last bit. */
ulong f64_shift(ulong x, int by) {
    int n = min(by, 63);
    return x >> n | (ulong)(x << (63 - n) << 1 != 0ul);
}

/* m, whose first bit is bit 62, rounded to 53 bits; the exponent is one less than the number's, as m's first bit adds one. */
ulong f64_round(ulong sign, int exponent, ulong m) {
    if (exponent > 0x7fd) return sign | 0x7ff0000000000000ul;
    ulong kept = exponent < 0 ? f64_shift(m, -exponent) : m;
    ulong up = 0x1fful + (kept >> 10 & 1ul);
    return sign | (((ulong)max(exponent, 0) << 52) + ((kept + up) >> 10));
}

/* The same of any m from 1 to 2^63 - 1. */
ulong f64_fit(ulong sign, int exponent, ulong m) {
    int n = (int)clz(m) - 1;
    return f64_round(sign, exponent - n, m << n);
}

/* Of a size that is not zero: its exponent, and the 53 bits of its significand, as if there were no denormal numbers. */
int f64_exponent(ulong size) { return size >> 52 ? (int)(size >> 52) : 12 - (int)clz(size); }
ulong f64_significand(ulong size) {
    return size >> 52 ? (size & 0xffffffffffffful) | 0x10000000000000ul : size << ((int)clz(size) - 11);
}

/* The larger one first; significands begin at bit 61. */
ulong f64_add(ulong a, ulong b) {
    int swap = (a & 0x7ffffffffffffffful) < (b & 0x7ffffffffffffffful);
    ulong x = swap ? b : a, y = swap ? a : b;
    ulong sx = x & 0x7ffffffffffffffful, sy = y & 0x7ffffffffffffffful;
    if (sx >= 0x7ff0000000000000ul)
        return (sx > 0x7ff0000000000000ul) | ((sx == sy) & (x != y)) ? 0x7ff8000000000000ul : x;
    int ex = max((int)(sx >> 52), 1), ey = max((int)(sy >> 52), 1);
    ulong mx = ((sx & 0xffffffffffffful) | (ulong)(sx >> 52 != 0ul) << 52) << 9;
    ulong my = ((sy & 0xffffffffffffful) | (ulong)(sy >> 52 != 0ul) << 52) << 9;
    my = f64_shift(my, ex - ey);
    ulong m = (x ^ y) >> 63 ? mx - my : mx + my;
    return m ? f64_fit(x & 0x8000000000000000ul, ex, m) : x & y & 0x8000000000000000ul;
}

ulong f64_sub(ulong a, ulong b) { return f64_add(a, b ^ 0x8000000000000000ul); }

ulong f64_mul(ulong a, ulong b) {
    ulong sign = (a ^ b) & 0x8000000000000000ul;
    ulong sa = a & 0x7ffffffffffffffful, sb = b & 0x7ffffffffffffffful;
    if (max(sa, sb) >= 0x7ff0000000000000ul)
        return (max(sa, sb) > 0x7ff0000000000000ul) | (min(sa, sb) == 0ul) ? 0x7ff8000000000000ul
                                                                          : sign | 0x7ff0000000000000ul;
    if (min(sa, sb) == 0ul) return sign;
    ulong ma = f64_significand(sa) << 10, mb = f64_significand(sb) << 11;
    ulong m = mul_hi(ma, mb) | (ulong)(ma * mb != 0ul);
    return f64_fit(sign, f64_exponent(sa) + f64_exponent(sb) - 1023, m);
}

/* 56 bits of the quotient, one after another. */
ulong f64_div(ulong a, ulong b) {
    ulong sign = (a ^ b) & 0x8000000000000000ul;
    ulong sa = a & 0x7ffffffffffffffful, sb = b & 0x7ffffffffffffffful;
    if ((max(sa, sb) > 0x7ff0000000000000ul) | ((sa == sb) & ((sa == 0ul) | (sa == 0x7ff0000000000000ul))))
        return 0x7ff8000000000000ul;
    if ((sa == 0x7ff0000000000000ul) | (sb == 0ul)) return sign | 0x7ff0000000000000ul;
    if ((sa == 0ul) | (sb == 0x7ff0000000000000ul)) return sign;
    ulong rest = f64_significand(sa), divisor = f64_significand(sb), quotient = 0ul;
    int exponent = f64_exponent(sa) - f64_exponent(sb) + 1022;
    if (rest < divisor) {
        rest <<= 1;
        exponent -= 1;
    }
    for (int i = 0; i < 56; i++) {
        int fits = rest >= divisor;
        quotient = quotient << 1 | (ulong)fits;
        rest = (fits ? rest - divisor : rest) << 1;
    }
    return f64_round(sign, exponent, quotient << 7 | (ulong)(rest != 0ul));
}

/* Digit by digit, as by hand. */
ulong f64_sqrt(ulong a) {
    ulong size = a & 0x7ffffffffffffffful;
    if ((size == 0ul) | (a == 0x7ff0000000000000ul)) return a;
    if (a > 0x7ff0000000000000ul) return 0x7ff8000000000000ul;
    int exponent = f64_exponent(size) + 1023;
    ulong rest = f64_significand(size) << (3 + (exponent & 1)), root = 0ul, twice = 0ul;
    exponent >>= 1;
    for (ulong bit = 0x80000000000000ul; bit; bit >>= 1) {
        ulong tried = twice + bit;
        int fits = tried <= rest;
        rest = (fits ? rest - tried : rest) << 1;
        twice = fits ? tried + bit : twice;
        root = fits ? root + bit : root;
    }
    return f64_round(0ul, exponent - 1, root << 7 | (ulong)(rest != 0ul));
}

/* The product, of 128 bits, begins at bit 60 or 61 of its high half, and c at 60. */
ulong f64_fma(ulong a, ulong b, ulong c) {
    ulong sign = (a ^ b) & 0x8000000000000000ul;
    ulong sa = a & 0x7ffffffffffffffful, sb = b & 0x7ffffffffffffffful, sc = c & 0x7ffffffffffffffful;
    if ((max(sa, sb) >= 0x7ff0000000000000ul) | (min(sa, sb) == 0ul) | (sc >= 0x7ff0000000000000ul)) {
        int is_nan = (max(sa, sb) > 0x7ff0000000000000ul) |
                     ((max(sa, sb) == 0x7ff0000000000000ul) & (min(sa, sb) == 0ul));
        ulong product = max(sa, sb) == 0x7ff0000000000000ul ? sign | 0x7ff0000000000000ul : sign;
        return is_nan ? 0x7ff8000000000000ul : f64_add(product, c);
    }
    if (sc == 0ul) return f64_mul(a, b);
    ulong ma = f64_significand(sa) << 10, mb = f64_significand(sb) << 10;
    int exponent = f64_exponent(sa) + f64_exponent(sb) - 1023, ahead = exponent - f64_exponent(sc);
    int is_less = ahead < 0; /* the product is moved, not c */
    ulong high = mul_hi(ma, mb), low = ma * mb, other_high = f64_significand(sc) << 8, other_low = 0ul;
    ulong x = is_less ? other_high : high, x_low = is_less ? other_low : low;
    ulong y = is_less ? high : other_high, y_low = is_less ? low : other_low;
    int n = is_less ? -ahead : ahead, k = n & 63;
    exponent = is_less ? exponent - ahead : exponent;
    if (n > 63) {
        y_low = f64_shift(y, n - 64) | (ulong)(y_low != 0ul);
        y = 0ul;
    } else {
        y_low = f64_shift(y_low, k) | y << (63 - k) << 1;
        y = y >> k;
    }
    sign = is_less ? c & 0x8000000000000000ul : sign;
    if ((a ^ b ^ c) >> 63) {
        ulong borrow = (ulong)(x_low < y_low);
        int negative = (x < y) | ((x == y) & (borrow != 0ul));
        ulong d_low = x_low - y_low, d = x - y - borrow;
        x_low = negative ? 0ul - d_low : d_low;
        x = negative ? ~d + (ulong)(d_low == 0ul) : d;
        sign = negative ? sign ^ 0x8000000000000000ul : sign;
    } else {
        x_low += y_low;
        x += y + (ulong)(x_low < y_low);
    }
    if ((x | x_low) == 0ul) return 0ul;
    if (x == 0ul) {
        x = x_low >> 1;
        x_low = x_low << 63;
        exponent -= 63;
    }
    int zeros = (int)clz(x) - 1;
    ulong m = x << zeros | x_low >> 1 >> (63 - zeros);
    return f64_round(sign, exponent + 1 - zeros, m | (ulong)(x_low << zeros != 0ul));
}

/* Numbers in the order of integers, both zeros the same. */
long f64_order(ulong a) { return (long)(a >> 63 ? 0x8000000000000000ul - a : a); }
int f64_is_nan(ulong a) { return (a & 0x7ffffffffffffffful) > 0x7ff0000000000000ul; }
int f64_unordered(ulong a, ulong b) { return f64_is_nan(a) | f64_is_nan(b); }
int f64_eq(ulong a, ulong b) { return (f64_order(a) == f64_order(b)) & !f64_unordered(a, b); }
int f64_ne(ulong a, ulong b) { return !f64_eq(a, b); }
int f64_lt(ulong a, ulong b) { return (f64_order(a) < f64_order(b)) & !f64_unordered(a, b); }
int f64_le(ulong a, ulong b) { return (f64_order(a) <= f64_order(b)) & !f64_unordered(a, b); }
ulong f64_min(ulong a, ulong b) {
    return f64_is_nan(a) | (!f64_is_nan(b) & (f64_order(b) < f64_order(a))) ? b : a;
}
ulong f64_max(ulong a, ulong b) {
    return f64_is_nan(a) | (!f64_is_nan(b) & (f64_order(a) < f64_order(b))) ? b : a;
}

/* To a whole number: to nearest even (0), to zero (1), up (2), down (3). */
ulong f64_whole(ulong a, int rounding) {
    ulong size = a & 0x7ffffffffffffffful, sign = a & 0x8000000000000000ul;
    int exponent = (int)(size >> 52);
    int away = rounding == (sign ? 3 : 2);
    if (exponent > 1074) return a;
    if (exponent < 1023) {
        int is_one = rounding == 0 ? size > 0x3fe0000000000000ul : away & (size != 0ul);
        return is_one ? sign | 0x3ff0000000000000ul : sign;
    }
    ulong unit = (ulong)1 << (1075 - exponent);
    ulong even = (unit >> 1) - 1ul + (ulong)((a & unit) != 0ul);
    return (a + (rounding == 0 ? even : away ? unit - 1ul : 0ul)) & (0ul - unit);
}

/* Integers, to zero; what is too large becomes the nearest one, and NaN 0. */
ulong f64_to_ulong(ulong a) {
    int exponent = (int)(a >> 52);
    ulong m = a << 11 | 0x8000000000000000ul;
    if (f64_is_nan(a) | (exponent < 1023) | (exponent > 2047)) return 0ul;
    return exponent > 1086 ? ~(ulong)0 : m >> (1086 - exponent);
}
ulong f64_to_long(ulong a) {
    ulong size = min(f64_to_ulong(a & 0x7ffffffffffffffful), 0x8000000000000000ul);
    return a >> 63 ? 0ul - size : min(size, 0x7ffffffffffffffful);
}
ulong f64_from_size(ulong sign, ulong size) {
    ulong halved = size >> 1 | (size & 1ul);
    return size >> 63 ? f64_round(sign, 1085, halved) : size ? f64_fit(sign, 1084, size) : 0ul;
}
ulong f64_from_ulong(ulong a) { return f64_from_size(0ul, a); }
ulong f64_from_long(ulong a) { return f64_from_size(a & 0x8000000000000000ul, (long)a < 0 ? 0ul - a : a); }

/* Rounded as f64_whole, or (4) to odd: what is cut off shows in the last bit, so that who rounds again to half as many bits rounds
   right. */
uint f64_to_float(ulong a, int rounding) {
    ulong size = a & 0x7ffffffffffffffful;
    uint sign = (uint)(a >> 32) & 0x80000000u;
    int exponent = (int)(size >> 52) - 897, away = rounding == (sign ? 3 : 2);
    if (size > 0x7ff0000000000000ul) return sign | 0x7fc00000u;
    if (exponent > 253)
        return sign | ((rounding == 0) | away | (exponent == 1150) ? 0x7f800000u : 0x7f7fffffu);
    ulong m = ((size & 0xffffffffffffful) | 0x10000000000000ul) << 10;
    m = size >> 52 ? m : size;
    ulong kept = exponent < 0 ? f64_shift(m, -exponent) : m;
    ulong even = 0x3ffffffffful + (kept >> 39 & 1ul);
    ulong up = rounding == 0 ? even : away ? 0x7ffffffffful : 0ul;
    uint odd = (uint)((rounding == 4) & ((kept & 0x7ffffffffful) != 0ul));
    return sign | ((((uint)max(exponent, 0) << 23) + (uint)((kept + up) >> 39)) | odd);
}
ulong f64_from_float(uint a) {
    uint size = a & 0x7fffffffu;
    ulong sign = (ulong)(a & 0x80000000u) << 32;
    if (size > 0x7f800000u) return sign | 0x7ff8000000000000ul;
    if (size == 0x7f800000u) return sign | 0x7ff0000000000000ul;
    if (size == 0u) return sign;
    int n = max((int)clz(size) - 8, 0);
    int is_small = size < 0x800000u;
    ulong bits = is_small ? (ulong)(size << n) + ((ulong)(896 - n) << 23) : (ulong)size + 0x1c0000000ul;
    return sign | bits << 29;
}
