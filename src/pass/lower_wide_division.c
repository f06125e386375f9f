/* Division of i64 as two words (lower_wide.c): one of 32 bits where both high words are zero, else long division, a bit a
   step. A quotient's bits enter the dividend from below as that leaves to the rest.

       %q = udiv %a, %b (i64)   ->   %lo, %hi = if eq (or %ah, %bh), 0 { yield udiv %al, %bl, 0 }
                                     else { loop of 64 iterations }  */
#include "pass/wide.h"

enum { BITS = 64 };

static ir_value *test(qn__lowering *l, ir_op op, ir_value *a, ir_value *b) { return qn__make2(l, op, a, b); }

/* a - b where the flag is true, else a. */
static qn__words subtract_if(qn__lowering *l, ir_value *flag, qn__words a, qn__words b) {
    const qn__words none = {qn__word(l, 0), qn__word(l, 0)};
    return qn__words_subtract(l, a, qn__words_select(l, flag, b, none));
}

static qn__words negate_if(qn__lowering *l, ir_value *flag, qn__words a) {
    const qn__words none = {qn__word(l, 0), qn__word(l, 0)};
    return qn__words_select(l, flag, qn__words_subtract(l, none, a), a);
}

typedef struct division {
    qn__words quotient, rest;
} division;

static void shift_in(qn__lowering *l, qn__words *w) {
    ir_value *carry = qn__word_with(l, IR_LSHR, w->lo, 31), *up = qn__word_with(l, IR_SHL, w->hi, 1);
    w->lo = qn__word_with(l, IR_SHL, w->lo, 1);
    w->hi = qn__word_op(l, IR_OR, up, carry);
}

static division step(qn__lowering *l, division d, qn__words by) {
    ir_value *out = qn__word_with(l, IR_LSHR, d.quotient.hi, 31);
    ir_value *over = qn__word_with(l, IR_LSHR, d.rest.hi, 31);
    shift_in(l, &d.rest);
    shift_in(l, &d.quotient);
    d.rest.lo = qn__word_op(l, IR_OR, d.rest.lo, out);
    ir_value *same = test(l, IR_EQ, d.rest.hi, by.hi), *less = test(l, IR_ULT, d.rest.hi, by.hi);
    ir_value *lower = test(l, IR_ULT, d.rest.lo, by.lo);
    less = qn__make_select(l, same, lower, less);
    ir_value *exceeds = test(l, IR_NE, over, qn__word(l, 0)), *not_less = qn__make1(l, IR_NOT, less);
    ir_value *fits = test(l, IR_OR, exceeds, not_less);
    d.rest = subtract_if(l, fits, d.rest, by);
    ir_value *one = qn__word(l, 1), *bit = qn__make_select(l, fits, one, qn__word(l, 0));
    d.quotient.lo = qn__word_op(l, IR_OR, d.quotient.lo, bit);
    return d;
}

/* Writes the loop where the builder stands; gives the words that it ends with. */
static qn__words long_division(qn__lowering *l, bool remainder, qn__words a, qn__words b) {
    ir_value *zero = qn__word(l, 0), *inits[] = {zero, a.lo, a.hi, zero, zero};
    const ir_type types[] = {zero->type, zero->type};
    ir_instr *loop = qn__ir_loop(&l->b, inits, 5, types, 2);
    const ir_builder outside = l->b;
    ir_value *const *p = loop->regions[0]->params;
    qn__ir_at_end(&l->b, loop->regions[0]);
    ir_instr *more = qn__ir_if(&l->b, test(l, IR_ULT, p[0], qn__word(l, BITS)), NULL, 0);
    const ir_builder body = l->b;
    qn__ir_at_end(&l->b, more->regions[0]);
    qn__ir_yield(&l->b, NULL, 0);
    qn__ir_at_end(&l->b, more->regions[1]);
    qn__ir_break(&l->b, loop, remainder ? p + 3 : p + 1, 2);
    l->b = body;
    division d = step(l, (division){{p[1], p[2]}, {p[3], p[4]}}, b);
    ir_value *next[] = {qn__word_with(l, IR_ADD, p[0], 1), d.quotient.lo, d.quotient.hi, d.rest.lo,
                        d.rest.hi};
    qn__ir_continue(&l->b, loop, next, 5);
    l->b = outside;
    return (qn__words){loop->results[0], loop->results[1]};
}

/* 0 counts as 1. Where the target has no division by zero at all lower_int_division has seen to it. */
static qn__words without_zero(qn__lowering *l, qn__words b) {
    const bool is_constant = qn__ir_is_const(b.lo) && qn__ir_is_const(b.hi);
    if (l->context->options->target.lacks_zero_divisors || is_constant) return b;
    ir_value *either = qn__word_op(l, IR_OR, b.lo, b.hi), *is_zero = test(l, IR_EQ, either, qn__word(l, 0));
    ir_value *one = qn__word(l, 1);
    return (qn__words){qn__make_select(l, is_zero, one, b.lo), b.hi};
}

static qn__words divide(qn__lowering *l, bool remainder, qn__words a, qn__words b) {
    b = without_zero(l, b);
    ir_value *is_small = qn__word_op(l, IR_OR, a.hi, b.hi);
    is_small = test(l, IR_EQ, is_small, qn__word(l, 0));
    const ir_type types[] = {a.lo->type, a.lo->type};
    ir_instr *choice = qn__ir_if(&l->b, is_small, types, 2);
    const ir_builder outside = l->b;
    qn__ir_at_end(&l->b, choice->regions[0]);
    ir_value *quick[] = {qn__make2(l, remainder ? IR_UREM : IR_UDIV, a.lo, b.lo), qn__word(l, 0)};
    qn__ir_yield(&l->b, quick, 2);
    qn__ir_at_end(&l->b, choice->regions[1]);
    qn__words slow = long_division(l, remainder, a, b);
    qn__ir_yield(&l->b, (ir_value *[]){slow.lo, slow.hi}, 2);
    l->b = outside;
    return (qn__words){choice->results[0], choice->results[1]};
}

qn__words qn__words_divide(qn__lowering *l, ir_op op, qn__words a, qn__words b) {
    const bool is_signed = op == IR_SDIV || op == IR_SREM, remainder = op == IR_UREM || op == IR_SREM;
    if (!is_signed) return divide(l, remainder, a, b);
    ir_value *zero = qn__word(l, 0);
    ir_value *sa = test(l, IR_SLT, a.hi, zero), *sb = test(l, IR_SLT, b.hi, zero);
    a = negate_if(l, sa, a);
    b = negate_if(l, sb, b);
    const qn__words result = divide(l, remainder, a, b);
    ir_value *negative = remainder ? sa : test(l, IR_NE, sa, sb);
    return negate_if(l, negative, result);
}
