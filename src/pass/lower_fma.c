/* a * b + c rounded once, for targets whose fma rounds twice. f16 and f32 are computed in the next wider type, whose
   sum is rounded to odd so that rounding again is harmless; f64, and f32 where there is no f64, in pairs, on operands
   scaled into the middle of the range. Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding
   to odd", 2008; Veltkamp and Dekker for the exact product.
   The maths library has hundreds of these in a function and needs what is between a * b + c and its rounding, not
   the last of ties: there the odd step and the scaling are left out, which is a third of the code.

       %r = fma %a, %b, %c (f32)   ->   %p = fmul (fconvert %a), (fconvert %b)  (f64)
                                        %r = fconvert (odd (fadd %p, (fconvert %c)))  */
#include <string.h>

#include "pass/lowering.h"

static const ir_type F64 = {IR_F64, 1, 0}, I32 = {IR_I32, 1, 0};

/* What computing in pairs has to know of a type. */
typedef struct format {
    int bias, field, mask; /* of the exponent: its place in the highest word, and its bits there */
    int normalise;         /* denormal numbers are multiplied by 2 to that */
    int far;               /* an addend that is so much larger, in powers of 2, is the sum */
    int least, most;       /* powers of 2 by which a sum is multiplied exactly */
    int reach;             /* of what is added to round below the normal range */
    double split;          /* Veltkamp's number */
    double larger, largest;
} format;

static const format formats[] = {
    [IR_F32] = {127, 23, 0xff, 25, 60, -78, 60, 120, 0x1p12 + 1, 0x1p25, 0x1.fffffep+127},
    [IR_F64] = {1023, 20, 0x7ff, 54, 120, -822, 823, 1000, 0x1p27 + 1, 0x1p54, 0x1.fffffffffffffp+1023}};
static const format *format_of(ir_type type) { return &formats[type.kind]; }

static ir_value *word(qn__lowering *l, uint32_t value) { return qn__make_int(l, I32, value); }
static ir_value *number(qn__lowering *l, ir_type type, double value) {
    return qn__make_float(l, type, value);
}

/* With a constant word. */
static ir_value *with(qn__lowering *l, ir_op op, ir_value *a, uint32_t value) {
    return qn__make2(l, op, a, word(l, value));
}

static ir_value *choose_word(qn__lowering *l, ir_value *condition, uint32_t a, uint32_t b) {
    ir_value *one = word(l, a), *other = word(l, b);
    return qn__make_select(l, condition, one, other);
}

static ir_value *add(qn__lowering *l, ir_value *a, ir_value *b) { return qn__make2(l, IR_FADD, a, b); }
static ir_value *subtract(qn__lowering *l, ir_value *a, ir_value *b) { return qn__make2(l, IR_FSUB, a, b); }
static ir_value *times(qn__lowering *l, ir_value *a, ir_value *b) { return qn__make2(l, IR_FMUL, a, b); }

/* ---- doubles as two words, floats as one ---- */

typedef struct words {
    ir_value *lo, *hi;
} words;

static words split(qn__lowering *l, ir_value *value) {
    if (value->type.kind == IR_F32) return (words){NULL, qn__make_convert(l, IR_BITCAST, value, I32)};
    ir_value *both = qn__make_convert(l, IR_BITCAST, value, qn__ir_type(IR_I32, 2));
    words w = {.lo = qn__make_extract(l, both, 0)};
    w.hi = qn__make_extract(l, both, 1);
    return w;
}

static ir_value *join(qn__lowering *l, ir_type type, words w) {
    if (type.kind == IR_F32) return qn__make_convert(l, IR_BITCAST, w.hi, type);
    ir_value *const parts[] = {w.lo, w.hi};
    return qn__make_convert(l, IR_BITCAST, qn__make_vector(l, parts, 2), F64);
}

static ir_value *high_word(qn__lowering *l, ir_value *value) { return split(l, value).hi; }

/* ---- sums and their errors ---- */

typedef struct sum {
    ir_value *value, *error;
} sum;

