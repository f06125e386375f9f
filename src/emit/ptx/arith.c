/* Arithmetic, comparison and choice of the PTX target, as ir/ops.def defines them. Everything is rounded as
   written (.rn also keeps ptxas from fusing) and keeps denormals, but for what the fast flag lets go. */
#include <string.h>

#include "emit/ptx/internal.h"

/* ---- integers ---- */

/* What an op does with the upper bits of narrow operands: nothing, or how they are extended before. */
enum { RAW, ZERO, SIGN };

typedef struct int_row {
    const char *op32, *op64;
    uint8_t extend;
} int_row;

static const int_row int_rows[IR_OP_COUNT] = {
    [IR_ADD] = {"add.s32", "add.s64", RAW},
    [IR_SUB] = {"sub.s32", "sub.s64", RAW},
    [IR_MUL] = {"mul.lo.s32", "mul.lo.s64", RAW},
    [IR_UDIV] = {"div.u32", "div.u64", ZERO},
    [IR_SDIV] = {"div.s32", "div.s64", SIGN},
    [IR_UREM] = {"rem.u32", "rem.u64", ZERO},
    [IR_SREM] = {"rem.s32", "rem.s64", SIGN},
    [IR_SMIN] = {"min.s32", "min.s64", SIGN},
    [IR_SMAX] = {"max.s32", "max.s64", SIGN},
    [IR_UMIN] = {"min.u32", "min.u64", ZERO},
    [IR_UMAX] = {"max.u32", "max.u64", ZERO},
    [IR_AND] = {"and.b32", "and.b64", RAW},
    [IR_OR] = {"or.b32", "or.b64", RAW},
    [IR_XOR] = {"xor.b32", "xor.b64", RAW},
    [IR_UMULHI] = {"mul.hi.u32", "mul.hi.u64", ZERO},
    [IR_SMULHI] = {"mul.hi.s32", "mul.hi.s64", SIGN},
};

static ptx_operand extended(ptx_emitter *e, ptx_operand a, unsigned width, unsigned how) {
    if (how == RAW) return a;
    return how == ZERO ? qn__ptx_zext(e, a, width) : qn__ptx_sext(e, a, width);
}

/* Operand i as 32 bits where the result is computed in 32, else as 64. */
static ptx_operand operand(ptx_emitter *e, const ir_instr *instr, uint32_t i, unsigned lane, bool wide) {
    if (wide) return qn__ptx_use(e, instr->operands[i], lane);
    return qn__ptx_low(e, qn__ptx_use_short(e, instr->operands[i], lane));
}

/* On an i64 whose operands have zeros above 32 bits: what stays in 32 bits, and products. */
static bool binary_short(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    ptx_operand a = qn__ptx_use_short(e, instr->operands[0], lane);
    ptx_operand b = qn__ptx_use_short(e, instr->operands[1], lane);
    bool first = qn__ptx_is_short(a), second = qn__ptx_is_short(b);
    if (a.kind != PTX_REG) first = first && second && b.kind == PTX_REG;
    switch (instr->op) {
    case IR_AND:
        if (!first && !second) return false;
        a = qn__ptx_low(e, a), b = qn__ptx_low(e, b);
        break;
    case IR_OR:
    case IR_XOR:
    case IR_UDIV:
    case IR_UREM:
    case IR_UMIN:
    case IR_UMAX:
    case IR_MUL:
        if (!first || !second) return false;
        a = qn__ptx_low(e, a), b = qn__ptx_low(e, b);
        break;
    default: return false;
    }
    if (instr->op == IR_MUL)
        a = qn__ptx_op2(e, "mul.wide.u32", PTX_B64, a, b);
    else
        a = qn__ptx_op2(e, int_rows[instr->op].op32, PTX_B32, a, b);
    qn__ptx_define(e, result, lane, a);
    return true;
}

static const ir_value *extended_source(const ir_value *value) {
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    return def && def->op == IR_SEXT && def->operands[0]->type.kind == IR_I32 ? def->operands[0] : NULL;
}

