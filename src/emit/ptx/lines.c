/* Lines, operands and values of the PTX target. A line of the body is kept as its pattern and operands until the
   kernel is done; text.c prints it. */
#include <stdarg.h>
#include <string.h>

#include "emit/ptx/internal.h"

/* ---- lines ---- */

/* `word` is not empty. */
static inline bool starts(const char *at, const char *word) {
    while (*word && *at == *word) at++, word++;
    return !*word;
}

/* "op result, a, ..." */
static void add_plain(ptx_emitter *e, const char *op, const ptx_operand *operands, uint32_t count) {
    const bool copies = count == 2 && operands[1].kind == PTX_REG && operands[0].cls == operands[1].cls;
    const ptx_line l = {.text = op,
                        .first_operand = (uint32_t)e->operands.len,
                        .num_operands = count,
                        .kind = copies && starts(op, "mov.") ? PTX_LINE_MOVE : PTX_LINE_OTHER};
    qn__vec_push(e->arena, &e->lines, l);
    qn__vec_reserve(e->arena, &e->operands, e->operands.len + count);
    ptx_operand *kept = e->operands.data + e->operands.len;
    for (uint32_t n = 0; n < count; n++) kept[n] = operands[n];
    kept->is_def = true;
    e->operands.len += count;
}

/* The next operand of a pattern. */
static ptx_operand next_operand(char kind, va_list *args) {
    ptx_operand a = {0};
    switch (kind) {
    case '#': return (ptx_operand){.kind = PTX_NUMBER, .bits = (uint64_t)va_arg(*args, int64_t)};
    case '~': return (ptx_operand){.kind = PTX_TEXT, .text = va_arg(*args, const char *)};
    default:
        a = va_arg(*args, ptx_operand);
        a.is_def = kind == '=';
        return a;
    }
}

static ptx_line_kind kind_of(const char *op) {
    if (starts(op, "bra ")) return PTX_LINE_BRANCH;
    return starts(op, "ret") || starts(op, "trap") ? PTX_LINE_END : PTX_LINE_OTHER;
}

void qn__ptx(ptx_emitter *e, const char *pattern, ...) {
    const uint32_t first = (uint32_t)e->operands.len;
    va_list args;
    va_start(args, pattern);
    for (const char *p = pattern; *p; p++)
        if (qn__ptx_is_operand(*p)) qn__vec_push(e->arena, &e->operands, next_operand(*p, &args));
    va_end(args);
    const bool predicated = *pattern == '@';
    const ptx_line l = {.text = pattern,
                        .first_operand = first,
                        .num_operands = (uint32_t)e->operands.len - first,
                        .kind = (uint8_t)kind_of(predicated ? strchr(pattern, ' ') + 1 : pattern),
                        .predicated = predicated,
                        .is_pattern = true};
    qn__vec_push(e->arena, &e->lines, l);
}

void qn__ptx_list(ptx_emitter *e, const char *pattern, const ptx_operand *operands, uint32_t count) {
    const uint32_t first = (uint32_t)e->operands.len;
    for (const char *p = pattern; *p && count; p++) {
        if (!qn__ptx_is_operand(*p)) continue;
        ptx_operand a = *operands++;
        a.is_def = *p == '=';
        qn__vec_push(e->arena, &e->operands, a);
        count--;
    }
    const ptx_line l = {.text = pattern,
                        .first_operand = first,
                        .num_operands = (uint32_t)e->operands.len - first,
                        .kind = PTX_LINE_OTHER,
                        .is_pattern = true};
    qn__vec_push(e->arena, &e->lines, l);
}

void qn__ptx_label(ptx_emitter *e, uint32_t label) {
    qn__ptx(e, "L#:", (int64_t)label);
    qn__vec_last(&e->lines).kind = PTX_LINE_LABEL;
}

/* ---- operands ---- */

ptx_operand qn__ptx_new(ptx_emitter *e, ptx_class cls) {
    return (ptx_operand){.kind = PTX_REG, .cls = (uint8_t)cls, .reg = e->num_registers[cls]++};
}

ptx_operand qn__ptx_op1(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a) {
    ptx_operand result = qn__ptx_new(e, cls);
    add_plain(e, op, (ptx_operand[]){result, a}, 2);
    return result;
}

