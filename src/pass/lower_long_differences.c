/* For drivers that mistake differences of 64 bits that stop at 0 (lacks_long_differences): they see one in max(a, c) - c and in
   what chooses between a - b and 0, compute it in 32 bits where they find that enough, and then compare with a high word that
   nothing has set. A loop whose bound is made so may never end. Such a difference is made of words here, with the borrow of the
   low ones.

       %d = sub (umax %a, %c), %c     ->     low(%a) - low(%c)  |  (high(%a) - high(%c) - borrow) << 32

   That are differences of a maximum, and those that a select, a minimum, a maximum or a branch's results take; additions of
   negative numbers are differences, too. */
#include "pass/lowering.h"
#include "pass/peephole.h"

enum { WORD = 32 };

typedef struct marks {
    bool *chosen; /* by value: taken by what may choose between it and another */
    uint32_t count;
} marks;

static void note(ir_instr *i, void *user) {
    const marks *m = user;
    static const bool choose[IR_OP_COUNT] = {[IR_SELECT] = true, [IR_UMIN] = true, [IR_UMAX] = true,
                                             [IR_SMIN] = true,   [IR_SMAX] = true, [IR_YIELD] = true};
    if (!choose[i->op]) return;
    for (uint32_t o = 0; o < i->num_operands; o++)
        if (i->operands[o]->id < m->count) m->chosen[i->operands[o]->id] = true;
}

/* Of i64, by a number other than one that makes it larger. */
static bool is_difference(const ir_instr *i) {
    uint64_t bits;
    if (i->results[0]->type.kind != IR_I64) return false;
    return i->op == IR_SUB || (qn__splat_bits(i->operands[1], &bits) && bits >> (2 * WORD - 1));
}

static bool may_stop(const qn__lowering *l, const ir_instr *i) {
    const marks *m = l->user;
    const ir_value *from = i->operands[0], *result = i->results[0];
    return qn__defined_by(from, IR_UMAX) || qn__defined_by(from, IR_SMAX) ||
           qn__defined_by(from, IR_SELECT) || (result->id < m->count && m->chosen[result->id]);
}

static ir_value *word(qn__lowering *l, ir_value *v, bool high) {
    if (high) v = qn__make2(l, IR_LSHR, v, qn__make_int(l, v->type, WORD));
    return qn__make_convert(l, IR_TRUNC, v, qn__words_like(v->type));
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    if ((i->op != IR_SUB && i->op != IR_ADD) || !is_difference(i) || !may_stop(l, i)) return NULL;
    ir_value *a = i->operands[0], *b = i->operands[1];
    const ir_type type = a->type, words = qn__words_like(type);
    uint64_t bits = 0;
    if (i->op == IR_ADD && qn__splat_bits(b, &bits)) b = qn__make_int(l, type, 0 - bits);
    ir_value *low_a = word(l, a, false), *low_b = word(l, b, false);
    ir_value *borrow = qn__make_convert(l, IR_ZEXT, qn__make2(l, IR_ULT, low_a, low_b), words);
    ir_value *low = qn__make2(l, IR_SUB, low_a, low_b);
    ir_value *high_a = word(l, a, true), *high_b = word(l, b, true);
    ir_value *high = qn__make2(l, IR_SUB, high_a, high_b);
    high = qn__make2(l, IR_SUB, high, borrow);
    high = qn__make_convert(l, IR_ZEXT, high, type);
    high = qn__make2(l, IR_SHL, high, qn__make_int(l, type, WORD));
    low = qn__make_convert(l, IR_ZEXT, low, type);
    return qn__make2(l, IR_OR, low, high);
}

bool qn__pass_lower_long_differences(qn__pass_context *context) {
    ir_function *function = context->function;
    if (!function->has[IR_SUB] && !function->has[IR_ADD]) return false;
    marks m = {.count = function->num_values};
    m.chosen = QN__NEW_ARRAY(context->scratch, bool, m.count);
    qn__ir_walk(function->body, note, &m);
    return qn__lower_rules(context, UINT64_C(1) << RULE_INT, lower, &m);
}
