/* The text of a PTX kernel's body: the only file that knows how an operand reads. Numbers are written by hand, for
   this is much of the work of emitting. */
#include <string.h>

#include "emit/ptx/internal.h"

/* ---- characters ---- */

static inline char *put_text(char *at, const char *text) {
    const size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
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
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    if (value >= 10000) return put_long_number(at, value);
    const uint32_t number = (uint32_t)value, hundreds = number / 100;
    const char *high = &pairs[2 * hundreds], *low = &pairs[2 * (number - 100 * hundreds)];
    if (number >= 1000) *at++ = high[0];
    if (number >= 100) *at++ = high[1];
    if (number >= 10) *at++ = low[0];
    *at++ = low[1];
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

static char *put_symbol(char *at, uint32_t symbol) {
    switch (symbol) {
    case PTX_PARAMS: return put_text(at, "params");
    case PTX_LOCALS: return put_text(at, "locals");
    case PTX_DYNAMIC: return put_text(at, "qn_dynamic");
    case PTX_DEPOT: return put_text(at, "depot");
    default: return put_number(put_text(at, "qn_constant_"), symbol - PTX_FIRST_GLOBAL);
    }
}

enum { LONG_NAME = 100000 }; /* registers from here on are written digit by digit */

/* The name of a register is written once, and copied whole from then on. */
typedef struct register_name {
    char text[7];
    uint8_t length;
} register_name;

typedef struct printer {
    const register_name *names[PTX_CLASS_COUNT]; /* by number */
} printer;

static char *put_register(char *at, unsigned cls, uint32_t reg) {
    *at++ = '%';
    *at++ = "phrd"[cls];
    return put_number(at, reg);
}

static const register_name *name_registers(const ptx_emitter *e, unsigned cls) {
    const uint32_t count = e->num_registers[cls] < LONG_NAME ? e->num_registers[cls] : LONG_NAME;
    register_name *names = qn__arena_take(e->arena, count * sizeof *names);
    for (uint32_t reg = 0; reg < count; reg++)
        names[reg].length = (uint8_t)(put_register(names[reg].text, cls, reg) - names[reg].text);
    return names;
}

static char *put_other(char *at, const ptx_operand *a) {
    switch (a->kind) {
    case PTX_FLOAT:
        *at++ = '0';
        if (a->cls == PTX_B16) return put_hex(put_text(at, "x"), a->bits, 4);
        *at++ = a->cls == PTX_B64 ? 'd' : 'f';
        return put_hex(at, a->bits, a->cls == PTX_B64 ? 16 : 8);
    case PTX_SYMBOL:
        at = put_symbol(at, a->reg);
        if (!a->bits) return at;
        *at++ = '+';
        return put_number(at, a->bits);
    case PTX_NUMBER: return put_signed(at, (int64_t)a->bits);
    case PTX_TEXT: return put_text(at, a->text);
    default:
        if (a->cls == PTX_B64) return put_signed(at, (int64_t)a->bits);
        if (a->cls == PTX_B32) return put_signed(at, (int32_t)a->bits);
        return put_number(at, a->bits);
    }
}

static inline char *put_operand(const printer *p, char *at, const ptx_operand *a) {
    if (a->kind != PTX_REG) return put_other(at, a);
    if (a->reg >= LONG_NAME) return put_register(at, a->cls, a->reg);
    const register_name *name = &p->names[a->cls][a->reg];
    memcpy(at, name, sizeof *name);
    return at + name->length;
}

/* ---- lines ---- */

/* "op result, a, ..." */
static char *put_plain(const printer *p, char *at, const ptx_line *l, const ptx_operand *operands) {
    const ptx_operand *end = operands + l->num_operands;
    at = put_text(at, l->text);
    for (const ptx_operand *a = operands; a < end; a++) {
        *at++ = ' ';
        at = put_operand(p, at, a);
        *at++ = ',';
    }
    at[-1] = ';';
    return at;
}

static char *put_pattern(const printer *p, char *at, const ptx_line *l, const ptx_operand *operands) {
    for (const char *c = l->text; *c; c++) {
        if (qn__ptx_is_operand(*c))
            at = put_operand(p, at, operands++);
        else
            *at++ = *c;
    }
    return at;
}

void qn__ptx_print(const ptx_emitter *e, qn__buf *text) {
    enum { LINE_SIZE = 512 }; /* more than any line has */
    printer p;
    for (unsigned cls = 0; cls < PTX_CLASS_COUNT; cls++) p.names[cls] = name_registers(e, cls);
    for (size_t i = 0; i < e->lines.len; i++) {
        const ptx_line *l = &e->lines.data[i];
        if (l->dropped) continue;
        if (text->cap - text->len <= LINE_SIZE) qn__buf_reserve(text, LINE_SIZE);
        char *at = text->data + text->len;
        if (l->kind != PTX_LINE_LABEL) *at++ = '\t';
        const ptx_operand *operands = e->operands.data + l->first_operand;
        at = l->is_pattern ? put_pattern(&p, at, l, operands) : put_plain(&p, at, l, operands);
        *at++ = '\n';
        text->len = (size_t)(at - text->data);
    }
    if (text->len) text->data[text->len] = 0;
}
