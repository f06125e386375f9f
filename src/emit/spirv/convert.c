/* Conversions for SPIR-V. Those of OpenCL saturate and have rounding modes; SPIR-V's do neither, so they are composed
   where the plain instruction is not the answer, lane by lane. i64 is converted from and to its two words, so
   that a size turned into a float needs no 64-bit integers.
   This is no pass: what it composes of are conversions that are undefined out of range, which the IR does not have (its own
   saturate, as WGSL's do), and products that no driver may contract or fold away, in the forms that values have here. */
#include "emit/spirv/internal.h"

/* ---- small things ---- */

static const ir_type F32 = {IR_F32, 1, 0}, F64 = {IR_F64, 1, 0}, I32 = {IR_I32, 1, 0};

static uint32_t word_op(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_u32t(e), a, b);
}
static uint32_t test(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_bool(e), a, b);
}
static uint32_t choose(spv *e, ir_type type, uint32_t condition, uint32_t a, uint32_t b) {
    return SPV(e, SP_SELECT, qn__spv_memory_type(e, type), condition, a, b);
}
static uint32_t word(spv *e, uint32_t value) { return qn__spv_u32(e, value); }
static uint32_t number(spv *e, ir_type type, double value) { return qn__spv_float(e, type, value); }
static uint32_t float_op(spv *e, unsigned op, ir_type type, uint32_t a, uint32_t b) {
    uint32_t id = SPV(e, op, qn__spv_memory_type(e, type), a, b);
    qn__spv_decorate(e, id, SP_NO_CONTRACTION);
    return id;
}
static uint32_t fconvert(spv *e, ir_type to, uint32_t value) {
    return SPV(e, SP_F_CONVERT, qn__spv_memory_type(e, to), value);
}
static uint32_t half_to_f32(spv *e, uint32_t value) {
    if (!qn__spv_is_held(e, IR_F16)) return fconvert(e, F32, value);
    uint32_t f32 = qn__spv_scalar(e, IR_F32);
    return qn__spv_extract(e, f32, SPV_GLSL(e, GLSL_UNPACK_HALF, qn__spv_vector(e, f32, 2), value), 0);
}
static uint32_t bits_of(spv *e, uint32_t value) { return SPV(e, SP_BITCAST, qn__spv_u32t(e), value); }
static uint32_t from_bits(spv *e, uint32_t bits) {
    return SPV(e, SP_BITCAST, qn__spv_scalar(e, IR_F32), bits);
}

/* ---- bits of lanes ---- */

uint32_t qn__spv_bitcast_lane(spv *e, ir_kind to, uint32_t bits) {
    ir_type type = qn__ir_type(to, 1);
    switch (to) {
    case IR_I8:
    case IR_I16:
        if (qn__spv_is_held(e, to)) return qn__spv_held(e, type, bits);
        return SPV(e, SP_U_CONVERT, qn__spv_memory_type(e, type), bits);
    case IR_F16: {
        if (qn__spv_is_held(e, to)) return qn__spv_held(e, type, bits);
        uint32_t both = SPV(e, SP_BITCAST, qn__spv_type(e, qn__ir_type(IR_F16, 2)), bits);
        return qn__spv_extract(e, qn__spv_type(e, type), both, 0);
    }
    case IR_F32: return from_bits(e, bits);
    default: return bits;
    }
}

uint32_t qn__spv_lane_bits(spv *e, ir_kind from, uint32_t lane) {
    switch (from) {
    case IR_I8:
    case IR_I16: return qn__spv_is_held(e, from) ? lane : SPV(e, SP_U_CONVERT, qn__spv_u32t(e), lane);
    case IR_F16: {
        if (qn__spv_is_held(e, from)) return lane;
        uint32_t half = qn__spv_type(e, qn__ir_type(IR_F16, 2)), parts[] = {lane, 0};
        parts[1] = qn__spv_float(e, qn__ir_type(IR_F16, 1), 0);
        return SPV(e, SP_BITCAST, qn__spv_u32t(e), qn__spv_build(e, half, parts, 2));
    }
    case IR_F32: return bits_of(e, lane);
    default: return lane;
    }
}

/* ---- float to integer ---- */

