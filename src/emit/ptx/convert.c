/* Conversions and bit casts of the PTX target. cvt rounds as told and clamps to 32 and 64 bits by itself; narrow
   integers are clamped after, and NaN is made 0 where cvt would not. */
#include "emit/ptx/internal.h"

static const char *const roundings[] = {"rn", "rz", "rp", "rm"};
static const char *const integer_roundings[] = {"rni", "rzi", "rpi", "rmi"};

static const char *float_name(unsigned kind) {
    return kind == IR_F16 ? "f16" : kind == IR_F32 ? "f32" : "f64";
}

static ptx_class float_class(unsigned kind) {
    return kind == IR_F16 ? PTX_B16 : kind == IR_F32 ? PTX_B32 : PTX_B64;
}

static ptx_operand one_or_zero(ptx_emitter *e, ptx_class cls, uint64_t one, ptx_operand condition) {
    static const char *const names[PTX_CLASS_COUNT] = {NULL, "selp.b16", "selp.b32", "selp.b64"};
    condition = qn__ptx_in_register(e, condition);
    return qn__ptx_op3(e, names[cls], cls, qn__ptx_int(cls, one), qn__ptx_int(cls, 0), condition);
}

/* ---- integers ---- */

static ptx_operand resize(ptx_emitter *e, const ir_instr *instr, ptx_operand a) {
    const ir_type from = instr->operands[0]->type;
    const ir_value *result = instr->results[0];
    const unsigned width = qn__ir_bits(from), to = qn__ir_bits(result->type);
    const ptx_class cls = qn__ptx_class_of(e, result);
    bool is_signed = instr->op == IR_SEXT;
    if (instr->op == IR_TRUNC) {
        a = qn__ptx_low(e, a);
        a.extended = 0;
        if (to > 1) return a;
        a = qn__ptx_op2(e, "and.b32", PTX_B32, a, qn__ptx_int(PTX_B32, 1));
        return qn__ptx_op2(e, "setp.ne.s32", PTX_PRED, a, qn__ptx_int(PTX_B32, 0));
    }
    if (width == 1) {
        a = one_or_zero(e, cls, is_signed ? UINT64_MAX : 1, a);
        if (to < 32) a.extended = is_signed ? PTX_SIGN_EXTENDED : PTX_ZERO_EXTENDED | PTX_SIGN_EXTENDED;
        return a;
    }
    uint8_t known = is_signed ? PTX_SIGN_EXTENDED : PTX_ZERO_EXTENDED;
    a = is_signed ? qn__ptx_sext(e, a, width) : qn__ptx_zext(e, a, width);
    a.extended = to < 32 ? known : 0;
    if (cls != PTX_B64 || !is_signed) return a;
    return qn__ptx_op1(e, "cvt.s64.s32", PTX_B64, a);
}

static ptx_operand int_to_float(ptx_emitter *e, const ir_instr *instr, ptx_operand a) {
    const unsigned from = instr->operands[0]->type.kind, to = instr->results[0]->type.kind;
    const unsigned width = qn__ir_bits(instr->operands[0]->type);
    bool is_signed = instr->op == IR_S2F;
    if (from == IR_BOOL) {
        static const uint64_t ones[] = {0x3c00, 0x3f800000, 0x3ff0000000000000};
        return one_or_zero(e, float_class(to), ones[to - IR_F16], a);
    }
    static const char *const sources[2][4] = {{"u32", "u32", "u32", "u64"}, {"s32", "s32", "s32", "s64"}};
    const char *source = from == IR_I64 && qn__ptx_is_short(a) ? "u32" : sources[is_signed][from - IR_I8];
    a = is_signed ? qn__ptx_sext(e, a, width) : qn__ptx_zext(e, a, width);
    if (width == 8 && !is_signed && to == IR_F32 && a.kind == PTX_REG) {
        /* From 16 bits: of a loaded byte's 32, ptxas makes a conversion with a quarter of the rate. */
        a = qn__ptx_op1(e, "cvt.u16.u32", PTX_B16, a);
        source = "u16";
    }
    ptx_operand r = qn__ptx_new(e, float_class(to));
    qn__ptx(e, "cvt.~.~.~ =, $;", roundings[instr->attr.rounding & 3], float_name(to), source, r, a);
    return r;
}

/* ---- floats ---- */

static ptx_operand clamp(ptx_emitter *e, ptx_operand a, bool is_signed, unsigned width) {
    uint64_t top = ((uint64_t)1 << (is_signed ? width - 1 : width)) - 1;
    a = qn__ptx_op2(e, is_signed ? "min.s32" : "min.u32", PTX_B32, a, qn__ptx_int(PTX_B32, top));
    if (is_signed) a = qn__ptx_op2(e, "max.s32", PTX_B32, a, qn__ptx_int(PTX_B32, ~top));
    a.extended = is_signed ? PTX_SIGN_EXTENDED : PTX_ZERO_EXTENDED;
    return a;
}

