/* Reads the IR's text form into tokens, and numbers out of tokens. Independent of the host's locale. */
#include "ir/lexer.h"

#include <math.h>
#include <string.h>

/* ---- errors ---- */

void qn__ir_lex_fail(ir_lexer *lexer, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *message = qn__arena_vprintf(lexer->arena, format, args);
    va_end(args);
    lexer->error =
        qn__arena_printf(lexer->arena, "%u:%u: %s", lexer->token.line, lexer->token.column, message);
    longjmp(lexer->escape, 1);
}

/* What stands at the current token, for a message. */
static const char *found(ir_lexer *lexer) {
    enum { SHOWN = 40 };
    const ir_token *token = &lexer->token;
    if (token->kind == IR_TOKEN_END) return "the end";
    if (token->kind == IR_TOKEN_STRING) return "a string";
    const char *prefix = token->kind == IR_TOKEN_VALUE ? "%" : token->kind == IR_TOKEN_AT ? "@" : "";
    int len = token->text.len > SHOWN ? SHOWN : (int)token->text.len;
    return qn__arena_printf(lexer->arena, "'%s%.*s'", prefix, len, token->text.data);
}

/* ---- tokens ---- */

void qn__ir_lex_start(ir_lexer *lexer, qn__arena *arena, const char *text, size_t size) {
    lexer->arena = arena;
    lexer->at = lexer->line_start = text;
    lexer->end = text + size;
    lexer->line = 1;
    lexer->error = NULL;
    lexer->token = (ir_token){.line = 1, .column = 1};
}