ptx_operand qn__ptx_op2(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b) {
    ptx_operand result = qn__ptx_new(e, cls);
    add_plain(e, op, (ptx_operand[]){result, a, b}, 3);
    return result;
}

ptx_operand qn__ptx_op3(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b,
                        ptx_operand c) {
    ptx_operand result = qn__ptx_new(e, cls);
    add_plain(e, op, (ptx_operand[]){result, a, b, c}, 4);
    return result;
}

ptx_operand qn__ptx_int(ptx_class cls, uint64_t bits) {
    if (cls == PTX_B32) bits &= UINT32_MAX;
    if (cls == PTX_B16) bits &= UINT16_MAX;
    return (ptx_operand){.kind = PTX_INT, .cls = (uint8_t)cls, .bits = bits};
}

ptx_operand qn__ptx_address(ptx_symbol symbol, ptx_class cls, uint64_t offset) {
    return (ptx_operand){.kind = PTX_SYMBOL, .cls = (uint8_t)cls, .reg = symbol, .bits = offset};
}

static const char *const moves[PTX_CLASS_COUNT] = {"mov.pred", "mov.b16", "mov.b32", "mov.b64"};

void qn__ptx_move(ptx_emitter *e, ptx_operand to, ptx_operand from) {
    add_plain(e, moves[to.cls], (ptx_operand[]){to, from}, 2);
}

ptx_operand qn__ptx_in_register(ptx_emitter *e, ptx_operand a) {
    return a.kind == PTX_REG ? a : qn__ptx_op1(e, moves[a.cls], a.cls, a);
}

ptx_operand qn__ptx_low(ptx_emitter *e, ptx_operand a) {
    if (a.cls != PTX_B64) return a;
    if (a.kind == PTX_INT || a.kind == PTX_FLOAT) return qn__ptx_int(PTX_B32, a.bits);
    return qn__ptx_op1(e, "cvt.u32.u64", PTX_B32, qn__ptx_in_register(e, a));
}

ptx_operand qn__ptx_zext(ptx_emitter *e, ptx_operand a, unsigned width) {
    if (width >= 32 || (a.kind == PTX_REG && (a.extended & PTX_ZERO_EXTENDED))) return a;
    uint64_t mask = ((uint64_t)1 << width) - 1;
    if (a.kind != PTX_REG) return qn__ptx_int(PTX_B32, a.bits & mask);
    ptx_operand result = qn__ptx_op2(e, "and.b32", PTX_B32, a, qn__ptx_int(PTX_B32, mask));
    result.extended = PTX_ZERO_EXTENDED;
    return result;
}

ptx_operand qn__ptx_sext(ptx_emitter *e, ptx_operand a, unsigned width) {
    if (width >= 32 || (a.kind == PTX_REG && (a.extended & PTX_SIGN_EXTENDED))) return a;
    if (a.kind != PTX_REG)
        return qn__ptx_int(PTX_B32, width == 8 ? (uint32_t)(int8_t)a.bits : (uint32_t)(int16_t)a.bits);
    ptx_operand result = qn__ptx_op1(e, width == 8 ? "cvt.s32.s8" : "cvt.s32.s16", PTX_B32, a);
    result.extended = PTX_SIGN_EXTENDED;
    return result;
}

/* ---- values ---- */

static ptx_class class_of_kind(ir_kind kind) {
    switch (kind) {
    case IR_BOOL: return PTX_PRED;
    case IR_F16: return PTX_B16;
    case IR_I64:
    case IR_F64:
    case IR_PTR: return PTX_B64;
    default: return PTX_B32;
    }
}

ptx_class qn__ptx_class_of(const ptx_emitter *e, const ir_value *value) {
    if (value->type.kind == IR_I64) return e->demand[value->id] & QN__WANT_ALL ? PTX_B64 : PTX_B32;
    if (value->type.kind == IR_PTR && qn__ptx_is_near(value)) return PTX_B32;
    return class_of_kind((ir_kind)value->type.kind);
}