static uint32_t rounded(spv *e, ir_type type, uint32_t value, unsigned rounding) {
    static const uint8_t how[] = {[IR_ROUND_EVEN] = GLSL_ROUND_EVEN,
                                  [IR_ROUND_ZERO] = 0,
                                  [IR_ROUND_UP] = GLSL_CEIL,
                                  [IR_ROUND_DOWN] = GLSL_FLOOR};
    if (!how[rounding & 3]) return value;
    return SPV_GLSL(e, how[rounding & 3], qn__spv_memory_type(e, type), value);
}

static double power_of_two(unsigned exponent) {
    double value = 1;
    while (exponent--) value *= 2;
    return value;
}

/* The words of a value in [0, 2^64). */
static spv_pair to_words(spv *e, ir_type from, uint32_t value) {
    uint32_t t = qn__spv_u32t(e), f = qn__spv_memory_type(e, from);
    uint32_t scaled = float_op(e, SP_F_MUL, from, value, number(e, from, 1 / power_of_two(32)));
    uint32_t hi = SPV(e, SP_CONVERT_F_TO_U, t, scaled);
    uint32_t high = SPV(e, SP_CONVERT_U_TO_F, f, hi);
    high = float_op(e, SP_F_MUL, from, high, number(e, from, power_of_two(32)));
    return (spv_pair){SPV(e, SP_CONVERT_F_TO_U, t, float_op(e, SP_F_SUB, from, value, high)), hi};
}

static uint32_t to_wide(spv *e, ir_type from, uint32_t value, bool is_signed) {
    uint32_t wide = qn__spv_wide(e);
    if (e->native) return SPV(e, is_signed ? SP_CONVERT_F_TO_S : SP_CONVERT_F_TO_U, wide, value);
    if (!is_signed) return qn__spv_join(e, to_words(e, from, value));
    uint32_t size = SPV_GLSL(e, GLSL_F_ABS, qn__spv_memory_type(e, from), value);
    uint32_t negative = test(e, SP_F_LESS, value, number(e, from, 0));
    spv_pair a = to_words(e, from, size);
    uint32_t zero = word(e, 0), type = qn__spv_u32t(e), ones = word(e, UINT32_MAX);
    uint32_t mask = SPV(e, SP_SELECT, type, negative, ones, zero);
    spv_pair flipped = {.lo = word_op(e, SP_BITWISE_XOR, a.lo, mask)};
    flipped.hi = word_op(e, SP_BITWISE_XOR, a.hi, mask);
    uint32_t unit = word(e, 1);
    spv_pair one = {SPV(e, SP_SELECT, type, negative, unit, zero), zero};
    uint32_t inverse = qn__spv_join(e, flipped), carry = qn__spv_join(e, one);
    return qn__spv_wide_add(e, inverse, carry);
}

/* Saturates; NaN gives 0. Ordered comparisons alone, which say no to NaN. */
static uint32_t float_to_int(spv *e, const ir_instr *instr, ir_type from, ir_type to, uint32_t value) {
    bool is_signed = instr->op == IR_F2S, wide = to.kind == IR_I64;
    unsigned width = qn__ir_bits(to), bits = is_signed ? width - 1 : width;
    if (from.kind == IR_F16) value = half_to_f32(e, value), from = F32;
    value = rounded(e, from, value, instr->attr.rounding);
    ir_type held = wide ? to : I32;
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, least = is_signed ? ~most : 0;
    uint32_t limits[2] = {wide ? qn__spv_u64(e, most) : word(e, (uint32_t)most),
                          wide ? qn__spv_u64(e, least) : word(e, (uint32_t)least)};
    uint32_t zero = wide ? qn__spv_u64(e, 0) : word(e, 0);
    uint32_t id = wide ? to_wide(e, from, value, is_signed)
                       : SPV(e, is_signed ? SP_CONVERT_F_TO_S : SP_CONVERT_F_TO_U, qn__spv_u32t(e), value);
    uint32_t above = test(e, SP_F_GREATER_EQUAL, value, number(e, from, power_of_two(bits)));
    uint32_t low = number(e, from, is_signed ? -power_of_two(bits) : 0);
    id = choose(e, held, above, limits[0], id);
    uint32_t outside = zero;
    if (is_signed) outside = choose(e, held, test(e, SP_F_LESS, value, low), limits[1], zero);
    id = choose(e, held, test(e, SP_F_GREATER_EQUAL, value, low), id, outside);
    return width < 32 ? qn__spv_bitcast_lane(e, (ir_kind)to.kind, id) : id;
}

