/* Square roots and quotients for SPIR-V. Vulkan allows Sqrt and FDiv errors of a few ulp of their type (specification,
   "Precision and Operation of SPIR-V Instructions"). Those of f32 are corrected by the residual, which fma gives
   exactly (Markstein, "IA-64 and Elementary Functions", ch. 8 and 9); halves are computed in f32 and rounded once
   more, which is correct as 24 >= 2 * 11 + 2. f64 is left to the driver. */
#include <math.h>

#include "emit/spirv/internal.h"

static uint32_t times(spv *e, uint32_t t, uint32_t a, uint32_t b) {
    uint32_t id = SPV(e, SP_F_MUL, t, a, b);
    qn__spv_decorate(e, id, SP_NO_CONTRACTION);
    return id;
}

static uint32_t fused(spv *e, uint32_t t, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t id = SPV_GLSL(e, GLSL_FMA, t, a, b, c);
    qn__spv_decorate(e, id, SP_NO_CONTRACTION);
    return id;
}

/* Whether the driver's roots and quotients stay as they are: one that computes on the processor, where they are right;
   or for -qn-tune. */
static bool leaves_to_driver(const spv *e) {
    return e->options->device_lacks & (QN__NO_FMA | QN__LOOSE_DIVISION);
}

static uint32_t booleans(spv *e, ir_type type) { return qn__spv_vector(e, qn__spv_bool(e), type.lanes); }

/* Small numbers are scaled up, so that the residual is not denormal. */
static uint32_t root_f32(spv *e, ir_type type, uint32_t a) {
    uint32_t t = qn__spv_type(e, type), boolean = booleans(e, type);
    uint32_t small = SPV(e, SP_F_LESS, boolean, a, qn__spv_float(e, type, 0x1p-96));
    uint32_t x = SPV(e, SP_SELECT, t, small, times(e, t, a, qn__spv_float(e, type, 0x1p64)), a);
    uint32_t y = SPV_GLSL(e, GLSL_INVERSE_SQRT, t, x), s = times(e, t, x, y);
    uint32_t half = times(e, t, y, qn__spv_float(e, type, 0.5));
    s = fused(e, t, half, fused(e, t, SPV(e, SP_F_NEGATE, t, s), s, x), s);
    s = SPV(e, SP_SELECT, t, small, times(e, t, s, qn__spv_float(e, type, 0x1p-32)), s);
    uint32_t zero = SPV(e, SP_F_EQUAL, boolean, x, qn__spv_float(e, type, 0)); /* x is never denormal */
    uint32_t infinite = SPV(e, SP_F_EQUAL, boolean, a, qn__spv_float(e, type, HUGE_VAL));
    return SPV(e, SP_SELECT, t, SPV(e, SP_LOGICAL_OR, boolean, zero, infinite), a, s);
}

/* Where denormal numbers are kept, they are scaled up: for drivers they may be zero here all the same. */
uint32_t qn__spv_rsqrt(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    uint32_t a = qn__spv_use(e, instr->operands[0]), t = qn__spv_type(e, type);
    bool kept = e->options->device_lacks & QN__HAS_DENORMALS && type.kind == IR_F32;
    if (!kept || instr->flags & IR_FAST) return SPV_GLSL(e, GLSL_INVERSE_SQRT, t, a);
    uint32_t one = qn__spv_float(e, type, 1);
    uint32_t small = SPV(e, SP_F_LESS, booleans(e, type), a, qn__spv_float(e, type, 0x1p-96));
    uint32_t up = SPV(e, SP_SELECT, t, small, qn__spv_float(e, type, 0x1p64), one);
    uint32_t back = SPV(e, SP_SELECT, t, small, qn__spv_float(e, type, 0x1p32), one);
    return times(e, t, SPV_GLSL(e, GLSL_INVERSE_SQRT, t, times(e, t, a, up)), back);
}

uint32_t qn__spv_sqrt(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type, wide = {IR_F32, type.lanes, 0};
    uint32_t a = qn__spv_use(e, instr->operands[0]), t = qn__spv_type(e, type);
    if (type.kind == IR_F16) {
        uint32_t w = qn__spv_type(e, wide);
        return SPV(e, SP_F_CONVERT, t, SPV_GLSL(e, GLSL_SQRT, w, SPV(e, SP_F_CONVERT, w, a)));
    }
    if (type.kind == IR_F32 && !leaves_to_driver(e) && !(instr->flags & IR_FAST)) return root_f32(e, type, a);
    return SPV_GLSL(e, GLSL_SQRT, t, a);
}

/* ---- quotients ---- */

/* Whether the exponents are in [-60, 60): then no part of the correction overflows or is denormal. */
static uint32_t is_ordinary(spv *e, ir_type type, uint32_t value) {
    enum { LEAST = 127 - 60, COUNT = 120 };
    ir_type words = qn__ir_type(IR_I32, type.lanes);
    uint32_t w = qn__spv_type(e, words), bits = SPV(e, SP_BITCAST, w, value);
    uint32_t size = SPV(e, SP_SHIFT_LEFT, w, bits, qn__spv_int(e, words, 1)); /* without the sign */
    uint32_t distance = SPV(e, SP_I_SUB, w, size, qn__spv_int(e, words, (uint64_t)LEAST << 24));
    return SPV(e, SP_U_LESS, booleans(e, type), distance, qn__spv_int(e, words, (uint64_t)COUNT << 24));
}

