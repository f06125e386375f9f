/* Constant folding: the fold column of ops.def, instantiated once with float and once with double, and by
   hand what a column cannot say (conversions, vectors, selects). Expects the host's rounding mode to be the
   default. A NaN that arithmetic makes is the same one on every host. */
#include "ir/fold.h"

#include <math.h>
#include <string.h>

#include "ir/internal.h"

/* One lane of up to three operands: zero-extended bits, and what they are. */
typedef struct lane {
    ir_kind kind;
    unsigned width;
    uint64_t bits[3];
} lane;

static int64_t sign_extended(uint64_t bits, unsigned width) {
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

static float single_of(const lane *x, unsigned i) {
    uint32_t bits = (uint32_t)x->bits[i];
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double double_of(const lane *x, unsigned i) {
    if (x->kind == IR_F16) return qn__ir_float_value(IR_F16, x->bits[i]);
    double value;
    memcpy(&value, &x->bits[i], sizeof value);
    return value;
}

static uint64_t bits_of_single(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t bits_of_double(double value) { return qn__ir_float_bits(IR_F64, value); }

static uint64_t bits_of_integer(uint64_t value) { return value; }

/* ---- the fold column ---- */

#define INTEGER_NAMES                                                                                        \
    uint64_t ua = x->bits[0], ub = x->bits[1], uc = x->bits[2];                                              \
    unsigned w = x->width;                                                                                   \
    int64_t sa = sign_extended(ua, w), sb = sign_extended(ub, w);                                            \
    (void)uc

/* Ops without a fold column never get here. */
#define NO_FOLD 0
#define OP(ID, name, operands, results, rule, effects, has, fold, doc)                                       \
    case IR_##ID:                                                                                            \
        return _Generic((fold), float                                                                        \
                        : bits_of_single, double                                                             \
                        : bits_of_double, default                                                            \
                        : bits_of_integer)(fold);

#define F(function) function##f
static uint64_t fold_with_float(ir_op op, const lane *x) {
    INTEGER_NAMES;
    float fa = single_of(x, 0), fb = single_of(x, 1), fc = single_of(x, 2);
    switch (op) {
#include "ir/ops.def"
    default: return 0;
    }
}
#undef F

#define F(function) function
static uint64_t fold_with_double(ir_op op, const lane *x) {
    INTEGER_NAMES;
    double fa = double_of(x, 0), fb = double_of(x, 1), fc = double_of(x, 2);
    switch (op) {
#include "ir/ops.def"
    default: return 0;
    }
}
#undef F
#undef OP
#undef NO_FOLD

static bool keeps_nan(ir_op op) { return op == IR_FNEG || op == IR_FABS || op == IR_FCOPYSIGN; }

static uint64_t fold_lane(ir_op op, const lane *x, ir_kind result) {
    bool wide = x->kind == IR_F64 || x->kind == IR_F16; /* in float an f16 fma would be rounded twice */
    uint64_t bits = wide ? fold_with_double(op, x) : fold_with_float(op, x);
    if (result < IR_F16 || result > IR_F64) return bits;
    if (result == IR_F16) bits = qn__fold_convert(IR_FCONVERT, IR_F64, IR_F16, IR_ROUND_EVEN, bits);
    if (!keeps_nan(op) && isnan(qn__ir_float_value(result, bits)))
        return qn__ir_float_bits(result, (double)NAN);
    return bits;
}

uint64_t qn__fold_number(ir_op op, ir_kind kind, ir_kind result, const uint64_t operands[3]) {
    const lane x = {kind, qn__ir_kind_bits[kind], {operands[0], operands[1], operands[2]}};
    const unsigned width = qn__ir_kind_bits[result];
    const uint64_t bits = fold_lane(op, &x, result);
    return width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
}

static ir_value *fold_column(ir_function *function, const ir_instr *instr) {
    ir_type from = instr->operands[0]->type, to = instr->results[0]->type;
    uint64_t bits[16];
    for (unsigned i = 0; i < to.lanes; i++) {
        lane x = {.kind = (ir_kind)from.kind, .width = qn__ir_bits(from)};
        for (uint32_t k = 0; k < instr->num_operands; k++) x.bits[k] = instr->operands[k]->bits[i];
        bits[i] = fold_lane(instr->op, &x, (ir_kind)to.kind);
    }
    return qn__ir_const(function, to, bits);
}

/* ---- by hand ---- */

static ir_value *fold_convert(ir_function *function, const ir_instr *instr) {
    const ir_value *a = instr->operands[0];
    ir_type to = instr->results[0]->type;
    uint64_t bits[16];
    for (unsigned i = 0; i < to.lanes; i++)
        bits[i] = qn__fold_convert(instr->op, (ir_kind)a->type.kind, (ir_kind)to.kind,
                                   (ir_rounding)instr->attr.rounding, a->bits[i]);
    return qn__ir_const(function, to, bits);
}

static ir_value *fold_bitcast(ir_function *function, const ir_instr *instr) {
    const ir_value *a = instr->operands[0];
    ir_type to = instr->results[0]->type;
    unsigned from_bytes = qn__ir_bits(a->type) / 8, to_bytes = qn__ir_bits(to) / 8;
    uint8_t bytes[16 * sizeof(uint64_t)];
    uint64_t bits[16] = {0};
    for (unsigned i = 0; i < a->type.lanes * from_bytes; i++)
        bytes[i] = (uint8_t)(a->bits[i / from_bytes] >> i % from_bytes * 8);
    for (unsigned i = 0; i < to.lanes * to_bytes; i++)
        bits[i / to_bytes] |= (uint64_t)bytes[i] << i % to_bytes * 8;
    return qn__ir_const(function, to, bits);
}

static ir_value *fold_select(ir_function *function, const ir_instr *instr) {
    const ir_value *condition = instr->operands[0];
    if (!qn__ir_is_const(condition)) return NULL;
    if (condition->type.lanes == 1) {
        ir_value *chosen = instr->operands[condition->bits[0] ? 1 : 2];
        return qn__ir_is_const(chosen) ? chosen : NULL;
    }
    const ir_value *a = instr->operands[1], *b = instr->operands[2];
    if (!qn__ir_is_const(a) || !qn__ir_is_const(b)) return NULL;
    uint64_t bits[16];
    for (unsigned i = 0; i < a->type.lanes; i++) bits[i] = condition->bits[i] ? a->bits[i] : b->bits[i];
    return qn__ir_const(function, a->type, bits);
}

static ir_value *fold_extract_dynamic(ir_function *function, const ir_instr *instr) {
    const ir_value *vector = instr->operands[0];
    unsigned lanes = vector->type.lanes, modulo = lanes == 3 ? 4 : lanes;
    uint64_t at = instr->operands[1]->bits[0] & (modulo - 1);
    return at < lanes ? qn__ir_const_splat(function, instr->results[0]->type, vector->bits[at]) : NULL;
}

static ir_value *fold_vector(ir_function *function, const ir_instr *instr) {
    ir_type to = instr->results[0]->type;
    const ir_value *a = instr->operands[0], *b = instr->num_operands > 1 ? instr->operands[1] : NULL;
    uint64_t bits[16];
    switch (instr->op) {
    case IR_SPLAT: return qn__ir_const_splat(function, to, a->bits[0]);
    case IR_EXTRACT: return qn__ir_const_splat(function, to, a->bits[instr->attr.lanes[0]]);
    case IR_EXTRACT_DYNAMIC: return fold_extract_dynamic(function, instr);
    case IR_VECTOR:
        for (unsigned i = 0; i < to.lanes; i++) bits[i] = instr->operands[i]->bits[0];
        break;
    case IR_INSERT:
        memcpy(bits, a->bits, to.lanes * sizeof *bits);
        bits[instr->attr.lanes[0]] = b->bits[0];
        break;
    default:
        for (unsigned i = 0; i < to.lanes; i++) {
            unsigned from = instr->attr.lanes[i], lanes = a->type.lanes;
            bits[i] = from == 255 ? 0 : from < lanes ? a->bits[from] : b->bits[from - lanes];
        }
        break;
    }
    return qn__ir_const(function, to, bits);
}

static ir_value *fold_pointer(ir_function *function, const ir_instr *instr) {
    uint64_t bits = instr->operands[0]->bits[0];
    if (instr->op == IR_PTR_ADD) bits += instr->operands[1]->bits[0] + (uint64_t)instr->attr.offset;
    return qn__ir_const_splat(function, instr->results[0]->type, bits);
}

/* Of constants, as signed numbers: whether the exact result is another one. */
static bool overflows(const ir_instr *instr) {
    const ir_type type = instr->results[0]->type;
    const double most = ldexp(1, (int)qn__ir_bits(type) - 1);
    const unsigned up = 64 - qn__ir_bits(type);
    bool any = false;
    for (unsigned l = 0; l < type.lanes; l++) {
        const double a = (double)((int64_t)(instr->operands[0]->bits[l] << up) >> up);
        const double b = (double)((int64_t)(instr->operands[1]->bits[l] << up) >> up);
        const double exact = instr->op == IR_ADD ? a + b : instr->op == IR_SUB ? a - b : a * b;
        any |= !(exact >= -most && exact < most); /* near the end of 64 bits it may be either */
    }
    return any;
}

/* What the checker is to see happens when the kernel runs. */
static bool is_for_checker(const ir_instr *instr) {
    const ir_value *divisor = instr->num_operands == 2 ? instr->operands[1] : NULL;
    if (!(instr->flags & IR_WRITTEN)) return false;
    if (qn__ir_is_kept_sum(instr)) return overflows(instr);
    if (!divisor || instr->op < IR_UDIV || instr->op > IR_SREM)
        return instr->op == IR_F2S || instr->op == IR_F2U;
    const uint64_t ones = UINT64_MAX >> (64 - qn__ir_bits(divisor->type));
    for (unsigned l = 0; l < divisor->type.lanes; l++)
        if (divisor->bits[l] == 0 || (qn__ir_is_signed(instr->op) && divisor->bits[l] == ones)) return true;
    return false;
}

ir_value *qn__ir_fold(ir_function *function, const ir_instr *instr) {
    if (instr->op == IR_SELECT) return fold_select(function, instr);
    if (instr->num_results != 1 || instr->num_operands == 0) return NULL;
    for (uint32_t i = 0; i < instr->num_operands; i++)
        if (!qn__ir_is_const(instr->operands[i])) return NULL;
    if (is_for_checker(instr)) return NULL;
    if (qn__ir_ops[instr->op].foldable) return fold_column(function, instr);
    if (instr->op == IR_PTR2INT || instr->op == IR_INT2PTR) return fold_pointer(function, instr);
    if (instr->op == IR_PTR_CAST) /* null is null everywhere */
        return instr->operands[0]->bits[0] ? NULL : fold_pointer(function, instr);
    switch (qn__ir_ops[instr->op].rule) {
    case RULE_CONVERT: return fold_convert(function, instr);
    case RULE_BITCAST: return fold_bitcast(function, instr);
    case RULE_VECTOR:
    case RULE_SPLAT:
    case RULE_EXTRACT:
    case RULE_INSERT:
    case RULE_SHUFFLE: return fold_vector(function, instr);
    case RULE_PTR_ADD: return fold_pointer(function, instr);
    default: return NULL;
    }
}
