/* Plain instructions for SPIR-V: arithmetic, comparison, vectors. A table says which instruction does an op; what
   needs more is a function. Vulkan's rules on widths: bit counts and the min and max of GLSL.std.450 are used on
   32 bits only. */
#include <math.h>
#include <string.h>

#include "emit/spirv/internal.h"

/* ---- small things ---- */

uint32_t qn__spv_extract(spv *e, uint32_t type, uint32_t vector, unsigned lane) {
    return SPV(e, SP_COMPOSITE_EXTRACT, type, vector, lane);
}

uint32_t qn__spv_build(spv *e, uint32_t type, const uint32_t *parts, unsigned count) {
    return count == 1 ? parts[0] : qn__spv_emit(e, SP_COMPOSITE_CONSTRUCT, type, parts, count);
}

static ir_type words_like(ir_type type) { return qn__ir_type(IR_I32, type.lanes); }

/* ---- tables ---- */

static const uint16_t integer_ops[IR_OP_COUNT] = {
    [IR_ADD] = SP_I_ADD,
    [IR_SUB] = SP_I_SUB,
    [IR_MUL] = SP_I_MUL,
    [IR_UDIV] = SP_U_DIV,
    [IR_SDIV] = SP_S_DIV,
    [IR_UREM] = SP_U_MOD,
    [IR_AND] = SP_BITWISE_AND,
    [IR_OR] = SP_BITWISE_OR,
    [IR_XOR] = SP_BITWISE_XOR,
    [IR_NOT] = SP_NOT,
    [IR_EQ] = SP_I_EQUAL,
    [IR_NE] = SP_I_NOT_EQUAL,
    [IR_SLT] = SP_S_LESS,
    [IR_SLE] = SP_S_LESS_EQUAL,
    [IR_ULT] = SP_U_LESS,
    [IR_ULE] = SP_U_LESS_EQUAL,
    [IR_SHL] = SP_SHIFT_LEFT,
    [IR_LSHR] = SP_SHIFT_RIGHT_LOGICAL,
    [IR_ASHR] = SP_SHIFT_RIGHT_ARITHMETIC,
};

static const uint16_t bool_ops[IR_OP_COUNT] = {
    [IR_AND] = SP_LOGICAL_AND, [IR_OR] = SP_LOGICAL_OR,    [IR_XOR] = SP_LOGICAL_NOT_EQUAL,
    [IR_NOT] = SP_LOGICAL_NOT, [IR_EQ] = SP_LOGICAL_EQUAL, [IR_NE] = SP_LOGICAL_NOT_EQUAL,
};

static const uint16_t float_ops[IR_OP_COUNT] = {
    [IR_FADD] = SP_F_ADD,       [IR_FSUB] = SP_F_SUB,
    [IR_FMUL] = SP_F_MUL,       [IR_FDIV] = SP_F_DIV,
    [IR_FREM] = SP_F_REM,       [IR_FNEG] = SP_F_NEGATE,
    [IR_FEQ] = SP_F_EQUAL,      [IR_FNE] = SP_F_UNORDERED_NOT_EQUAL,
    [IR_FLT] = SP_F_LESS,       [IR_FLE] = SP_F_LESS_EQUAL,
    [IR_NATIVE_DIV] = SP_F_DIV,
};

static const uint8_t glsl_ops[IR_OP_COUNT] = {
    [IR_FABS] = GLSL_F_ABS,       [IR_FMA] = GLSL_FMA,
    [IR_FMIN] = GLSL_N_MIN,       [IR_FMAX] = GLSL_N_MAX,
    [IR_FFLOOR] = GLSL_FLOOR,     [IR_FCEIL] = GLSL_CEIL,
    [IR_FTRUNC] = GLSL_TRUNC,     [IR_FRINT] = GLSL_ROUND_EVEN,
    [IR_NATIVE_EXP2] = GLSL_EXP2, [IR_NATIVE_LOG2] = GLSL_LOG2,
    [IR_NATIVE_SIN] = GLSL_SIN,   [IR_NATIVE_COS] = GLSL_COS,

    [IR_NATIVE_SQRT] = GLSL_SQRT, [IR_NATIVE_RSQRT] = GLSL_INVERSE_SQRT,
    [IR_FSQRT] = GLSL_SQRT,
};