static sum two_sum(qn__lowering *l, ir_value *a, ir_value *b) {
    ir_value *s = add(l, a, b), *t = subtract(l, s, a);
    ir_value *left = subtract(l, a, subtract(l, s, t)), *right = subtract(l, b, t);
    return (sum){s, add(l, left, right)};
}

/* The word that is added to the lowest one of a number, to make it odd: one of its two neighbours. */
static ir_value *odd_step(qn__lowering *l, sum s, ir_value *low, ir_value **away, ir_value **moves) {
    ir_value *zero = qn__make_float(l, s.value->type, 0);
    ir_value *above = qn__make2(l, IR_FLT, zero, s.error), *below = qn__make2(l, IR_FLT, s.error, zero);
    ir_value *inexact = qn__make2(l, IR_OR, above, below);
    ir_value *even = with(l, IR_EQ, with(l, IR_AND, low, 1), 0);
    *away = qn__make2(l, IR_EQ, above, qn__make2(l, IR_FLT, zero, s.value));
    *moves = qn__make2(l, IR_AND, inexact, even);
    ir_value *by = choose_word(l, *away, 1, UINT32_MAX);
    return qn__make_select(l, *moves, by, word(l, 0));
}

static ir_value *bits_of(qn__lowering *l, ir_value *value) {
    return qn__make_convert(l, IR_BITCAST, value, I32);
}

/* Cut toward zero, which an error of the other sign shows it has not been; then its last bit is set. The error of an infinity is no
   number. */
static ir_value *odd_f32(qn__lowering *l, sum s) {
    ir_value *size = qn__make1(l, IR_FABS, s.error);
    ir_value *is_inexact = qn__make2(l, IR_FLT, number(l, s.value->type, 0), size);
    ir_value *inexact = choose_word(l, is_inexact, 1, 0), *bits = bits_of(l, s.value);
    ir_value *away = with(l, IR_LSHR, qn__make2(l, IR_XOR, bits_of(l, s.error), bits), 31);
    bits = qn__make2(l, IR_SUB, bits, qn__make2(l, IR_AND, away, inexact));
    return qn__make_convert(l, IR_BITCAST, qn__make2(l, IR_OR, bits, inexact), s.value->type);
}

/* The sum as it is where exact, else the odd one of its two neighbours. */
static ir_value *make_odd(qn__lowering *l, sum s) {
    if (s.value->type.kind == IR_F32) return odd_f32(l, s);
    words w = split(l, s.value);
    ir_value *empty = with(l, IR_EQ, w.lo, 0), *away, *moves;
    w.lo = qn__make2(l, IR_ADD, w.lo, odd_step(l, s, w.lo, &away, &moves));
    ir_value *toward = qn__make1(l, IR_NOT, away);
    ir_value *borrows = qn__make2(l, IR_AND, qn__make2(l, IR_AND, moves, toward), empty);
    w.hi = qn__make2(l, IR_SUB, w.hi, choose_word(l, borrows, 1, 0));
    return join(l, F64, w);
}

static ir_value *in_wider(qn__lowering *l, ir_type type, ir_value *const *x, bool exact) {
    const ir_type wider = qn__ir_type(type.kind == IR_F16 ? IR_F32 : IR_F64, 1);
    ir_value *y[3], *product, *result;
    for (int i = 0; i < 3; i++) y[i] = qn__make_convert(l, IR_FCONVERT, x[i], wider);
    product = times(l, y[0], y[1]);
    result = exact ? make_odd(l, two_sum(l, product, y[2])) : add(l, product, y[2]);
    return qn__make_convert(l, IR_FCONVERT, result, type);
}

/* ---- in pairs ---- */

/* value = mantissa * 2^(exponent - BIAS), the mantissa's size in [1, 2). */
typedef struct scaled {
    ir_value *mantissa, *exponent;
} scaled;

static ir_value *exponent_field(qn__lowering *l, ir_value *value) {
    const format *f = format_of(value->type);
    return with(l, IR_AND, with(l, IR_LSHR, high_word(l, value), (uint32_t)f->field), (uint32_t)f->mask);
}