/* An i64 product of i32 numbers. */
static bool product_of_extended(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    if (instr->op != IR_MUL) return false;
    const ir_value *first = extended_source(instr->operands[0]);
    const ir_value *second = extended_source(instr->operands[1]);
    if (!first || !second) return false;
    ptx_operand a = qn__ptx_use(e, first, lane), b = qn__ptx_use(e, second, lane);
    a = qn__ptx_op2(e, "mul.wide.s32", PTX_B64, qn__ptx_in_register(e, a), b);
    qn__ptx_define(e, instr->results[0], lane, a);
    return true;
}

static void binary_int(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    const int_row *row = &int_rows[instr->op];
    unsigned width = qn__ir_bits(result->type);
    /* Only what carries from low to high can do with the low halves (see plan.c). */
    bool low_half = qn__ptx_held_class(e, result) == PTX_B32 && row->extend == RAW;
    bool wide = width == 64 && !low_half;
    if (wide && (binary_short(e, instr, lane) || product_of_extended(e, instr, lane))) return;
    ptx_operand a = extended(e, operand(e, instr, 0, lane, wide), width, row->extend);
    ptx_operand b = extended(e, operand(e, instr, 1, lane, wide), width, row->extend);
    if (width < 32 && (instr->op == IR_UMULHI || instr->op == IR_SMULHI)) {
        a = qn__ptx_op2(e, "mul.lo.s32", PTX_B32, a, b);
        b = qn__ptx_int(PTX_B32, width);
        a = qn__ptx_op2(e, row->extend == SIGN ? "shr.s32" : "shr.u32", PTX_B32, a, b);
    } else if (wide) {
        a = qn__ptx_op2(e, row->op64, PTX_B64, a, b);
    } else {
        uint8_t both = a.extended & b.extended;
        bool logic = instr->op == IR_AND || instr->op == IR_OR || instr->op == IR_XOR;
        a = qn__ptx_op2(e, row->op32, PTX_B32, a, b);
        if (width < 32 && logic) a.extended = both;
    }
    if (width < 32 && row->extend == ZERO) a.extended = PTX_ZERO_EXTENDED;
    if (width < 32 && row->extend == SIGN && instr->op != IR_SDIV) a.extended = PTX_SIGN_EXTENDED;
    qn__ptx_define(e, result, lane, a);
}

static void wide_product(ptx_emitter *e, const ir_instr *instr, const ir_value *source, bool is_signed,
                         uint64_t factor) {
    ptx_operand a = qn__ptx_use(e, source, 0);
    bool high = qn__ptx_class_of(e, instr->results[0]) == PTX_B64;
    ptx_operand b = qn__ptx_int(PTX_B32, factor);
    if (!high && (factor & (factor - 1)) == 0) {
        b = qn__ptx_int(PTX_B32, (uint64_t)__builtin_ctzll(factor));
        a = qn__ptx_op2(e, "shl.b32", PTX_B32, a, b);
    } else if (!high) {
        a = qn__ptx_op2(e, "mul.lo.s32", PTX_B32, a, b);
    } else {
        a = qn__ptx_op2(e, is_signed ? "mul.wide.s32" : "mul.wide.u32", PTX_B64, a, b);
    }
    qn__ptx_define(e, instr->results[0], 0, a);
}

