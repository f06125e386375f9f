/* i64 for SPIR-V: splitting and joining, and the arithmetic of modules that have no 64-bit integers, on pairs of
   32-bit words. The schoolbook methods; shifts after Warren, Hacker's Delight, 2-18. */
#include "emit/spirv/internal.h"

enum { KEY_LOW = 0x40000000, KEY_HIGH };

static uint32_t word_op(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_u32t(e), a, b);
}

spv_pair qn__spv_split(spv *e, uint32_t wide) {
    spv_pair pair = {qn__spv_chain(e, wide, KEY_LOW), qn__spv_chain(e, wide, KEY_HIGH)};
    if (pair.lo) return pair;
    uint32_t word = qn__spv_u32t(e), vector = wide;
    if (e->native) vector = SPV(e, SP_BITCAST, qn__spv_pair(e), wide);
    pair.lo = SPV(e, SP_COMPOSITE_EXTRACT, word, vector, 0);
    pair.hi = SPV(e, SP_COMPOSITE_EXTRACT, word, vector, 1);
    qn__spv_note(e, wide, KEY_LOW, pair.lo);
    qn__spv_note(e, wide, KEY_HIGH, pair.hi);
    return pair;
}

uint32_t qn__spv_join(spv *e, spv_pair pair) {
    uint32_t wide = SPV(e, SP_COMPOSITE_CONSTRUCT, qn__spv_pair(e), pair.lo, pair.hi);
    if (e->native) wide = SPV(e, SP_BITCAST, qn__spv_wide(e), wide);
    qn__spv_note(e, wide, KEY_LOW, pair.lo);
    qn__spv_note(e, wide, KEY_HIGH, pair.hi);
    return wide;
}

uint32_t qn__spv_widen(spv *e, uint32_t word, bool is_signed) {
    if (e->native) return SPV(e, is_signed ? SP_S_CONVERT : SP_U_CONVERT, qn__spv_wide(e), word);
    uint32_t hi = qn__spv_u32(e, is_signed ? 31 : 0);
    if (is_signed) hi = word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, word, hi);
    return qn__spv_join(e, (spv_pair){word, hi});
}

/* ---- sums and products ---- */

/* An instruction that gives two words: the low one and what carries. */
static spv_pair extended(spv *e, unsigned op, uint32_t a, uint32_t b) {
    uint32_t word = qn__spv_u32t(e), both = SPV_ONCE(e, SP_TYPE_STRUCT, 0, word, word);
    uint32_t result = SPV(e, op, both, a, b);
    uint32_t lo = SPV(e, SP_COMPOSITE_EXTRACT, word, result, 0);
    return (spv_pair){lo, SPV(e, SP_COMPOSITE_EXTRACT, word, result, 1)};
}

static spv_pair add(spv *e, spv_pair a, spv_pair b) {
    spv_pair low = extended(e, SP_I_ADD_CARRY, a.lo, b.lo);
    return (spv_pair){low.lo, word_op(e, SP_I_ADD, word_op(e, SP_I_ADD, a.hi, b.hi), low.hi)};
}

static spv_pair subtract(spv *e, spv_pair a, spv_pair b) {
    spv_pair low = extended(e, SP_I_SUB_BORROW, a.lo, b.lo);
    return (spv_pair){low.lo, word_op(e, SP_I_SUB, word_op(e, SP_I_SUB, a.hi, b.hi), low.hi)};
}

static spv_pair multiply(spv *e, spv_pair a, spv_pair b) {
    spv_pair low = extended(e, SP_U_MUL_EXTENDED, a.lo, b.lo);
    uint32_t cross = word_op(e, SP_I_ADD, word_op(e, SP_I_MUL, a.lo, b.hi), word_op(e, SP_I_MUL, a.hi, b.lo));
    return (spv_pair){low.lo, word_op(e, SP_I_ADD, low.hi, cross)};
}

uint32_t qn__spv_wide_add(spv *e, uint32_t a, uint32_t b) {
    if (e->native) return SPV(e, SP_I_ADD, qn__spv_wide(e), a, b);
    return qn__spv_join(e, add(e, qn__spv_split(e, a), qn__spv_split(e, b)));
}

/* ---- shifts ---- */

static spv_pair shift_left_by(spv *e, spv_pair a, unsigned bits) {
    uint32_t zero = qn__spv_u32(e, 0);
    if (!bits) return a;
    if (bits >= 32) return (spv_pair){zero, qn__spv_shl(e, a.lo, bits - 32)};
    uint32_t over = qn__spv_shr(e, a.lo, 32 - bits);
    return (spv_pair){qn__spv_shl(e, a.lo, bits),
                      word_op(e, SP_BITWISE_OR, qn__spv_shl(e, a.hi, bits), over)};
}

