/* Operands, lines and values of the PTX target: the only file that knows how an operand reads. Numbers are
   written by hand, for this is most of the work of emitting. */
#include <stdarg.h>
#include <string.h>

#include "emit/ptx_internal.h"

/* ---- characters ---- */

/* Room for `len` more bytes and the zero. */
static char *room(qn__buf *buf, size_t len) {
    if (buf->cap - buf->len <= len) {
        size_t wanted = (buf->cap + len + 1024) * 2;
        buf->data = qn__arena_grow(buf->arena, buf->data, buf->cap, wanted);
        buf->cap = wanted;
    }
    return buf->data + buf->len;
}

static char *put_number(char *at, uint64_t value) {
    char digits[20];
    unsigned count = 0;
    do digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count) *at++ = digits[--count];
    return at;
}

static char *put_signed(char *at, int64_t value) {
    if (value < 0) *at++ = '-';
    return put_number(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *put_hex(char *at, uint64_t value, unsigned digits) {
    while (digits--) *at++ = "0123456789ABCDEF"[value >> (4 * digits) & 15];
    return at;
}

/* They are short: a call would take longer. */
static inline char *put_text(char *at, const char *text) {
    while (*text) *at++ = *text++;
    return at;
}

static char *put_symbol(const ptx_emitter *e, char *at, uint32_t symbol) {
    switch (symbol) {
    case PTX_PARAMS: return put_text(at, "params");
    case PTX_LOCALS: return put_text(at, "locals");
    case PTX_DYNAMIC: return put_text(at, "qn_dynamic");
    case PTX_DEPOT: return put_text(at, "depot");
    default: (void)e; return put_number(put_text(at, "qn_constant_"), symbol - PTX_FIRST_GLOBAL);
    }
}

static char *put_operand(const ptx_emitter *e, char *at, ptx_operand a) {
    static const char letters[PTX_CLASS_COUNT] = {'p', 'h', 'r', 'd'};
    switch (a.kind) {
    case PTX_REG:
        *at++ = '%';
        *at++ = letters[a.cls];
        return put_number(at, a.reg);
    case PTX_FLOAT:
        *at++ = '0';
        if (a.cls == PTX_B16) return put_hex(put_text(at, "x"), a.bits, 4);
        *at++ = a.cls == PTX_B64 ? 'd' : 'f';
        return put_hex(at, a.bits, a.cls == PTX_B64 ? 16 : 8);
    case PTX_SYMBOL:
        at = put_symbol(e, at, a.reg);
        if (!a.bits) return at;
        *at++ = '+';
        return put_number(at, a.bits);
    default:
        if (a.cls == PTX_B64) return put_signed(at, (int64_t)a.bits);
        if (a.cls == PTX_B32) return put_signed(at, (int32_t)a.bits);
        return put_number(at, a.bits);
    }
}

void qn__ptx(ptx_emitter *e, const char *pattern, ...) {
    va_list args;
    va_start(args, pattern);
    char *at = room(&e->out, 512);
    *at++ = '\t';
    for (const char *p = pattern; *p; p++) {
        if (*p == '$') {
            at = put_operand(e, at, va_arg(args, ptx_operand));
        } else if (*p == '#') {
            at = put_signed(at, va_arg(args, int64_t));
        } else if (*p == '~') {
            at = put_text(at, va_arg(args, const char *));
        } else {
            *at++ = *p;
        }
    }
    va_end(args);
    *at++ = '\n';
    *at = 0;
    e->out.len = (size_t)(at - e->out.data);
}

void qn__ptx_label(ptx_emitter *e, uint32_t label) {
    char *at = room(&e->out, 32);
    *at++ = 'L';
    at = put_number(at, label);
    *at++ = ':';
    *at++ = '\n';
    *at = 0;
    e->out.len = (size_t)(at - e->out.data);
}

/* ---- operands ---- */

ptx_operand qn__ptx_new(ptx_emitter *e, ptx_class cls) {
    return (ptx_operand){.kind = PTX_REG, .cls = (uint8_t)cls, .reg = e->num_registers[cls]++};
}

ptx_operand qn__ptx_op1(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a) {
    ptx_operand result = qn__ptx_new(e, cls);
    qn__ptx(e, "~ $, $;", op, result, a);
    return result;
}

ptx_operand qn__ptx_op2(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b) {
    ptx_operand result = qn__ptx_new(e, cls);
    qn__ptx(e, "~ $, $, $;", op, result, a, b);
    return result;
}

ptx_operand qn__ptx_op3(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b,
                        ptx_operand c) {
    ptx_operand result = qn__ptx_new(e, cls);
    qn__ptx(e, "~ $, $, $, $;", op, result, a, b, c);
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
    qn__ptx(e, "~ $, $;", moves[to.cls], to, from);
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
    if (value->type.kind == IR_I64) return e->flags[value->id] & PTX_HIGH ? PTX_B64 : PTX_B32;
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
    if (!e->lanes[value->id]) {
        qn__ptx_fail(e, "internal error: a value is used before it is defined");
        return qn__ptx_int(qn__ptx_class_of(e, value), 0);
    }
    return e->lanes[value->id][lane];
}

ptx_operand qn__ptx_use_pointer(ptx_emitter *e, const ir_value *pointer) { return defined(e, pointer, 0); }

ptx_operand qn__ptx_use_short(ptx_emitter *e, const ir_value *value, unsigned lane) {
    return defined(e, value, lane);
}

bool qn__ptx_is_short(ptx_operand a) {
    return a.kind == PTX_INT ? a.bits <= UINT32_MAX : a.kind == PTX_REG && a.cls == PTX_B32;
}

ptx_operand qn__ptx_use(ptx_emitter *e, const ir_value *value, unsigned lane) {
    ptx_operand a = defined(e, value, lane);
    if (value->type.kind == IR_I64 && a.kind == PTX_REG && a.cls == PTX_B32 &&
        qn__ptx_class_of(e, value) == PTX_B64)
        return qn__ptx_op1(e, "cvt.u64.u32", PTX_B64, a);
    if (a.kind != PTX_REG || !a.bits) return a;
    ptx_operand bytes = qn__ptx_int((ptx_class)a.cls, a.bits);
    a.bits = 0;
    return qn__ptx_op2(e, a.cls == PTX_B64 ? "add.s64" : "add.s32", (ptx_class)a.cls, a, bytes);
}

static ptx_operand *lanes_of(ptx_emitter *e, const ir_value *value) {
    if (!e->lanes[value->id]) e->lanes[value->id] = QN__NEW_ARRAY(e->arena, ptx_operand, value->type.lanes);
    return e->lanes[value->id];
}

void qn__ptx_define(ptx_emitter *e, const ir_value *value, unsigned lane, ptx_operand operand) {
    if (qn__ptx_held_class(e, value) == PTX_B32) operand = qn__ptx_low(e, operand);
    lanes_of(e, value)[lane] = operand;
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

void qn__ptx_fail(ptx_emitter *e, const char *sentence) {
    if (e->result->error) return;
    e->result->error = sentence;
    e->result->error_loc = e->loc;
}
