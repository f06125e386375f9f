/* An i64 as a sum: what addresses are made of, for targets that add its terms one by one. A term is the value's low word,
   extended, where that says all: then 32 bits are enough to multiply. */
#include "pass/analysis.h"

enum { DEPTH = 6 };

/* ---- what is known of values ---- */

qn__term_kind qn__narrow_kind(const ir_value *value) {
    if (value->value_kind != IR_VALUE_RESULT) return QN__TERM_WIDE;
    const ir_instr *def = value->def;
    ir_value *const *with = def->operands;
    if (qn__ir_has(def->op, IR_SMALL)) return QN__TERM_SIGNED;
    switch (def->op) {
    case IR_SEXT: return QN__TERM_SIGNED;
    case IR_ZEXT:
        return qn__is_non_negative(with[0]) || with[0]->type.kind != IR_I32 ? QN__TERM_SIGNED
                                                                            : QN__TERM_UNSIGNED;
    case IR_GROUP_ID:
    case IR_NUM_GROUPS: return QN__TERM_UNSIGNED;
    case IR_AND:
        if (!qn__ir_is_const(with[1])) return QN__TERM_WIDE;
        return with[1]->bits[0] < 1u << 31 ? QN__TERM_SIGNED
               : with[1]->bits[0] >> 32    ? QN__TERM_WIDE
                                           : QN__TERM_UNSIGNED;
    case IR_LSHR:
        if (!qn__ir_is_const(with[1]) || with[1]->bits[0] < 32) return QN__TERM_WIDE;
        return with[1]->bits[0] > 32 ? QN__TERM_SIGNED : QN__TERM_UNSIGNED;
    default: return QN__TERM_WIDE;
    }
}

/* ---- sums ---- */

static void add_term(qn__sum *sum, const ir_value *value, int64_t scale, qn__term_kind kind) {
    for (unsigned i = 0; i < sum->count; i++) {
        qn__term *term = &sum->terms[i];
        if (term->value != value || term->kind != kind) continue;
        term->scale = (int64_t)((uint64_t)term->scale + (uint64_t)scale);
        if (!term->scale) *term = sum->terms[--sum->count];
        return;
    }
    sum->terms[sum->count++] = (qn__term){value, scale, kind};
}

static void add_constant(qn__sum *sum, uint64_t value, int64_t scale) {
    sum->constant = (int64_t)((uint64_t)sum->constant + value * (uint64_t)scale);
}

/* An i32 as a term; a sum with a constant that does not wrap gives its constant. */
static void add_word(qn__sum *sum, const ir_value *word, int64_t scale, qn__term_kind kind) {
    const ir_instr *def = word->value_kind == IR_VALUE_RESULT ? word->def : NULL;
    if (kind == QN__TERM_SIGNED && def && def->op == IR_ADD && (def->flags & IR_NSW) &&
        qn__ir_is_const(def->operands[1])) {
        add_constant(sum, (uint64_t)(int64_t)(int32_t)def->operands[1]->bits[0], scale);
        word = def->operands[0];
    }
    if (qn__ir_is_const(word)) {
        int32_t value = (int32_t)word->bits[0];
        add_constant(sum, kind == QN__TERM_SIGNED ? (uint64_t)(int64_t)value : (uint32_t)value, scale);
        return;
    }
    add_term(sum, word, scale, kind);
}

static unsigned add_leaf(const ir_value *value, int64_t scale, bool low, qn__sum *sum) {
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    if (def && (def->op == IR_SEXT || def->op == IR_ZEXT) && def->operands[0]->type.kind == IR_I32) {
        qn__term_kind kind = low ? QN__TERM_SIGNED : qn__narrow_kind(value);
        /* Extended with zeros and signed: the word is not negative, but a sum in it could be. */
        if (def->op == IR_ZEXT && kind == QN__TERM_SIGNED)
            add_term(sum, def->operands[0], scale, kind);
        else
            add_word(sum, def->operands[0], scale, kind);
        return 1;
    }
    add_term(sum, value, scale, low ? QN__TERM_SIGNED : qn__narrow_kind(value));
    return 1;
}

/* Of low words: what a product with a constant, extended, is in words. */
static const ir_value *word_product(const ir_value *value) {
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    const bool extends = def && (def->op == IR_SEXT || def->op == IR_ZEXT);
    const ir_value *word = extends && def->operands[0]->type.kind == IR_I32 ? def->operands[0] : value;
    const bool multiplies = word->value_kind == IR_VALUE_RESULT && word->def->op == IR_MUL;
    return multiplies && qn__ir_is_const(word->def->operands[1]) ? word : value;
}

/* Gives how many terms it has added at most. */
static unsigned add_value(const ir_value *value, int64_t scale, bool low, qn__sum *sum, unsigned room,
                          unsigned depth) {
    if (value->value_kind == IR_VALUE_UNDEF) return 0;
    if (qn__ir_is_const(value)) {
        add_constant(sum, value->bits[0], scale);
        return 0;
    }
    if (low) value = word_product(value);
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    if (!def || !depth) return add_leaf(value, scale, low, sum);
    ir_value *const *with = def->operands;
    int64_t factor = 0;
    switch (def->op) {
    case IR_ADD:
    case IR_SUB: {
        if (room < 2) break;
        unsigned used = add_value(with[0], scale, low, sum, room - 1, depth - 1);
        int64_t other = def->op == IR_ADD ? scale : (int64_t)(0 - (uint64_t)scale);
        return used + add_value(with[1], other, low, sum, room - used, depth - 1);
    }
    case IR_SHL:
        if (qn__ir_is_const(with[1])) factor = (int64_t)((uint64_t)1 << (with[1]->bits[0] & 63));
        break;
    case IR_MUL:
        if (!qn__ir_is_const(with[1])) break;
        factor = (int64_t)with[1]->bits[0];
        if (low && value->type.kind == IR_I32) factor = (int32_t)factor;
        break;
    default: break;
    }
    const int64_t limit = (int64_t)1 << 31; /* of strides */
    const bool is_small = factor > (low ? -limit : 0) && factor < limit;
    if (factor && is_small && scale > -limit && scale < limit) {
        int64_t product = scale * factor;
        if (product > -limit && product < limit)
            return add_value(with[0], product, low, sum, room, depth - 1);
    }
    return add_leaf(value, scale, low, sum);
}

void qn__linear(const ir_value *value, int64_t scale, bool low, qn__sum *sum) {
    add_value(value, scale, low, sum, QN__MAX_TERMS, DEPTH);
}

uint64_t qn__offset_bits(const ir_instr *instr) {
    qn__sum sum = {.constant = instr->attr.offset};
    qn__linear(instr->operands[1], 1, true, &sum);
    uint64_t bits = (uint64_t)sum.constant;
    for (unsigned i = 0; i < sum.count; i++) bits |= (uint64_t)sum.terms[i].scale;
    return bits;
}
