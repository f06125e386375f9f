/* For targets without 64-bit integers: arithmetic on i64 is done on two words of 32 bits, by the schoolbook methods;
   shifts after Warren, Hacker's Delight, 2-18. i64 remains as what is moved: loaded, stored, carried by loops, and in the
   sums that addresses are made of, which a target writes as its addresses want them (linear.c). Those are made anew
   here, so that their terms are all that they take of what was lowered. lacks_i64_bits: only counts of bits, high
   halves of products and comparisons with constants are taken apart.

       %s = add %a, %b (i64)    ->   %al = trunc %a;  %ah = extract [1] (bitcast %a to i32x2); the same of %b
                                     %lo = add %al, %bl;  %hi = add (add %ah, %bh), (ult %lo, %al ? 1 : 0)
                                     %s = bitcast (vector %lo, %hi)  */
#include "pass/wide.h"

static const ir_type I32 = {IR_I32, 1, 0}, I64 = {IR_I64, 1, 0};

typedef struct widening {
    qn__arena *arena;
    qn__map64 known;                     /* value id -> its words, where they have been asked for */
    uint32_t first_address, end_address; /* ids of what the sums of addresses are made of */
    bool native;                         /* the target has i64: both words are looked at */
} widening;

static widening *state_of(qn__lowering *l) { return l->user; }

static qn__words known_words(qn__lowering *l, const ir_value *value) {
    const qn__words *known = qn__map64_get(&state_of(l)->known, value->id);
    return known ? *known : (qn__words){NULL, NULL};
}

static void know_words(qn__lowering *l, const ir_value *value, qn__words words) {
    widening *w = state_of(l);
    qn__map64_set(w->arena, &w->known, value->id, qn__arena_copy(w->arena, &words, sizeof words));
}

/* ---- words ---- */

static bool is_word(const ir_value *value, uint32_t number) {
    return qn__ir_is_const(value) && value->bits[0] == number;
}

ir_value *qn__word_op(qn__lowering *l, ir_op op, ir_value *a, ir_value *b) {
    const bool commutes =
        op == IR_ADD || op == IR_MUL || op == IR_UMULHI || op == IR_AND || op == IR_OR || op == IR_XOR;
    if (commutes && qn__ir_is_const(a)) {
        ir_value *other = a;
        a = b, b = other;
    }
    if (is_word(b, 0)) return op == IR_AND || op == IR_MUL || op == IR_UMULHI ? b : a;
    if (is_word(b, 1) && op == IR_MUL) return a;
    if (is_word(b, UINT32_MAX) && op == IR_AND) return a;
    if (is_word(b, UINT32_MAX) && op == IR_OR) return b;
    return qn__make2(l, op, a, b);
}

ir_value *qn__word_with(qn__lowering *l, ir_op op, ir_value *a, uint32_t b) {
    return qn__word_op(l, op, a, qn__word(l, b));
}

qn__words qn__words_select(qn__lowering *l, ir_value *condition, qn__words a, qn__words b) {
    qn__words w = {.lo = qn__make_select(l, condition, a.lo, b.lo)};
    w.hi = qn__make_select(l, condition, a.hi, b.hi);
    return w;
}

/* Behind the definition of a value, where its words are for all that use it. */
static void stand_at(qn__lowering *l, const ir_value *value) {
    ir_instr *at = NULL;
    if (value->value_kind == IR_VALUE_PARAM) {
        at = value->def->regions[0]->first;
    } else if (value->value_kind == IR_VALUE_RESULT) {
        at = value->def->next;
    } else {
        at = l->b.function->body->first;
        while (at->op == IR_VAR) at = at->next;
    }
    qn__ir_at(&l->b, at);
}

/* Those of an extension, of a query of 32 bits, or any two. */
static qn__words take_apart(qn__lowering *l, ir_value *value) {
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    if (def && (def->op == IR_SEXT || def->op == IR_ZEXT)) {
        ir_value *lo = qn__make_convert(l, (ir_op)def->op, def->operands[0], I32);
        return (qn__words){lo, def->op == IR_SEXT ? qn__word_with(l, IR_ASHR, lo, 31) : qn__word(l, 0)};
    }
    const ir_type pair = {IR_I32, 2, 0};
    qn__words w = {0};
    if (state_of(l)->native) {
        ir_value *both = qn__make_convert(l, IR_BITCAST, value, pair);
        w.lo = qn__make_extract(l, both, 0);
        w.hi = qn__make_extract(l, both, 1);
        return w;
    }
    w.lo = qn__make_convert(l, IR_TRUNC, value, I32);
    const bool is_narrow =
        def && qn__effects(def) == IR_EFFECT_QUERY && qn__narrow_kind(value) != QN__TERM_WIDE;
    if (is_narrow)
        w.hi = qn__word(l, 0);
    else
        w.hi = qn__make_extract(l, qn__make_convert(l, IR_BITCAST, value, pair), 1);
    return w;
}

