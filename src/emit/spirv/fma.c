/* a * b + c rounded once, for SPIR-V devices whose Fma rounds twice (lacks_exact_fma). f16 and f32 are computed in the next
   wider type, whose sum is rounded to odd so that rounding again is harmless; f64 in pairs of f64, on operands
   scaled into the middle of the range. Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
   proved algorithms using rounding to odd", 2008; Veltkamp and Dekker for the exact product.
   The maths library has hundreds of these in a function and needs what is between a * b + c and its rounding, not
   the last of ties: there the odd step and the scaling are left out, which is a third of the code. */
#include <string.h>

#include "emit/spirv/internal.h"

static const ir_type F64 = {IR_F64, 1, 0};

static uint32_t word(spv *e, uint32_t value) { return qn__spv_u32(e, value); }
static uint32_t word_op(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_u32t(e), a, b);
}
static uint32_t test(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_bool(e), a, b);
}
static uint32_t choose(spv *e, uint32_t type, uint32_t condition, uint32_t a, uint32_t b) {
    return SPV(e, SP_SELECT, type, condition, a, b);
}
static uint32_t fop(spv *e, unsigned op, ir_type type, uint32_t a, uint32_t b) {
    uint32_t id = SPV(e, op, qn__spv_type(e, type), a, b);
    qn__spv_decorate(e, id, SP_NO_CONTRACTION);
    return id;
}

typedef struct sum {
    uint32_t value, error;
} sum;

static sum two_sum(spv *e, ir_type type, uint32_t a, uint32_t b) {
    uint32_t s = fop(e, SP_F_ADD, type, a, b), t = fop(e, SP_F_SUB, type, s, a);
    uint32_t left = fop(e, SP_F_SUB, type, a, fop(e, SP_F_SUB, type, s, t));
    return (sum){s, fop(e, SP_F_ADD, type, left, fop(e, SP_F_SUB, type, b, t))};
}

/* The sum as it is where exact, else the odd one of its two neighbours. */
static uint32_t make_odd(spv *e, ir_type type, sum s) {
    uint32_t zero = qn__spv_float(e, type, 0), t = qn__spv_u32t(e), value = qn__spv_type(e, type);
    bool is_double = type.kind == IR_F64;
    uint32_t lo, hi = 0, bits = SPV(e, SP_BITCAST, is_double ? qn__spv_pair(e) : t, s.value);
    lo = is_double ? qn__spv_extract(e, t, bits, 0) : bits;
    if (is_double) hi = qn__spv_extract(e, t, bits, 1);
    uint32_t above = test(e, SP_F_GREATER, s.error, zero), below = test(e, SP_F_LESS, s.error, zero);
    uint32_t inexact = test(e, SP_LOGICAL_OR, above, below);
    uint32_t even = test(e, SP_I_EQUAL, word_op(e, SP_BITWISE_AND, lo, word(e, 1)), word(e, 0));
    uint32_t away = test(e, SP_LOGICAL_EQUAL, above, test(e, SP_F_GREATER, s.value, zero));
    uint32_t moves = test(e, SP_LOGICAL_AND, inexact, even), empty = test(e, SP_I_EQUAL, lo, word(e, 0));
    uint32_t by = choose(e, t, away, word(e, 1), word(e, UINT32_MAX));
    lo = word_op(e, SP_I_ADD, lo, choose(e, t, moves, by, word(e, 0)));
    if (!is_double) return SPV(e, SP_BITCAST, value, lo);
    uint32_t toward = SPV(e, SP_LOGICAL_NOT, qn__spv_bool(e), away);
    uint32_t borrows = test(e, SP_LOGICAL_AND, test(e, SP_LOGICAL_AND, moves, toward), empty);
    hi = word_op(e, SP_I_SUB, hi, choose(e, t, borrows, word(e, 1), word(e, 0)));
    return SPV(e, SP_BITCAST, value, SPV(e, SP_COMPOSITE_CONSTRUCT, qn__spv_pair(e), lo, hi));
}