/* Constants are made where they are used: as 64 bits, for a use that needs fewer to cut. */
static ptx_operand constant(ptx_emitter *e, const ir_value *value, unsigned lane) {
    uint64_t bits = qn__ir_is_const(value) ? value->bits[lane] : 0;
    if (value->type.kind == IR_BOOL) bits &= 1;
    ptx_class cls = value->type.kind == IR_I64 ? PTX_B64 : qn__ptx_class_of(e, value);
    ptx_operand result = qn__ptx_int(cls, bits);
    if (qn__ir_is_float(value->type)) result.kind = PTX_FLOAT;
    return result;
}

static ptx_operand defined(ptx_emitter *e, const ir_value *value, unsigned lane) {
    if (value->value_kind == IR_VALUE_CONST || value->value_kind == IR_VALUE_UNDEF)
        return constant(e, value, lane);
    if (!e->first_lane[value->id]) {
        qn__ptx_fail(e, "internal error: a value is used before it is defined");
        return qn__ptx_int(qn__ptx_class_of(e, value), 0);
    }
    return qn__ptx_held(e, value, lane);
}

ptx_operand qn__ptx_use_pointer(ptx_emitter *e, const ir_value *pointer) { return defined(e, pointer, 0); }

ptx_operand qn__ptx_use_short(ptx_emitter *e, const ir_value *value, unsigned lane) {
    return value->type.kind == IR_I64 ? defined(e, value, lane) : qn__ptx_use(e, value, lane);
}

bool qn__ptx_is_short(ptx_operand a) {
    return a.kind == PTX_INT ? a.bits <= UINT32_MAX : a.kind == PTX_REG && a.cls == PTX_B32;
}

ptx_operand qn__ptx_use(ptx_emitter *e, const ir_value *value, unsigned lane) {
    ptx_operand a = defined(e, value, lane);
    if (value->type.kind == IR_I64 && a.kind != PTX_SYMBOL && a.cls == PTX_B32 &&
        qn__ptx_class_of(e, value) == PTX_B64)
        return a.kind == PTX_REG ? qn__ptx_op1(e, "cvt.u64.u32", PTX_B64, a) : qn__ptx_int(PTX_B64, a.bits);
    if (a.kind != PTX_REG || !a.bits) return a;
    ptx_operand bytes = qn__ptx_int((ptx_class)a.cls, a.bits);
    a.bits = 0;
    return qn__ptx_op2(e, a.cls == PTX_B64 ? "add.s64" : "add.s32", (ptx_class)a.cls, a, bytes);
}

static ptx_operand *lanes_of(ptx_emitter *e, const ir_value *value) {
    uint32_t *first = &e->first_lane[value->id];
    if (!*first) {
        const size_t end = e->lanes.len + value->type.lanes;
        qn__vec_reserve(e->arena, &e->lanes, end);
        *first = (uint32_t)e->lanes.len;
        e->lanes.len = end;
    }
    return &e->lanes.data[*first];
}

void qn__ptx_define(ptx_emitter *e, const ir_value *value, unsigned lane, ptx_operand operand) {
    if (operand.cls == PTX_B64 && qn__ptx_held_class(e, value) == PTX_B32) operand = qn__ptx_low(e, operand);
    lanes_of(e, value)[lane] = operand;
}

void qn__ptx_keep_words(ptx_emitter *e, const ir_value *value, const ptx_operand *words, unsigned count) {
    e->words[value->id] = qn__arena_copy(e->arena, words, count * sizeof *words);
}

void qn__ptx_declare(ptx_emitter *e, const ir_value *value) {
    ptx_operand *lanes = lanes_of(e, value);
    for (unsigned i = 0; i < value->type.lanes; i++) lanes[i] = qn__ptx_new(e, qn__ptx_held_class(e, value));
}

/* ---- what the kernel needs ---- */

void qn__ptx_require(ptx_emitter *e, uint32_t target, uint32_t version) {
    if (e->need_target < target) e->need_target = target;
    if (e->need_version < version) e->need_version = version;
}

void qn__ptx_refuse(ptx_emitter *e, const ir_instr *instr) {
    const char *name = qn__ir_ops[instr->op].name;
    qn__ptx_fail(e, qn__arena_printf(e->arena, "the PTX target has no '%s' of these types", name));
}

void qn__ptx_fail(ptx_emitter *e, const char *message) {
    if (e->result->error) return;
    e->result->error = message;
    e->result->error_loc = e->loc;
}