static qn__words words_of(qn__lowering *l, ir_value *value) {
    if (qn__ir_is_const(value))
        return (qn__words){qn__word(l, (uint32_t)value->bits[0]),
                           qn__word(l, (uint32_t)(value->bits[0] >> 32))};
    if (value->value_kind == IR_VALUE_UNDEF) {
        ir_value *any = qn__ir_undef(l->b.function, I32);
        return (qn__words){any, any};
    }
    qn__words w = known_words(l, value);
    if (w.lo) return w;
    const ir_builder here = l->b;
    stand_at(l, value);
    w = take_apart(l, value);
    l->b = here;
    know_words(l, value, w);
    return w;
}

static ir_value *joined(qn__lowering *l, qn__words w) {
    ir_value *const parts[] = {w.lo, w.hi};
    ir_value *value;
    if (is_word(w.hi, 0) && !qn__ir_is_const(w.lo))
        value = qn__make_convert(l, IR_ZEXT, w.lo, I64);
    else
        value = qn__make_convert(l, IR_BITCAST, qn__make_vector(l, parts, 2), I64);
    if (qn__ir_is_const(value)) return value;
    know_words(l, value, w);
    return value;
}

static ir_value *bit_if(qn__lowering *l, ir_value *condition) {
    ir_value *one = qn__word(l, 1);
    return qn__make_select(l, condition, one, qn__word(l, 0));
}

/* ---- sums and products ---- */

static qn__words add(qn__lowering *l, qn__words a, qn__words b) {
    qn__words w = {.lo = qn__word_op(l, IR_ADD, a.lo, b.lo)};
    w.hi = qn__word_op(l, IR_ADD, a.hi, b.hi);
    if (w.lo == a.lo || w.lo == b.lo) return w; /* a zero was added */
    ir_value *carry = bit_if(l, qn__make2(l, IR_ULT, w.lo, a.lo));
    w.hi = qn__word_op(l, IR_ADD, w.hi, carry);
    return w;
}

qn__words qn__words_subtract(qn__lowering *l, qn__words a, qn__words b) {
    qn__words w = {.lo = qn__word_op(l, IR_SUB, a.lo, b.lo)};
    w.hi = qn__word_op(l, IR_SUB, a.hi, b.hi);
    if (w.lo == a.lo) return w;
    ir_value *borrow = bit_if(l, qn__make2(l, IR_ULT, a.lo, b.lo));
    w.hi = qn__word_op(l, IR_SUB, w.hi, borrow);
    return w;
}

/* All 64 bits of a product of words. */
static qn__words product(qn__lowering *l, ir_value *a, ir_value *b) {
    qn__words w = {.lo = qn__word_op(l, IR_MUL, a, b)};
    w.hi = qn__word_op(l, IR_UMULHI, a, b);
    return w;
}

static qn__words multiply(qn__lowering *l, qn__words a, qn__words b) {
    qn__words w = product(l, a.lo, b.lo);
    ir_value *first = qn__word_op(l, IR_MUL, a.lo, b.hi), *second = qn__word_op(l, IR_MUL, a.hi, b.lo);
    w.hi = qn__word_op(l, IR_ADD, w.hi, qn__word_op(l, IR_ADD, first, second));
    return w;
}

/* The unsigned product, less what a negative operand adds to it: the other one, as high word. */
static qn__words high_product(qn__lowering *l, ir_op op, qn__words a, qn__words b) {
    ir_value *zero = qn__word(l, 0);
    const qn__words ll = product(l, a.lo, b.lo), lh = product(l, a.lo, b.hi);
    const qn__words hl = product(l, a.hi, b.lo), hh = product(l, a.hi, b.hi);
    const qn__words middle = add(l, lh, (qn__words){ll.hi, zero});
    const qn__words low = add(l, hl, (qn__words){middle.lo, zero});
    qn__words sum = add(l, hh, (qn__words){middle.hi, zero});
    sum = add(l, sum, (qn__words){low.hi, zero});
    if (op == IR_UMULHI) return sum;
    const qn__words x[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        ir_value *sign = qn__word_with(l, IR_ASHR, x[i].hi, 31);
        qn__words other = {.lo = qn__word_op(l, IR_AND, x[1 - i].lo, sign)};
        other.hi = qn__word_op(l, IR_AND, x[1 - i].hi, sign);
        sum = qn__words_subtract(l, sum, other);
    }
    return sum;
}