/* Shift amounts count modulo the width; a funnel shift wraps by itself. */
static void shift(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    unsigned width = qn__ir_bits(result->type);
    bool left = instr->op == IR_SHL, arithmetic = instr->op == IR_ASHR;
    bool wide = width == 64 && !(left && qn__ptx_held_class(e, result) == PTX_B32);
    ptx_operand n = operand(e, instr, 1, lane, false);
    ptx_operand zero = qn__ptx_int(PTX_B32, 0), whole = qn__ptx_use_short(e, instr->operands[0], lane);
    bool is_short = whole.kind == PTX_REG && qn__ptx_is_short(whole) && n.kind != PTX_REG && wide;
    if (is_short && left && (n.bits & 63) < 31) {
        ptx_operand factor = qn__ptx_int(PTX_B32, (uint64_t)1 << (n.bits & 63));
        qn__ptx_define(e, result, lane, qn__ptx_op2(e, "mul.wide.u32", PTX_B64, whole, factor));
        return;
    }
    if (is_short && !left && (n.bits & 63) < 32) {
        ptx_operand by = qn__ptx_int(PTX_B32, n.bits & 63);
        qn__ptx_define(e, result, lane, qn__ptx_op2(e, "shr.u32", PTX_B32, whole, by));
        return;
    }
    ptx_operand a = operand(e, instr, 0, lane, wide);
    if (!left) a = extended(e, a, width, arithmetic ? SIGN : ZERO);
    if (n.kind != PTX_REG) {
        n = qn__ptx_int(PTX_B32, n.bits & (width - 1));
        if (width == 64 && !wide && n.bits >= 32) { /* the low half of what went past it */
            qn__ptx_define(e, result, lane, zero);
            return;
        }
    } else if (width == 32 && !arithmetic) {
        a = left ? qn__ptx_op3(e, "shf.l.wrap.b32", PTX_B32, zero, a, n)
                 : qn__ptx_op3(e, "shf.r.wrap.b32", PTX_B32, a, zero, n);
        qn__ptx_define(e, result, lane, a);
        return;
    } else {
        n = qn__ptx_op2(e, "and.b32", PTX_B32, n, qn__ptx_int(PTX_B32, width - 1));
    }
    static const char *const names[2][3] = {{"shl.b32", "shr.u32", "shr.s32"},
                                            {"shl.b64", "shr.u64", "shr.s64"}};
    a = qn__ptx_op2(e, names[wide][left ? 0 : arithmetic ? 2 : 1], wide ? PTX_B64 : PTX_B32, a, n);
    if (width < 32 && !left) a.extended = arithmetic ? PTX_SIGN_EXTENDED : PTX_ZERO_EXTENDED;
    qn__ptx_define(e, result, lane, a);
}

/* Narrow integers are repeated until they fill 32 bits, where a rotation by any amount is theirs, too. */
static void rotate(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    unsigned width = qn__ir_bits(result->type);
    ptx_operand a = qn__ptx_use(e, instr->operands[0], lane), n = operand(e, instr, 1, lane, false);
    if (width < 64) {
        ptx_operand pattern = qn__ptx_int(PTX_B32, width == 8 ? 0x0000 : 0x1010);
        if (width < 32) a = qn__ptx_op3(e, "prmt.b32", PTX_B32, a, a, pattern);
        a = qn__ptx_op3(e, "shf.l.wrap.b32", PTX_B32, a, a, n);
    } else {
        ptx_operand mask = qn__ptx_int(PTX_B32, 63);
        ptx_operand right = qn__ptx_op1(e, "neg.s32", PTX_B32, qn__ptx_in_register(e, n));
        n = qn__ptx_op2(e, "and.b32", PTX_B32, n, mask);
        right = qn__ptx_op2(e, "and.b32", PTX_B32, right, mask);
        ptx_operand high = qn__ptx_op2(e, "shl.b64", PTX_B64, a, n);
        a = qn__ptx_op2(e, "or.b64", PTX_B64, high, qn__ptx_op2(e, "shr.u64", PTX_B64, a, right));
    }
    qn__ptx_define(e, result, lane, a);
}