/* ---- integers ---- */

/* i64s that are extended i32s, or constants, are compared as i32s. */
typedef struct extended {
    uint32_t a, b;
    ir_type type;   /* i32, in as many lanes */
    bool is_signed; /* how they were extended */
} extended;

static bool fits(const ir_value *value, bool is_signed) {
    for (unsigned i = 0; i < value->type.lanes; i++) {
        uint64_t bits = value->bits[i];
        if (is_signed ? (int64_t)bits != (int32_t)bits : bits >> 32 != 0) return false;
    }
    return true;
}

static bool is_extended(const ir_value *value, ir_op *how) {
    if (value->value_kind != IR_VALUE_RESULT || value->def->operands == NULL) return false;
    *how = (ir_op)value->def->op;
    return (*how == IR_SEXT || *how == IR_ZEXT) && value->def->operands[0]->type.kind == IR_I32;
}

static uint32_t constant_words(spv *e, const ir_value *value) {
    uint32_t parts[4];
    for (unsigned i = 0; i < value->type.lanes; i++) parts[i] = qn__spv_u32(e, (uint32_t)value->bits[i]);
    uint32_t type = qn__spv_type(e, words_like(value->type));
    return value->type.lanes == 1 ? parts[0]
                                  : qn__spv_intern(e, SP_CONSTANT_COMPOSITE, type, parts, value->type.lanes);
}

static bool find_extended(spv *e, const ir_instr *instr, extended *x) {
    const ir_value *a = instr->operands[0], *b = instr->operands[1];
    ir_op how, other;
    if (a->type.kind != IR_I64 || !is_extended(a, &how)) return false;
    *x = (extended){.type = words_like(a->type), .is_signed = how == IR_SEXT};
    bool constant = qn__ir_is_const(b);
    if (constant ? !fits(b, x->is_signed) : !is_extended(b, &other) || other != how) return false;
    x->a = qn__spv_use(e, a->def->operands[0]);
    x->b = constant ? constant_words(e, b) : qn__spv_use(e, b->def->operands[0]);
    return true;
}

/* Of values extended with zeros all orders are the unsigned one. */
static ir_op order_of(ir_op op, const extended *x) {
    static const uint8_t as_unsigned[] = {
        [IR_SLT] = IR_ULT, [IR_SLE] = IR_ULE, [IR_SMIN] = IR_UMIN, [IR_SMAX] = IR_UMAX};
    return qn__ir_is_signed(op) && !x->is_signed ? (ir_op)as_unsigned[op] : op;
}

/* Those of GLSL.std.450 are of 32 bits. */
static uint32_t select_less(spv *e, ir_op op, ir_type type, uint32_t a, uint32_t b) {
    const bool least = op == IR_SMIN || op == IR_UMIN;
    uint32_t boolean = qn__spv_bools(e, type.lanes);
    uint32_t is_less = SPV(e, qn__ir_is_signed(op) ? SP_S_LESS : SP_U_LESS, boolean, a, b);
    return SPV(e, SP_SELECT, qn__spv_type(e, type), is_less, least ? a : b, least ? b : a);
}

static uint32_t minimum_maximum(spv *e, ir_op op, ir_type type, uint32_t a, uint32_t b) {
    static const uint8_t glsl[] = {
        [IR_SMIN] = GLSL_S_MIN, [IR_SMAX] = GLSL_S_MAX, [IR_UMIN] = GLSL_U_MIN, [IR_UMAX] = GLSL_U_MAX};
    if (type.kind != IR_I32) return select_less(e, op, type, a, b);
    return SPV_GLSL(e, glsl[op], qn__spv_type(e, type), a, b);
}

static uint32_t resize(spv *e, ir_type to, uint32_t value, bool is_signed) {
    return SPV(e, is_signed ? SP_S_CONVERT : SP_U_CONVERT, qn__spv_type(e, to), value);
}