static char peek(const ir_lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool skip_space(ir_lexer *lexer) {
    bool new_line = lexer->at == lexer->line_start && lexer->line == 1;
    for (; lexer->at < lexer->end; lexer->at++) {
        char c = *lexer->at;
        if (c == ';')
            while (lexer->at + 1 < lexer->end && lexer->at[1] != '\n') lexer->at++;
        else if (c == '\n') {
            new_line = true;
            lexer->line++;
            lexer->line_start = lexer->at + 1;
        } else if (c != ' ' && c != '\t' && c != '\r')
            break;
    }
    return new_line;
}

static void take_words(ir_lexer *lexer, ir_token_kind kind) {
    const char *start = lexer->at;
    while (lexer->at < lexer->end && is_word(*lexer->at)) lexer->at++;
    lexer->token.kind = kind;
    lexer->token.text = (qn__str){start, (size_t)(lexer->at - start)};
}

/* Digits, letters and points, and a sign after the exponent's letter. */
static void take_number(ir_lexer *lexer) {
    const char *start = lexer->at++;
    bool hex = (*start == '0' || *start == '-') && (peek(lexer, 0) == 'x' || peek(lexer, 1) == 'x');
    for (char last = 0; lexer->at < lexer->end; lexer->at++) {
        char c = *lexer->at;
        bool sign = (c == '+' || c == '-') && (last == 'p' || (last == 'e' && !hex));
        if (!is_word(c) && !sign) break;
        last = c;
    }
    lexer->token.kind = IR_TOKEN_NUMBER;
    lexer->token.text = (qn__str){start, (size_t)(lexer->at - start)};
}

static char take_escape(ir_lexer *lexer) {
    char c = peek(lexer, 0);
    int high = hex_digit(c), low = hex_digit(peek(lexer, 1));
    lexer->at++;
    if (c == 'n') return '\n';
    if (c == '"' || c == '\\') return c;
    if (high < 0 || low < 0) qn__ir_lex_fail(lexer, "wrong escape in a string");
    lexer->at++;
    return (char)(high * 16 + low);
}

static void take_string(ir_lexer *lexer, ir_token_kind kind) {
    lexer->at++;
    const char *close = lexer->at;
    while (close < lexer->end && *close != '"' && *close != '\n') close += *close == '\\' ? 2 : 1;
    if (close >= lexer->end || *close != '"') qn__ir_lex_fail(lexer, "string without an end");
    char *text = qn__arena_alloc(lexer->arena, (size_t)(close - lexer->at) + 1);
    size_t len = 0;
    while (lexer->at < close) {
        char c = *lexer->at++;
        text[len++] = c == '\\' ? take_escape(lexer) : c;
    }
    lexer->at = close + 1;
    lexer->token.kind = kind;
    lexer->token.text = (qn__str){text, len};
}

void qn__ir_lex_next(ir_lexer *lexer) {
    ir_token *token = &lexer->token;
    token->starts_line = skip_space(lexer);
    token->line = lexer->line;
    token->column = (uint32_t)(lexer->at - lexer->line_start) + 1;
    char c = peek(lexer, 0);
    if (lexer->at == lexer->end) {
        token->kind = IR_TOKEN_END;
        token->text = (qn__str){lexer->at, 0};
    } else if (is_letter(c)) {
        take_words(lexer, IR_TOKEN_WORD);
    } else if (c == '-' && peek(lexer, 1) == '>') {
        token->kind = IR_TOKEN_ARROW;
        token->text = (qn__str){lexer->at, 2};
        lexer->at += 2;
    } else if (is_digit(c) || c == '-') {
        take_number(lexer);
    } else if (c == '"') {
        take_string(lexer, IR_TOKEN_STRING);
    } else if (c == '%' || c == '@') {
        lexer->at++;
        if (c == '@' && peek(lexer, 0) == '"')
            take_string(lexer, IR_TOKEN_AT);
        else
            take_words(lexer, c == '%' ? IR_TOKEN_VALUE : IR_TOKEN_AT);
    } else if (c && strchr("(){}[]=,:!#", c)) {
        token->kind = IR_TOKEN_PUNCTUATION;
        token->text = (qn__str){lexer->at++, 1};
    } else {
        qn__ir_lex_fail(lexer, "unexpected character 0x%02x", (unsigned)(unsigned char)c);
    }
}

bool qn__ir_lex_is(const ir_lexer *lexer, char punctuation) {
    return lexer->token.kind == IR_TOKEN_PUNCTUATION && *lexer->token.text.data == punctuation;
}

bool qn__ir_lex_is_word(const ir_lexer *lexer, const char *word) {
    return lexer->token.kind == IR_TOKEN_WORD && qn__str_is(lexer->token.text, word);
}

bool qn__ir_lex_accept(ir_lexer *lexer, char punctuation) {
    if (!qn__ir_lex_is(lexer, punctuation)) return false;
    qn__ir_lex_next(lexer);
    return true;
}

bool qn__ir_lex_accept_word(ir_lexer *lexer, const char *word) {
    if (!qn__ir_lex_is_word(lexer, word)) return false;
    qn__ir_lex_next(lexer);
    return true;
}

void qn__ir_lex_expect(ir_lexer *lexer, char punctuation) {
    if (!qn__ir_lex_accept(lexer, punctuation))
        qn__ir_lex_fail(lexer, "expected '%c', found %s", punctuation, found(lexer));
}

/* ---- numbers ---- */

static qn__str take_number_text(ir_lexer *lexer, bool *negative) {
    if (lexer->token.kind != IR_TOKEN_NUMBER)
        qn__ir_lex_fail(lexer, "expected a number, found %s", found(lexer));
    qn__str text = lexer->token.text;
    *negative = *text.data == '-';
    if (*negative) text = (qn__str){text.data + 1, text.len - 1};
    return text;
}

/* Digits without a sign, decimal or after 0x. */
static uint64_t magnitude_of(ir_lexer *lexer, qn__str text) {
    unsigned base = qn__str_starts(text, "0x") ? 16 : 10;
    uint64_t value = 0;
    size_t i = base == 16 ? 2 : 0;
    if (i == text.len) qn__ir_lex_fail(lexer, "expected an integer, found %s", found(lexer));
    for (; i < text.len; i++) {
        int digit = hex_digit(text.data[i]);
        if (digit < 0 || (unsigned)digit >= base)
            qn__ir_lex_fail(lexer, "expected an integer, found %s", found(lexer));
        if (value > (UINT64_MAX - (unsigned)digit) / base)
            qn__ir_lex_fail(lexer, "number %s is too large", found(lexer));
        value = value * base + (unsigned)digit;
    }
    return value;
}

uint64_t qn__ir_lex_unsigned(ir_lexer *lexer, uint64_t max) {
    bool negative;
    uint64_t value = magnitude_of(lexer, take_number_text(lexer, &negative));
    if (negative || value > max) qn__ir_lex_fail(lexer, "number %s is out of range", found(lexer));
    qn__ir_lex_next(lexer);
    return value;
}

uint64_t qn__ir_lex_integer(ir_lexer *lexer, unsigned width) {
    bool negative;
    uint64_t value = magnitude_of(lexer, take_number_text(lexer, &negative));
    uint64_t max = negative ? UINT64_C(1) << (width - 1) : UINT64_MAX >> (64 - width);
    if (value > max) qn__ir_lex_fail(lexer, "number %s does not fit in %u bits", found(lexer), width);
    qn__ir_lex_next(lexer);
    return negative ? 0 - value : value;
}

int64_t qn__ir_lex_signed(ir_lexer *lexer) {
    bool negative;
    uint64_t value = magnitude_of(lexer, take_number_text(lexer, &negative));
    if (value > (uint64_t)INT64_MAX + negative)
        qn__ir_lex_fail(lexer, "number %s is out of range", found(lexer));
    qn__ir_lex_next(lexer);
    return negative ? (int64_t)(0 - value) : (int64_t)value;
}

/* mantissa digits with a point, in base 10 or 16; then an optional exponent. */
typedef struct scanned_float {
    uint64_t digits;
    int64_t scale;    /* how many digits stand after the point */
    int64_t exponent; /* after e or p */
    bool too_long;
} scanned_float;

static scanned_float scan_float(ir_lexer *lexer, qn__str text, unsigned base) {
    scanned_float s = {0};
    size_t i = base == 16 ? 2 : 0;
    bool point = false, any = false;
    for (; i < text.len; i++) {
        int digit = hex_digit(text.data[i]);
        if (text.data[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (digit < 0 || (unsigned)digit >= base) break;
        any = true;
        if (s.digits >> 53) s.too_long = true;
        s.digits = s.digits * base + (unsigned)digit;
        s.scale += point;
    }
    if (s.digits >> 53) s.too_long = true;
    if (i < text.len && any && text.data[i] == (base == 16 ? 'p' : 'e')) {
        bool negative = ++i < text.len && text.data[i] == '-';
        if (i < text.len && (text.data[i] == '-' || text.data[i] == '+')) i++;
        any = i < text.len;
        for (; i < text.len && is_digit(text.data[i]); i++)
            if (s.exponent < 100000) s.exponent = s.exponent * 10 + (text.data[i] - '0');
        if (negative) s.exponent = -s.exponent;
    }
    if (!any || i != text.len) qn__ir_lex_fail(lexer, "expected a number, found %s", found(lexer));
    if (s.too_long) qn__ir_lex_fail(lexer, "number %s has too many digits", found(lexer));
    return s;
}

static uint64_t float_of_number(ir_lexer *lexer, ir_kind kind) {
    bool negative;
    qn__str text = take_number_text(lexer, &negative);
    if (qn__str_is(text, "inf")) return qn__ir_float_bits(kind, negative ? -INFINITY : INFINITY);
    if (qn__str_starts(text, "0x")) {
        scanned_float s = scan_float(lexer, text, 16);
        int64_t exponent = s.exponent - 4 * s.scale;
        if (exponent > 5000) exponent = 5000;
        if (exponent < -5000) exponent = -5000;
        double value = ldexp((double)s.digits, (int)exponent);
        return qn__ir_float_bits(kind, negative ? -value : value);
    }
    scanned_float s = scan_float(lexer, text, 10);
    int64_t decimals = s.scale - s.exponent;
    if (s.digits == 0) decimals = 0;
    if (decimals > 22 || decimals < -22)
        qn__ir_lex_fail(lexer, "decimal %s is not exact enough: write it in hex (0x1.8p+1)", found(lexer));
    return qn__ir_float_decimal(kind, negative, s.digits, (int)decimals);
}

uint64_t qn__ir_lex_float(ir_lexer *lexer, ir_kind kind) {
    unsigned width = qn__ir_bits(qn__ir_type(kind, 1));
    if (qn__ir_lex_accept_word(lexer, "bits")) return qn__ir_lex_unsigned(lexer, UINT64_MAX >> (64 - width));
    if (qn__ir_lex_accept_word(lexer, "inf")) return qn__ir_float_bits(kind, INFINITY);
    if (qn__ir_lex_accept_word(lexer, "nan")) return qn__ir_float_bits(kind, (double)NAN);
    uint64_t bits = float_of_number(lexer, kind);
    qn__ir_lex_next(lexer);
    return bits;
}

/* ---- words and strings ---- */

const char *qn__ir_lex_string(ir_lexer *lexer) {
    if (lexer->token.kind != IR_TOKEN_STRING)
        qn__ir_lex_fail(lexer, "expected a string, found %s", found(lexer));
    const char *text = lexer->token.text.data;
    if (memchr(text, 0, lexer->token.text.len)) qn__ir_lex_fail(lexer, "zero byte in a name");
    qn__ir_lex_next(lexer);
    return text;
}

unsigned qn__ir_lex_choice(ir_lexer *lexer, const char *const *names, unsigned count, const char *what) {
    for (unsigned i = 0; i < count; i++)
        if (qn__ir_lex_accept_word(lexer, names[i])) return i;
    qn__ir_lex_fail(lexer, "expected %s, found %s", what, found(lexer));
}

static void put_hex(ir_lexer *lexer, qn__buf *out, qn__str text) {
    int high = -1;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.data[i]);
        if (text.data[i] == ' ' && high < 0) continue;
        if (digit < 0) qn__ir_lex_fail(lexer, "expected pairs of hex digits");
        if (high >= 0) qn__buf_putc(out, (char)(high * 16 + digit));
        high = high < 0 ? digit : -1;
    }
    if (high >= 0) qn__ir_lex_fail(lexer, "expected pairs of hex digits");
}

qn__str qn__ir_lex_bytes(ir_lexer *lexer, bool hex) {
    qn__buf out;
    qn__buf_init(&out, lexer->arena);
    qn__buf_puts(&out, "");
    if (lexer->token.kind != IR_TOKEN_STRING)
        qn__ir_lex_fail(lexer, "expected a string, found %s", found(lexer));
    for (; lexer->token.kind == IR_TOKEN_STRING; qn__ir_lex_next(lexer)) {
        if (hex)
            put_hex(lexer, &out, lexer->token.text);
        else
            qn__buf_append(&out, lexer->token.text.data, lexer->token.text.len);
    }
    return (qn__str){out.data, out.len};
}
