/* Between which numbers an f32 is known to lie: an interval evaluation of the few operations that divisors are made
   of. A NaN may be anywhere. */
#include "pass/analysis.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 6, MAX_EXPONENT = 100 };

typedef struct bounds {
    double low, high; /* of what is not NaN */
} bounds;

static const bounds everything = {-INFINITY, INFINITY};

static bounds of_value(const ir_value *value, unsigned depth);

/* Rounding moves a result by far less than this, unless it is tiny: what may be is taken for anything. */
static bounds rounded(double low, double high) {
    low -= ldexp(fabs(low), -20), high += ldexp(fabs(high), -20);
    const double largest = fmax(fabs(low), fabs(high));
    const double smallest = low > 0 ? low : high < 0 ? -high : 1;
    if (!(largest < ldexp(1, MAX_EXPONENT)) || smallest < ldexp(1, -MAX_EXPONENT)) return everything;
    return (bounds){low, high};
}

static double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static bounds product_bounds(bounds a, bounds b) {
    const double p = product(a.low, b.low), q = product(a.low, b.high);
    const double r = product(a.high, b.low), s = product(a.high, b.high);
    return (bounds){fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
}

static bounds of_constant(const ir_value *value) {
    bounds b = {INFINITY, -INFINITY};
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        const uint32_t bits = (uint32_t)value->bits[lane];
        float number;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) return everything;
        b.low = fmin(b.low, number), b.high = fmax(b.high, number);
    }
    return b;
}

/* What a side of the select can be, where its condition compares it with a constant; if not NaN. */
static bounds of_side(const ir_instr *select, unsigned side, unsigned depth) {
    const ir_value *value = select->operands[side];
    bounds b = of_value(value, depth);
    const ir_instr *test = select->operands[0]->def;
    if (!test || (test->op != IR_FLT && test->op != IR_FLE)) return b;
    const unsigned place = test->operands[1] == value;
    const ir_value *limit = test->operands[1 - place];
    if (test->operands[place] != value || !qn__ir_is_const(limit)) return b;
    const bounds l = of_constant(limit);
    if ((place == 0) == (side == 1))
        b.high = fmin(b.high, l.high);
    else
        b.low = fmax(b.low, l.low);
    return b;
}

static bounds of_result(const ir_instr *instr, unsigned depth) {
    bounds a, b;
    switch (instr->op) {
    case IR_FABS:
        a = of_value(instr->operands[0], depth);
        if (a.low >= 0) return a;
        return (bounds){a.high < 0 ? -a.high : 0, fmax(-a.low, a.high)};
    case IR_FNEG: a = of_value(instr->operands[0], depth); return (bounds){-a.high, -a.low};
    case IR_FADD:
        a = of_value(instr->operands[0], depth), b = of_value(instr->operands[1], depth);
        return rounded(a.low + b.low, a.high + b.high);
    case IR_FSUB:
        a = of_value(instr->operands[0], depth), b = of_value(instr->operands[1], depth);
        return rounded(a.low - b.high, a.high - b.low);
    case IR_FMUL:
        a = product_bounds(of_value(instr->operands[0], depth), of_value(instr->operands[1], depth));
        return rounded(a.low, a.high);
    case IR_FMA:
        a = product_bounds(of_value(instr->operands[0], depth), of_value(instr->operands[1], depth));
        b = of_value(instr->operands[2], depth);
        return rounded(a.low + b.low, a.high + b.high);
    case IR_SELECT:
        a = of_side(instr, 1, depth), b = of_side(instr, 2, depth);
        return (bounds){fmin(a.low, b.low), fmax(a.high, b.high)};
    default: return everything;
    }
}

/* At most MAX_DEPTH operations back, which bounds the time, too. */
static bounds of_value(const ir_value *value, unsigned depth) {
    if (value->type.kind != IR_F32) return everything;
    if (qn__ir_is_const(value)) return of_constant(value);
    if (!value->def || value->value_kind != IR_VALUE_RESULT || depth == MAX_DEPTH) return everything;
    return of_result(value->def, depth + 1);
}

bool qn__is_moderate(const ir_value *value) {
    const bounds known = of_value(value, 0), b = rounded(known.low, known.high);
    return (b.low > 0 || b.high < 0) && !isinf(b.high) && !isinf(b.low);
}