static uint32_t high_product(spv *e, ir_op op, ir_type type, uint32_t a, uint32_t b) {
    const bool is_signed = qn__ir_is_signed(op);
    ir_type words = words_like(type);
    uint32_t word = qn__spv_type(e, words);
    if (type.kind == IR_I32) {
        uint32_t both = SPV_ONCE(e, SP_TYPE_STRUCT, 0, word, word);
        uint32_t product = SPV(e, is_signed ? SP_S_MUL_EXTENDED : SP_U_MUL_EXTENDED, both, a, b);
        return SPV(e, SP_COMPOSITE_EXTRACT, word, product, 1);
    }
    uint32_t product = SPV(e, SP_I_MUL, word, resize(e, words, a, is_signed), resize(e, words, b, is_signed));
    uint32_t bits = qn__spv_int(e, words, qn__ir_bits(type));
    return resize(e, type, SPV(e, SP_SHIFT_RIGHT_LOGICAL, word, product, bits), false);
}

/* Shift amounts are taken modulo the width; constants within it need no mask. */
static uint32_t shift_amount(spv *e, const ir_value *amount) {
    uint32_t id = qn__spv_use(e, amount);
    unsigned bits = qn__ir_bits(amount->type);
    bool fits = qn__ir_is_const(amount);
    for (unsigned i = 0; fits && i < amount->type.lanes; i++) fits = amount->bits[i] < bits;
    if (fits) return id;
    return SPV(e, SP_BITWISE_AND, qn__spv_type(e, amount->type), id, qn__spv_int(e, amount->type, bits - 1));
}

static uint32_t rotate(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    uint32_t t = qn__spv_type(e, type), a = qn__spv_use(e, instr->operands[0]);
    uint32_t by = shift_amount(e, instr->operands[1]), bits = qn__spv_int(e, type, qn__ir_bits(type));
    uint32_t back =
        SPV(e, SP_BITWISE_AND, t, SPV(e, SP_I_SUB, t, bits, by), qn__spv_int(e, type, qn__ir_bits(type) - 1));
    return SPV(e, SP_BITWISE_OR, t, SPV(e, SP_SHIFT_LEFT, t, a, by),
               SPV(e, SP_SHIFT_RIGHT_LOGICAL, t, a, back));
}

static uint32_t count_words(spv *e, ir_op op, ir_type words, uint32_t a, unsigned bits) {
    uint32_t t = qn__spv_type(e, words);
    if (op == IR_POPCOUNT) return SPV(e, SP_BIT_COUNT, t, a);
    if (op == IR_CLZ) {
        uint32_t top = qn__spv_int(e, words, bits - 1);
        return SPV(e, SP_I_SUB, t, top, SPV_GLSL(e, GLSL_FIND_MSB, t, a));
    }
    /* -1 of nothing found is, unsigned, more than the width */
    return SPV_GLSL(e, GLSL_U_MIN, t, SPV_GLSL(e, GLSL_FIND_LSB, t, a), qn__spv_int(e, words, bits));
}

static uint32_t count_bits(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type, words = words_like(type);
    uint32_t a = qn__spv_use(e, instr->operands[0]);
    ir_op op = (ir_op)instr->op;
    if (type.kind == IR_I32) return count_words(e, op, type, a, 32);
    return resize(e, type, count_words(e, op, words, resize(e, words, a, false), qn__ir_bits(type)), false);
}

/* ---- floats ---- */

/* In Vulkan OpSRem is undefined of negative operands. */
static uint32_t remainder_of(spv *e, uint32_t type, uint32_t a, uint32_t b) {
    uint32_t whole = SPV(e, SP_I_MUL, type, SPV(e, SP_S_DIV, type, a, b), b);
    return SPV(e, SP_I_SUB, type, a, whole);
}

QN__NORETURN static void refuse(spv *e, ir_op op) {
    qn__spv_fail(e, qn__arena_printf(e->arena, "the target has no '%s' of these types", qn__ir_ops[op].name));
}