/* The machine counts in 32 bits whatever is counted. */
static void count_bits(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    unsigned width = qn__ir_bits(result->type);
    bool wide = width == 64;
    ptx_operand a = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[0], lane));
    if (instr->op == IR_CTZ) {
        if (width < 32) a = qn__ptx_op2(e, "or.b32", PTX_B32, a, qn__ptx_int(PTX_B32, (uint64_t)1 << width));
        a = qn__ptx_op1(e, wide ? "brev.b64" : "brev.b32", wide ? PTX_B64 : PTX_B32, a);
        a = qn__ptx_op1(e, wide ? "clz.b64" : "clz.b32", PTX_B32, a);
    } else {
        a = qn__ptx_in_register(e, qn__ptx_zext(e, a, width));
        if (instr->op == IR_POPCOUNT) {
            a = qn__ptx_op1(e, wide ? "popc.b64" : "popc.b32", PTX_B32, a);
        } else {
            a = qn__ptx_op1(e, wide ? "clz.b64" : "clz.b32", PTX_B32, a);
            if (width < 32) a = qn__ptx_op2(e, "sub.s32", PTX_B32, a, qn__ptx_int(PTX_B32, 32 - width));
        }
    }
    if (width < 32) a.extended = PTX_ZERO_EXTENDED | PTX_SIGN_EXTENDED;
    if (qn__ptx_class_of(e, result) == PTX_B64) a = qn__ptx_op1(e, "cvt.u64.u32", PTX_B64, a);
    qn__ptx_define(e, result, lane, a);
}

static void complement(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    static const char *const names[PTX_CLASS_COUNT] = {"not.pred", "not.b16", "not.b32", "not.b64"};
    ptx_class cls = qn__ptx_class_of(e, instr->results[0]);
    ptx_operand a = operand(e, instr, 0, lane, cls == PTX_B64);
    qn__ptx_define(e, instr->results[0], lane, qn__ptx_op1(e, names[cls], cls, qn__ptx_in_register(e, a)));
}

/* ---- bool ---- */

static ptx_operand predicate(ptx_emitter *e, const ir_value *value, unsigned lane) {
    return qn__ptx_in_register(e, qn__ptx_use(e, value, value->type.lanes > 1 ? lane : 0));
}

static void binary_bool(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const char *name = instr->op == IR_AND ? "and.pred" : instr->op == IR_OR ? "or.pred" : "xor.pred";
    ptx_operand a = predicate(e, instr->operands[0], lane), b = predicate(e, instr->operands[1], lane);
    a = qn__ptx_op2(e, name, PTX_PRED, a, b);
    if (instr->op == IR_EQ) a = qn__ptx_op1(e, "not.pred", PTX_PRED, a);
    qn__ptx_define(e, instr->results[0], lane, a);
}

/* ---- comparison ---- */

typedef struct compare_row {
    const char *op32, *op64;
    uint8_t extend;
} compare_row;

static const compare_row compare_rows[IR_OP_COUNT] = {
    [IR_EQ] = {"setp.eq.s32", "setp.eq.s64", ZERO},  [IR_NE] = {"setp.ne.s32", "setp.ne.s64", ZERO},
    [IR_SLT] = {"setp.lt.s32", "setp.lt.s64", SIGN}, [IR_SLE] = {"setp.le.s32", "setp.le.s64", SIGN},
    [IR_ULT] = {"setp.lt.u32", "setp.lt.u64", ZERO}, [IR_ULE] = {"setp.le.u32", "setp.le.u64", ZERO},
};

/* With zeros above, both are as great as their low halves, signed or not. */
static bool compare_short(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    ptx_operand a = qn__ptx_use_short(e, instr->operands[0], lane);
    ptx_operand b = qn__ptx_use_short(e, instr->operands[1], lane);
    if (!qn__ptx_is_short(a) || !qn__ptx_is_short(b)) return false;
    unsigned op = instr->op == IR_SLT ? IR_ULT : instr->op == IR_SLE ? IR_ULE : instr->op;
    a = qn__ptx_low(e, a);
    b = qn__ptx_low(e, b);
    a = qn__ptx_op2(e, compare_rows[op].op32, PTX_PRED, a, b);
    qn__ptx_define(e, instr->results[0], lane, a);
    return true;
}

