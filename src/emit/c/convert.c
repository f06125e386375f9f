/* Conversions of the C target. f16 values are kept as the f32 of the same value and rounded after each
   operation, so that compilers without _Float16 do as well; the bits exist in memory and in bitcasts only. */
#include "emit/c/internal.h"

/* ---- half precision ---- */

static const char half_helpers[] =
    "#if defined(__FLT16_MAX__) && (!defined(__clang__) || __clang_major__ >= 15)\n"
    "static inline f32 qn_half_to_float(u16 h) { union { u16 u; _Float16 f; } x = {h}; return (f32)x.f; }\n"
    "static inline u16 qn_float_to_half(f32 v) { union { _Float16 f; u16 u; } x = {(_Float16)v}; return x.u; "
    "}\n"
    "static inline f32 qn_round_f16(f32 v) { return (f32)(_Float16)v; }\n"
    "#else\n"
    "static inline f32 qn_half_to_float(u16 h) {\n"
    "    union { u32 u; f32 f; } x = {(u32)(h & 0x7fff) << 13};\n"
    "    u32 exponent = x.u & 0x0f800000u;\n"
    "    x.u += 112u << 23;\n"
    "    if (exponent == 0x0f800000u) x.u += 112u << 23;\n"
    "    if (exponent == 0) { x.u += 1u << 23; x.f -= 0x1p-14f; }\n"
    "    x.u |= (u32)(h & 0x8000) << 16;\n"
    "    return x.f;\n"
    "}\n"
    "static inline u16 qn_float_to_half(f32 v) {\n"
    "    union { f32 f; u32 u; } x = {v};\n"
    "    u32 sign = x.u >> 16 & 0x8000u, m = x.u & 0x7fffffffu;\n"
    "    if (m > 0x7f800000u) return (u16)(sign | 0x7e00u | (m >> 13 & 0x3ffu));\n"
    "    if (m >= 0x477ff000u) return (u16)(sign | 0x7c00u);\n"
    "    if (m < 0x38800000u) { x.u = m; x.f += 0.5f; return (u16)(sign | (x.u - 0x3f000000u)); }\n"
    "    m += 0xc8000fffu + (m >> 13 & 1);\n"
    "    return (u16)(sign | m >> 13);\n"
    "}\n"
    "static inline f32 qn_round_f16(f32 v) { return qn_half_to_float(qn_float_to_half(v)); }\n"
    "#endif\n";

/* By way of f32 rounded to odd, which cannot round twice. */
static const char half_from_double[] = "static inline f32 qn_round_f16_f64(f64 v) {\n"
                                       "    union { f32 f; u32 u; } x = {(f32)v};\n"
                                       "    f64 back = (f64)x.f;\n"
                                       "    if (back != v && back == back && x.u << 1 != 0xff000000u) {\n"
                                       "        if ((v < 0 ? -back : back) > (v < 0 ? -v : v)) x.u -= 1;\n"
                                       "        x.u |= 1;\n"
                                       "    }\n"
                                       "    return qn_round_f16(x.f);\n"
                                       "}\n";

static void need_half(c_emitter *e) {
    if (qn__c_need(e, "qn_round_f16")) qn__buf_puts(&e->helpers, half_helpers);
}

const char *qn__c_round_f16(c_emitter *e, const char *expression) {
    need_half(e);
    return qn__arena_printf(e->arena, "qn_round_f16(%s)", expression);
}

const char *qn__c_half_to_float(c_emitter *e, const char *bits) {
    need_half(e);
    return qn__arena_printf(e->arena, "qn_half_to_float((u16)%s)", bits);
}

const char *qn__c_float_to_half(c_emitter *e, const char *value) {
    need_half(e);
    return qn__arena_printf(e->arena, "qn_float_to_half(%s)", value);
}

const char *qn__c_round_f16_f64(c_emitter *e, const char *expression) {
    need_half(e);
    if (qn__c_need(e, "qn_round_f16_f64")) qn__buf_puts(&e->helpers, half_from_double);
    e->has_to_f32 = e->has_to_f64 = true;
    return qn__arena_printf(e->arena, "qn_round_f16_f64(%s)", expression);
}

/* ---- float to integer ---- */

static const char *const round_names[] = {"even", "zero", "up", "down"};
static const char *const round_lines[] = {"    a = __builtin_rint%f(a);\n", "",
                                          "    a = __builtin_ceil%f(a);\n",
                                          "    a = __builtin_floor%f(a);\n"};