/* The instruction for an op on values of a type, vectors or not. */
static unsigned code_of(spv *e, ir_op op, ir_type type) {
    const uint16_t *ops = type.kind == IR_BOOL ? bool_ops : qn__ir_is_float(type) ? float_ops : integer_ops;
    if (!ops[op]) refuse(e, op);
    return ops[op];
}

uint32_t qn__spv_arith(spv *e, ir_op op, ir_type type, uint32_t a, uint32_t b) {
    if (op >= IR_SMIN && op <= IR_UMAX) return minimum_maximum(e, op, type, a, b);
    uint32_t t = qn__spv_type(e, type);
    if (op == IR_SREM) return remainder_of(e, t, a, b);
    if (glsl_ops[op]) return SPV_GLSL(e, glsl_ops[op], t, a, b);
    return SPV(e, code_of(e, op, type), t, a, b);
}

/* x + 0 is x but for minus zero, which drivers forget. */
static uint32_t add_zero(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    uint32_t a = qn__spv_use(e, instr->operands[0]), zero = qn__spv_use(e, instr->operands[1]);
    uint32_t none = SPV(e, SP_F_EQUAL, qn__spv_bools(e, type.lanes), a, zero);
    return SPV(e, SP_SELECT, qn__spv_type(e, type), none, zero, a);
}

/* Zeros as drivers see them: llvmpipe takes x + 0 for x, 0 - x for -x, x * 0 for 0 and x / 0 for anything where it sees the zero.
   It does not where that is chosen by a condition that never holds (no group's id is the largest number), and
   not from 1, which with 0 is a conversion of the condition for it. This is no pass: it goes around a
   reader of SPIR-V, and no other target promises infinities and the signs of zeros without keeping them. */
uint32_t qn__spv_hide_zero(spv *e, const ir_value *value) {
    enum { KEY_NEVER = 0x40000020 };
    uint32_t id = qn__spv_use(e, value);
    bool has_zero = false;
    if (!e->options->target.lacks_exact_zeros || !qn__ir_is_const(value)) return id;
    uint64_t sign = (uint64_t)1 << (qn__ir_bits(value->type) - 1);
    for (unsigned i = 0; i < value->type.lanes; i++) has_zero |= !(value->bits[i] & ~sign);
    if (!has_zero) return id;
    uint32_t never = qn__spv_chain(e, 0, KEY_NEVER);
    if (!never) {
        never = qn__spv_never(e);
        qn__spv_note(e, 0, KEY_NEVER, never);
    }
    return SPV(e, SP_SELECT, qn__spv_type(e, value->type), never, qn__spv_float(e, value->type, 3), id);
}

/* x - x is 0 but for infinities and NaN, which it forgets, too. */
static uint32_t same_difference(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    uint32_t t = qn__spv_type(e, type), a = qn__spv_use(e, instr->operands[0]);
    uint32_t finite = SPV(e, SP_F_LESS, qn__spv_bools(e, type.lanes), SPV_GLSL(e, GLSL_F_ABS, t, a),
                          qn__spv_float(e, type, (double)INFINITY));
    return SPV(e, SP_SELECT, t, finite, qn__spv_float(e, type, 0), qn__spv_float(e, type, (double)NAN));
}

/* What contraction has made may be taken apart again. */
static bool is_exact_fma(const spv *e, const ir_instr *instr) {
    if (e->options->target.tries_loose_fma) return false;
    return !(instr->flags & IR_CONTRACT) || e->options->target.tries_exact_fma;
}