/* ---- shifts ---- */

static qn__words left_by(qn__lowering *l, qn__words a, unsigned bits) {
    if (!bits) return a;
    if (bits >= 32) return (qn__words){qn__word(l, 0), qn__word_with(l, IR_SHL, a.lo, bits - 32)};
    ir_value *over = qn__word_with(l, IR_LSHR, a.lo, 32 - bits);
    qn__words w = {.lo = qn__word_with(l, IR_SHL, a.lo, bits)};
    w.hi = qn__word_op(l, IR_OR, qn__word_with(l, IR_SHL, a.hi, bits), over);
    return w;
}

static qn__words right_by(qn__lowering *l, ir_op op, qn__words a, unsigned bits) {
    if (!bits) return a;
    if (bits >= 32) {
        qn__words w = {.lo = qn__word_with(l, op, a.hi, bits - 32)};
        w.hi = op == IR_LSHR ? qn__word(l, 0) : qn__word_with(l, op, a.hi, 31);
        return w;
    }
    ir_value *in = qn__word_with(l, IR_SHL, a.hi, 32 - bits);
    qn__words w = {.lo = qn__word_op(l, IR_OR, qn__word_with(l, IR_LSHR, a.lo, bits), in)};
    w.hi = qn__word_with(l, op, a.hi, bits);
    return w;
}

/* By a number of bits that is not known, modulo 64. `out` moves towards `in`, which is lo for a shift to the right; what
   fills enters behind `out`. */
static qn__words shift(qn__lowering *l, ir_op op, qn__words a, ir_value *amount) {
    const bool left = op == IR_SHL;
    const ir_op forth = left ? IR_SHL : IR_LSHR, back = left ? IR_LSHR : IR_SHL;
    ir_value *out = left ? a.lo : a.hi, *in = left ? a.hi : a.lo;
    ir_value *by = qn__word_with(l, IR_AND, amount, 31), *rest = qn__word_op(l, IR_SUB, qn__word(l, 31), by);
    ir_value *far = qn__word_with(l, IR_AND, amount, 32);
    far = qn__make2(l, IR_NE, far, qn__word(l, 0));
    ir_value *moved = qn__word_op(l, op, out, by);
    ir_value *carried = qn__word_op(l, back, qn__word_with(l, back, out, 1), rest);
    ir_value *filled = qn__word_op(l, IR_OR, qn__word_op(l, forth, in, by), carried);
    ir_value *fill = op == IR_ASHR ? qn__word_with(l, IR_ASHR, out, 31) : qn__word(l, 0);
    ir_value *new_in = qn__make_select(l, far, moved, filled),
             *new_out = qn__make_select(l, far, fill, moved);
    return left ? (qn__words){new_out, new_in} : (qn__words){new_in, new_out};
}

static qn__words either(qn__lowering *l, qn__words a, qn__words b) {
    qn__words w = {.lo = qn__word_op(l, IR_OR, a.lo, b.lo)};
    w.hi = qn__word_op(l, IR_OR, a.hi, b.hi);
    return w;
}

static qn__words rotate(qn__lowering *l, qn__words a, ir_value *amount) {
    if (qn__ir_is_const(amount)) {
        const unsigned bits = amount->bits[0] & 63;
        const qn__words up = left_by(l, a, bits);
        return bits ? either(l, up, right_by(l, IR_LSHR, a, 64 - bits)) : a;
    }
    ir_value *back = qn__word_op(l, IR_SUB, qn__word(l, 64), amount);
    const qn__words up = shift(l, IR_SHL, a, amount);
    return either(l, up, shift(l, IR_LSHR, a, back));
}

static qn__words shifted(qn__lowering *l, ir_op op, qn__words a, ir_value *amount) {
    if (op == IR_ROTL) return rotate(l, a, amount);
    if (!qn__ir_is_const(amount)) return shift(l, op, a, amount);
    const unsigned bits = amount->bits[0] & 63;
    return op == IR_SHL ? left_by(l, a, bits) : right_by(l, op, a, bits);
}

/* ---- comparison ---- */