static void compare(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_type type = instr->operands[0]->type;
    const compare_row *row = &compare_rows[instr->op];
    unsigned width = qn__ir_bits(type);
    if (type.kind == IR_I64 && compare_short(e, instr, lane)) return;
    ptx_operand a = qn__ptx_use(e, instr->operands[0], lane), b = qn__ptx_use(e, instr->operands[1], lane);
    if (width < 32) {
        bool both_signed = a.extended & b.extended & PTX_SIGN_EXTENDED;
        unsigned how = row->extend == ZERO && both_signed && instr->op <= IR_NE ? SIGN : row->extend;
        a = extended(e, a, width, how);
        b = extended(e, b, width, how);
    }
    if (a.kind == PTX_SYMBOL) a = qn__ptx_in_register(e, a); /* an address, which may only come second */
    bool wide = width == 64 && (a.cls == PTX_B64 || b.cls == PTX_B64);
    a = qn__ptx_op2(e, wide ? row->op64 : row->op32, PTX_PRED, a, b);
    qn__ptx_define(e, instr->results[0], lane, a);
}

static const char *const float_compare[][3] = {{"setp.eq.f16", "setp.eq.f32", "setp.eq.f64"},
                                               {"setp.neu.f16", "setp.neu.f32", "setp.neu.f64"},
                                               {"setp.lt.f16", "setp.lt.f32", "setp.lt.f64"},
                                               {"setp.le.f16", "setp.le.f32", "setp.le.f64"}};

/* Half instructions take registers only. */
static ptx_operand float_operand(ptx_emitter *e, const ir_instr *instr, uint32_t i, unsigned lane) {
    ptx_operand a = qn__ptx_use(e, instr->operands[i], lane);
    return a.cls == PTX_B16 ? qn__ptx_in_register(e, a) : a;
}

static void compare_float(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const char *name = float_compare[instr->op - IR_FEQ][instr->operands[0]->type.kind - IR_F16];
    ptx_operand a = float_operand(e, instr, 0, lane), b = float_operand(e, instr, 1, lane);
    qn__ptx_define(e, instr->results[0], lane, qn__ptx_op2(e, name, PTX_PRED, a, b));
}

/* ---- floats ---- */

typedef struct float_row {
    const char *f16, *f32, *f64;
    const char *fast32; /* with IR_FAST */
} float_row;

/* Without a name for f16: computed in f32 and rounded again, which is exact for these (f32 has more than twice
   the digits). Names without f32 are for the ops that follow. */
static const float_row float_rows[IR_OP_COUNT] = {
    [IR_FADD] = {"add.rn.f16", "add.rn.f32", "add.rn.f64", NULL},
    [IR_FSUB] = {"sub.rn.f16", "sub.rn.f32", "sub.rn.f64", NULL},
    [IR_FMUL] = {"mul.rn.f16", "mul.rn.f32", "mul.rn.f64", NULL},
    [IR_FDIV] = {NULL, "div.rn.f32", "div.rn.f64", "div.full.f32"},
    [IR_FMA] = {"fma.rn.f16", "fma.rn.f32", "fma.rn.f64", NULL},
    [IR_FSQRT] = {NULL, "sqrt.rn.f32", "sqrt.rn.f64", "sqrt.approx.f32"},
    [IR_FMIN] = {NULL, "min.f32", "min.f64", NULL},
    [IR_FMAX] = {NULL, "max.f32", "max.f64", NULL},
    [IR_FFLOOR] = {"cvt.rmi.f16.f16", "cvt.rmi.f32.f32", "cvt.rmi.f64.f64", NULL},
    [IR_FCEIL] = {"cvt.rpi.f16.f16", "cvt.rpi.f32.f32", "cvt.rpi.f64.f64", NULL},
    [IR_FTRUNC] = {"cvt.rzi.f16.f16", "cvt.rzi.f32.f32", "cvt.rzi.f64.f64", NULL},
    [IR_FRINT] = {"cvt.rni.f16.f16", "cvt.rni.f32.f32", "cvt.rni.f64.f64", NULL},
    [IR_NATIVE_EXP2] = {NULL, "ex2.approx.ftz.f32", NULL, NULL},
    [IR_NATIVE_LOG2] = {NULL, "lg2.approx.f32", NULL, NULL},
    [IR_NATIVE_SIN] = {NULL, "sin.approx.f32", NULL, NULL},
    [IR_NATIVE_COS] = {NULL, "cos.approx.f32", NULL, NULL},
    [IR_NATIVE_RECIP] = {NULL, "rcp.approx.ftz.f32", NULL, NULL},
    [IR_NATIVE_RSQRT] = {NULL, "rsqrt.approx.f32", NULL, NULL},
    [IR_NATIVE_SQRT] = {NULL, "sqrt.approx.f32", NULL, NULL},
    [IR_NATIVE_DIV] = {NULL, "div.approx.f32", NULL, NULL},
};