static uint32_t float_op(spv *e, const ir_instr *instr) {
    const bool folds = e->options->target.lacks_exact_zeros;
    const ir_value *last = instr->operands[instr->num_operands - 1];
    if (instr->op == IR_FADD && !folds && qn__ir_is_const(last) && qn__ir_is_splat(last, 0))
        return add_zero(e, instr);
    if (instr->op == IR_FSUB && folds && instr->operands[0] == last) return same_difference(e, instr);
    uint32_t args[5], count = 0, type = qn__spv_type(e, instr->results[0]->type);
    if (glsl_ops[instr->op]) {
        args[count++] = qn__spv_glsl(e);
        args[count++] = glsl_ops[instr->op];
    }
    bool hides = instr->op == IR_FADD || instr->op == IR_FSUB || instr->op == IR_FMUL || instr->op == IR_FDIV;
    for (uint32_t i = 0; i < instr->num_operands; i++)
        args[count++] = hides ? qn__spv_hide_zero(e, instr->operands[i]) : qn__spv_use(e, instr->operands[i]);
    unsigned code = glsl_ops[instr->op] ? SP_EXT_INST : code_of(e, (ir_op)instr->op, instr->results[0]->type);
    uint32_t id = qn__spv_emit(e, code, type, args, count);
    /* What may be contracted has been; without this drivers do more than that, and take Fma apart. */
    bool exact =
        instr->op == IR_FMA ? is_exact_fma(e, instr) : !glsl_ops[instr->op] && instr->op != IR_NATIVE_DIV;
    if (exact && !(instr->flags & IR_FAST)) qn__spv_decorate(e, id, SP_NO_CONTRACTION);
    return id;
}

static uint32_t copysign_half(spv *e, uint32_t a, uint32_t b) {
    a = qn__spv_and(e, qn__spv_lane_bits(e, IR_F16, a), 0x7fff);
    b = qn__spv_and(e, qn__spv_lane_bits(e, IR_F16, b), 0x8000);
    return qn__spv_bitcast_lane(e, IR_F16, qn__spv_or(e, a, b));
}

/* The sign is in the highest of a lane's words. */
static uint32_t copysign_lane(spv *e, ir_type lane, uint32_t a, uint32_t b) {
    bool is_double = lane.kind == IR_F64, is_half = lane.kind == IR_F16;
    if (is_half && qn__spv_is_held(e, IR_I16)) return copysign_half(e, a, b);
    ir_type bits = is_half ? qn__ir_type(IR_I16, 1) : qn__ir_type(IR_I32, is_double ? 2 : 1);
    uint32_t t = qn__spv_type(e, bits), word = qn__spv_u32t(e);
    uint32_t ia = SPV(e, SP_BITCAST, t, a), ib = SPV(e, SP_BITCAST, t, b), lo = 0;
    if (is_double) {
        lo = qn__spv_extract(e, word, ia, 0);
        ia = qn__spv_extract(e, word, ia, 1);
        ib = qn__spv_extract(e, word, ib, 1);
    }
    ir_type one = qn__ir_element(bits);
    uint32_t each = qn__spv_type(e, one), sign = is_half ? 0x8000 : 0x80000000;
    uint32_t joined =
        SPV(e, SP_BITWISE_OR, each, SPV(e, SP_BITWISE_AND, each, ia, qn__spv_int(e, one, sign - 1)),
            SPV(e, SP_BITWISE_AND, each, ib, qn__spv_int(e, one, sign)));
    if (is_double) joined = SPV(e, SP_COMPOSITE_CONSTRUCT, t, lo, joined);
    return SPV(e, SP_BITCAST, qn__spv_type(e, lane), joined);
}

static uint32_t copy_sign(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type, lane = qn__ir_element(type);
    uint32_t a = qn__spv_use(e, instr->operands[0]), b = qn__spv_use(e, instr->operands[1]), parts[16];
    if (type.lanes == 1) return copysign_lane(e, lane, a, b);
    uint32_t t = qn__spv_type(e, lane);
    for (unsigned i = 0; i < type.lanes; i++) {
        parts[i] = qn__spv_extract(e, t, a, i);
        parts[i] = copysign_lane(e, lane, parts[i], qn__spv_extract(e, t, b, i));
    }
    return qn__spv_build(e, qn__spv_type(e, type), parts, type.lanes);
}

/* Of modules without 64-bit integers: none, but what addresses are made of. */
static void refuse_pairs(spv *e, const ir_instr *instr) {
    if (!e->native && instr->operands[0]->type.kind == IR_I64)
        qn__spv_fail(e, qn__arena_printf(e->arena, "'%s' of 64-bit integers was not lowered",
                                         qn__ir_ops[instr->op].name));
}

/* ---- comparison ---- */