static uint32_t in_wider(spv *e, ir_type type, ir_type wider, const uint32_t *x, bool exact) {
    uint32_t w = qn__spv_type(e, wider), y[3];
    for (int i = 0; i < 3; i++) y[i] = SPV(e, SP_F_CONVERT, w, x[i]);
    uint32_t product = fop(e, SP_F_MUL, wider, y[0], y[1]);
    if (!exact) return SPV(e, SP_F_CONVERT, qn__spv_type(e, type), fop(e, SP_F_ADD, wider, product, y[2]));
    sum s = two_sum(e, wider, product, y[2]);
    return SPV(e, SP_F_CONVERT, qn__spv_type(e, type), make_odd(e, wider, s));
}

/* ---- f64 ---- */

/* value = mantissa * 2^(exponent - BIAS), the mantissa's size in [1, 2). */
typedef struct scaled {
    uint32_t mantissa, exponent;
} scaled;

enum { BIAS = 1023, NORMALISE = 54, FAR = 120 };

static double power_of_two(int exponent) {
    double value = 1;
    for (; exponent > 0; exponent--) value *= 2;
    for (; exponent < 0; exponent++) value /= 2;
    return value;
}

static uint32_t high_word(spv *e, uint32_t value) {
    return qn__spv_extract(e, qn__spv_u32t(e), SPV(e, SP_BITCAST, qn__spv_pair(e), value), 1);
}

static uint32_t with_high_word(spv *e, uint32_t value, uint32_t high) {
    uint32_t lo = qn__spv_extract(e, qn__spv_u32t(e), SPV(e, SP_BITCAST, qn__spv_pair(e), value), 0);
    return SPV(e, SP_BITCAST, qn__spv_type(e, F64),
               SPV(e, SP_COMPOSITE_CONSTRUCT, qn__spv_pair(e), lo, high));
}

static scaled take_apart(spv *e, uint32_t value) {
    uint32_t t = qn__spv_u32t(e), mask = word(e, 0x7ff);
    uint32_t field = word_op(e, SP_BITWISE_AND,
                             word_op(e, SP_SHIFT_RIGHT_LOGICAL, high_word(e, value), word(e, 20)), mask);
    uint32_t tiny = test(e, SP_I_EQUAL, field, word(e, 0));
    uint32_t larger = fop(e, SP_F_MUL, F64, value, qn__spv_float(e, F64, power_of_two(NORMALISE)));
    value = choose(e, qn__spv_type(e, F64), tiny, larger, value);
    uint32_t high = high_word(e, value);
    uint32_t exponent =
        word_op(e, SP_BITWISE_AND, word_op(e, SP_SHIFT_RIGHT_LOGICAL, high, word(e, 20)), mask);
    exponent = word_op(e, SP_I_SUB, exponent, choose(e, t, tiny, word(e, NORMALISE), word(e, 0)));
    high =
        word_op(e, SP_BITWISE_OR, word_op(e, SP_BITWISE_AND, high, word(e, 0x800fffff)), word(e, BIAS << 20));
    return (scaled){with_high_word(e, value, high), exponent};
}

/* 2^n for an id n in the range of normal numbers. */
static uint32_t power(spv *e, uint32_t n) {
    uint32_t high = word_op(e, SP_SHIFT_LEFT, word_op(e, SP_I_ADD, n, word(e, BIAS)), word(e, 20));
    return with_high_word(e, qn__spv_float(e, F64, 0), high);
}

static uint32_t clamp(spv *e, uint32_t n, int least, int most) {
    uint32_t t = qn__spv_u32t(e);
    n = SPV_GLSL(e, GLSL_S_MAX, t, n, word(e, (uint32_t)least));
    return SPV_GLSL(e, GLSL_S_MIN, t, n, word(e, (uint32_t)most));
}

/* In two steps that multiply exactly but for the last, which alone may round, overflow or underflow. */
static uint32_t scale(spv *e, uint32_t value, uint32_t n) {
    uint32_t first = clamp(e, n, -BIAS + 1 + FAR + 80, BIAS - FAR - 80);
    uint32_t rest = clamp(e, word_op(e, SP_I_SUB, n, first), -BIAS + 1, BIAS);
    return fop(e, SP_F_MUL, F64, fop(e, SP_F_MUL, F64, value, power(e, first)), power(e, rest));
}