/* Of values extended with zeros all orders are the unsigned one. */
static ir_op as_unsigned(ir_op op) {
    switch (op) {
    case IR_SLT: return IR_ULT;
    case IR_SLE: return IR_ULE;
    case IR_SMIN: return IR_UMIN;
    case IR_SMAX: return IR_UMAX;
    default: return op;
    }
}

/* i64s that are extended i32s, or constants, are compared as i32s; vectors too. */
static bool is_extended(const ir_value *value, ir_op how) {
    if (qn__defined_by(value, how)) return value->def->operands[0]->type.kind == IR_I32;
    if (!qn__ir_is_const(value)) return false;
    for (unsigned i = 0; i < value->type.lanes; i++) {
        const uint64_t bits = value->bits[i];
        if (how == IR_SEXT ? (int64_t)bits != (int32_t)bits : bits >> 32 != 0) return false;
    }
    return true;
}

static bool are_extended(ir_value *const *values, ir_op how) {
    return is_extended(values[0], how) && is_extended(values[1], how);
}

/* Two such numbers, compared as they were; an extreme of them is extended in its turn. NULL: they are none. */
static ir_value *on_words(qn__lowering *l, ir_op op, ir_value *const *with) {
    const ir_op how = are_extended(with, IR_SEXT) ? IR_SEXT : IR_ZEXT;
    if (!are_extended(with, how)) return NULL;
    ir_value *words[2];
    for (int i = 0; i < 2; i++)
        words[i] = qn__ir_is_const(with[i])
                       ? qn__make_convert(l, IR_TRUNC, with[i], qn__words_like(with[i]->type))
                       : with[i]->def->operands[0];
    ir_value *result = qn__make2(l, how == IR_SEXT ? op : as_unsigned(op), words[0], words[1]);
    return result->type.kind == IR_BOOL ? result : qn__make_convert(l, how, result, with[0]->type);
}

static ir_value *compare_words(qn__lowering *l, ir_op op, qn__words a, qn__words b) {
    ir_value *same = qn__make2(l, IR_EQ, a.hi, b.hi);
    if (op == IR_EQ || op == IR_NE) {
        ir_value *both = qn__make2(l, IR_AND, same, qn__make2(l, IR_EQ, a.lo, b.lo));
        return op == IR_EQ ? both : qn__make1(l, IR_NOT, both);
    }
    const bool is_signed = op == IR_SLT || op == IR_SLE, strict = op == IR_SLT || op == IR_ULT;
    ir_value *high = qn__make2(l, is_signed ? IR_SLT : IR_ULT, a.hi, b.hi);
    ir_value *low = qn__make2(l, strict ? IR_ULT : IR_ULE, a.lo, b.lo);
    return qn__make_select(l, same, low, high);
}

static ir_value *compare(qn__lowering *l, ir_op op, ir_value *const *with) {
    ir_value *quick = on_words(l, op, with);
    if (quick) return quick;
    const qn__words a = words_of(l, with[0]), b = words_of(l, with[1]);
    return compare_words(l, op, a, b);
}

static ir_value *extreme(qn__lowering *l, ir_op op, ir_value *const *with) {
    const bool least = op == IR_SMIN || op == IR_UMIN;
    ir_value *quick = on_words(l, op, with);
    if (quick) return quick;
    const qn__words a = words_of(l, with[0]), b = words_of(l, with[1]);
    ir_value *less = compare_words(l, qn__ir_is_signed(op) ? IR_SLT : IR_ULT, a, b);
    return joined(l, least ? qn__words_select(l, less, a, b) : qn__words_select(l, less, b, a));
}

/* ---- bits ---- */

static ir_value *count_bits(qn__lowering *l, ir_op op, qn__words a) {
    ir_value *lo = qn__make1(l, op, a.lo), *hi = qn__make1(l, op, a.hi), *count;
    if (op == IR_POPCOUNT) {
        count = qn__word_op(l, IR_ADD, lo, hi);
    } else {
        ir_value *first = op == IR_CLZ ? hi : lo, *second = op == IR_CLZ ? lo : hi;
        ir_value *none = qn__make2(l, IR_EQ, first, qn__word(l, 32));
        count = qn__make_select(l, none, qn__word_with(l, IR_ADD, second, 32), first);
    }
    return joined(l, (qn__words){count, qn__word(l, 0)});
}

static qn__words wordwise(qn__lowering *l, ir_op op, qn__words a, qn__words b) {
    qn__words w = {.lo = qn__word_op(l, op, a.lo, b.lo)};
    w.hi = qn__word_op(l, op, a.hi, b.hi);
    return w;
}

/* ---- addresses ---- */