static uint32_t compare(spv *e, const ir_instr *instr) {
    const ir_value *left = instr->operands[0], *right = instr->operands[1];
    ir_type type = left->type;
    ir_op op = (ir_op)instr->op;
    uint32_t boolean = qn__spv_bools(e, type.lanes);
    if (qn__spv_is_place(type)) {
        uint32_t a = qn__spv_address(e, left), b = qn__spv_address(e, right);
        return SPV(e, integer_ops[op], boolean, a, b);
    }
    refuse_pairs(e, instr);
    extended x;
    if (find_extended(e, instr, &x)) return SPV(e, integer_ops[order_of(op, &x)], boolean, x.a, x.b);
    uint32_t a = qn__spv_use(e, left), b = qn__spv_use(e, right);
    /* Drivers that are not asked to keep NaN take a number for equal to itself, but know what this is. */
    bool is_self = left == right && qn__ir_is_float(type) && (op == IR_FEQ || op == IR_FNE);
    if (is_self) {
        uint32_t is_nan = SPV(e, SP_IS_NAN, boolean, a);
        return op == IR_FNE ? is_nan : SPV(e, SP_LOGICAL_NOT, boolean, is_nan);
    }
    return SPV(e, code_of(e, op, type), boolean, a, b);
}

/* ---- vectors ---- */

static uint32_t splat(spv *e, ir_type type, uint32_t scalar) {
    uint32_t parts[16];
    for (unsigned i = 0; i < type.lanes; i++) parts[i] = scalar;
    return qn__spv_build(e, qn__spv_type(e, type), parts, type.lanes);
}

static uint32_t select(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    uint32_t condition = qn__spv_use(e, instr->operands[0]);
    uint32_t a = qn__spv_use_as(e, instr->operands[1], result),
             b = qn__spv_use_as(e, instr->operands[2], result);
    return SPV(e, SP_SELECT, qn__spv_value_type(e, result), condition, a, b);
}

/* Of a vector that is not one in SPIR-V: an argument, a constant or undefined. */
static uint32_t long_lane(spv *e, const ir_value *vector, unsigned lane) {
    ir_type type = qn__ir_element(vector->type);
    if (vector->value_kind == IR_VALUE_ARG) return qn__spv_arg_lane(e, vector, lane);
    if (!qn__ir_is_const(vector)) return qn__spv_undef(e, qn__spv_type(e, type));
    return qn__spv_bits(e, type, vector->bits[lane]);
}

static uint32_t long_shuffle(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    unsigned half = instr->operands[0]->type.lanes;
    uint32_t parts[4];
    for (unsigned i = 0; i < type.lanes; i++) {
        unsigned lane = instr->attr.lanes[i];
        if (lane == 255) lane = 0;
        parts[i] = long_lane(e, instr->operands[lane >= half], lane % half);
    }
    return qn__spv_build(e, qn__spv_type(e, type), parts, type.lanes);
}

/* What becomes part of a vector: drivers look at one component after another. */
static uint32_t use_part(spv *e, const ir_value *value) {
    return qn__ir_is_float(value->type) ? qn__spv_hide_zero(e, value) : qn__spv_use(e, value);
}

/* A 64-bit integer looked at as two words, where it is two words. */
static bool is_pair(const spv *e, const ir_value *vector) {
    return !e->native && vector->value_kind == IR_VALUE_RESULT && vector->def->op == IR_BITCAST &&
           vector->def->operands[0]->type.kind == IR_I64;
}