static uint32_t divide(spv *e, uint32_t t, uint32_t a, uint32_t b) {
    uint32_t id = SPV(e, SP_F_DIV, t, a, b);
    qn__spv_decorate(e, id, SP_NO_CONTRACTION);
    return id;
}

/* Vulkan bounds the error of FDiv for divisors up to 2^126; the inverse of a larger one is denormal, and zero to a
   driver that flushes. Such quotients are taken of both numbers scaled down. */
static uint32_t divide_any(spv *e, ir_type type, uint32_t a, uint32_t b) {
    uint32_t t = qn__spv_type(e, type), boolean = booleans(e, type);
    uint32_t large =
        SPV(e, SP_F_LESS, boolean, qn__spv_float(e, type, 0x1p96), SPV_GLSL(e, GLSL_F_ABS, t, b));
    uint32_t down = SPV(e, SP_SELECT, t, large, qn__spv_float(e, type, 0x1p-32), qn__spv_float(e, type, 1));
    return divide(e, t, times(e, t, a, down), times(e, t, b, down));
}

static uint32_t refined(spv *e, uint32_t t, uint32_t q, uint32_t inverse, uint32_t a, uint32_t b) {
    uint32_t rest = fused(e, t, SPV(e, SP_F_NEGATE, t, q), b, a);
    return fused(e, t, rest, inverse, q);
}

/* Off by a few ulp, the driver's inverse is its own correction; what is not ordinary stays as it is. */
static uint32_t inverse_f32(spv *e, ir_type type, uint32_t one, uint32_t b, bool is_moderate) {
    uint32_t t = qn__spv_type(e, type), r = divide(e, t, one, b), better = refined(e, t, r, r, one, b);
    return is_moderate ? better : SPV(e, SP_SELECT, t, is_ordinary(e, type, b), better, r);
}

/* Where one of the lanes is not ordinary: the driver's quotient, corrected in those that are. */
static uint32_t slow_quotient(spv *e, ir_type type, uint32_t a, uint32_t b, uint32_t ordinary) {
    uint32_t t = qn__spv_type(e, type), q = divide_any(e, type, a, b);
    if (type.lanes == 1) return q;
    uint32_t inverse = divide(e, t, qn__spv_float(e, type, 1), b);
    return SPV(e, SP_SELECT, t, ordinary, refined(e, t, q, inverse, a, b), q);
}

/* Of ordinary numbers one inverse makes a quotient and its correction; others, which are rare, leave that way. */
static uint32_t quotient_f32(spv *e, ir_type type, uint32_t a, uint32_t b) {
    uint32_t t = qn__spv_type(e, type), quick = qn__spv_id(e), slow = qn__spv_id(e), merge = qn__spv_id(e);
    uint32_t ordinary = is_ordinary(e, type, b), all;
    all = ordinary = SPV(e, SP_LOGICAL_AND, booleans(e, type), ordinary, is_ordinary(e, type, a));
    if (type.lanes > 1) all = SPV(e, SP_ALL, qn__spv_bool(e), ordinary);
    SPV_DO(e, SP_SELECTION_MERGE, merge, SP_DONT_FLATTEN);
    SPV_DO(e, SP_BRANCH_CONDITIONAL, all, quick, slow);
    qn__spv_begin_block(e, quick);
    uint32_t inverse = divide(e, t, qn__spv_float(e, type, 1), b);
    uint32_t good = refined(e, t, times(e, t, a, inverse), inverse, a, b);
    SPV_DO(e, SP_BRANCH, merge);
    qn__spv_begin_block(e, slow);
    uint32_t other = slow_quotient(e, type, a, b, ordinary);
    SPV_DO(e, SP_BRANCH, merge);
    qn__spv_begin_block(e, merge);
    return SPV(e, SP_PHI, t, good, quick, other, slow);
}

uint32_t qn__spv_quotient(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type, wide = {IR_F32, type.lanes, 0};
    uint32_t t = qn__spv_type(e, type), w = type.kind == IR_F16 ? qn__spv_type(e, wide) : t;
    uint32_t a = qn__spv_hide_zero(e, instr->operands[0]), b = qn__spv_hide_zero(e, instr->operands[1]);
    bool plain = leaves_to_driver(e) || type.kind == IR_F64 || instr->flags & IR_FAST;
    bool is_inverse = type.kind == IR_F32 && qn__ir_is_splat(instr->operands[0], 0x3f800000);
    if (type.kind == IR_F16) a = SPV(e, SP_F_CONVERT, w, a), b = SPV(e, SP_F_CONVERT, w, b);
    uint32_t q = plain        ? SPV(e, SP_F_DIV, w, a, b)
                 : is_inverse ? inverse_f32(e, wide, a, b, qn__is_moderate(instr->operands[1]))
                              : quotient_f32(e, wide, a, b);
    if (plain && !(instr->flags & IR_FAST)) qn__spv_decorate(e, q, SP_NO_CONTRACTION);
    return type.kind == IR_F16 ? SPV(e, SP_F_CONVERT, t, q) : q;
}