static void arith_float(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    const float_row *row = &float_rows[instr->op];
    ptx_operand args[3];
    const unsigned kind = result->type.kind;
    if (instr->op == IR_FDIV && qn__ptx_divide(e, instr, lane)) return;
    const char *name = kind == IR_F16 ? row->f16 : kind == IR_F32 ? row->f32 : row->f64;
    if (kind == IR_F32 && (instr->flags & IR_FAST) && row->fast32) name = row->fast32;
    bool through_f32 = kind == IR_F16 && !name;
    if (through_f32) name = row->f32;
    if (!name) qn__ptx_refuse(e, instr);
    if (!name) name = "";
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        args[i] = float_operand(e, instr, i, lane);
        if (through_f32) args[i] = qn__ptx_op1(e, "cvt.f32.f16", PTX_B32, args[i]);
    }
    ptx_class cls = kind == IR_F64 ? PTX_B64 : kind == IR_F16 && !through_f32 ? PTX_B16 : PTX_B32;
    ptx_operand r = instr->num_operands == 1   ? qn__ptx_op1(e, name, cls, args[0])
                    : instr->num_operands == 2 ? qn__ptx_op2(e, name, cls, args[0], args[1])
                                               : qn__ptx_op3(e, name, cls, args[0], args[1], args[2]);
    if (through_f32) r = qn__ptx_op1(e, "cvt.rn.f16.f32", PTX_B16, r);
    qn__ptx_define(e, result, lane, r);
}

/* neg and abs may change a NaN; where only arithmetic looks, that is no matter, and they become modifiers. */
static void sign_float(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    const unsigned kind = result->type.kind, width = qn__ir_bits(result->type);
    bool negates = instr->op == IR_FNEG, exact = e->flags[result->id] & PTX_USED_BITS;
    ptx_operand a = float_operand(e, instr, 0, lane);
    ptx_class cls = qn__ptx_class_of(e, result);
    uint64_t sign = (uint64_t)1 << (width - 1);
    if (kind != IR_F16 && !exact) {
        static const char *const names[2][2] = {{"abs.f32", "abs.f64"}, {"neg.f32", "neg.f64"}};
        a = qn__ptx_op1(e, names[negates][kind == IR_F64], cls, a);
    } else {
        static const char *const names[2][PTX_CLASS_COUNT] = {{NULL, "and.b16", "and.b32", "and.b64"},
                                                              {NULL, "xor.b16", "xor.b32", "xor.b64"}};
        a = qn__ptx_in_register(e, a);
        a = qn__ptx_op2(e, names[negates][cls], cls, a, qn__ptx_int(cls, negates ? sign : sign - 1));
    }
    qn__ptx_define(e, result, lane, a);
}

/* PTX takes the sign from the first operand. */
static void copysign_float(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0];
    ptx_operand a = float_operand(e, instr, 0, lane), b = float_operand(e, instr, 1, lane);
    if (result->type.kind == IR_F16) {
        a = qn__ptx_op2(e, "and.b16", PTX_B16, a, qn__ptx_int(PTX_B16, 0x7fff));
        b = qn__ptx_op2(e, "and.b16", PTX_B16, b, qn__ptx_int(PTX_B16, 0x8000));
        a = qn__ptx_op2(e, "or.b16", PTX_B16, a, b);
    } else if (result->type.kind == IR_F64) {
        a = qn__ptx_op2(e, "copysign.f64", PTX_B64, b, a);
    } else {
        a = qn__ptx_op2(e, "copysign.f32", PTX_B32, b, a);
    }
    qn__ptx_define(e, result, lane, a);
}

