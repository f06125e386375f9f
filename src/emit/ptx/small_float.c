/* Conversions of small floats, two lanes at once, as the instructions are; those that these cannot do the passes have
   written out. Vectors of them are made as the words that memory and matrix instructions take. */
#include "emit/ptx/internal.h"

enum { MOST_WORDS = 8, MOST_PAIRS = 8 };

static bool is_word(const ir_value *value, unsigned each) { return value->type.lanes % each == 0; }

/* Lanes `lane` and the next one as f32, the second 0 where there is none. */
static void use_pair(ptx_emitter *e, const ir_value *value, unsigned lane, ptx_operand pair[2]) {
    pair[0] = qn__ptx_in_register(e, qn__ptx_use(e, value, lane));
    pair[1] = lane + 1 < value->type.lanes ? qn__ptx_use(e, value, lane + 1)
                                           : (ptx_operand){.kind = PTX_FLOAT, .cls = PTX_B32};
    pair[1] = qn__ptx_in_register(e, pair[1]);
}

/* The lanes from `first` on that lie in a word; above them are zeros. */
static void define_parts(ptx_emitter *e, const ir_value *result, unsigned first, ptx_operand word) {
    const unsigned width = qn__ir_bits(result->type), left = result->type.lanes - first,
                   count = left < 32 / width ? left : 32 / width;
    for (unsigned k = 0; k < count; k++) {
        ptx_operand part = word;
        if (k) part = qn__ptx_op2(e, "shr.u32", PTX_B32, word, qn__ptx_int(PTX_B32, k * width));
        part.extended = k + 1 == count ? PTX_ZERO_EXTENDED : 0;
        qn__ptx_define(e, result, first + k, part);
    }
}

/* ---- bf16 ---- */

static void to_bf16(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const char *rounding = instr->attr.rounding == IR_ROUND_ZERO ? "rz" : "rn";
    ptx_operand words[MOST_WORDS], pair[2];
    qn__ptx_require(e, 80, 70);
    for (unsigned lane = 0; lane < result->type.lanes; lane += 2) {
        use_pair(e, instr->operands[0], lane, pair);
        ptx_operand word = words[lane / 2] = qn__ptx_new(e, PTX_B32);
        qn__ptx(e, "cvt.~.bf16x2.f32 =, $, $;", rounding, word, pair[1], pair[0]);
        define_parts(e, result, lane, word);
    }
    if (is_word(result, 2)) qn__ptx_keep_words(e, result, words, result->type.lanes / 2);
}

static void from_bf16(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *source = instr->operands[0];
    const ptx_operand *words = e->words[source->id];
    for (unsigned lane = 0; lane < source->type.lanes; lane++) {
        ptx_operand bits = words ? words[lane / 2] : qn__ptx_use(e, source, lane);
        if (words && lane % 2)
            bits = qn__ptx_op2(e, "and.b32", PTX_B32, bits, qn__ptx_int(PTX_B32, 0xffff0000));
        else
            bits = qn__ptx_op2(e, "shl.b32", PTX_B32, bits, qn__ptx_int(PTX_B32, 16));
        qn__ptx_define(e, instr->results[0], lane, bits);
    }
}

/* ---- 8 bits ---- */

static const char *f8_name(unsigned op) {
    return op == IR_E4M3_TO_F32 || op == IR_F32_TO_E4M3_SAT ? "e4m3x2" : "e5m2x2";
}

/* sm_89 got them later than sm_90. */
static void require_f8(ptx_emitter *e) {
    const bool is_hopper = e->arch >= 90;
    qn__ptx_require(e, is_hopper ? 90 : 89, is_hopper ? 78 : 81);
}

static void to_f8(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const unsigned lanes = result->type.lanes;
    ptx_operand pairs[MOST_PAIRS + 1], words[MOST_WORDS], values[2];
    require_f8(e);
    for (unsigned lane = 0; lane < lanes; lane += 2) {
        use_pair(e, instr->operands[0], lane, values);
        pairs[lane / 2] = qn__ptx_new(e, PTX_B16);
        qn__ptx(e, "cvt.rn.satfinite.~.f32 =, $, $;", f8_name(instr->op), pairs[lane / 2], values[1],
                values[0]);
    }
    for (unsigned lane = 0; lane < lanes; lane += 4) {
        ptx_operand *pair = &pairs[lane / 2];
        ptx_operand word = words[lane / 4] = qn__ptx_new(e, PTX_B32);
        if (lane + 2 < lanes)
            qn__ptx(e, "mov.b32 =, {$, $};", word, pair[0], pair[1]);
        else
            qn__ptx(e, "cvt.u32.u16 =, $;", word, pair[0]);
        define_parts(e, result, lane, word);
    }
    if (is_word(result, 4)) qn__ptx_keep_words(e, result, words, lanes / 4);
}

/* Two bytes in a register of 16 bits. */
static ptx_operand byte_pair(ptx_emitter *e, const ir_value *source, unsigned lane) {
    const ptx_operand *words = e->words[source->id];
    if (!words) return qn__ptx_op1(e, "cvt.u16.u32", PTX_B16, qn__ptx_byte_pair(e, source, lane));
    ptx_operand low = qn__ptx_new(e, PTX_B16), high = qn__ptx_new(e, PTX_B16);
    qn__ptx(e, "mov.b32 {=, =}, $;", low, high, words[lane / 4]);
    return lane % 4 ? high : low;
}

/* By way of f16, which has all of their numbers. */
static void from_f8(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *source = instr->operands[0], *result = instr->results[0];
    require_f8(e);
    for (unsigned lane = 0; lane < result->type.lanes; lane += 2) {
        const ptx_operand pair = byte_pair(e, source, lane);
        ptx_operand halves = qn__ptx_new(e, PTX_B32);
        ptx_operand low = qn__ptx_new(e, PTX_B16), high = qn__ptx_new(e, PTX_B16);
        qn__ptx(e, "cvt.rn.f16x2.~ =, $;", f8_name(instr->op), halves, pair);
        qn__ptx(e, "mov.b32 {=, =}, $;", low, high, halves);
        qn__ptx_define(e, result, lane, qn__ptx_op1(e, "cvt.f32.f16", PTX_B32, low));
        if (lane + 1 < result->type.lanes)
            qn__ptx_define(e, result, lane + 1, qn__ptx_op1(e, "cvt.f32.f16", PTX_B32, high));
    }
}

bool qn__ptx_small_float(ptx_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_BF16_TO_F32: from_bf16(e, instr); return true;
    case IR_F32_TO_BF16: to_bf16(e, instr); return true;
    case IR_E4M3_TO_F32:
    case IR_E5M2_TO_F32: from_f8(e, instr); return true;
    case IR_F32_TO_E4M3_SAT:
    case IR_F32_TO_E5M2_SAT: to_f8(e, instr); return true;
    default: return false;
    }
}
