/* For drivers that lose the sign of an int that was extended to 64 bits where nothing else of it is asked for
   (lacks_long_signs): they take `(ulong)(long)i >> 63` for 0 where it is compared with 0. The sign is taken from the high word
   instead, of whatever number, as they see through variables.

       %s = lshr %x, 63     ->     zext (lshr high(%x), 31)
       %s = ashr %x, 63     ->     sext (ashr high(%x), 31)
       %s = and %x, 1 << 63 ->     zext (and high(%x), 1 << 31) << 32 */
#include "pass/lowering.h"
#include "pass/peephole.h"

enum { WORD = 32, LAST = 2 * WORD - 1 };

static ir_value *high_word(qn__lowering *l, ir_value *v) {
    v = qn__make2(l, IR_LSHR, v, qn__make_int(l, v->type, WORD));
    return qn__make_convert(l, IR_TRUNC, v, qn__words_like(v->type));
}

/* `high op constant`, as the low word of an i64. */
static ir_value *of_high(qn__lowering *l, ir_op op, ir_value *v, uint64_t constant, ir_op extend) {
    const ir_type words = qn__words_like(v->type);
    ir_value *high = high_word(l, v);
    ir_value *word = qn__make2(l, op, high, qn__make_int(l, words, constant));
    return qn__make_convert(l, extend, word, v->type);
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const ir_op op = (ir_op)i->op;
    ir_value *v = i->operands[0], *other = i->operands[1];
    uint64_t bits;
    if (i->results[0]->type.kind != IR_I64) return NULL;
    if (op == IR_AND && qn__splat_bits(v, &bits)) v = other, other = i->operands[0];
    if (!qn__splat_bits(other, &bits) || bits != (op == IR_AND ? UINT64_C(1) << LAST : LAST)) return NULL;
    if (op == IR_LSHR) return of_high(l, op, v, WORD - 1, IR_ZEXT);
    if (op == IR_ASHR) return of_high(l, op, v, WORD - 1, IR_SEXT);
    ir_value *sign = of_high(l, op, v, UINT64_C(1) << (WORD - 1), IR_ZEXT);
    return qn__make2(l, IR_SHL, sign, qn__make_int(l, v->type, WORD));
}

bool qn__pass_lower_long_signs(qn__pass_context *context) {
    static const ir_op ops[] = {IR_LSHR, IR_ASHR, IR_AND};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