/* ---- choice ---- */

static bool is_nan_test(const ir_value *test, const ir_value *of) {
    const ir_instr *def = test->def;
    return def && def->op == IR_FNE && def->operands[0] == of && def->operands[1] == of;
}

/* a != a || b != b ? a + b : fmax(a, b), whose NaN is what every instruction gives: the fmax; NULL: it is no such choice. */
static const ir_instr *find_nan_extreme(const ptx_emitter *e, const ir_instr *choice) {
    const ir_instr *test = choice->operands[0]->def, *sum = choice->operands[1]->def,
                   *extreme = choice->operands[2]->def;
    if (e->arch < 80 || choice->results[0]->type.kind != IR_F32 || !test || !sum || !extreme) return NULL;
    if (test->op != IR_OR || sum->op != IR_FADD || (extreme->op != IR_FMAX && extreme->op != IR_FMIN))
        return NULL;
    const ir_value *a = extreme->operands[0], *b = extreme->operands[1];
    for (int i = 0; i < 2; i++, a = extreme->operands[1], b = extreme->operands[0])
        if (is_nan_test(test->operands[0], a) && is_nan_test(test->operands[1], b) &&
            ((sum->operands[0] == a && sum->operands[1] == b) ||
             (sum->operands[0] == b && sum->operands[1] == a)))
            return extreme;
    return NULL;
}

static void select(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    static const char *const names[PTX_CLASS_COUNT] = {NULL, "selp.b16", "selp.b32", "selp.b64"};
    const ir_value *result = instr->results[0];
    ptx_class cls = qn__ptx_class_of(e, result);
    const ir_instr *extreme = find_nan_extreme(e, instr);
    if (extreme) {
        ptx_operand a = float_operand(e, extreme, 0, lane), b = float_operand(e, extreme, 1, lane);
        qn__ptx_require(e, 80, 70);
        qn__ptx_define(e, result, lane,
                       qn__ptx_op2(e, extreme->op == IR_FMAX ? "max.NaN.f32" : "min.NaN.f32", cls, a, b));
        return;
    }
    const char *clamp = e->flags[result->id] & PTX_USED_BITS ? NULL : qn__ptx_clamp(e, instr);
    if (clamp) {
        ptx_operand x = float_operand(e, instr, 1, lane), y = float_operand(e, instr, 2, lane);
        if (x.kind != PTX_REG) {
            ptx_operand limit = x;
            x = y, y = limit;
        }
        if (strstr(clamp, "NaN")) qn__ptx_require(e, 80, 70);
        qn__ptx_define(e, result, lane, qn__ptx_op2(e, clamp, cls, x, y));
        return;
    }
    ptx_operand c = predicate(e, instr->operands[0], lane);
    ptx_operand a = operand(e, instr, 1, lane, cls == PTX_B64),
                b = operand(e, instr, 2, lane, cls == PTX_B64);
    if (cls == PTX_PRED) {
        a = qn__ptx_op2(e, "and.pred", cls, qn__ptx_in_register(e, a), c);
        c = qn__ptx_op1(e, "not.pred", cls, c);
        b = qn__ptx_op2(e, "and.pred", cls, qn__ptx_in_register(e, b), c);
        qn__ptx_define(e, result, lane, qn__ptx_op2(e, "or.pred", cls, a, b));
        return;
    }
    if (a.kind == PTX_SYMBOL) a = qn__ptx_in_register(e, a);
    if (b.kind == PTX_SYMBOL) b = qn__ptx_in_register(e, b);
    ptx_operand r = qn__ptx_op3(e, names[cls], cls, a, b, c);
    if (a.kind == PTX_REG && b.kind == PTX_REG) r.extended = a.extended & b.extended;
    qn__ptx_define(e, result, lane, r);
}