/* One of two constants. */
static uint32_t choose_word(spv *e, uint32_t condition, uint32_t a, uint32_t b) {
    uint32_t one = word(e, a), other = word(e, b);
    return choose(e, I32, condition, one, other);
}

/* ---- integer to float ---- */

/* The number of zeros above; 32 for 0. */
static uint32_t leading(spv *e, uint32_t a) {
    uint32_t most = word(e, 31);
    return word_op(e, SP_I_SUB, most, SPV_GLSL(e, GLSL_FIND_MSB, qn__spv_u32t(e), a));
}

/* Whether a magnitude is rounded away from zero: `rest` are the bits cut off, `half` the highest of them. */
static uint32_t rounds_up(spv *e, unsigned rounding, uint32_t rest, uint32_t half, uint32_t odd,
                          uint32_t negative) {
    uint32_t boolean = qn__spv_bool(e), zero = word(e, 0);
    uint32_t inexact = test(e, SP_I_NOT_EQUAL, rest, zero);
    if (rounding == IR_ROUND_UP)
        return test(e, SP_LOGICAL_AND, inexact, SPV(e, SP_LOGICAL_NOT, boolean, negative));
    if (rounding == IR_ROUND_DOWN) return test(e, SP_LOGICAL_AND, inexact, negative);
    if (rounding == IR_ROUND_ZERO) return qn__spv_int(e, qn__ir_type(IR_BOOL, 1), 0);
    uint32_t tie = test(e, SP_I_EQUAL, rest, half);
    uint32_t even = test(e, SP_LOGICAL_AND, tie, test(e, SP_I_NOT_EQUAL, odd, zero));
    return test(e, SP_LOGICAL_OR, test(e, SP_U_LESS, half, rest), even);
}

/* A magnitude of 64 bits to f32: 32 significant bits, the lowest of them sticky, are rounded to 24. */
static uint32_t magnitude_to_f32(spv *e, spv_pair a, uint32_t negative, unsigned rounding) {
    uint32_t zero = word(e, 0);
    uint32_t small = test(e, SP_I_EQUAL, a.hi, zero);
    uint32_t top = choose(e, I32, small, a.lo, a.hi), below = choose(e, I32, small, zero, a.lo);
    uint32_t zeros = leading(e, top), by = word_op(e, SP_BITWISE_AND, zeros, word(e, 31));
    uint32_t back = word_op(e, SP_I_SUB, word(e, 31), by);
    uint32_t in =
        word_op(e, SP_SHIFT_RIGHT_LOGICAL, word_op(e, SP_SHIFT_RIGHT_LOGICAL, below, word(e, 1)), back);
    uint32_t m = word_op(e, SP_BITWISE_OR, word_op(e, SP_SHIFT_LEFT, top, by), in);
    uint32_t lost = test(e, SP_I_NOT_EQUAL, word_op(e, SP_SHIFT_LEFT, below, by), zero);
    m = word_op(e, SP_BITWISE_OR, m, choose(e, I32, lost, word(e, 1), zero));
    uint32_t kept = word_op(e, SP_SHIFT_RIGHT_LOGICAL, m, word(e, 8));
    uint32_t rest = word_op(e, SP_BITWISE_AND, m, word(e, 0xff));
    uint32_t odd = word_op(e, SP_BITWISE_AND, kept, word(e, 1));
    uint32_t up = rounds_up(e, rounding, rest, word(e, 0x80), odd, negative);
    kept = word_op(e, SP_I_ADD, kept, choose(e, I32, up, word(e, 1), zero));
    /* times 2 to the power of 31 - zeros - 23, and 32 more for the high word */
    uint32_t exponent = word_op(e, SP_I_SUB, choose_word(e, small, 127 + 8, 127 + 40), zeros);
    uint32_t scale = from_bits(e, word_op(e, SP_SHIFT_LEFT, exponent, word(e, 23)));
    uint32_t value = SPV(e, SP_CONVERT_U_TO_F, qn__spv_scalar(e, IR_F32), kept);
    return float_op(e, SP_F_MUL, F32, value, scale);
}

