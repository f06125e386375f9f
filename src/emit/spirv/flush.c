/* Comparisons and absolute values of f32 for SPIR-V devices that keep denormal numbers in sums and products only
   (QN__FLUSHES_COMPARED): NVIDIA's driver promises DenormPreserve, but compares with denormal operands taken for
   zero. The bits are compared instead: those of the number where the other side is zero, else those of the
   difference, which is not zero unless both are equal. A constant that is a normal number needs nothing: what is
   flushed is on the same side of it as zero. */
#include "emit/spirv/internal.h"

enum { SIZE_MASK = 0x7fffffff, INFINITE = 0x7f800000 };

static ir_type words_of(ir_type type) { return qn__ir_type(IR_I32, type.lanes); }

static uint32_t number(spv *e, ir_type type, uint32_t value) { return qn__spv_int(e, words_of(type), value); }

static uint32_t test(spv *e, ir_type type, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_vector(e, qn__spv_bool(e), type.lanes), a, b);
}

static uint32_t word_op(spv *e, ir_type type, unsigned op, uint32_t a, uint32_t b) {
    return SPV(e, op, qn__spv_type(e, words_of(type)), a, b);
}

static uint32_t bits_of(spv *e, ir_type type, uint32_t value) {
    return SPV(e, SP_BITCAST, qn__spv_type(e, words_of(type)), value);
}

/* Whether the bits are those of a number above zero (a NaN is not), or below. */
static uint32_t is_signed_like(spv *e, ir_type type, uint32_t bits, bool below) {
    uint32_t first = number(e, type, below ? 0x80000001 : 1);
    return test(e, type, SP_U_LESS, word_op(e, type, SP_I_SUB, bits, first), number(e, type, INFINITE));
}

static uint32_t is_zero(spv *e, ir_type type, uint32_t bits) {
    uint32_t size = word_op(e, type, SP_BITWISE_AND, bits, number(e, type, SIZE_MASK));
    return test(e, type, SP_I_EQUAL, size, number(e, type, 0));
}

static uint32_t not(spv * e, ir_type type, uint32_t a) {
    return SPV(e, SP_LOGICAL_NOT, qn__spv_vector(e, qn__spv_bool(e), type.lanes), a);
}

/* a with zero; `below`: the zero is the right operand. */
static uint32_t with_zero(spv *e, ir_op op, ir_type type, uint32_t a, bool below) {
    uint32_t bits = bits_of(e, type, a);
    switch (op) {
    case IR_FEQ: return is_zero(e, type, bits);
    case IR_FNE: return not(e, type, is_zero(e, type, bits));
    case IR_FLT: return is_signed_like(e, type, bits, below);
    default:
        return test(e, type, SP_LOGICAL_OR, is_signed_like(e, type, bits, below), is_zero(e, type, bits));
    }
}

static uint32_t two_numbers(spv *e, ir_op op, ir_type type, uint32_t a, uint32_t b) {
    if (op == IR_FEQ || op == IR_FNE) {
        uint32_t x = bits_of(e, type, a), y = bits_of(e, type, b);
        uint32_t zeros = is_zero(e, type, word_op(e, type, SP_BITWISE_OR, x, y));
        uint32_t same = test(e, type, SP_LOGICAL_OR, test(e, type, SP_I_EQUAL, x, y), zeros);
        same = test(e, type, SP_LOGICAL_AND, test(e, type, SP_F_EQUAL, a, b), same);
        return op == IR_FEQ ? same : not(e, type, same);
    }
    uint32_t difference = SPV(e, SP_F_SUB, qn__spv_type(e, type), a, b);
    qn__spv_decorate(e, difference, SP_NO_CONTRACTION);
    uint32_t bits = bits_of(e, type, difference);
    if (op == IR_FLT) return is_signed_like(e, type, bits, true);
    uint32_t above = is_signed_like(e, type, bits, false); /* of equal infinities it is NaN */
    return test(e, type, SP_LOGICAL_AND, test(e, type, SP_F_LESS_EQUAL, a, b), not(e, type, above));
}

static bool is_normal(const ir_value *value) {
    if (!qn__ir_is_const(value)) return false;
    for (unsigned i = 0; i < value->type.lanes; i++)
        if ((value->bits[i] & SIZE_MASK) < 0x00800000) return false;
    return true;
}

static bool flushes(const spv *e, ir_type type) {
    return type.kind == IR_F32 && e->options->device_lacks & QN__FLUSHES_COMPARED;
}

static bool is_flushed(const spv *e, const ir_instr *instr) {
    return flushes(e, instr->operands[0]->type) && !(instr->flags & IR_FAST);
}

uint32_t qn__spv_flushed_zero(spv *e, ir_type type, uint32_t value) {
    return flushes(e, type) ? is_zero(e, type, bits_of(e, type, value)) : 0;
}

uint32_t qn__spv_flushed_compare(spv *e, const ir_instr *instr) {
    const ir_value *a = instr->operands[0], *b = instr->operands[1];
    ir_op op = (ir_op)instr->op;
    if (!is_flushed(e, instr) || is_normal(a) || is_normal(b)) return 0;
    if (qn__ir_is_const(b) && qn__ir_is_splat(b, 0))
        return with_zero(e, op, b->type, qn__spv_use(e, a), true);
    if (qn__ir_is_const(a) && qn__ir_is_splat(a, 0))
        return with_zero(e, op, a->type, qn__spv_use(e, b), false);
    return two_numbers(e, op, a->type, qn__spv_use(e, a), qn__spv_use(e, b));
}

uint32_t qn__spv_flushed_abs(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    if (!is_flushed(e, instr)) return 0;
    uint32_t bits = bits_of(e, type, qn__spv_use(e, instr->operands[0]));
    bits = word_op(e, type, SP_BITWISE_AND, bits, number(e, type, SIZE_MASK));
    return SPV(e, SP_BITCAST, qn__spv_type(e, type), bits);
}