/* dp4a, from sm_61 on; before, the passes have written it out. */
static void dot4(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const char *name = instr->op == IR_UDOT4   ? "dp4a.u32.u32"
                       : instr->op == IR_SDOT4 ? "dp4a.s32.s32"
                                               : "dp4a.s32.u32";
    ptx_operand a = qn__ptx_use(e, instr->operands[0], lane), b = qn__ptx_use(e, instr->operands[1], lane);
    ptx_operand c = qn__ptx_use(e, instr->operands[2], lane);
    qn__ptx_require(e, 61, 50);
    qn__ptx_define(e, instr->results[0], lane, qn__ptx_op3(e, name, PTX_B32, a, b, c));
}

/* ---- all ---- */

typedef void lane_handler(ptx_emitter *e, const ir_instr *instr, unsigned lane);

static lane_handler *pick(const ir_instr *instr) {
    bool is_bool = instr->num_operands && instr->operands[0]->type.kind == IR_BOOL;
    switch (instr->op) {
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_EQ:
    case IR_NE:
        if (is_bool) return binary_bool;
        return compare_rows[instr->op].op32 ? compare : binary_int;
    case IR_NOT: return complement;
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR: return shift;
    case IR_ROTL: return rotate;
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT: return count_bits;
    case IR_FNEG:
    case IR_FABS: return sign_float;
    case IR_FCOPYSIGN: return copysign_float;
    case IR_SELECT: return select;
    case IR_UDOT4:
    case IR_SDOT4:
    case IR_SUDOT4: return dot4;
    default: break;
    }
    if (compare_rows[instr->op].op32) return compare;
    if (int_rows[instr->op].op32) return binary_int;
    if (float_rows[instr->op].f32) return arith_float;
    return instr->op >= IR_FEQ && instr->op <= IR_FLE ? compare_float : NULL;
}

bool qn__ptx_arith(ptx_emitter *e, const ir_instr *instr) {
    lane_handler *handler = pick(instr);
    const ir_value *source;
    bool is_signed;
    uint64_t factor;
    if (!handler) return false;
    if (qn__ptx_is_wide_product(instr, &source, &is_signed, &factor)) {
        wide_product(e, instr, source, is_signed, factor);
        return true;
    }
    for (unsigned lane = 0; lane < instr->results[0]->type.lanes; lane++) handler(e, instr, lane);
    return true;
}

ptx_operand qn__ptx_combine(ptx_emitter *e, ir_combine combine, ir_kind kind, ptx_operand a, ptx_operand b) {
    const ir_op op = qn__ir_combine_op(combine);
    if (op == IR_OP_COUNT) return b;
    if (kind >= IR_F16) {
        const float_row *row = &float_rows[op];
        if (kind == IR_F64) return qn__ptx_op2(e, row->f64, PTX_B64, a, b);
        if (kind == IR_F32) return qn__ptx_op2(e, row->f32, PTX_B32, a, b);
        if (row->f16) return qn__ptx_op2(e, row->f16, PTX_B16, a, b);
        a = qn__ptx_op1(e, "cvt.f32.f16", PTX_B32, a);
        b = qn__ptx_op1(e, "cvt.f32.f16", PTX_B32, b);
        return qn__ptx_op1(e, "cvt.rn.f16.f32", PTX_B16, qn__ptx_op2(e, row->f32, PTX_B32, a, b));
    }
    const int_row *row = &int_rows[op];
    unsigned width = qn__ir_bits(qn__ir_type(kind, 1));
    if (kind == IR_I64) return qn__ptx_op2(e, row->op64, PTX_B64, a, b);
    a = extended(e, a, width, row->extend);
    return qn__ptx_op2(e, row->op32, PTX_B32, a, extended(e, b, width, row->extend));
}