/* One bit pattern further: away from zero, or towards it. Zero steps to the smallest of `negative`. */
static uint32_t step_f64(spv *e, uint32_t value, bool away) {
    uint32_t bits = SPV(e, SP_BITCAST, qn__spv_pair(e), value), t = qn__spv_u32t(e);
    uint32_t lo = SPV(e, SP_COMPOSITE_EXTRACT, t, bits, 0), hi = SPV(e, SP_COMPOSITE_EXTRACT, t, bits, 1);
    uint32_t both = SPV_ONCE(e, SP_TYPE_STRUCT, 0, t, t);
    uint32_t sum = SPV(e, away ? SP_I_ADD_CARRY : SP_I_SUB_BORROW, both, lo, word(e, 1));
    hi = word_op(e, away ? SP_I_ADD : SP_I_SUB, hi, SPV(e, SP_COMPOSITE_EXTRACT, t, sum, 1));
    lo = SPV(e, SP_COMPOSITE_EXTRACT, t, sum, 0);
    return SPV(e, SP_BITCAST, qn__spv_scalar(e, IR_F64),
               SPV(e, SP_COMPOSITE_CONSTRUCT, qn__spv_pair(e), lo, hi));
}

/* Both parts are exact in f64; so is the error of their sum (fast two-sum). */
static uint32_t magnitude_to_f64(spv *e, spv_pair a, uint32_t negative, unsigned rounding) {
    uint32_t t = qn__spv_scalar(e, IR_F64);
    uint32_t high = SPV(e, SP_CONVERT_U_TO_F, t, a.hi);
    high = float_op(e, SP_F_MUL, F64, high, number(e, F64, power_of_two(32)));
    uint32_t low = SPV(e, SP_CONVERT_U_TO_F, t, a.lo), sum = float_op(e, SP_F_ADD, F64, high, low);
    if (rounding == IR_ROUND_EVEN) return sum;
    uint32_t error = float_op(e, SP_F_SUB, F64, low, float_op(e, SP_F_SUB, F64, sum, high));
    uint32_t zero = number(e, F64, 0), boolean = qn__spv_bool(e);
    uint32_t over = test(e, SP_F_LESS, error, zero), under = test(e, SP_F_GREATER, error, zero);
    uint32_t positive = SPV(e, SP_LOGICAL_NOT, boolean, negative);
    if (rounding == IR_ROUND_UP) over = test(e, SP_LOGICAL_AND, over, negative);
    if (rounding == IR_ROUND_DOWN) over = test(e, SP_LOGICAL_AND, over, positive);
    sum = choose(e, F64, over, step_f64(e, sum, false), sum);
    if (rounding == IR_ROUND_ZERO) return sum;
    under = test(e, SP_LOGICAL_AND, under, rounding == IR_ROUND_UP ? positive : negative);
    return choose(e, F64, under, step_f64(e, sum, true), sum);
}

static uint32_t wide_to_float(spv *e, ir_type to, spv_pair a, bool is_signed, unsigned rounding) {
    uint32_t no = qn__spv_int(e, qn__ir_type(IR_BOOL, 1), 0), negative = no;
    if (is_signed) {
        uint32_t zero = word(e, 0), mask = word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, a.hi, word(e, 31));
        uint32_t t = qn__spv_u32t(e), both = SPV_ONCE(e, SP_TYPE_STRUCT, 0, t, t);
        negative = test(e, SP_I_NOT_EQUAL, mask, zero);
        a.lo = word_op(e, SP_BITWISE_XOR, a.lo, mask), a.hi = word_op(e, SP_BITWISE_XOR, a.hi, mask);
        uint32_t sum = SPV(e, SP_I_SUB_BORROW, both, a.lo, mask);
        uint32_t carry = test(e, SP_LOGICAL_AND, negative, test(e, SP_I_EQUAL, a.lo, word(e, UINT32_MAX)));
        a.lo = SPV(e, SP_COMPOSITE_EXTRACT, t, sum, 0);
        a.hi = word_op(e, SP_I_ADD, a.hi, choose(e, I32, carry, word(e, 1), zero));
    }
    uint32_t size = to.kind == IR_F64 ? magnitude_to_f64(e, a, negative, rounding)
                                      : magnitude_to_f32(e, a, negative, rounding);
    if (!is_signed) return size;
    ir_type type = to.kind == IR_F64 ? F64 : F32;
    return choose(e, type, negative, SPV(e, SP_F_NEGATE, qn__spv_memory_type(e, type), size), size);
}