uint32_t qn__spv_wide_scale(spv *e, uint32_t a, int64_t scale) {
    if (scale == 1) return a;
    uint32_t factor = qn__spv_u64(e, (uint64_t)scale);
    if (e->native) return SPV(e, SP_I_MUL, qn__spv_wide(e), a, factor);
    if (scale > 0 && !(scale & (scale - 1))) {
        unsigned bits = 0;
        while (scale >> bits != 1) bits++;
        return qn__spv_join(e, shift_left_by(e, qn__spv_split(e, a), bits));
    }
    spv_pair by = {qn__spv_u32(e, (uint32_t)scale), qn__spv_u32(e, (uint32_t)((uint64_t)scale >> 32))};
    return qn__spv_join(e, multiply(e, qn__spv_split(e, a), by));
}

static uint32_t choose(spv *e, uint32_t condition, uint32_t a, uint32_t b) {
    return SPV(e, SP_SELECT, qn__spv_u32t(e), condition, a, b);
}

/* Shifts by a number of bits that is not known, modulo 64. `out` moves towards `in`, which is lo for a shift to the
   right; `fill` enters behind `out`. */
static spv_pair shift(spv *e, ir_op op, spv_pair a, uint32_t amount) {
    bool left = op == IR_SHL;
    uint32_t out = left ? a.lo : a.hi, in = left ? a.hi : a.lo;
    unsigned forth = left            ? SP_SHIFT_LEFT
                     : op == IR_LSHR ? SP_SHIFT_RIGHT_LOGICAL
                                     : SP_SHIFT_RIGHT_ARITHMETIC;
    unsigned near = left ? SP_SHIFT_LEFT : SP_SHIFT_RIGHT_LOGICAL;
    unsigned back = left ? SP_SHIFT_RIGHT_LOGICAL : SP_SHIFT_LEFT;
    uint32_t c31 = qn__spv_u32(e, 31), c32 = qn__spv_u32(e, 32), one = qn__spv_u32(e, 1);
    uint32_t by = word_op(e, SP_BITWISE_AND, amount, c31);
    uint32_t far =
        SPV(e, SP_I_NOT_EQUAL, qn__spv_bool(e), word_op(e, SP_BITWISE_AND, amount, c32), qn__spv_u32(e, 0));
    uint32_t moved = word_op(e, forth, out, by);
    uint32_t carried = word_op(e, back, word_op(e, back, out, one), word_op(e, SP_I_SUB, c31, by));
    uint32_t filled = word_op(e, SP_BITWISE_OR, word_op(e, near, in, by), carried);
    uint32_t fill = op == IR_ASHR ? word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, out, c31) : qn__spv_u32(e, 0);
    uint32_t new_in = choose(e, far, moved, filled), new_out = choose(e, far, fill, moved);
    return left ? (spv_pair){new_out, new_in} : (spv_pair){new_in, new_out};
}

static spv_pair shift_by(spv *e, ir_op op, spv_pair a, unsigned bits) {
    if (op == IR_SHL) return shift_left_by(e, a, bits);
    if (!bits) return a;
    bool logical = op == IR_LSHR;
    unsigned right = logical ? SP_SHIFT_RIGHT_LOGICAL : SP_SHIFT_RIGHT_ARITHMETIC;
    uint32_t fill = logical ? qn__spv_u32(e, 0) : word_op(e, right, a.hi, qn__spv_u32(e, 31));
    if (bits >= 32)
        return (spv_pair){bits == 32 ? a.hi : word_op(e, right, a.hi, qn__spv_u32(e, bits - 32)), fill};
    uint32_t by = qn__spv_u32(e, bits), in = qn__spv_shl(e, a.hi, 32 - bits);
    uint32_t lo = word_op(e, SP_BITWISE_OR, word_op(e, SP_SHIFT_RIGHT_LOGICAL, a.lo, by), in);
    return (spv_pair){lo, word_op(e, right, a.hi, by)};
}

static spv_pair rotate(spv *e, spv_pair a, uint32_t amount) {
    uint32_t back = word_op(e, SP_I_SUB, qn__spv_u32(e, 64), amount);
    spv_pair left = shift(e, IR_SHL, a, amount), right = shift(e, IR_LSHR, a, back);
    return (spv_pair){word_op(e, SP_BITWISE_OR, left.lo, right.lo),
                      word_op(e, SP_BITWISE_OR, left.hi, right.hi)};
}