static uint32_t vector_op(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    uint32_t type = qn__spv_type(e, result->type), parts[18];
    ir_value *const *with = instr->operands;
    switch (instr->op) {
    case IR_VECTOR:
        for (uint32_t i = 0; i < instr->num_operands; i++) parts[i] = use_part(e, with[i]);
        return qn__spv_build(e, type, parts, instr->num_operands);
    case IR_SPLAT: return splat(e, result->type, qn__spv_use(e, with[0]));
    case IR_EXTRACT:
        if (is_pair(e, with[0])) return qn__spv_half(e, qn__spv_use(e, with[0]), instr->attr.lanes[0]);
        if (qn__spv_is_long(e, with[0]->type)) return long_lane(e, with[0], instr->attr.lanes[0]);
        return qn__spv_extract(e, type, qn__spv_use(e, with[0]), instr->attr.lanes[0]);
    case IR_EXTRACT_DYNAMIC: {
        unsigned lanes = with[0]->type.lanes == 3 ? 4 : with[0]->type.lanes;
        uint32_t lane = qn__spv_is_wide(with[1]->type) ? qn__spv_half(e, qn__spv_use(e, with[1]), 0)
                                                       : qn__spv_use(e, with[1]);
        ir_type index = with[1]->type.kind == IR_I64 ? qn__ir_type(IR_I32, 1) : with[1]->type;
        lane = SPV(e, SP_BITWISE_AND, qn__spv_type(e, index), lane, qn__spv_int(e, index, lanes - 1));
        return SPV(e, SP_VECTOR_EXTRACT_DYNAMIC, type, qn__spv_use(e, with[0]), lane);
    }
    case IR_INSERT:
        parts[0] = use_part(e, with[0]);
        parts[1] = use_part(e, with[1]);
        return SPV(e, SP_COMPOSITE_INSERT, type, parts[1], parts[0], instr->attr.lanes[0]);
    default:
        if (qn__spv_is_long(e, with[0]->type)) return long_shuffle(e, instr);
        parts[0] = use_part(e, with[0]);
        parts[1] = use_part(e, with[1]);
        for (unsigned i = 0; i < result->type.lanes; i++)
            parts[2 + i] = instr->attr.lanes[i] == 255 ? UINT32_MAX : instr->attr.lanes[i];
        return qn__spv_emit(e, SP_VECTOR_SHUFFLE, type, parts, 2u + result->type.lanes);
    }
}

/* ---- one instruction ---- */

/* Where the device has it; for others the passes have written it out. */
static uint32_t dot4(spv *e, const ir_instr *instr) {
    enum { PACKED_4X8 = 0 };
    const unsigned op = instr->op == IR_UDOT4 ? SP_U_DOT : instr->op == IR_SDOT4 ? SP_S_DOT : SP_SU_DOT;
    const uint32_t word = qn__spv_type(e, instr->results[0]->type);
    qn__spv_need(e, CAP_DOT);
    qn__spv_need(e, CAP_DOT_PACKED);
    const uint32_t a = qn__spv_use(e, instr->operands[0]), b = qn__spv_use(e, instr->operands[1]);
    const uint32_t product = SPV(e, op, word, a, b, PACKED_4X8), c = qn__spv_use(e, instr->operands[2]);
    return SPV(e, SP_I_ADD, word, product, c);
}

static uint32_t integer_op(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    ir_op op = (ir_op)instr->op;
    refuse_pairs(e, instr);
    switch (op) {
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT: return count_bits(e, instr);
    default: break;
    }
    extended x;
    if (op >= IR_SMIN && op <= IR_UMAX && find_extended(e, instr, &x)) {
        uint32_t least = qn__spv_arith(e, order_of(op, &x), x.type, x.a, x.b);
        return resize(e, type, least, x.is_signed);
    }
    uint32_t a = qn__spv_use(e, instr->operands[0]), b;
    if (op == IR_NOT) return SPV(e, type.kind == IR_BOOL ? SP_LOGICAL_NOT : SP_NOT, qn__spv_type(e, type), a);
    if (instr->num_operands != 2) refuse(e, op);
    if (op == IR_ROTL) return rotate(e, instr);
    bool shift = op == IR_SHL || op == IR_LSHR || op == IR_ASHR;
    b = shift ? shift_amount(e, instr->operands[1]) : qn__spv_use(e, instr->operands[1]);
    bool is_high = op == IR_UMULHI || op == IR_SMULHI;
    return is_high ? high_product(e, op, type, a, b) : qn__spv_arith(e, op, type, a, b);
}

