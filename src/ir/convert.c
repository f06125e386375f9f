/* What the conversion ops make of one lane. */
#include "ir/fold.h"

static const qn__float_format *format_of(ir_kind kind) {
    switch (kind) {
    case IR_F16: return &qn__float_16;
    case IR_F32: return &qn__float_32;
    default: return &qn__float_64;
    }
}

static unsigned width(ir_kind kind) { return qn__ir_bits(qn__ir_type(kind, 1)); }

static uint64_t mask(ir_kind kind) { return UINT64_MAX >> (64 - width(kind)); }

static uint64_t sign_extended(uint64_t bits, ir_kind kind) {
    const uint64_t sign = (uint64_t)1 << (width(kind) - 1);
    return ((bits & mask(kind)) ^ sign) - sign;
}

uint64_t qn__fold_convert(ir_op op, ir_kind from, ir_kind to, ir_rounding how, uint64_t bits) {
    const qn__rounding rounding = (qn__rounding)how;
    switch (op) {
    case IR_TRUNC:
    case IR_ZEXT: return bits & mask(from) & mask(to);
    case IR_SEXT: return sign_extended(bits, from) & mask(to);
    case IR_FCONVERT: return qn__float_convert(format_of(from), format_of(to), rounding, bits);
    case IR_BF16_TO_F32: return qn__float_convert(&qn__float_bf16, &qn__float_32, rounding, bits);
    case IR_F32_TO_BF16: return qn__float_convert(&qn__float_32, &qn__float_bf16, rounding, bits);
    case IR_E4M3_TO_F32: return qn__float_convert(&qn__float_e4m3, &qn__float_32, rounding, bits);
    case IR_F32_TO_E4M3: return qn__float_convert(&qn__float_32, &qn__float_e4m3, rounding, bits);
    case IR_F32_TO_E4M3_SAT:
        return qn__float_convert_saturated(&qn__float_32, &qn__float_e4m3, rounding, bits);
    case IR_E5M2_TO_F32: return qn__float_convert(&qn__float_e5m2, &qn__float_32, rounding, bits);
    case IR_F32_TO_E5M2: return qn__float_convert(&qn__float_32, &qn__float_e5m2, rounding, bits);
    case IR_F32_TO_E5M2_SAT:
        return qn__float_convert_saturated(&qn__float_32, &qn__float_e5m2, rounding, bits);
    case IR_F2S:
    case IR_F2U: return qn__float_to_integer(format_of(from), width(to), op == IR_F2S, rounding, bits);
    case IR_S2F:
    case IR_U2F: return qn__float_from_integer(width(from), op == IR_S2F, format_of(to), rounding, bits);
    default: return bits;
    }
}