static const char *float_to_int(c_emitter *e, const ir_instr *instr, const char *operand) {
    ir_kind from = (ir_kind)instr->operands[0]->type.kind, to = (ir_kind)instr->results[0]->type.kind;
    unsigned width = qn__ir_bits(qn__ir_type(to, 1)), rounding = instr->attr.rounding & 3;
    bool is_signed = instr->op == IR_F2S;
    qn__c_pattern with = {.result = to, .operand = from};
    const char *name = qn__arena_printf(e->arena, "qn_%s_%s_%s_%s", is_signed ? "f2s" : "f2u",
                                        qn__c_scalar(from), qn__c_scalar(to), round_names[rounding]);
    const char *body;
    unsigned bits = is_signed ? width - 1 : width;
    if (is_signed) {
        body = qn__arena_printf(e->arena,
                                "a != a ? 0 : a >= 0x1p%u%%f ? (%%t)(((%%n)1 << %u) - 1) : "
                                "a < -0x1p%u%%f ? (%%t)((%%n)1 << %u) : (%%t)%sa",
                                bits, bits, bits, bits, width < 32 ? "(i32)" : "");
    } else {
        body = qn__arena_printf(e->arena, "!(a > 0) ? 0 : a >= 0x1p%u%%f ? (%%t)-1 : (%%t)%sa", bits,
                                width < 32 ? "(i32)" : "(%u)");
    }
    const char *text = qn__arena_printf(e->arena, "static inline %%t %s(%%k a) {\n%s    return %s;\n}\n",
                                        name, round_lines[rounding], body);
    qn__c_helper(e, name, text, &with);
    return qn__arena_printf(e->arena, "%s(%s)", name, operand);
}

/* ---- directed rounding to floats ---- */

/* Steps a float's bits to the next value above or below; the bits of f16 are stepped as f16. */
static const char step_helpers[] = "static inline f32 qn_step_f32(f32 v, int up) {\n"
                                   "    union { f32 f; u32 u; } x = {v};\n"
                                   "    if (v == 0) x.u = up ? 1 : 0x80000001u;\n"
                                   "    else x.u += (v > 0) == up ? 1 : -1u;\n"
                                   "    return x.f;\n"
                                   "}\n"
                                   "static inline f64 qn_step_f64(f64 v, int up) {\n"
                                   "    union { f64 f; u64 u; } x = {v};\n"
                                   "    if (v == 0) x.u = up ? 1 : 0x8000000000000001ul;\n"
                                   "    else x.u += (v > 0) == up ? 1 : -1ul;\n"
                                   "    return x.f;\n"
                                   "}\n";
static const char step_half[] = "static inline f32 qn_step_f16(f32 v, int up) {\n"
                                "    u16 h = qn_float_to_half(v);\n"
                                "    if (v == 0) h = up ? 1 : 0x8001;\n"
                                "    else h = (u16)((v > 0) == up ? h + 1 : h - 1);\n"
                                "    return qn_half_to_float(h);\n"
                                "}\n";

/* `nearest` is the value rounded to even; `exact` a type in which source and result compare exactly. */
static const char *directed(c_emitter *e, const ir_instr *instr, const char *source, const char *exact,
                            const char *nearest, const char *operand) {
    ir_kind to = (ir_kind)instr->results[0]->type.kind;
    unsigned rounding = instr->attr.rounding & 3;
    const char *step = to == IR_F16 ? "f16" : qn__c_scalar(to);
    const char *name = qn__arena_printf(e->arena, "qn_to_%s_%s_%s", step, source, round_names[rounding]);
    if (qn__c_need(e, "qn_step_f32")) qn__buf_puts(&e->helpers, step_helpers);
    if (to == IR_F16) {
        need_half(e);
        if (qn__c_need(e, "qn_step_f16")) qn__buf_puts(&e->helpers, step_half);
    }
    const char *conditions[] = {"", "r > 0 ? (E)r > (E)a : r < 0 && (E)r < (E)a", "(E)r < (E)a",
                                "(E)r > (E)a"};
    const char *ups[] = {"0", "r < 0", "1", "0"};
    if (qn__c_need(e, name)) {
        /* An infinity does not fit the 128-bit integer of the comparison: f32 and f64 never reach one
           there. */
        qn__buf_printf(&e->helpers, "static inline %s %s(%s a) {\n    typedef %s E;\n    %s r = %s;\n",
                       qn__c_scalar(to), name, source, exact, qn__c_scalar(to), nearest);
        qn__buf_printf(&e->helpers, "    return (%s) ? qn_step_%s(r, %s) : r;\n}\n", conditions[rounding],
                       step, ups[rounding]);
    }
    return qn__arena_printf(e->arena, "%s(%s)", name, operand);
}

static const char *int_to_float(c_emitter *e, const ir_instr *instr, const char *operand) {
    ir_kind from = (ir_kind)instr->operands[0]->type.kind, to = (ir_kind)instr->results[0]->type.kind;
    const char *source = instr->op == IR_S2F ? qn__c_scalar(from) : qn__c_unsigned(from);
    if (from == IR_BOOL) return qn__arena_printf(e->arena, "(%s)%s", qn__c_scalar(to), operand);
    const char *value = qn__arena_printf(e->arena, "(%s)%s", source, operand);
    bool directed_rounding = (instr->attr.rounding & 3) != IR_ROUND_EVEN;
    if (to == IR_F16 && directed_rounding) {
        need_half(e);
        return directed(e, instr, source, "f64", "qn_round_f16((f32)a)", value);
    }
    if (directed_rounding && to == IR_F32) return directed(e, instr, source, "__int128", "(f32)a", value);
    if (directed_rounding) return directed(e, instr, source, "__int128", "(f64)a", value);
    const char *converted = qn__arena_printf(e->arena, "(%s)%s", qn__c_scalar(to), value);
    return to == IR_F16 ? qn__c_round_f16(e, converted) : converted;
}