static uint32_t narrow_float(spv *e, ir_type from, ir_type to, uint32_t value, unsigned rounding);

static uint32_t int_to_float(spv *e, const ir_instr *instr, ir_type from, ir_type to, uint32_t value) {
    bool is_signed = instr->op == IR_S2F, wide = from.kind == IR_I64;
    unsigned rounding = instr->attr.rounding & 3, convert = is_signed ? SP_CONVERT_S_TO_F : SP_CONVERT_U_TO_F;
    if (from.kind == IR_BOOL) {
        uint32_t one = number(e, to, 1);
        return choose(e, to, value, one, number(e, to, 0));
    }
    if (qn__ir_bits(from) < 32)
        value = SPV(e, is_signed ? SP_S_CONVERT : SP_U_CONVERT, qn__spv_u32t(e), value);
    bool small = qn__ir_bits(from) < 32;
    if (to.kind == IR_F16) { /* what f32 cannot hold is beyond f16; rounding to odd keeps the direction */
        unsigned first = rounding == IR_ROUND_EVEN ? IR_ROUND_EVEN : IR_ROUND_ZERO;
        uint32_t middle;
        if (wide)
            middle = wide_to_float(e, F32, qn__spv_split(e, value), is_signed, first);
        else if (small || rounding == IR_ROUND_EVEN)
            middle = SPV(e, convert, qn__spv_scalar(e, IR_F32), value);
        else
            middle = wide_to_float(
                e, F32,
                (spv_pair){value, is_signed ? word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, value, word(e, 31))
                                            : word(e, 0)},
                is_signed, first);
        return narrow_float(e, F32, to, middle, rounding);
    }
    if (wide && e->native && rounding == IR_ROUND_EVEN)
        return SPV(e, convert, qn__spv_memory_type(e, to), value);
    if (wide) return wide_to_float(e, to, qn__spv_split(e, value), is_signed, rounding);
    if (small || to.kind == IR_F64 || rounding == IR_ROUND_EVEN)
        return SPV(e, convert, qn__spv_memory_type(e, to), value);
    uint32_t hi = is_signed ? word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, value, word(e, 31)) : word(e, 0);
    return wide_to_float(e, to, (spv_pair){value, hi}, is_signed, rounding);
}

/* ---- float to float ---- */

/* A float taken apart for rounding: 30 bits of its significand, the first of them set and the last sticky, and the
   power of two of the first. */
typedef struct parts {
    uint32_t sign, significand, exponent; /* sign: bit 31 */
    uint32_t is_finite, is_nan;
} parts;

static uint32_t not_zero(spv *e, uint32_t a) { return test(e, SP_I_NOT_EQUAL, a, word(e, 0)); }

static uint32_t bit_if(spv *e, uint32_t condition) { return choose_word(e, condition, 1, 0); }

static parts take_apart(spv *e, ir_type from, uint32_t value) {
    uint32_t t = qn__spv_u32t(e), hi, lo = 0, mantissa, rest, most;
    unsigned field = from.kind == IR_F64 ? 20 : 23;
    if (from.kind == IR_F64) {
        uint32_t both = SPV(e, SP_BITCAST, qn__spv_pair(e), value);
        lo = qn__spv_extract(e, t, both, 0), hi = qn__spv_extract(e, t, both, 1);
    } else {
        hi = bits_of(e, value);
    }
    parts p = {.sign = qn__spv_and(e, hi, 0x80000000)};
    uint32_t size = qn__spv_and(e, hi, 0x7fffffff);
    mantissa = qn__spv_shl(e, qn__spv_and(e, hi, (1u << field) - 1), 29 - field);
    rest = mantissa, most = 0xffu;
    if (lo) {
        most = 0x7ff;
        rest = qn__spv_or(e, rest, lo);
        size = qn__spv_or(e, size, bit_if(e, not_zero(e, lo)));
        mantissa = qn__spv_or(e, mantissa, qn__spv_shr(e, lo, 23));
        mantissa = qn__spv_or(e, mantissa, bit_if(e, not_zero(e, qn__spv_shl(e, lo, 9))));
    }
    uint32_t exponent = qn__spv_and(e, qn__spv_shr(e, hi, field), most);
    p.is_finite = test(e, SP_U_LESS, exponent, word(e, most));
    p.is_nan = SPV(e, SP_LOGICAL_NOT, qn__spv_bool(e), p.is_finite);
    p.is_nan = test(e, SP_LOGICAL_AND, p.is_nan, not_zero(e, rest));
    /* Denormal numbers are far below what is rounded to: that they are not zero is all that counts. */
    uint32_t whole = qn__spv_or(e, mantissa, word(e, 1u << 29));
    uint32_t is_any = not_zero(e, size);
    p.significand = choose(e, I32, is_any, whole, word(e, 0));
    p.exponent = word_op(e, SP_I_SUB, exponent, word(e, most / 2));
    return p;
}