static scaled take_apart(qn__lowering *l, ir_value *value) {
    const format *f = format_of(value->type);
    const ir_type type = value->type;
    ir_value *tiny = with(l, IR_EQ, exponent_field(l, value), 0);
    ir_value *larger = times(l, value, number(l, type, f->larger));
    value = qn__make_select(l, tiny, larger, value);
    ir_value *exponent = exponent_field(l, value);
    exponent = qn__make2(l, IR_SUB, exponent, choose_word(l, tiny, (uint32_t)f->normalise, 0));
    words w = split(l, value);
    const uint32_t kept = 0x80000000 | ((1u << f->field) - 1);
    w.hi = with(l, IR_OR, with(l, IR_AND, w.hi, kept), (uint32_t)f->bias << f->field);
    return (scaled){join(l, type, w), exponent};
}

/* 2^n for an n in the range of normal numbers. */
static ir_value *power(qn__lowering *l, ir_type type, ir_value *n) {
    const format *f = format_of(type);
    ir_value *low = word(l, 0),
             *high = with(l, IR_SHL, with(l, IR_ADD, n, (uint32_t)f->bias), (uint32_t)f->field);
    return join(l, type, (words){low, high});
}

static ir_value *clamp(qn__lowering *l, ir_value *n, int least, int most) {
    return with(l, IR_SMIN, with(l, IR_SMAX, n, (uint32_t)least), (uint32_t)most);
}

/* In two steps that multiply exactly but for the last, which alone may round, overflow or underflow. */
static ir_value *scale(qn__lowering *l, ir_value *value, ir_value *n) {
    const format *f = format_of(value->type);
    ir_value *first = clamp(l, n, f->least, f->most);
    ir_value *rest = clamp(l, qn__make2(l, IR_SUB, n, first), -f->bias + 1, f->bias);
    value = times(l, value, power(l, value->type, first));
    return times(l, value, power(l, value->type, rest));
}

/* The half of a number's digits that is larger: an f32 has two times twelve, which may be cut; an f64 is odd. */
static ir_value *upper_half(qn__lowering *l, ir_value *x) {
    if (x->type.kind == IR_F32)
        return qn__make_convert(l, IR_BITCAST, with(l, IR_AND, bits_of(l, x), 0xfffff000), x->type);
    ir_value *t = times(l, x, number(l, x->type, format_of(x->type)->split));
    return subtract(l, t, subtract(l, t, x));
}

static sum two_product(qn__lowering *l, ir_value *a, ir_value *b) {
    ir_value *x[2] = {a, b}, *high[2], *low[2];
    for (int i = 0; i < 2; i++) {
        high[i] = upper_half(l, x[i]);
        low[i] = subtract(l, x[i], high[i]);
    }
    ir_value *p = times(l, a, b);
    ir_value *error = subtract(l, times(l, high[0], high[1]), p);
    error = add(l, error, times(l, high[0], low[1]));
    error = add(l, error, times(l, low[0], high[1]));
    return (sum){p, add(l, error, times(l, low[0], low[1]))};
}

/* v + rest, below the normal range, rounded to the multiples of the smallest number there: by adding the power of two
   whose last place that is, of the sum's sign. That is the sign of a zero, too; v may be one where all cancels but
   the rest. */
static ir_value *below_normal(qn__lowering *l, ir_value *v, ir_value *rest, ir_value *sum_value,
                              ir_value *n) {
    const format *f = format_of(v->type);
    ir_value *place = qn__make2(l, IR_SUB, word(l, (uint32_t)(-f->bias + 1)), n);
    ir_value *sign = with(l, IR_AND, high_word(l, sum_value), 0x80000000);
    words least = split(l, power(l, v->type, clamp(l, place, -f->reach, f->reach)));
    least.hi = qn__make2(l, IR_OR, least.hi, sign);
    ir_value *magic = join(l, v->type, least);
    sum s = two_sum(l, magic, v);
    ir_value *low = make_odd(l, two_sum(l, s.error, rest));
    ir_value *rounded = subtract(l, add(l, s.value, low), magic);
    ir_value *is_zero = qn__make2(l, IR_FEQ, rounded, number(l, v->type, 0));
    return qn__make_select(l, is_zero, join(l, v->type, (words){word(l, 0), sign}), rounded);
}

