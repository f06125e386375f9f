/* Operands, lines and values of the PTX target: the only file that knows how an operand reads. Numbers are
   written by hand, for this is most of the work of emitting. */
#include <stdarg.h>
#include <string.h>

#include "emit/ptx/internal.h"

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

static char *put_long_number(char *at, uint64_t value) {
    char digits[20];
    unsigned count = 0;
    do digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count) *at++ = digits[--count];
    return at;
}

/* Most have few digits: they are registers' and offsets. */
static inline char *put_number(char *at, uint64_t value) {
    if (value >= 10000) return put_long_number(at, value);
    const uint32_t number = (uint32_t)value;
    if (number >= 1000) *at++ = (char)('0' + number / 1000);
    if (number >= 100) *at++ = (char)('0' + number / 100 % 10);
    if (number >= 10) *at++ = (char)('0' + number / 10 % 10);
    *at++ = (char)('0' + number % 10);
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

/* `word` is not empty. */
static inline bool starts(const char *at, const char *word) {
    while (*word && *at == *word) at++, word++;
    return !*word;
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

static inline char *put_register(ptx_emitter *e, char *at, ptx_operand a) {
    static const char letters[PTX_CLASS_COUNT] = {'p', 'h', 'r', 'd'};
    char *start = at;
    *at++ = '%';
    *at++ = letters[a.cls];
    at = put_number(at, a.reg);
    e->refs.data[e->refs.len++] = (ptx_reference){a.reg, (uint32_t)(start - e->out.data), a.cls,
                                                  (uint8_t)(at - start), false}; /* qn__ptx has made room */
    return at;
}

static char *put_other(const ptx_emitter *e, char *at, ptx_operand a) {
    switch (a.kind) {
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

static inline char *put_operand(ptx_emitter *e, char *at, ptx_operand a) {
    return a.kind == PTX_REG ? put_register(e, at, a) : put_other(e, at, a);
}

/* ---- lines ---- */

enum { LINE_SIZE = 512, LINE_REFS = 16 }; /* more than any line has */

/* What writes no register, whatever stands before its first comma. */
static bool has_no_result(const char *op) {
    switch (op[0]) {
    case 'b': return starts(op, "bra ") || starts(op, "bar.sync") || starts(op, "bar.warp");
    case 'c': return starts(op, "cp.async");
    case 'f': return starts(op, "fence");
    case 'm': return starts(op, "membar");
    case 'p': return starts(op, "prefetch");
    case 'r': return starts(op, "red.") || starts(op, "ret");
    case 's': return op[1] == 't';
    case 't': return starts(op, "trap");
    default: return false;
    }
}

/* What an instruction writes stands behind its name: registers in braces or beside a bar, or one. */
static void mark_results(ptx_emitter *e, const char *op, uint32_t first) {
    const char *text = e->out.data, *at = op;
    while (*at != ' ' && *at != '\n') at++;
    if (*at == '\n' || (at[1] != '%' && at[1] != '{') || has_no_result(op)) return;
    const bool braces = at[1] == '{';
    for (uint32_t n = first; n < e->refs.len; n++) {
        ptx_reference *r = &e->refs.data[n];
        const char *behind = text + r->place + r->length;
        if (n == first && text + r->place != at + 1 + braces) return; /* a special register */
        r->is_def = true;
        if (braces ? *behind == '}' : *behind != '|') return;
    }
}

/* Where the line may not be run, what it writes may be what was there. */
static void read_results(ptx_emitter *e, uint32_t first) {
    for (uint32_t n = first; n < e->refs.len && e->refs.data[n].is_def; n += 2) {
        qn__vec_push(e->arena, &e->refs, e->refs.data[n]);
        memmove(&e->refs.data[n + 1], &e->refs.data[n], (e->refs.len - n - 1) * sizeof *e->refs.data);
        e->refs.data[n].is_def = false;
    }
}

/* One register to another of its class. */
static bool is_move(const ptx_emitter *e, const char *op, uint32_t first) {
    if (e->refs.len - first != 2 || !starts(op, "mov.")) return false;
    const ptx_reference *r = &e->refs.data[first];
    return r[0].is_def && r[0].cls == r[1].cls && e->out.data[r[0].place + r[0].length] == ',' &&
           e->out.data[r[1].place + r[1].length] == ';';
}

/* What a branch goes to: "bra L12;". */
static uint32_t label_of(const char *op) {
    uint32_t label = 0;
    for (const char *digit = op + 5; *digit != ';'; digit++) label = label * 10 + (uint32_t)(*digit - '0');
    return label;
}

/* Any line but a label. */
static void note_line(ptx_emitter *e, uint32_t start, uint32_t first) {
    ptx_line l = {.start = start, .end = (uint32_t)e->out.len, .first_ref = first};
    const char *op = e->out.data + start + 1;
    uint32_t results = first;
    if (*op == '@') {
        const ptx_reference *predicate = &e->refs.data[results++];
        op = e->out.data + predicate->place + predicate->length + 1;
        l.predicated = true;
    }
    mark_results(e, op, results);
    if (l.predicated) read_results(e, results);
    if (starts(op, "bra L")) {
        l.kind = PTX_LINE_BRANCH;
        l.label = label_of(op);
    } else if (starts(op, "ret") || starts(op, "trap")) {
        l.kind = PTX_LINE_END;
    } else if (!l.predicated && is_move(e, op, first)) {
        l.kind = PTX_LINE_MOVE;
    }
    l.num_refs = (uint32_t)e->refs.len - first;
    qn__vec_push(e->arena, &e->lines, l);
}

static inline char *begin_line(ptx_emitter *e) {
    qn__vec_reserve(e->arena, &e->refs, e->refs.len + LINE_REFS);
    char *at = room(&e->out, LINE_SIZE);
    *at++ = '\t';
    return at;
}

static inline void end_line(ptx_emitter *e, char *at) {
    *at++ = '\n';
    *at = 0;
    e->out.len = (size_t)(at - e->out.data);
    if (e->options->debug) e->refs.len = 0;
}

void qn__ptx(ptx_emitter *e, const char *pattern, ...) {
    va_list args;
    va_start(args, pattern);
    const size_t start = e->out.len, first = e->refs.len;
    char *at = begin_line(e);
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
    end_line(e, at);
    if (!e->options->debug) note_line(e, (uint32_t)start, (uint32_t)first);
}

/* "op result, a, ..." */
static void put_plain(ptx_emitter *e, const char *op, const ptx_operand *operands, unsigned count) {
    const size_t start = e->out.len, first = e->refs.len;
    char *at = put_text(begin_line(e), op);
    for (unsigned n = 0; n < count; n++) {
        if (n) *at++ = ',';
        *at++ = ' ';
        at = put_operand(e, at, operands[n]);
    }
    *at++ = ';';
    end_line(e, at);
    if (e->options->debug) return;
    e->refs.data[first].is_def = true;
    const ptx_line l = {.start = (uint32_t)start,
                        .end = (uint32_t)e->out.len,
                        .first_ref = (uint32_t)first,
                        .num_refs = (uint32_t)(e->refs.len - first),
                        .kind = is_move(e, op, (uint32_t)first) ? PTX_LINE_MOVE : PTX_LINE_OTHER};
    qn__vec_push(e->arena, &e->lines, l);
}

void qn__ptx_label(ptx_emitter *e, uint32_t label) {
    char *at = room(&e->out, 32);
    const uint32_t start = (uint32_t)e->out.len;
    *at++ = 'L';
    at = put_number(at, label);
    *at++ = ':';
    *at++ = '\n';
    *at = 0;
    e->out.len = (size_t)(at - e->out.data);
    const ptx_line l = {.start = start,
                        .end = (uint32_t)e->out.len,
                        .first_ref = (uint32_t)e->refs.len,
                        .label = label,
                        .kind = PTX_LINE_LABEL};
    qn__vec_push(e->arena, &e->lines, l);
}

/* ---- operands ---- */

ptx_operand qn__ptx_new(ptx_emitter *e, ptx_class cls) {
    return (ptx_operand){.kind = PTX_REG, .cls = (uint8_t)cls, .reg = e->num_registers[cls]++};
}

ptx_operand qn__ptx_op1(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a) {
    ptx_operand result = qn__ptx_new(e, cls);
    put_plain(e, op, (ptx_operand[]){result, a}, 2);
    return result;
}

ptx_operand qn__ptx_op2(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b) {
    ptx_operand result = qn__ptx_new(e, cls);
    put_plain(e, op, (ptx_operand[]){result, a, b}, 3);
    return result;
}

ptx_operand qn__ptx_op3(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b,
                        ptx_operand c) {
    ptx_operand result = qn__ptx_new(e, cls);
    put_plain(e, op, (ptx_operand[]){result, a, b, c}, 4);
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
    put_plain(e, moves[to.cls], (ptx_operand[]){to, from}, 2);
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

void qn__ptx_refuse(ptx_emitter *e, const ir_instr *instr) {
    const char *name = qn__ir_ops[instr->op].name;
    qn__ptx_fail(e, qn__arena_printf(e->arena, "the PTX target has no '%s' of these types", name));
}

void qn__ptx_fail(ptx_emitter *e, const char *message) {
    if (e->result->error) return;
    e->result->error = message;
    e->result->error_loc = e->loc;
}