/* To f16 or f32 in integers: drivers drop a conversion to a narrow type and back, by which its error would be seen. */
static uint32_t round_parts(spv *e, ir_type to, const parts *p, unsigned rounding) {
    const bool is_half = to.kind == IR_F16;
    const uint32_t digits = is_half ? 11 : 24, bias = is_half ? 15 : 127;
    const uint32_t infinite = (2 * bias + 1) << (digits - 1), quiet = infinite | 1u << (digits - 2);
    uint32_t t = qn__spv_u32t(e), zero = word(e, 0), one = word(e, 1);
    uint32_t field = word_op(e, SP_I_ADD, p->exponent, word(e, bias - 1)); /* without the first bit */
    if (!is_half) field = SPV_GLSL(e, GLSL_S_MIN, t, field, word(e, 2 * bias + 1));
    uint32_t below = SPV_GLSL(e, GLSL_S_MAX, t, word_op(e, SP_I_SUB, zero, field), zero);
    uint32_t shift = word_op(e, SP_I_ADD, below, word(e, 30 - digits));
    shift = SPV_GLSL(e, GLSL_U_MIN, t, shift, word(e, 31));
    uint32_t kept = word_op(e, SP_SHIFT_RIGHT_LOGICAL, p->significand, shift);
    uint32_t unit = word_op(e, SP_SHIFT_LEFT, one, shift), mask = word_op(e, SP_I_SUB, unit, one);
    uint32_t rest = word_op(e, SP_BITWISE_AND, p->significand, mask);
    uint32_t base = qn__spv_shl(e, SPV_GLSL(e, GLSL_S_MAX, t, field, zero), digits - 1);
    base = word_op(e, SP_I_ADD, base, kept);
    uint32_t over = test(e, SP_U_GREATER_EQUAL, base, word(e, infinite));
    base = choose(e, I32, over, word(e, infinite - 1), base);
    rest = choose(e, I32, over, mask, rest);
    uint32_t half = qn__spv_shr(e, unit, 1), odd = qn__spv_and(e, base, 1);
    uint32_t up = rounds_up(e, rounding, rest, half, odd, not_zero(e, p->sign));
    base = word_op(e, SP_I_ADD, base, bit_if(e, up));
    base = choose(e, I32, p->is_finite, base, choose_word(e, p->is_nan, quiet, infinite));
    base = qn__spv_or(e, base, qn__spv_shr(e, p->sign, is_half ? 16 : 0));
    return qn__spv_bitcast_lane(e, (ir_kind)to.kind, base);
}

/* FConvert may round as it likes where nearest even is not promised, and to f16 from f64 twice. */
static bool is_exact_convert(const spv *e, ir_type from, ir_type to, unsigned rounding) {
    if (qn__spv_is_held(e, from.kind) || qn__spv_is_held(e, to.kind)) return false;
    if (to.kind > from.kind) return to.kind - from.kind == 1;
    bool nearest = to.kind == IR_F32 || e->options->target.has_nearest;
    return rounding == IR_ROUND_EVEN && from.kind - to.kind == 1 && nearest;
}

static uint32_t narrow_float(spv *e, ir_type from, ir_type to, uint32_t value, unsigned rounding) {
    if (is_exact_convert(e, from, to, rounding)) return fconvert(e, to, value);
    parts p = take_apart(e, from, value);
    return round_parts(e, to, &p, rounding);
}