static ir_value *term_value(qn__lowering *l, const qn__term *term, bool low) {
    ir_value *value = (ir_value *)term->value;
    if (value->type.kind == IR_I64 && term->kind != QN__TERM_WIDE &&
        (low || qn__effects(value->def) != IR_EFFECT_QUERY))
        value = qn__make_convert(l, IR_TRUNC, value, I32);
    return qn__make_convert(l, term->kind == QN__TERM_UNSIGNED ? IR_ZEXT : IR_SEXT, value, I64);
}

/* The first term that is added comes first, as a difference begins with one. */
static ir_value *sum_of(qn__lowering *l, qn__sum *sum, bool low) {
    ir_value *total = NULL;
    for (unsigned i = 1; i < sum->count && sum->terms[0].scale < 0; i++) {
        if (sum->terms[i].scale < 0) continue;
        const qn__term term = sum->terms[0];
        sum->terms[0] = sum->terms[i], sum->terms[i] = term;
    }
    for (unsigned i = 0; i < sum->count; i++) {
        const int64_t scale = sum->terms[i].scale;
        ir_value *term = term_value(l, &sum->terms[i], low);
        if (scale != 1 && scale != -1)
            term =
                qn__ir_op2(&l->b, IR_MUL, term, qn__make_int(l, I64, (uint64_t)(scale < 0 ? -scale : scale)));
        if (!total && scale > 0)
            total = term;
        else
            total =
                qn__ir_op2(&l->b, scale < 0 ? IR_SUB : IR_ADD, total ? total : qn__make_int(l, I64, 0), term);
    }
    return total;
}

static void renew_sum(ir_instr *instr, void *user) {
    const int64_t limit = (int64_t)1 << 31;
    qn__lowering *l = user;
    if (instr->op != IR_PTR_ADD || qn__ir_is_const(instr->operands[1])) return;
    const ir_space space = (ir_space)instr->results[0]->type.space;
    const bool low = space != IR_GLOBAL_SPACE && space != IR_CONSTANT_SPACE;
    qn__sum sum = {.constant = instr->attr.offset};
    qn__linear(instr->operands[1], 1, low, &sum);
    for (unsigned i = 0; i < sum.count; i++)
        if (sum.terms[i].scale >= limit || sum.terms[i].scale <= -limit) return;
    qn__ir_at(&l->b, instr);
    instr->operands[1] = sum.count ? sum_of(l, &sum, low) : qn__make_int(l, I64, 0);
    instr->attr.offset = sum.constant;
    l->changed = true;
}

static bool is_of_address(qn__lowering *l, const ir_instr *i) {
    const uint32_t id = i->results[0]->id;
    return id >= state_of(l)->first_address && id < state_of(l)->end_address;
}

/* ---- all of them ---- */

static ir_value *lower_i64(qn__lowering *l, ir_instr *i) {
    const ir_op op = (ir_op)i->op;
    ir_value *const *with = i->operands;
    switch (op) {
    case IR_SMIN:
    case IR_SMAX:
    case IR_UMIN:
    case IR_UMAX: return extreme(l, op, with);
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT: return count_bits(l, op, words_of(l, with[0]));
    case IR_SELECT: {
        const qn__words a = words_of(l, with[1]), b = words_of(l, with[2]);
        return joined(l, qn__words_select(l, with[0], a, b));
    }
    default: break;
    }
    if (qn__ir_ops[op].rule != RULE_INT && qn__ir_ops[op].rule != RULE_LOGIC) return NULL;
    const qn__words a = words_of(l, with[0]);
    const qn__words b = words_of(l, i->num_operands > 1 ? with[1] : with[0]);
    switch (op) {
    case IR_ADD: return joined(l, add(l, a, b));
    case IR_SUB: return joined(l, qn__words_subtract(l, a, b));
    case IR_MUL: return joined(l, multiply(l, a, b));
    case IR_UMULHI:
    case IR_SMULHI: return joined(l, high_product(l, op, a, b));
    case IR_AND:
    case IR_OR:
    case IR_XOR: return joined(l, wordwise(l, op, a, b));
    case IR_NOT:
        return joined(l,
                      wordwise(l, IR_XOR, a, (qn__words){qn__word(l, UINT32_MAX), qn__word(l, UINT32_MAX)}));
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
    case IR_ROTL: return joined(l, shifted(l, op, a, b.lo));
    default: return joined(l, qn__words_divide(l, op, a, b));
    }
}