static sum two_product(spv *e, uint32_t a, uint32_t b) {
    uint32_t x[2] = {a, b}, high[2], low[2];
    for (int i = 0; i < 2; i++) {
        uint32_t t = fop(e, SP_F_MUL, F64, x[i], qn__spv_float(e, F64, 134217729.0));
        high[i] = fop(e, SP_F_SUB, F64, t, fop(e, SP_F_SUB, F64, t, x[i]));
        low[i] = fop(e, SP_F_SUB, F64, x[i], high[i]);
    }
    uint32_t p = fop(e, SP_F_MUL, F64, a, b);
    uint32_t error = fop(e, SP_F_SUB, F64, fop(e, SP_F_MUL, F64, high[0], high[1]), p);
    error = fop(e, SP_F_ADD, F64, error, fop(e, SP_F_MUL, F64, high[0], low[1]));
    error = fop(e, SP_F_ADD, F64, error, fop(e, SP_F_MUL, F64, low[0], high[1]));
    return (sum){p, fop(e, SP_F_ADD, F64, error, fop(e, SP_F_MUL, F64, low[0], low[1]))};
}

/* v + rest, below the normal range, rounded to the multiples of the smallest number there: by adding the power of two
   whose last place that is, of v's sign. That is the sign of a zero, too. */
static uint32_t below_normal(spv *e, uint32_t v, uint32_t rest, uint32_t n) {
    uint32_t place = clamp(e, word_op(e, SP_I_SUB, word(e, (uint32_t)(-BIAS + 1)), n), -1000, 1000);
    uint32_t sign = word_op(e, SP_BITWISE_AND, high_word(e, v), word(e, 0x80000000)), least = power(e, place);
    uint32_t magic = with_high_word(e, least, word_op(e, SP_BITWISE_OR, high_word(e, least), sign));
    sum s = two_sum(e, F64, magic, v);
    uint32_t low = make_odd(e, F64, two_sum(e, F64, s.error, rest));
    uint32_t rounded = fop(e, SP_F_SUB, F64, fop(e, SP_F_ADD, F64, s.value, low), magic);
    uint32_t zero = with_high_word(e, qn__spv_float(e, F64, 0), sign);
    uint32_t is_zero = test(e, SP_F_EQUAL, rounded, qn__spv_float(e, F64, 0));
    return choose(e, qn__spv_type(e, F64), is_zero, zero, rounded);
}

/* All are finite and none is zero. */
static uint32_t finite(spv *e, const uint32_t *x) {
    uint32_t f64 = qn__spv_type(e, F64);
    scaled a = take_apart(e, x[0]), b = take_apart(e, x[1]), c = take_apart(e, x[2]);
    uint32_t exponent = word_op(e, SP_I_ADD, a.exponent, b.exponent); /* of the product, with two biases */
    uint32_t distance = word_op(e, SP_I_SUB, word_op(e, SP_I_ADD, c.exponent, word(e, BIAS)), exponent);
    uint32_t addend = fop(e, SP_F_MUL, F64, c.mantissa, power(e, clamp(e, distance, -FAR, FAR)));
    sum p = two_product(e, a.mantissa, b.mantissa);
    sum u = two_sum(e, F64, addend, p.error);
    sum v = two_sum(e, F64, p.value, u.value);
    uint32_t rest = make_odd(e, F64, two_sum(e, F64, u.error, v.error));
    sum last = two_sum(e, F64, v.value, rest);
    /* Below the normal range scaling must not round again. */
    uint32_t n = word_op(e, SP_I_SUB, exponent, word(e, 2 * BIAS));
    uint32_t field = word_op(e, SP_SHIFT_RIGHT_LOGICAL, high_word(e, last.value), word(e, 20));
    field = word_op(e, SP_I_ADD, word_op(e, SP_BITWISE_AND, field, word(e, 0x7ff)), n);
    uint32_t small = test(e, SP_S_LESS, field, word(e, 1));
    uint32_t result = scale(e, choose(e, f64, small, below_normal(e, v.value, rest, n), last.value), n);
    return choose(e, f64, test(e, SP_S_LESS, word(e, FAR), distance), x[2], result);
}

