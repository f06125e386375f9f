/* Square roots for SPIR-V, and quotients of halves. Vulkan allows Sqrt and FDiv errors of a few ulp of their type
   (specification, "Precision and Operation of SPIR-V Instructions"). f32 roots are corrected by the residual, which
   fma gives exactly (Markstein, "IA-64 and Elementary Functions", ch. 9); halves are computed in f32 and rounded
   once more. f64 is left to the driver. */
#include <math.h>

#include "emit/spirv_internal.h"

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
    bool exact = e->options->device_lacks & QN__NO_FMA; /* computes on the processor */
    if (type.kind == IR_F16) {
        uint32_t w = qn__spv_type(e, wide);
        return SPV(e, SP_F_CONVERT, t, SPV_GLSL(e, GLSL_SQRT, w, SPV(e, SP_F_CONVERT, w, a)));
    }
    if (type.kind == IR_F32 && !exact && !(instr->flags & IR_FAST)) return root_f32(e, type, a);
    return SPV_GLSL(e, GLSL_SQRT, t, a);
}

/* The quotient in f32, to half an ulp: rounded again to f16 it is correct, as 24 >= 2 * 11 + 2. */
static uint32_t quotient_f32(spv *e, ir_type type, uint32_t a, uint32_t b) {
    uint32_t t = qn__spv_type(e, type), boolean = booleans(e, type);
    uint32_t inverse = SPV(e, SP_F_DIV, t, qn__spv_float(e, type, 1), b), q = times(e, t, a, inverse);
    uint32_t rest = fused(e, t, SPV(e, SP_F_NEGATE, t, q), b, a);
    uint32_t size = SPV_GLSL(e, GLSL_F_ABS, t, rest);
    uint32_t finite = SPV(e, SP_F_LESS, boolean, size, qn__spv_float(e, type, HUGE_VAL));
    uint32_t some = SPV(e, SP_F_UNORDERED_NOT_EQUAL, boolean, rest, qn__spv_float(e, type, 0));
    uint32_t corrects = SPV(e, SP_LOGICAL_AND, boolean, finite, some);
    return SPV(e, SP_SELECT, t, corrects, fused(e, t, rest, inverse, q), q);
}

uint32_t qn__spv_half_quotient(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type, wide = {IR_F32, type.lanes, 0};
    uint32_t t = qn__spv_type(e, type), w = qn__spv_type(e, wide);
    uint32_t a = SPV(e, SP_F_CONVERT, w, qn__spv_use(e, instr->operands[0]));
    uint32_t b = SPV(e, SP_F_CONVERT, w, qn__spv_use(e, instr->operands[1])), q;
    if (e->options->device_lacks & QN__NO_FMA || instr->flags & IR_FAST)
        q = SPV(e, SP_F_DIV, w, a, b);
    else
        q = quotient_f32(e, wide, a, b);
    return SPV(e, SP_F_CONVERT, t, q);
}