static uint32_t plain(spv *e, const ir_instr *instr) {
    const ir_value *a = instr->num_operands ? instr->operands[0] : NULL;
    switch (instr->op) {
    case IR_FCOPYSIGN: return copy_sign(e, instr);
    case IR_NATIVE_RECIP: {
        ir_type type = instr->results[0]->type;
        return SPV(e, SP_F_DIV, qn__spv_type(e, type), qn__spv_float(e, type, 1), qn__spv_use(e, a));
    }
    case IR_SELECT: return select(e, instr);
    case IR_PTR2INT:
        return qn__spv_is_place(a->type) ? qn__spv_widen(e, qn__spv_address(e, a), false) : qn__spv_use(e, a);
    case IR_INT2PTR:
        if (!qn__spv_is_place(instr->results[0]->type)) return qn__spv_use(e, a);
        return qn__spv_place(e, instr->results[0], qn__spv_half(e, qn__spv_use(e, a), 0));
    default: break;
    }
    switch (qn__ir_ops[instr->op].rule) {
    case RULE_INT:
    case RULE_LOGIC: return integer_op(e, instr);
    case RULE_BYTES: return dot4(e, instr);
    case RULE_FLOAT: return float_op(e, instr);
    case RULE_COMPARE:
    case RULE_FCOMPARE: return compare(e, instr);
    case RULE_VECTOR:
    case RULE_SPLAT:
    case RULE_EXTRACT:
    case RULE_INSERT:
    case RULE_SHUFFLE: return vector_op(e, instr);
    default: return 0;
    }
}

static void address_of(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    if (instr->op != IR_GLOBAL) {
        e->plan.values[result->id].low = qn__spv_object_place(e, result);
        return;
    }
    uint32_t base[2];
    for (unsigned i = 0; i < 2; i++) base[i] = qn__spv_implicit_word(e, QN__IMPLICIT_CONSTANTS, 0, i);
    uint32_t wide = qn__spv_join(e, (spv_pair){base[0], base[1]});
    uint64_t offset = e->constant_offset[instr->attr.index];
    qn__spv_define(e, result, offset ? qn__spv_wide_add(e, wide, qn__spv_u64(e, offset)) : wide);
}

/* A pure i64 is written in the forms that are needed only. */
static bool low_only(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const unsigned wanted = e->plan.demand[result->id];
    if (result->type.kind != IR_I64 || result->type.lanes != 1 || wanted & QN__WANT_ALL) return false;
    if (!wanted || instr->op == IR_SEXT || instr->op == IR_ZEXT) return !wanted;
    e->plan.values[result->id].low = qn__spv_low_op(e, instr);
    return true;
}

/* No op has a float of another kind than its result or its first operand. */
static void note_kinds(spv *e, const ir_instr *instr) {
    e->kinds |= 1u << instr->results[0]->type.kind;
    if (instr->num_operands) e->kinds |= 1u << instr->operands[0]->type.kind;
}

void qn__spv_instr(spv *e, const ir_instr *instr) {
    unsigned effects = qn__ir_ops[instr->op].effects;
    const ir_value *result = instr->num_results ? instr->results[0] : NULL;
    if (qn__ir_ops[instr->op].rule == RULE_MATRIX) {
        if (!qn__spv_matrix(e, instr)) refuse(e, (ir_op)instr->op);
        return;
    }
    if (effects == IR_EFFECT_QUERY) {
        qn__spv_query(e, instr);
        return;
    }
    if (instr->op == IR_VAR || instr->op == IR_LOCAL || instr->op == IR_GLOBAL) {
        address_of(e, instr);
        return;
    }
    if (instr->op == IR_PTR_ADD) {
        qn__spv_ptr_add(e, instr);
        return;
    }
    if (effects <= IR_EFFECT_PURE_TRAP) {
        if (!e->uses[result->id] || low_only(e, instr)) return;
        note_kinds(e, instr);
        uint32_t id = plain(e, instr);
        if (id)
            qn__spv_define(e, result, id);
        else if (!qn__spv_convert(e, instr))
            refuse(e, (ir_op)instr->op);
        return;
    }
    if (!qn__spv_memory(e, instr) && !qn__spv_atomic(e, instr) && !qn__spv_group(e, instr))
        refuse(e, (ir_op)instr->op);
}
