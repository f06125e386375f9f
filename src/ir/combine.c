/* The table of ways to join two values (combines.def), and what makes no difference to each. */
#include "ir/internal.h"

enum { ATOMICS = 1, GROUPS = 2, BOTH = 3, INTEGERS = 1, FLOATS = 2, ALL = 3 };
enum { IR_NONE = IR_OP_COUNT };

const char *const qn__ir_combine_names[IR_COMBINE_COUNT] = {
#define COMBINE(ID, name, op, where, numbers) name,
#include "ir/combines.def"
};

static const struct {
    uint16_t op;
    uint8_t where, numbers;
} combines[IR_COMBINE_COUNT] = {
#define COMBINE(ID, name, op, where, numbers) {IR_##op, where, numbers},
#include "ir/combines.def"
};

const char *qn__ir_combine_name(unsigned combine) {
    return combine < IR_COMBINE_COUNT ? qn__ir_combine_names[combine] : "?";
}

ir_op qn__ir_combine_op(unsigned combine) {
    return combine < IR_COMBINE_COUNT ? (ir_op)combines[combine].op : IR_OP_COUNT;
}

bool qn__ir_combine_is_signed(unsigned combine) {
    const ir_op op = qn__ir_combine_op(combine);
    return op < IR_OP_COUNT && qn__ir_is_signed(op);
}

bool qn__ir_combine_fits(unsigned combine, ir_type type, bool is_atomic) {
    if (combine >= IR_COMBINE_COUNT || !(combines[combine].where & (is_atomic ? ATOMICS : GROUPS)))
        return false;
    if (combines[combine].numbers == ALL) return true;
    return combines[combine].numbers == FLOATS ? qn__ir_is_float(type) : qn__ir_is_int(type);
}

uint64_t qn__ir_combine_identity(unsigned combine, ir_kind kind, bool exact) {
    const uint64_t ones = UINT64_MAX >> (64 - qn__ir_bits(qn__ir_type(kind, 1))), top = ones ^ ones >> 1;
    const uint64_t infinity = kind == IR_F16   ? 0x7c00
                              : kind == IR_F32 ? 0x7f800000
                                               : UINT64_C(0x7ff0000000000000);
    const uint64_t nan = infinity | (infinity / 2 & ~infinity); /* gives way to any number */
    switch ((ir_combine)combine) {
    case IR_COMBINE_AND:
    case IR_COMBINE_UMIN: return ones;
    case IR_COMBINE_SMIN: return top - 1;
    case IR_COMBINE_SMAX: return top;
    case IR_COMBINE_MUL: return 1;
    case IR_COMBINE_FADD: return exact ? top : 0; /* -0 + x is x, be x -0 */
    case IR_COMBINE_FMUL: return qn__ir_float_bits(kind, 1);
    case IR_COMBINE_FMIN: return exact ? nan : infinity;
    case IR_COMBINE_FMAX: return exact ? nan : infinity | top;
    default: return 0;
    }
}

uint32_t qn__ir_combine_nothing(unsigned combine, ir_kind kind) {
    const uint32_t bits = (uint32_t)qn__ir_combine_identity(combine, kind, false);
    const uint32_t sign = UINT32_C(1) << (qn__ir_bits(qn__ir_type(kind, 1)) - 1);
    return qn__ir_combine_is_signed(combine) ? (bits ^ sign) - sign : bits;
}