/* Addresses in buffers are numbers, too. */
static ir_value *compare_any(qn__lowering *l, const ir_instr *i) {
    ir_value *with[] = {i->operands[0], i->operands[1]};
    if (with[0]->type.kind == IR_PTR) {
        const uint8_t space = with[0]->type.space;
        if (space != IR_GLOBAL_SPACE && space != IR_CONSTANT_SPACE) return NULL;
        for (int n = 0; n < 2; n++) with[n] = qn__make_convert(l, IR_PTR2INT, with[n], I64);
    }
    return compare(l, (ir_op)i->op, with);
}

/* The low word of what was lowered, or extended from fewer bits. */
static ir_value *low_part(qn__lowering *l, const ir_instr *i) {
    ir_value *a = i->operands[0];
    const bool is_known = known_words(l, a).lo != NULL;
    if (!is_known && !qn__defined_by(a, IR_SEXT) && !qn__defined_by(a, IR_ZEXT)) return NULL;
    ir_value *lo = words_of(l, a).lo;
    return qn__make_convert(l, IR_TRUNC, lo, i->results[0]->type);
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const ir_type type = i->results[0]->type, from = i->num_operands ? i->operands[0]->type : type;
    if (i->op == IR_TRUNC) return from.kind == IR_I64 && from.lanes == 1 ? low_part(l, i) : NULL;
    if (qn__ir_ops[i->op].rule == RULE_COMPARE)
        return from.kind == IR_I64 || from.kind == IR_PTR ? compare_any(l, i) : NULL;
    return type.kind == IR_I64 && type.lanes == 1 && !is_of_address(l, i) ? lower_i64(l, i) : NULL;
}

/* ---- beside i64 ---- */

static ir_value *lane_of_bits(qn__lowering *l, const ir_instr *i, ir_value *const *with) {
    const ir_op op = (ir_op)i->op;
    switch (op) {
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT: return count_bits(l, op, words_of(l, with[0]));
    case IR_UMULHI:
    case IR_SMULHI: {
        const qn__words a = words_of(l, with[0]), b = words_of(l, with[1]);
        return joined(l, high_product(l, op, a, b));
    }
    case IR_SMIN:
    case IR_SMAX: return extreme(l, op, with);
    default: return compare(l, op, with);
    }
}

/* Mesa 22.3 gets signed comparisons of i64 with constants wrong where it sees that the other side is an extended
   i32. Vulkan counts bits of 32. */
static ir_value *lower_bits(qn__lowering *l, ir_instr *i) {
    if (!i->num_operands || i->operands[0]->type.kind != IR_I64) return NULL;
    switch (i->op) {
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT:
    case IR_UMULHI:
    case IR_SMULHI: break;
    case IR_SLT:
    case IR_SLE:
    case IR_SMIN:
    case IR_SMAX:
        if (!qn__ir_is_const(i->operands[0]) && !qn__ir_is_const(i->operands[1])) return NULL;
        break;
    default: return NULL;
    }
    const bool is_order = i->num_operands == 2 && i->op != IR_UMULHI && i->op != IR_SMULHI;
    ir_value *quick = is_order ? on_words(l, (ir_op)i->op, i->operands) : NULL;
    return quick ? quick : qn__make_lanes(l, i, lane_of_bits);
}

static bool lower_function(qn__pass_context *context, bool all) {
    widening state = {.arena = context->scratch, .native = !all};
    const uint64_t numbers = UINT64_C(1) << RULE_INT | UINT64_C(1) << RULE_COMPARE,
                   moved =
                       UINT64_C(1) << RULE_LOGIC | UINT64_C(1) << RULE_SELECT | UINT64_C(1) << RULE_CONVERT;
    if (!all) return qn__lower_rules(context, numbers, lower_bits, &state);
    qn__lowering l = {.b = {.function = context->function}, .context = context};
    state.first_address = context->function->num_values;
    qn__ir_walk(context->function->body, renew_sum, &l);
    state.end_address = context->function->num_values;
    return qn__lower_rules(context, numbers | moved, lower, &state) | l.changed;
}

bool qn__pass_lower_wide(qn__pass_context *context) {
    const qn__target *target = &context->options->target;
    bool all = target->lacks_i64, changed = false;
    if (!all && target->wants_words) all = !qn__find_i64_use(context->module).wanted;
    if (!all && !target->lacks_i64_bits) return false;
    for (size_t f = 0; f < context->module->functions.len; f++) {
        context->function = context->module->functions.data[f];
        if (context->function->body) changed |= lower_function(context, all);
    }
    return changed;
}