static ptx_operand float_to_int(ptx_emitter *e, const ir_instr *instr, ptx_operand a) {
    const unsigned from = instr->operands[0]->type.kind, width = qn__ir_bits(instr->results[0]->type);
    bool is_signed = instr->op == IR_F2S, wide = width == 64;
    ptx_class cls = wide ? PTX_B64 : PTX_B32;
    a = qn__ptx_in_register(e, a);
    ptx_operand r = qn__ptx_new(e, cls);
    qn__ptx(e, "cvt.~.~#.~ =, $;", integer_roundings[instr->attr.rounding & 3], is_signed ? "s" : "u",
            (int64_t)(wide ? 64 : 32), float_name(from), r, a);
    if (wide || from == IR_F64) {
        ptx_operand wide_a = a;
        if (from == IR_F16) wide_a = qn__ptx_op1(e, "cvt.f32.f16", PTX_B32, a);
        ptx_operand number =
            qn__ptx_op2(e, from == IR_F64 ? "setp.num.f64" : "setp.num.f32", PTX_PRED, wide_a, wide_a);
        r = qn__ptx_op3(e, wide ? "selp.b64" : "selp.b32", cls, r, qn__ptx_int(cls, 0), number);
    }
    return width < 32 ? clamp(e, r, is_signed, width) : r;
}

static ptx_operand float_to_float(ptx_emitter *e, const ir_instr *instr, ptx_operand a) {
    const unsigned from = instr->operands[0]->type.kind, to = instr->results[0]->type.kind;
    if (from == to) return a;
    a = qn__ptx_in_register(e, a);
    ptx_operand r = qn__ptx_new(e, float_class(to));
    if (to > from)
        qn__ptx(e, "cvt.~.~ =, $;", float_name(to), float_name(from), r, a);
    else
        qn__ptx(e, "cvt.~.~.~ =, $;", roundings[instr->attr.rounding & 3], float_name(to), float_name(from),
                r, a);
    return r;
}

/* ---- pointers ---- */

static ptx_operand pointer_to_int(ptx_emitter *e, const ir_instr *instr, ptx_operand a) {
    a = qn__ptx_in_register(e, a);
    if (a.cls == PTX_B64 || qn__ptx_class_of(e, instr->results[0]) == PTX_B32) return a;
    return qn__ptx_op1(e, "cvt.u64.u32", PTX_B64, a);
}

/* ---- bit casts ---- */

/* One lane as an unsigned integer in a 32-bit or 64-bit register, zeros above. */
static ptx_operand whole(ptx_emitter *e, ptx_operand a, unsigned width) {
    if (a.cls != PTX_B16) return qn__ptx_zext(e, a, width);
    if (a.kind != PTX_REG) return qn__ptx_int(PTX_B32, a.bits);
    ptx_operand r = qn__ptx_op1(e, "cvt.u32.u16", PTX_B32, a);
    r.extended = PTX_ZERO_EXTENDED;
    return r;
}

/* The other way round, for a lane of `kind`. */
static ptx_operand as_kind(ptx_emitter *e, ptx_operand a, unsigned kind) {
    if (a.kind == PTX_INT && kind >= IR_F16) {
        a.kind = PTX_FLOAT;
        if (kind == IR_F16) a.cls = PTX_B16, a.bits &= 0xffff;
        return a;
    }
    if (kind == IR_F16) return qn__ptx_op1(e, "cvt.u16.u32", PTX_B16, a);
    if (a.kind == PTX_FLOAT) a.kind = PTX_INT;
    return a;
}

static ptx_operand same_width(ptx_emitter *e, ptx_operand a, const ir_type from, const ir_type to) {
    if (from.kind == to.kind) return a;
    if (from.kind == IR_F16) return whole(e, a, 16);
    return as_kind(e, a, to.kind);
}

static ptx_operand part_of(ptx_emitter *e, ptx_operand a, unsigned width, unsigned to, unsigned part) {
    if (a.kind != PTX_REG)
        return qn__ptx_int(to == 64 ? PTX_B64 : PTX_B32, a.bits >> (part * to) & (UINT64_MAX >> (64 - to)));
    if (width == 64) {
        ptx_operand low = qn__ptx_new(e, PTX_B32), high = qn__ptx_new(e, PTX_B32);
        qn__ptx(e, "mov.b64 {=, =}, $;", low, high, a);
        a = part * to >= 32 ? high : low;
        part %= 32 / to;
        if (to == 32) return a;
    } else {
        a = whole(e, a, width);
    }
    a.extended = 0;
    if (part == 0) return a;
    a = qn__ptx_op2(e, "shr.u32", PTX_B32, a, qn__ptx_int(PTX_B32, part * to));
    if ((part + 1) * to == 32 || (part + 1) * to == width) a.extended = PTX_ZERO_EXTENDED;
    return a;
}

