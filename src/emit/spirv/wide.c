/* i64 for SPIR-V: splitting and joining, and the sums of addresses, on pairs of 32-bit words in modules that have no
   64-bit integers. Other arithmetic has been lowered there. */
#include "emit/spirv/internal.h"

enum { KEY_LOW = 0x40000000, KEY_HIGH, KEY_PAIR };

static uint32_t word_op(spv *e, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_u32t(e), a, b);
}

uint32_t qn__spv_half(spv *e, uint32_t wide, unsigned index) {
    const uint32_t key = index ? KEY_HIGH : KEY_LOW;
    uint32_t id = qn__spv_chain(e, wide, key), pair = wide;
    if (id) return id;
    if (e->native && !(pair = qn__spv_chain(e, wide, KEY_PAIR))) {
        pair = SPV(e, SP_BITCAST, qn__spv_pair(e), wide);
        qn__spv_note(e, wide, KEY_PAIR, pair);
    }
    id = SPV(e, SP_COMPOSITE_EXTRACT, qn__spv_u32t(e), pair, index);
    qn__spv_note(e, wide, key, id);
    return id;
}

spv_pair qn__spv_split(spv *e, uint32_t wide) {
    spv_pair pair = {.lo = qn__spv_half(e, wide, 0)};
    pair.hi = qn__spv_half(e, wide, 1);
    return pair;
}

void qn__spv_note_halves(spv *e, uint32_t wide, spv_pair pair) {
    qn__spv_note(e, wide, KEY_LOW, pair.lo);
    qn__spv_note(e, wide, KEY_HIGH, pair.hi);
}

uint32_t qn__spv_join(spv *e, spv_pair pair) {
    uint32_t wide = SPV(e, SP_COMPOSITE_CONSTRUCT, qn__spv_pair(e), pair.lo, pair.hi);
    if (e->native) wide = SPV(e, SP_BITCAST, qn__spv_wide(e), wide);
    qn__spv_note_halves(e, wide, pair);
    return wide;
}

uint32_t qn__spv_widen(spv *e, uint32_t word, bool is_signed) {
    if (e->native) return SPV(e, is_signed ? SP_S_CONVERT : SP_U_CONVERT, qn__spv_wide(e), word);
    uint32_t hi = qn__spv_u32(e, is_signed ? 31 : 0);
    if (is_signed) hi = word_op(e, SP_SHIFT_RIGHT_ARITHMETIC, word, hi);
    return qn__spv_join(e, (spv_pair){word, hi});
}

/* ---- sums and products of addresses ---- */

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

static spv_pair multiply(spv *e, spv_pair a, spv_pair b) {
    spv_pair low = extended(e, SP_U_MUL_EXTENDED, a.lo, b.lo);
    uint32_t cross = word_op(e, SP_I_MUL, a.lo, b.hi);
    cross = word_op(e, SP_I_ADD, cross, word_op(e, SP_I_MUL, a.hi, b.lo));
    return (spv_pair){low.lo, word_op(e, SP_I_ADD, low.hi, cross)};
}

uint32_t qn__spv_wide_add(spv *e, uint32_t a, uint32_t b) {
    if (e->native) return SPV(e, SP_I_ADD, qn__spv_wide(e), a, b);
    spv_pair left = qn__spv_split(e, a), right = qn__spv_split(e, b);
    return qn__spv_join(e, add(e, left, right));
}

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

/* ---- the low half alone ---- */

uint32_t qn__spv_low_op(spv *e, const ir_instr *instr) {
    static const uint16_t ops[] = {
        [IR_ADD] = SP_I_ADD,     [IR_SUB] = SP_I_SUB,       [IR_MUL] = SP_I_MUL, [IR_AND] = SP_BITWISE_AND,
        [IR_OR] = SP_BITWISE_OR, [IR_XOR] = SP_BITWISE_XOR, [IR_NOT] = SP_NOT,   [IR_SHL] = SP_SHIFT_LEFT};
    uint32_t word = qn__spv_u32t(e);
    ir_value *const *with = instr->operands;
    if (instr->op == IR_SELECT) {
        uint32_t condition = qn__spv_use(e, with[0]), one = qn__spv_low(e, with[1]);
        uint32_t other = qn__spv_low(e, with[2]);
        return SPV(e, SP_SELECT, word, condition, one, other);
    }
    uint32_t a = qn__spv_low(e, with[0]);
    if (instr->op == IR_NOT) return SPV(e, SP_NOT, word, a);
    if (instr->op == IR_SHL)
        return (with[1]->bits[0] & 63) > 31 ? qn__spv_u32(e, 0) : qn__spv_shl(e, a, with[1]->bits[0] & 31);
    return SPV(e, ops[instr->op], word, a, qn__spv_low(e, with[1]));
}