static uint32_t is_ordinary(spv *e, uint32_t value) {
    uint32_t size = SPV_GLSL(e, GLSL_F_ABS, qn__spv_type(e, F64), value);
    uint32_t some = test(e, SP_F_GREATER, size, qn__spv_float(e, F64, 0));
    return test(e, SP_LOGICAL_AND, some,
                test(e, SP_F_LESS_EQUAL, size, qn__spv_float(e, F64, 0x1.fffffffffffffp+1023)));
}

/* Where the parts overflow, or an operand is no number, the plain sum is right. */
static uint32_t nearly(spv *e, const uint32_t *x) {
    sum p = two_product(e, x[0], x[1]);
    sum u = two_sum(e, F64, x[2], p.error);
    sum v = two_sum(e, F64, p.value, u.value);
    uint32_t result = fop(e, SP_F_ADD, F64, v.value, fop(e, SP_F_ADD, F64, u.error, v.error));
    uint32_t is_number = test(e, SP_F_EQUAL, result, result);
    uint32_t plain = fop(e, SP_F_ADD, F64, p.value, x[2]);
    return choose(e, qn__spv_type(e, F64), is_number, result, plain);
}

/* Where one is no ordinary number. Beside ordinary factors that is the addend, and the sum is the addend, or the product
   where that is a zero. Adding the rounded product would give NaN where it overflows beside an infinity, and a zero of
   the wrong sign where it underflows beside a zero. */
static uint32_t extraordinary(spv *e, uint32_t factors, const uint32_t *x) {
    uint32_t f64 = qn__spv_type(e, F64), product = fop(e, SP_F_MUL, F64, x[0], x[1]);
    uint32_t is_zero = test(e, SP_F_EQUAL, x[2], qn__spv_float(e, F64, 0));
    uint32_t one = choose(e, f64, is_zero, product, x[2]);
    return choose(e, f64, factors, one, fop(e, SP_F_ADD, F64, product, x[2]));
}

static uint32_t in_pairs(spv *e, const uint32_t *x, bool exact) {
    if (!exact) return nearly(e, x);
    uint32_t factors = test(e, SP_LOGICAL_AND, is_ordinary(e, x[0]), is_ordinary(e, x[1]));
    uint32_t all = test(e, SP_LOGICAL_AND, factors, is_ordinary(e, x[2]));
    return choose(e, qn__spv_type(e, F64), all, finite(e, x), extraordinary(e, factors, x));
}

static bool is_in_library(const spv *e, const ir_instr *instr) {
    static const char library[] = "<library>/";
    uint16_t file = instr->loc.file;
    return instr->loc.line && file < e->module->files.len &&
           !strncmp(e->module->files.data[file], library, sizeof library - 1);
}

uint32_t qn__spv_fma(spv *e, const ir_instr *instr) {
    static const ir_type wider[IR_KIND_COUNT] = {[IR_F16] = {IR_F32, 1, 0}, [IR_F32] = {IR_F64, 1, 0}};
    ir_type type = instr->results[0]->type, lane = qn__ir_element(type);
    uint32_t whole[3], parts[4], t = qn__spv_type(e, lane);
    bool exact = !is_in_library(e, instr);
    for (int i = 0; i < 3; i++) whole[i] = qn__spv_hide_zero(e, instr->operands[i]);
    for (unsigned k = 0; k < type.lanes; k++) {
        uint32_t x[3];
        for (int i = 0; i < 3; i++) x[i] = type.lanes == 1 ? whole[i] : qn__spv_extract(e, t, whole[i], k);
        parts[k] =
            lane.kind == IR_F64 ? in_pairs(e, x, exact) : in_wider(e, lane, wider[lane.kind], x, exact);
    }
    return qn__spv_build(e, qn__spv_type(e, type), parts, type.lanes);
}