/* 32 bits out of lanes of 8 or 16. */
static ptx_operand join32(ptx_emitter *e, const ir_value *source, unsigned first, unsigned width) {
    ptx_operand parts[4], sum;
    unsigned count = 32 / width;
    for (unsigned i = 0; i < count; i++)
        parts[i] =
            first + i < source->type.lanes ? qn__ptx_use(e, source, first + i) : qn__ptx_int(PTX_B32, 0);
    for (unsigned i = 0; i < count; i++)
        if (parts[i].cls == PTX_B16) parts[i] = whole(e, parts[i], 16);
    if (count == 2)
        return qn__ptx_op3(e, "prmt.b32", PTX_B32, parts[0], parts[1], qn__ptx_int(PTX_B32, 0x5410));
    sum = qn__ptx_op3(e, "prmt.b32", PTX_B32, parts[0], parts[1], qn__ptx_int(PTX_B32, 0x0040));
    ptx_operand upper = qn__ptx_op3(e, "prmt.b32", PTX_B32, parts[2], parts[3], qn__ptx_int(PTX_B32, 0x0040));
    return qn__ptx_op3(e, "prmt.b32", PTX_B32, sum, upper, qn__ptx_int(PTX_B32, 0x5410));
}

ptx_operand qn__ptx_word(ptx_emitter *e, const ir_value *source, unsigned word) {
    unsigned width = qn__ir_bits(source->type);
    if (e->words[source->id]) return e->words[source->id][word];
    if (width < 32) return join32(e, source, word * (32 / width), width);
    return part_of(e, qn__ptx_use(e, source, width == 64 ? word / 2 : word), width, 32,
                   width == 64 ? word % 2 : 0);
}

/* 16 bits out of two of 8. */
ptx_operand qn__ptx_byte_pair(ptx_emitter *e, const ir_value *source, unsigned first) {
    ptx_operand low = qn__ptx_use(e, source, first), high = qn__ptx_int(PTX_B32, 0);
    if (first + 1 < source->type.lanes) high = qn__ptx_use(e, source, first + 1);
    ptx_operand r = qn__ptx_op3(e, "prmt.b32", PTX_B32, low, high, qn__ptx_int(PTX_B32, 0x0040));
    r.extended = 0;
    return r;
}

static ptx_operand gathered(ptx_emitter *e, const ir_value *source, unsigned to, unsigned lane) {
    unsigned width = qn__ir_bits(source->type);
    if (width > to)
        return part_of(e, qn__ptx_use(e, source, lane / (width / to)), width, to, lane % (width / to));
    if (to == 16) return qn__ptx_byte_pair(e, source, lane * 2);
    if (to == 32) return qn__ptx_word(e, source, lane);
    unsigned words = ((unsigned)source->type.lanes * width + 31) / 32;
    ptx_operand zero = qn__ptx_int(PTX_B32, 0);
    ptx_operand low = 2 * lane < words ? qn__ptx_word(e, source, 2 * lane) : zero;
    ptx_operand high = 2 * lane + 1 < words ? qn__ptx_word(e, source, 2 * lane + 1) : zero;
    ptx_operand r = qn__ptx_new(e, PTX_B64);
    low = qn__ptx_in_register(e, low);
    high = qn__ptx_in_register(e, high);
    qn__ptx(e, "mov.b64 =, {$, $};", r, low, high);
    return r;
}

static void bitcast(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *source = instr->operands[0], *result = instr->results[0];
    const unsigned width = qn__ir_bits(source->type), to = qn__ir_bits(result->type);
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        ptx_operand a;
        if (width == to) {
            a = same_width(e, qn__ptx_use(e, source, lane), source->type, result->type);
        } else {
            a = as_kind(e, gathered(e, source, to, lane), result->type.kind);
        }
        qn__ptx_define(e, result, lane, a);
    }
}

bool qn__ptx_convert(ptx_emitter *e, const ir_instr *instr) {
    if (qn__ptx_small_float(e, instr)) return true;
    if (instr->op == IR_BITCAST) {
        bitcast(e, instr);
        return true;
    }
    if (instr->op < IR_TRUNC || instr->op > IR_INT2PTR) return false;
    for (unsigned lane = 0; lane < instr->results[0]->type.lanes; lane++) {
        bool any = instr->op == IR_TRUNC || instr->op == IR_S2F || instr->op == IR_U2F;
        ptx_operand a =
            any ? qn__ptx_use_short(e, instr->operands[0], lane) : qn__ptx_use(e, instr->operands[0], lane);
        switch (instr->op) {
        case IR_FCONVERT: a = float_to_float(e, instr, a); break;
        case IR_F2S:
        case IR_F2U: a = float_to_int(e, instr, a); break;
        case IR_S2F:
        case IR_U2F: a = int_to_float(e, instr, a); break;
        case IR_PTR2INT: a = pointer_to_int(e, instr, a); break;
        case IR_INT2PTR: break; /* define cuts addresses of near memory */
        default: a = resize(e, instr, a);
        }
        qn__ptx_define(e, instr->results[0], lane, a);
    }
    return true;
}