/* All are finite and none is zero. */
static ir_value *finite(qn__lowering *l, ir_value *const *x) {
    const ir_type type = x[0]->type;
    const format *f = format_of(type);
    scaled a = take_apart(l, x[0]), b = take_apart(l, x[1]), c = take_apart(l, x[2]);
    ir_value *exponent = qn__make2(l, IR_ADD, a.exponent, b.exponent); /* of the product, with two biases */
    ir_value *distance = qn__make2(l, IR_SUB, with(l, IR_ADD, c.exponent, (uint32_t)f->bias), exponent);
    ir_value *addend = times(l, c.mantissa, power(l, type, clamp(l, distance, -f->far, f->far)));
    sum p = two_product(l, a.mantissa, b.mantissa);
    sum u = two_sum(l, addend, p.error);
    sum v = two_sum(l, p.value, u.value);
    ir_value *rest = make_odd(l, two_sum(l, u.error, v.error));
    sum last = two_sum(l, v.value, rest);
    /* Below the normal range scaling must not round again. */
    ir_value *n = with(l, IR_SUB, exponent, 2 * (uint32_t)f->bias);
    ir_value *field = qn__make2(l, IR_ADD, exponent_field(l, last.value), n);
    ir_value *small = with(l, IR_SLT, field, 1);
    ir_value *result = qn__make_select(l, small, below_normal(l, v.value, rest, last.value, n), last.value);
    ir_value *is_far = qn__make2(l, IR_SLT, word(l, (uint32_t)f->far), distance);
    return qn__make_select(l, is_far, x[2], scale(l, result, n));
}

static ir_value *is_ordinary(qn__lowering *l, ir_value *value) {
    ir_value *size = qn__make1(l, IR_FABS, value),
             *some = qn__make2(l, IR_FLT, number(l, size->type, 0), size);
    ir_value *largest = number(l, size->type, format_of(size->type)->largest);
    return qn__make2(l, IR_AND, some, qn__make2(l, IR_FLE, size, largest));
}

/* Where the parts overflow, or an operand is no number, the plain sum is right. */
static ir_value *nearly(qn__lowering *l, ir_value *const *x) {
    sum p = two_product(l, x[0], x[1]), s = two_sum(l, p.value, x[2]);
    ir_value *result = add(l, s.value, add(l, s.error, p.error));
    ir_value *is_number = qn__make2(l, IR_FEQ, result, result);
    return qn__make_select(l, is_number, result, s.value);
}

/* Where one is no ordinary number. Beside ordinary factors that is the addend, and the sum is the addend, or the product
   where that is a zero. Adding the rounded product would give NaN where it overflows beside an infinity, and a zero of
   the wrong sign where it underflows beside a zero. */
static ir_value *extraordinary(qn__lowering *l, ir_value *factors, ir_value *is_zero, ir_value *const *x) {
    ir_value *product = times(l, x[0], x[1]);
    ir_value *one = qn__make_select(l, is_zero, product, x[2]);
    return qn__make_select(l, factors, one, add(l, product, x[2]));
}

/* ---- where denormal numbers may count as zero ---- */

/* value * 2^n, for an n that may lead out of the range. */
static ir_value *scale_f32(qn__lowering *l, ir_value *value, ir_value *n) {
    ir_value *bits = bits_of(l, value), *field = exponent_field(l, value);
    ir_value *exponent = qn__make2(l, IR_ADD, field, n), *sign = with(l, IR_AND, bits, 0x80000000);
    ir_value *scaled_bits = qn__make2(l, IR_ADD, bits, with(l, IR_SHL, n, 23));
    ir_value *is_large = qn__make2(l, IR_SLT, word(l, 254), exponent);
    ir_value *was_small = with(l, IR_EQ, field, 0);
    ir_value *is_small = qn__make2(l, IR_OR, with(l, IR_SLT, exponent, 1), was_small);
    ir_value *infinite = with(l, IR_OR, sign, 0x7f800000);
    bits = qn__make_select(l, is_large, infinite, scaled_bits);
    bits = qn__make_select(l, is_small, sign, bits);
    return qn__make_convert(l, IR_BITCAST, bits, value->type);
}