static uint32_t float_to_float(spv *e, const ir_instr *instr, ir_type from, ir_type to, uint32_t value) {
    if (to.kind < from.kind) return narrow_float(e, from, to, value, instr->attr.rounding & 3);
    if (from.kind == IR_F16) value = half_to_f32(e, value);
    return from.kind == IR_F16 && to.kind == IR_F32 ? value : fconvert(e, to, value);
}

/* ---- integers ---- */

/* Integers as those of 32 bits; the sign is taken from a held one's highest bit. */
static uint32_t to_words_of(spv *e, ir_type from, uint32_t value, bool is_signed) {
    ir_type words = qn__ir_type(IR_I32, from.lanes);
    uint32_t t = qn__spv_type(e, words);
    if (from.kind == IR_I32) return value;
    if (!qn__spv_is_held(e, from.kind)) return SPV(e, is_signed ? SP_S_CONVERT : SP_U_CONVERT, t, value);
    uint32_t by = qn__spv_int(e, words, 32 - qn__ir_bits(from));
    if (!is_signed) return value;
    return SPV(e, SP_SHIFT_RIGHT_ARITHMETIC, t, SPV(e, SP_SHIFT_LEFT, t, value, by), by);
}

static uint32_t to_held(spv *e, ir_type from, ir_type to, uint32_t value, bool is_signed) {
    return qn__spv_held(e, to, to_words_of(e, from, value, is_signed));
}

static uint32_t truncate(spv *e, const ir_instr *instr) {
    const ir_value *a = instr->operands[0];
    ir_type to = instr->results[0]->type, from = a->type;
    uint32_t value = from.kind == IR_I64 && from.lanes == 1 ? qn__spv_low(e, a) : qn__spv_use(e, a);
    if (from.kind == IR_I64 && from.lanes == 1) from = I32;
    if (qn__spv_is_held(e, to.kind)) return to_held(e, from, to, value, false);
    if (to.kind != IR_BOOL)
        return to.kind == from.kind ? value : SPV(e, SP_U_CONVERT, qn__spv_memory_type(e, to), value);
    uint32_t one = qn__spv_int(e, from, 1), zero = qn__spv_int(e, from, 0);
    uint32_t bit = SPV(e, SP_BITWISE_AND, qn__spv_type(e, from), value, one);
    return SPV(e, SP_I_NOT_EQUAL, qn__spv_bools(e, to.lanes), bit, zero);
}

static uint32_t widened(spv *e, ir_type from, ir_type to, uint32_t value, bool is_signed) {
    if (qn__spv_is_held(e, from.kind)) {
        value = to_words_of(e, from, value, is_signed);
        if (to.kind == IR_I32) return value;
    }
    return SPV(e, is_signed ? SP_S_CONVERT : SP_U_CONVERT, qn__spv_memory_type(e, to), value);
}

static void extend(spv *e, const ir_instr *instr) {
    const ir_value *a = instr->operands[0], *result = instr->results[0];
    bool is_signed = instr->op == IR_SEXT, wide = result->type.kind == IR_I64 && result->type.lanes == 1;
    ir_type from = a->type, to = wide ? I32 : result->type;
    uint32_t value = qn__spv_use(e, a);
    if (from.kind == IR_BOOL)
        value = SPV(e, SP_SELECT, qn__spv_type(e, to), value, qn__spv_int(e, to, is_signed ? UINT64_MAX : 1),
                    qn__spv_int(e, to, 0));
    else if (qn__spv_is_held(e, to.kind))
        value = to_held(e, from, to, value, is_signed);
    else if (from.kind != to.kind)
        value = widened(e, from, to, value, is_signed);
    if (!wide) {
        qn__spv_define(e, result, value);
        return;
    }
    spv_value *v = &e->plan.values[result->id];
    v->low = value;
    if (e->plan.demand[result->id] & QN__WANT_ALL) v->id = qn__spv_widen(e, value, is_signed);
}

/* Between 16 bits that are held in words and f16. */
static uint32_t bitcast_lanes(spv *e, ir_type from, ir_type to, uint32_t value) {
    uint32_t parts[16], t = qn__spv_memory_type(e, qn__ir_element(from));
    for (unsigned i = 0; i < from.lanes; i++) {
        uint32_t lane = from.lanes == 1 ? value : qn__spv_extract(e, t, value, i);
        parts[i] = qn__spv_bitcast_lane(e, (ir_kind)to.kind, qn__spv_lane_bits(e, (ir_kind)from.kind, lane));
    }
    return qn__spv_build(e, qn__spv_memory_type(e, to), parts, to.lanes);
}

