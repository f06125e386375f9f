/* From preprocessing tokens to tokens of the language: literals are evaluated (C99 6.4.4, OpenCL C 6.1),
   keywords recognised. What is wrong is reported, and some value stands in so that parsing can go on. */
#include <string.h>

#include "front/token.h"

enum { SHOWN = 40 }; /* bytes of a bad literal that a message repeats */

static int shown(size_t len) { return len > SHOWN ? SHOWN : (int)len; }

static bool is_letter(char c, char lower) { return (c | 0x20) == lower; }

/* ---- numbers ---- */

/* What a number's digits may be and where they end. */
typedef struct number_shape {
    unsigned base;
    bool is_float, has_exponent;
    size_t start, end; /* of the digits, behind 0x or 0b; the end comes before the suffix */
} number_shape;

static bool is_digit_of(char c, unsigned base) {
    if (c >= '0' && c <= '9') return true;
    return base == 16 && (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
}

static number_shape shape_of(const char *text, size_t len) {
    number_shape shape = {.base = 10};
    if (len > 2 && text[0] == '0' && is_letter(text[1], 'x')) shape.base = 16;
    if (len > 2 && text[0] == '0' && is_letter(text[1], 'b')) shape.base = 2;
    shape.start = shape.base == 10 ? 0 : 2;
    size_t at = shape.start;
    while (at < len && (is_digit_of(text[at], shape.base) || text[at] == '.'))
        shape.is_float |= text[at++] == '.';
    if (at < len && shape.base != 2 && is_letter(text[at], shape.base == 16 ? 'p' : 'e')) {
        size_t digits = at + 1;
        if (digits < len && (text[digits] == '+' || text[digits] == '-')) digits++;
        size_t end = digits;
        while (end < len && text[end] >= '0' && text[end] <= '9') end++;
        shape.has_exponent = shape.is_float = true;
        at = end > digits ? end : at;
    }
    shape.end = at;
    if (shape.base == 10 && !shape.is_float && text[0] == '0') shape.base = 8;
    return shape;
}

static void bad_suffix(const front_token *token, front_diag *diag, size_t at, const char *what) {
    qn__diag_error(diag, token->loc, "'%.*s' is no suffix of %s literal", shown(token->len - at),
                   token->text + at, what);
}

static void convert_float(front_token *token, front_diag *diag, const number_shape *shape, bool single) {
    const char *text = token->text, *suffix = text + shape->end;
    size_t suffix_len = token->len - shape->end;
    front_float_suffix kind = single ? FRONT_F32 : FRONT_F64;
    token->kind = FRONT_T_FLOAT;
    if (suffix_len == 1 && is_letter(*suffix, 'f')) {
        kind = FRONT_F32;
    } else if (suffix_len == 1 && is_letter(*suffix, 'h')) {
        kind = FRONT_F16;
    } else if (suffix_len == 1 && is_letter(*suffix, 'l')) {
        qn__diag_error(diag, token->loc, "there is no long double in OpenCL C");
        qn__diag_hint(diag, "leave out the suffix '%c' for a double", *suffix);
    } else if (suffix_len) {
        bad_suffix(token, diag, shape->end, "a floating");
    }
    token->literal = (uint8_t)kind;
    size_t points = 0, digits = 0;
    for (size_t i = shape->start; i < shape->end && !is_letter(text[i], shape->base == 16 ? 'p' : 'e'); i++)
        *(text[i] == '.' ? &points : &digits) += 1;
    token->real = 0;
    if (points > 1 || !digits || shape->base == 2) {
        qn__diag_error(diag, token->loc, "'%.*s' is not a number", shown(token->len), text);
    } else if (shape->base == 16 && !shape->has_exponent) {
        qn__diag_error(diag, token->loc, "a hexadecimal floating literal needs an exponent");
        qn__diag_hint(diag, "write 'p0' behind its digits");
    } else {
        bool out_of_range;
        token->real = qn__number_parse(text, shape->end, kind, &out_of_range);
        if (out_of_range)
            qn__diag_warning(diag, FRONT_WARN_LITERAL, token->loc,
                             "%.*s is too %s for its type and becomes %s", shown(token->len), text,
                             token->real ? "large" : "small", token->real ? "infinity" : "zero");
    }
}

/* u, l and ll in any order and case; long long is the same as long. */
static bool read_int_suffix(const char *suffix, size_t len, uint8_t *flags) {
    size_t at = 0;
    while (at < len) {
        if (is_letter(suffix[at], 'u') && !(*flags & FRONT_INT_UNSIGNED)) {
            *flags |= FRONT_INT_UNSIGNED;
            at++;
        } else if (is_letter(suffix[at], 'l') && !(*flags & FRONT_INT_LONG)) {
            *flags |= FRONT_INT_LONG;
            at += at + 1 < len && suffix[at + 1] == suffix[at] ? 2 : 1;
        } else {
            return false;
        }
    }
    return true;
}

static void convert_int(front_token *token, front_diag *diag, const number_shape *shape) {
    uint64_t value = 0;
    bool too_large = false;
    uint8_t flags = shape->base == 10 ? FRONT_INT_DECIMAL : 0;
    for (size_t i = shape->start; i < shape->end; i++) {
        char c = token->text[i];
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
        if (digit >= shape->base) {
            qn__diag_error(diag, token->loc, "'%c' is no digit of %s literal", c,
                           shape->base == 8 ? "an octal" : "a binary");
            if (shape->base == 8) qn__diag_hint(diag, "a number that begins with 0 is octal");
            break;
        }
        too_large |= value > (UINT64_MAX - digit) / shape->base;
        value = value * shape->base + digit;
    }
    if (shape->end == shape->start ||
        !read_int_suffix(token->text + shape->end, token->len - shape->end, &flags))
        bad_suffix(token, diag, shape->end, "an integer");
    if (too_large)
        qn__diag_error(diag, token->loc, "the integer is too large for any type: it needs more than 64 bits");
    token->kind = FRONT_T_INT;
    token->literal = flags;
    token->integer = value;
}

void qn__lex_number(front_token *token, front_diag *diag, bool single) {
    number_shape shape = shape_of(token->text, token->len);
    bool float_suffix = shape.base != 16 && shape.end < token->len && token->len - shape.end == 1 &&
                        (is_letter(token->text[shape.end], 'f') || is_letter(token->text[shape.end], 'h'));
    if (shape.is_float) {
        convert_float(token, diag, &shape, single);
        return;
    }
    if (float_suffix) {
        qn__diag_error(diag, token->loc, "'%c' is no suffix of an integer literal", token->text[shape.end]);
        qn__diag_hint(diag, "write %.*s.0%c for a floating literal", shown(shape.end), token->text,
                      token->text[shape.end]);
        shape.base = 10;
        convert_float(token, diag, &shape, single);
        return;
    }
    convert_int(token, diag, &shape);
}

/* ---- characters and strings ---- */

static unsigned hex_value(char c) {
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

/* Octal and hexadecimal escapes: `*at` stands behind the backslash. */
static unsigned numeric_escape(const front_token *token, const char **at, const char *end, front_diag *diag) {
    unsigned value = 0, digits = 0;
    bool hex = **at == 'x', too_large = false;
    const char *p = *at + hex;
    for (; p < end && is_digit_of(*p, hex ? 16 : 10) && (hex || (*p < '8' && digits < 3)); p++, digits++) {
        value = hex ? value << 4 | hex_value(*p) : value << 3 | (unsigned)(*p - '0');
        too_large |= value > 255;
        value &= 0xff;
    }
    if (!digits) qn__diag_error(diag, token->loc, "\\x needs hexadecimal digits behind it");
    if (too_large) qn__diag_error(diag, token->loc, "the escape sequence does not fit into a char");
    *at = p;
    return value;
}

/* One character of a literal; *at moves behind it. */
static unsigned char read_char(const front_token *token, const char **at, const char *end, front_diag *diag) {
    static const char letters[] = "abfnrtve\\'\"?", values[] = "\a\b\f\n\r\t\v\033\\'\"?";
    char c = *(*at)++;
    if (c != '\\' || *at >= end) return (unsigned char)c;
    c = **at;
    if ((c >= '0' && c < '8') || c == 'x') return (unsigned char)numeric_escape(token, at, end, diag);
    ++*at;
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) return (unsigned char)values[letter - letters];
    qn__diag_warning(diag, FRONT_WARN_OTHER, token->loc, "unknown escape sequence '\\%c'",
                     c >= ' ' && c < 127 ? c : '?');
    return (unsigned char)c;
}

/* The literal without its quotes; the closing one may be missing, which was reported. */
static const char *content_end(const front_token *token) {
    const char *end = token->text + token->len;
    return token->len >= 2 && end[-1] == *token->text ? end - 1 : end;
}

void qn__lex_char(front_token *token, front_diag *diag) {
    const char *at = token->text + 1, *end = content_end(token);
    uint32_t value = 0;
    unsigned count = 0;
    for (; at < end; count++) {
        unsigned char c = read_char(token, &at, end, diag);
        value = count ? value << 8 | c : (uint32_t)(int32_t)(int8_t)c;
    }
    if (!count) qn__diag_error(diag, token->loc, "the character literal is empty");
    if (count > 1)
        qn__diag_warning(diag, FRONT_WARN_MULTICHAR, token->loc,
                         "character literal of more than one character");
    token->kind = FRONT_T_CHAR;
    token->integer = (uint64_t)(int64_t)(int32_t)value;
}

void qn__lex_string(const front_token *token, front_diag *diag, qn__buf *out) {
    const char *at = token->text + 1, *end = content_end(token);
    while (at < end) {
        const char *backslash = memchr(at, '\\', (size_t)(end - at));
        const char *stop = backslash ? backslash : end;
        qn__buf_append(out, at, (size_t)(stop - at));
        at = stop;
        if (at < end) qn__buf_putc(out, (char)read_char(token, &at, end, diag));
    }
}

/* ---- any token ---- */

static void report_other(const front_token *token, front_diag *diag) {
    unsigned char c = (unsigned char)*token->text;
    if (token->len == 1 && c > ' ' && c < 127)
        qn__diag_error(diag, token->loc, "the character '%c' has no meaning here", c);
    else if (token->len > 1)
        qn__diag_error(diag, token->loc, "the character '%.*s' can only stand in comments and strings",
                       (int)token->len, token->text);
    else
        qn__diag_error(diag, token->loc, "the byte 0x%02X can only stand in comments and strings", c);
}

bool qn__lex_convert(front_token *token, front_diag *diag, bool single) {
    switch (token->kind) {
    case FRONT_T_IDENTIFIER:
        if (token->name->keyword) token->kind = token->name->keyword;
        return true;
    case FRONT_T_NUMBER: qn__lex_number(token, diag, single); return true;
    case FRONT_T_CHAR: qn__lex_char(token, diag); return true;
    case FRONT_T_OTHER: report_other(token, diag); return false;
    default: return true;
    }
}
