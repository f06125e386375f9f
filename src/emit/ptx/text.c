/* The text of a PTX kernel's body: the only file that knows how an operand reads. Numbers are written by hand, for
   this is much of the work of emitting. */
#include "emit/ptx/internal.h"

/* ---- characters ---- */

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

/* They are short: a call would take longer. */
static inline char *put_text(char *at, const char *text) {
    while (*text) *at++ = *text++;
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

static inline char *put_register(char *at, const ptx_operand *a) {
    static const char letters[PTX_CLASS_COUNT] = {'p', 'h', 'r', 'd'};
    *at++ = '%';
    *at++ = letters[a->cls];
    return put_number(at, a->reg);
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

static inline char *put_operand(char *at, const ptx_operand *a) {
    return a->kind == PTX_REG ? put_register(at, a) : put_other(at, a);
}

/* ---- lines ---- */

/* "op result, a, ..." */
static char *put_plain(char *at, const ptx_line *l, const ptx_operand *operands) {
    const uint32_t count = l->num_operands;
    at = put_text(at, l->text);
    for (uint32_t n = 0; n < count; n++) {
        if (n) *at++ = ',';
        *at++ = ' ';
        at = put_operand(at, &operands[n]);
    }
    *at++ = ';';
    return at;
}

static char *put_pattern(char *at, const ptx_line *l, const ptx_operand *operands) {
    for (const char *p = l->text; *p; p++) {
        if (qn__ptx_is_place(*p))
            at = put_operand(at, operands++);
        else
            *at++ = *p;
    }
    return at;
}

void qn__ptx_print(const ptx_emitter *e, qn__buf *text) {
    enum { LINE_SIZE = 512, USUAL_SIZE = 36 }; /* more than any line has */
    qn__buf_reserve(text, e->lines.len * USUAL_SIZE);
    for (size_t i = 0; i < e->lines.len; i++) {
        const ptx_line *l = &e->lines.data[i];
        if (l->dropped) continue;
        if (text->cap - text->len <= LINE_SIZE) qn__buf_reserve(text, LINE_SIZE);
        char *at = text->data + text->len;
        if (l->kind != PTX_LINE_LABEL) *at++ = '\t';
        const ptx_operand *operands = e->operands.data + l->first_operand;
        at = l->is_pattern ? put_pattern(at, l, operands) : put_plain(at, l, operands);
        *at++ = '\n';
        text->len = (size_t)(at - text->data);
    }
    text->data[text->len] = 0;
}
