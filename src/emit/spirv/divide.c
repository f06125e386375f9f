/* Division of 64-bit integers for SPIR-V modules without them: a 32-bit division where both high words are zero, else
   long division, a bit a step. */
#include "emit/spirv/internal.h"

enum { BITS = 64 };

static uint32_t word_op(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_u32t(e), a, b);
}

static uint32_t test(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_bool(e), a, b);
}

static uint32_t choose(spv *e, uint32_t condition, uint32_t a, uint32_t b) {
    return SPV(e, SP_SELECT, qn__spv_u32t(e), condition, a, b);
}

/* a - b * flag, the flag a bool */
static spv_pair subtract_if(spv *e, uint32_t flag, spv_pair a, spv_pair b) {
    uint32_t word = qn__spv_u32t(e), both = SPV_ONCE(e, SP_TYPE_STRUCT, 0, word, word),
             zero = qn__spv_u32(e, 0);
    b.lo = choose(e, flag, b.lo, zero), b.hi = choose(e, flag, b.hi, zero);
    uint32_t low = SPV(e, SP_I_SUB_BORROW, both, a.lo, b.lo);
    uint32_t borrow = SPV(e, SP_COMPOSITE_EXTRACT, word, low, 1);
    uint32_t hi = word_op(e, SP_I_SUB, word_op(e, SP_I_SUB, a.hi, b.hi), borrow);
    return (spv_pair){SPV(e, SP_COMPOSITE_EXTRACT, word, low, 0), hi};
}

static spv_pair negate_if(spv *e, uint32_t flag, spv_pair a) {
    uint32_t zero = qn__spv_u32(e, 0);
    spv_pair negative = subtract_if(e, qn__spv_int(e, qn__ir_type(IR_BOOL, 1), 1), (spv_pair){zero, zero}, a);
    return (spv_pair){choose(e, flag, negative.lo, a.lo), choose(e, flag, negative.hi, a.hi)};
}

typedef struct division {
    spv_pair quotient, rest;
} division;

/* One bit of the quotient, which enters the dividend from below as that leaves to the rest. */
static division step(spv *e, division d, spv_pair by) {
    uint32_t one = qn__spv_u32(e, 1), c31 = qn__spv_u32(e, 31);
    uint32_t out = word_op(e, SP_SHIFT_RIGHT_LOGICAL, d.quotient.hi, c31);
    uint32_t over = word_op(e, SP_SHIFT_RIGHT_LOGICAL, d.rest.hi, c31);
    spv_pair *pairs[] = {&d.rest, &d.quotient};
    for (int i = 0; i < 2; i++) {
        uint32_t carry = word_op(e, SP_SHIFT_RIGHT_LOGICAL, pairs[i]->lo, c31);
        pairs[i]->lo = word_op(e, SP_SHIFT_LEFT, pairs[i]->lo, one);
        pairs[i]->hi = word_op(e, SP_BITWISE_OR, word_op(e, SP_SHIFT_LEFT, pairs[i]->hi, one), carry);
    }
    d.rest.lo = word_op(e, SP_BITWISE_OR, d.rest.lo, out);
    uint32_t same = test(e, SP_I_EQUAL, d.rest.hi, by.hi), less = test(e, SP_U_LESS, d.rest.hi, by.hi);
    uint32_t lower = test(e, SP_U_LESS, d.rest.lo, by.lo);
    less = SPV(e, SP_SELECT, qn__spv_bool(e), same, lower, less);
    uint32_t fits = test(e, SP_LOGICAL_OR, test(e, SP_I_NOT_EQUAL, over, qn__spv_u32(e, 0)),
                         SPV(e, SP_LOGICAL_NOT, qn__spv_bool(e), less));
    d.rest = subtract_if(e, fits, d.rest, by);
    d.quotient.lo = word_op(e, SP_BITWISE_OR, d.quotient.lo, choose(e, fits, one, qn__spv_u32(e, 0)));
    return d;
}