/* Two words that have just become a 64-bit integer need not be taken out of it. */
static void note_words(spv *e, const ir_value *words, uint32_t wide) {
    if (words->value_kind != IR_VALUE_RESULT || words->def->op != IR_VECTOR) return;
    ir_value *const *with = words->def->operands;
    qn__spv_note_halves(e, wide, (spv_pair){qn__spv_use(e, with[0]), qn__spv_use(e, with[1])});
}

static uint32_t bitcast(spv *e, const ir_instr *instr) {
    uint32_t value = qn__spv_use(e, instr->operands[0]);
    ir_type of = instr->operands[0]->type, as = instr->results[0]->type;
    bool held = qn__spv_is_held(e, of.kind) || qn__spv_is_held(e, as.kind);
    if (held && of.kind != as.kind) return bitcast_lanes(e, of, as, value);
    uint32_t from = qn__spv_type(e, of), to = qn__spv_type(e, as);
    if (from == to && as.kind == IR_I64) note_words(e, instr->operands[0], value);
    return from == to ? value : SPV(e, SP_BITCAST, to, value);
}

/* ---- one instruction ---- */

static bool is_plain(const spv *e, const ir_instr *instr, ir_type from, ir_type to) {
    unsigned rounding = instr->attr.rounding & 3;
    bool even = rounding == IR_ROUND_EVEN;
    if (instr->op == IR_FCONVERT) return is_exact_convert(e, from, to, rounding);
    return (instr->op == IR_S2F || instr->op == IR_U2F) && from.kind == IR_I32 && to.kind != IR_F16 &&
           (even || to.kind == IR_F64);
}

static uint32_t convert_lane(spv *e, const ir_instr *instr, ir_type from, ir_type to, uint32_t value) {
    if (instr->op == IR_FCONVERT) return float_to_float(e, instr, from, to, value);
    if (instr->op == IR_F2S || instr->op == IR_F2U) return float_to_int(e, instr, from, to, value);
    return int_to_float(e, instr, from, to, value);
}

static uint32_t convert_float(spv *e, const ir_instr *instr) {
    const ir_value *a = instr->operands[0];
    ir_type from = a->type, to = instr->results[0]->type, lane_from = qn__ir_element(from);
    uint32_t parts[16], value;
    bool is_signed, converts = instr->op == IR_S2F || instr->op == IR_U2F;
    if (converts && qn__spv_is_word(instr, &is_signed)) {
        ir_instr word_instr = *instr;
        word_instr.op = is_signed ? IR_S2F : IR_U2F;
        return convert_lane(e, &word_instr, I32, to, qn__spv_low(e, a));
    }
    value = qn__spv_use(e, a);
    if (is_plain(e, instr, lane_from, qn__ir_element(to))) {
        unsigned op = instr->op == IR_FCONVERT ? SP_F_CONVERT
                      : instr->op == IR_S2F    ? SP_CONVERT_S_TO_F
                                               : SP_CONVERT_U_TO_F;
        return SPV(e, op, qn__spv_memory_type(e, to), value);
    }
    ir_type lane_to = qn__ir_element(to);
    if (from.lanes == 1) return convert_lane(e, instr, lane_from, lane_to, value);
    uint32_t t = qn__spv_memory_type(e, lane_from);
    for (unsigned i = 0; i < from.lanes; i++)
        parts[i] = convert_lane(e, instr, lane_from, lane_to, qn__spv_extract(e, t, value, i));
    return qn__spv_build(e, qn__spv_memory_type(e, to), parts, to.lanes);
}

bool qn__spv_convert(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    switch (instr->op) {
    case IR_TRUNC: qn__spv_define(e, result, truncate(e, instr)); return true;
    case IR_ZEXT:
    case IR_SEXT: extend(e, instr); return true;
    case IR_BITCAST: qn__spv_define(e, result, bitcast(e, instr)); return true;
    case IR_FCONVERT:
    case IR_F2S:
    case IR_F2U:
    case IR_S2F:
    case IR_U2F: qn__spv_define(e, result, convert_float(e, instr)); return true;
    default: return false;
    }
}