/* Its digits, with the exponent that is added to 0's. */
static ir_value *digits_f32(qn__lowering *l, ir_value *value, ir_value *exponent) {
    ir_value *bits = with(l, IR_AND, bits_of(l, value), 0x807fffff);
    bits = with(l, IR_OR, bits, 0x3f800000);
    if (exponent) bits = qn__make2(l, IR_ADD, bits, with(l, IR_SHL, exponent, 23));
    return qn__make_convert(l, IR_BITCAST, bits, value->type);
}

static ir_value *is_normal(qn__lowering *l, ir_value *field) {
    return with(l, IR_ULT, with(l, IR_ADD, field, UINT32_MAX), 254);
}

/* As above, and a third shorter. */
static ir_value *without_denormals(qn__lowering *l, ir_value *const *x) {
    const format *f = &formats[IR_F32];
    ir_value *field[3];
    for (int i = 0; i < 3; i++) field[i] = exponent_field(l, x[i]);
    ir_value *exponent = with(l, IR_ADD, qn__make2(l, IR_ADD, field[0], field[1]), (uint32_t)-f->bias);
    ir_value *distance = qn__make2(l, IR_SUB, field[2], exponent);
    ir_value *addend = digits_f32(l, x[2], clamp(l, distance, -f->far, f->far));
    ir_value *first = digits_f32(l, x[0], NULL), *second = digits_f32(l, x[1], NULL);
    sum p = two_product(l, first, second);
    sum u = two_sum(l, addend, p.error), v = two_sum(l, p.value, u.value);
    ir_value *last = add(l, v.value, make_odd(l, two_sum(l, u.error, v.error)));
    ir_value *usual = scale_f32(l, last, with(l, IR_SUB, exponent, (uint32_t)f->bias));
    usual = qn__make_select(l, qn__make2(l, IR_SLT, word(l, (uint32_t)f->far), distance), x[2], usual);
    ir_value *factors = is_normal(l, field[0]);
    factors = qn__make2(l, IR_AND, factors, is_normal(l, field[1]));
    ir_value *all = qn__make2(l, IR_AND, factors, is_normal(l, field[2]));
    ir_value *is_zero = with(l, IR_EQ, field[2], 0);
    return qn__make_select(l, all, usual, extraordinary(l, factors, is_zero, x));
}

static ir_value *in_pairs(qn__lowering *l, ir_value *const *x, bool exact) {
    if (!exact) return nearly(l, x);
    if (x[0]->type.kind == IR_F32 && l->context->options->target.lacks_f32_denormals)
        return without_denormals(l, x);
    ir_value *is[3];
    for (int i = 0; i < 3; i++) is[i] = is_ordinary(l, x[i]);
    ir_value *factors = qn__make2(l, IR_AND, is[0], is[1]), *all = qn__make2(l, IR_AND, factors, is[2]);
    ir_value *usual = finite(l, x), *is_zero = qn__make2(l, IR_FEQ, x[2], number(l, x[2]->type, 0));
    return qn__make_select(l, all, usual, extraordinary(l, factors, is_zero, x));
}

/* ---- all of them ---- */

static bool is_in_library(const qn__lowering *l, const ir_instr *instr) {
    static const char library[] = "<library>/";
    const ir_module *module = l->context->module;
    const uint16_t file = instr->loc.file;
    return instr->loc.line && file < module->files.len &&
           !strncmp(module->files.data[file], library, sizeof library - 1);
}

static ir_value *lower_lane(qn__lowering *l, const ir_instr *instr, ir_value *const *x) {
    const ir_type lane = qn__ir_element(instr->results[0]->type);
    const bool exact = !is_in_library(l, instr);
    const bool pairs = lane.kind == IR_F64 || (lane.kind == IR_F32 && l->context->options->target.lacks_f64);
    return pairs ? in_pairs(l, x, exact) : in_wider(l, lane, x, exact);
}

static ir_value *lower(qn__lowering *l, ir_instr *instr) { return qn__make_lanes(l, instr, lower_lane); }

bool qn__pass_lower_fma(qn__pass_context *context) {
    static const ir_op ops[] = {IR_FMA};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