static division long_division(spv *e, spv_pair a, spv_pair b) {
    uint32_t word = qn__spv_u32t(e), zero = qn__spv_u32(e, 0), before = e->label, phis[5];
    uint32_t header = qn__spv_id(e), body = qn__spv_id(e), next = qn__spv_id(e), merge = qn__spv_id(e);
    uint32_t first[5] = {zero, a.lo, a.hi, zero, zero};
    size_t gaps[5];
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, header);
    for (int i = 0; i < 5; i++) {
        phis[i] = SPV(e, SP_PHI, word, first[i], before, 0, next);
        gaps[i] = e->code.len - 2;
    }
    uint32_t more = test(e, SP_U_LESS, phis[0], qn__spv_u32(e, BITS));
    SPV_DO(e, SP_LOOP_MERGE, merge, next, 0);
    SPV_DO(e, SP_BRANCH_CONDITIONAL, more, body, merge);
    qn__spv_begin_block(e, body);
    division d = step(e, (division){{phis[1], phis[2]}, {phis[3], phis[4]}}, b);
    SPV_DO(e, SP_BRANCH, next);
    qn__spv_begin_block(e, next);
    uint32_t counted = word_op(e, SP_I_ADD, phis[0], qn__spv_u32(e, 1));
    uint32_t values[5] = {counted, d.quotient.lo, d.quotient.hi, d.rest.lo, d.rest.hi};
    for (int i = 0; i < 5; i++) e->code.data[gaps[i]] = values[i];
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, merge);
    return (division){{phis[1], phis[2]}, {phis[3], phis[4]}};
}

static spv_pair divide(spv *e, bool remainder, spv_pair a, spv_pair b) {
    uint32_t word = qn__spv_u32t(e), zero = qn__spv_u32(e, 0);
    uint32_t small = qn__spv_id(e), large = qn__spv_id(e), merge = qn__spv_id(e);
    uint32_t is_small = test(e, SP_I_EQUAL, word_op(e, SP_BITWISE_OR, a.hi, b.hi), zero);
    SPV_DO(e, SP_SELECTION_MERGE, merge, 0);
    SPV_DO(e, SP_BRANCH_CONDITIONAL, is_small, small, large);
    qn__spv_begin_block(e, small);
    uint32_t quick = word_op(e, remainder ? SP_U_MOD : SP_U_DIV, a.lo, b.lo);
    SPV_DO(e, SP_BRANCH, merge);
    qn__spv_begin_block(e, large);
    division d = long_division(e, a, b);
    spv_pair slow = remainder ? d.rest : d.quotient;
    uint32_t from = e->label;
    SPV_DO(e, SP_BRANCH, merge);
    qn__spv_begin_block(e, merge);
    uint32_t lo = SPV(e, SP_PHI, word, quick, small, slow.lo, from);
    return (spv_pair){lo, SPV(e, SP_PHI, word, zero, small, slow.hi, from)};
}

uint32_t qn__spv_divide(spv *e, ir_op op, uint32_t wide_a, uint32_t wide_b) {
    spv_pair a = qn__spv_split(e, wide_a), b = qn__spv_split(e, wide_b);
    bool is_signed = op == IR_SDIV || op == IR_SREM, remainder = op == IR_UREM || op == IR_SREM;
    if (!is_signed) return qn__spv_join(e, divide(e, remainder, a, b));
    uint32_t zero = qn__spv_u32(e, 0), sa = test(e, SP_S_LESS, a.hi, zero),
             sb = test(e, SP_S_LESS, b.hi, zero);
    spv_pair result = divide(e, remainder, negate_if(e, sa, a), negate_if(e, sb, b));
    uint32_t negative = remainder ? sa : test(e, SP_LOGICAL_NOT_EQUAL, sa, sb);
    return qn__spv_join(e, negate_if(e, negative, result));
}