/* ---- comparison ---- */

uint32_t qn__spv_split_compare(spv *e, ir_op op, uint32_t wide_a, uint32_t wide_b) {
    uint32_t boolean = qn__spv_bool(e);
    spv_pair a = qn__spv_split(e, wide_a), b = qn__spv_split(e, wide_b);
    uint32_t same = SPV(e, SP_I_EQUAL, boolean, a.hi, b.hi);
    if (op == IR_EQ || op == IR_NE) {
        uint32_t both = SPV(e, SP_LOGICAL_AND, boolean, same, SPV(e, SP_I_EQUAL, boolean, a.lo, b.lo));
        return op == IR_EQ ? both : SPV(e, SP_LOGICAL_NOT, boolean, both);
    }
    bool is_signed = op == IR_SLT || op == IR_SLE, strict = op == IR_SLT || op == IR_ULT;
    uint32_t high = SPV(e, is_signed ? SP_S_LESS : SP_U_LESS, boolean, a.hi, b.hi);
    uint32_t low = SPV(e, strict ? SP_U_LESS : SP_U_LESS_EQUAL, boolean, a.lo, b.lo);
    return SPV(e, SP_SELECT, boolean, same, low, high);
}

uint32_t qn__spv_wide_compare(spv *e, ir_op op, uint32_t a, uint32_t b) {
    static const uint16_t native[] = {
        [IR_EQ] = SP_I_EQUAL,       [IR_NE] = SP_I_NOT_EQUAL, [IR_SLT] = SP_S_LESS,
        [IR_SLE] = SP_S_LESS_EQUAL, [IR_ULT] = SP_U_LESS,     [IR_ULE] = SP_U_LESS_EQUAL};
    if (e->native) return SPV(e, native[op], qn__spv_bool(e), a, b);
    return qn__spv_split_compare(e, op, a, b);
}

static spv_pair extreme(spv *e, ir_op op, uint32_t a, uint32_t b) {
    bool is_signed = op == IR_SMIN || op == IR_SMAX, least = op == IR_SMIN || op == IR_UMIN;
    uint32_t less = qn__spv_wide_compare(e, is_signed ? IR_SLT : IR_ULT, a, b);
    uint32_t chosen = SPV(e, SP_SELECT, qn__spv_wide(e), less, least ? a : b, least ? b : a);
    return qn__spv_split(e, chosen);
}

/* ---- bits ---- */

static uint32_t leading(spv *e, uint32_t a) {
    uint32_t word = qn__spv_u32t(e);
    return word_op(e, SP_I_SUB, qn__spv_u32(e, 31), SPV_GLSL(e, GLSL_FIND_MSB, word, a));
}

static uint32_t trailing(spv *e, uint32_t a) { /* -1 of nothing found, unsigned, is more than 32 */
    uint32_t word = qn__spv_u32t(e);
    return SPV_GLSL(e, GLSL_U_MIN, word, SPV_GLSL(e, GLSL_FIND_LSB, word, a), qn__spv_u32(e, 32));
}

uint32_t qn__spv_count_bits(spv *e, ir_op op, uint32_t wide) {
    spv_pair a = qn__spv_split(e, wide);
    uint32_t word = qn__spv_u32t(e), count;
    if (op == IR_POPCOUNT) {
        count = word_op(e, SP_I_ADD, SPV(e, SP_BIT_COUNT, word, a.lo), SPV(e, SP_BIT_COUNT, word, a.hi));
    } else {
        uint32_t first = op == IR_CLZ ? leading(e, a.hi) : trailing(e, a.lo);
        uint32_t second = op == IR_CLZ ? leading(e, a.lo) : trailing(e, a.hi), c32 = qn__spv_u32(e, 32);
        uint32_t none = SPV(e, SP_I_EQUAL, qn__spv_bool(e), first, c32);
        count = choose(e, none, word_op(e, SP_I_ADD, second, c32), first);
    }
    return qn__spv_widen(e, count, false);
}