static const char *float_to_float(c_emitter *e, const ir_instr *instr, const char *operand) {
    ir_kind from = (ir_kind)instr->operands[0]->type.kind, to = (ir_kind)instr->results[0]->type.kind;
    bool narrows = to < from, even = (instr->attr.rounding & 3) == IR_ROUND_EVEN;
    e->has_to_f32 |= from == IR_F64 && narrows;
    e->has_to_f64 |= to == IR_F64;
    if (!narrows) return qn__arena_printf(e->arena, "(%s)%s", qn__c_scalar(to), operand);
    if (to == IR_F32) {
        if (even) return qn__arena_printf(e->arena, "(f32)%s", operand);
        return directed(e, instr, "f64", "f64", "(f32)a", operand);
    }
    if (!even)
        return directed(e, instr, qn__c_scalar(from), "f64", qn__c_round_f16_f64(e, "(f64)a"), operand);
    return from == IR_F64 ? qn__c_round_f16_f64(e, operand) : qn__c_round_f16(e, operand);
}

const char *qn__c_conversion(c_emitter *e, const ir_instr *instr, const char *operand) {
    switch (instr->op) {
    case IR_FCONVERT: return float_to_float(e, instr, operand);
    case IR_F2S:
    case IR_F2U: return float_to_int(e, instr, operand);
    case IR_S2F:
    case IR_U2F: return int_to_float(e, instr, operand);
    default: return NULL;
    }
}

/* ---- bitcast ---- */

static ir_kind int_kind(ir_kind kind) {
    return kind == IR_F16 ? IR_I16 : kind == IR_F32 ? IR_I32 : kind == IR_F64 ? IR_I64 : kind;
}

/* The same bits as another kind of the same width; one side at least is an integer of that width. */
static const char *reinterpret(c_emitter *e, ir_kind from, ir_kind to, const char *operand) {
    if (from == to) return operand;
    if (from == IR_F16) return qn__arena_printf(e->arena, "(i16)%s", qn__c_float_to_half(e, operand));
    if (to == IR_F16) return qn__c_half_to_float(e, operand);
    qn__c_pattern with = {.result = to, .operand = from};
    const char *name = qn__c_helper(
        e, "qn_%k_as_%t",
        "static inline %t qn_%k_as_%t(%k a) { union { %k from; %t to; } x = {a}; return x.to; }\n", &with);
    return qn__arena_printf(e->arena, "%s(%s)", name, operand);
}

/* Bits of the source's lanes that make up one lane of the result. */
static const char *gather_bits(c_emitter *e, const ir_value *source, ir_type to, unsigned lane) {
    unsigned from_bits = qn__ir_bits(source->type), to_bits = qn__ir_bits(to);
    ir_kind from = (ir_kind)source->type.kind;
    if (from_bits >= to_bits) {
        unsigned each = from_bits / to_bits;
        const char *whole = reinterpret(e, from, int_kind(from), qn__c_use(e, source, lane / each));
        return qn__arena_printf(e->arena, "((u64)%s >> %u)", whole, lane % each * to_bits);
    }
    unsigned each = to_bits / from_bits;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_putc(&text, '(');
    for (unsigned i = 0; i < each; i++) {
        unsigned index = lane * each + i;
        if (index >= source->type.lanes) break;
        const char *part = reinterpret(e, from, int_kind(from), qn__c_use(e, source, index));
        qn__buf_printf(&text, "%s(u64)(%s)%s << %u", i ? " | " : "", qn__c_unsigned(int_kind(from)), part,
                       i * from_bits);
    }
    qn__buf_putc(&text, ')');
    return text.data;
}

void qn__c_bitcast(c_emitter *e, const ir_instr *instr) {
    const ir_value *source = instr->operands[0], *result = instr->results[0];
    ir_kind from = (ir_kind)source->type.kind, to = (ir_kind)result->type.kind;
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        const char *text;
        if (qn__ir_bits(source->type) == qn__ir_bits(result->type)) {
            text = reinterpret(e, from, int_kind(from), qn__c_use(e, source, lane));
            text = from == to ? qn__c_use(e, source, lane) : reinterpret(e, int_kind(from), to, text);
        } else {
            text = gather_bits(e, source, result->type, lane);
            text = qn__arena_printf(e->arena, "(%s)%s", qn__c_scalar(int_kind(to)), text);
            text = reinterpret(e, int_kind(to), to, text);
        }
        qn__c_define(e, result, lane, text);
    }
}