uint32_t qn__spv_high_product(spv *e, ir_op op, uint32_t wide_a, uint32_t wide_b) {
    spv_pair a = qn__spv_split(e, wide_a), b = qn__spv_split(e, wide_b);
    uint32_t zero = qn__spv_u32(e, 0);
    spv_pair ll = extended(e, SP_U_MUL_EXTENDED, a.lo, b.lo), lh = extended(e, SP_U_MUL_EXTENDED, a.lo, b.hi);
    spv_pair hl = extended(e, SP_U_MUL_EXTENDED, a.hi, b.lo), hh = extended(e, SP_U_MUL_EXTENDED, a.hi, b.hi);
    spv_pair middle = add(e, lh, (spv_pair){ll.hi, zero});
    spv_pair low = add(e, hl, (spv_pair){middle.lo, zero});
    spv_pair sum = add(e, hh, (spv_pair){middle.hi, zero});
    sum = add(e, sum, (spv_pair){low.hi, zero});
    if (op == IR_SMULHI) {
        uint32_t c31 = qn__spv_u32(e, 31);
        uint32_t sa = word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, a.hi, c31);
        uint32_t sb = word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, b.hi, c31);
        sum = subtract(
            e, sum, (spv_pair){word_op(e, SP_BITWISE_AND, sa, b.lo), word_op(e, SP_BITWISE_AND, sa, b.hi)});
        sum = subtract(
            e, sum, (spv_pair){word_op(e, SP_BITWISE_AND, sb, a.lo), word_op(e, SP_BITWISE_AND, sb, a.hi)});
    }
    return qn__spv_join(e, sum);
}

/* ---- instructions on pairs ---- */

static uint32_t shift_instr(spv *e, const ir_instr *instr) {
    spv_pair a = qn__spv_split(e, qn__spv_use(e, instr->operands[0]));
    const ir_value *by = instr->operands[1];
    if (qn__ir_is_const(by) && instr->op != IR_ROTL)
        return qn__spv_join(e, shift_by(e, (ir_op)instr->op, a, by->bits[0] & 63));
    uint32_t amount = qn__spv_split(e, qn__spv_use(e, by)).lo;
    return qn__spv_join(e,
                        instr->op == IR_ROTL ? rotate(e, a, amount) : shift(e, (ir_op)instr->op, a, amount));
}

uint32_t qn__spv_wide_op(spv *e, const ir_instr *instr) {
    uint32_t wide = qn__spv_wide(e), a = qn__spv_use(e, instr->operands[0]);
    uint32_t b = instr->num_operands > 1 ? qn__spv_use(e, instr->operands[1]) : 0;
    switch (instr->op) {
    case IR_ADD: return qn__spv_wide_add(e, a, b);
    case IR_SUB: return qn__spv_join(e, subtract(e, qn__spv_split(e, a), qn__spv_split(e, b)));
    case IR_MUL: return qn__spv_join(e, multiply(e, qn__spv_split(e, a), qn__spv_split(e, b)));
    case IR_AND: return SPV(e, SP_BITWISE_AND, wide, a, b);
    case IR_OR: return SPV(e, SP_BITWISE_OR, wide, a, b);
    case IR_XOR: return SPV(e, SP_BITWISE_XOR, wide, a, b);
    case IR_NOT: return SPV(e, SP_NOT, wide, a);
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM: return qn__spv_divide(e, (ir_op)instr->op, a, b);
    case IR_UMULHI:
    case IR_SMULHI: return qn__spv_high_product(e, (ir_op)instr->op, a, b);
    case IR_SMIN:
    case IR_SMAX:
    case IR_UMIN:
    case IR_UMAX: return qn__spv_join(e, extreme(e, (ir_op)instr->op, a, b));
    default: return shift_instr(e, instr);
    }
}

/* ---- the low half alone ---- */

uint32_t qn__spv_low_op(spv *e, const ir_instr *instr) {
    static const uint16_t ops[] = {
        [IR_ADD] = SP_I_ADD,     [IR_SUB] = SP_I_SUB,       [IR_MUL] = SP_I_MUL, [IR_AND] = SP_BITWISE_AND,
        [IR_OR] = SP_BITWISE_OR, [IR_XOR] = SP_BITWISE_XOR, [IR_NOT] = SP_NOT,   [IR_SHL] = SP_SHIFT_LEFT};
    uint32_t word = qn__spv_u32t(e);
    ir_value *const *with = instr->operands;
    if (instr->op == IR_SELECT)
        return SPV(e, SP_SELECT, word, qn__spv_use(e, with[0]), qn__spv_low(e, with[1]),
                   qn__spv_low(e, with[2]));
    uint32_t a = qn__spv_low(e, with[0]);
    if (instr->op == IR_NOT) return SPV(e, SP_NOT, word, a);
    if (instr->op == IR_SHL)
        return (with[1]->bits[0] & 63) > 31 ? qn__spv_u32(e, 0) : qn__spv_shl(e, a, with[1]->bits[0] & 31);
    return SPV(e, ops[instr->op], word, a, qn__spv_low(e, with[1]));
}
