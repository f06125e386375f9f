/* The format of a printf and its arguments (OpenCL C 6.15.14). The reader of packed values (backend/common/print.c)
   finds them by the format alone, so each number is brought to the size that its conversion takes, and what cannot
   be brought to it is refused: a number taken for a string would be a wild pointer. */
#include "front/parse/parser.h"

#include <string.h>

typedef struct format {
    front_parser *p;
    qn__str text;
    front_loc loc; /* of the literal's opening quote */
    size_t at;
} format;

typedef struct format_spec {
    size_t start, length; /* in the text, from the '%' on */
    unsigned number;      /* conversions from 1 */
    unsigned lanes;       /* of %v4hlf; 1: a scalar */
    int size;             /* 'b' for hh, 'h', 'w' for hl, 'l', 0 */
    char letter;
} format_spec;

/* ---- where it is written ---- */

/* Bytes of the source that make one character of a literal. */
static size_t source_length(qn__str line, size_t at) {
    size_t n = 1;
    if (line.data[at] != '\\' || at + 1 >= line.len) return n;
    const char kind = line.data[at + n++];
    if (kind == 'x')
        while (at + n < line.len && strchr("0123456789abcdefABCDEF", line.data[at + n])) n++;
    else if (kind >= '0' && kind <= '7')
        while (n < 4 && at + n < line.len && line.data[at + n] >= '0' && line.data[at + n] <= '7') n++;
    return n;
}

/* Behind a closing quote: the inside of the next literal that is joined to it. */
static bool next_literal(const format *f, front_loc *loc, qn__str *line, size_t *at) {
    for (;;) {
        *at += strspn(line->data + *at, " \t\r\f\v");
        if (*at < line->len) break;
        loc->line++;
        *line = qn__source_line(f->p->context->sources, *loc);
        *at = 0;
        if (!line->len) return false;
    }
    return line->data[(*at)++] == '"';
}

/* The place of a character of the format; that of the literal where the line does not show it (a macro's name
   stands there, or a line is continued). */
static front_loc place_of(const format *f, size_t offset) {
    front_loc loc = f->loc;
    qn__str line = qn__source_line(f->p->context->sources, loc);
    size_t at = loc.column ? loc.column - 1u : line.len;
    if (at >= line.len || line.data[at++] != '"') return f->loc;
    for (size_t n = 0; at < line.len; n++) {
        while (at < line.len && line.data[at] == '"') {
            at++;
            if (!next_literal(f, &loc, &line, &at)) return f->loc;
        }
        if (at >= line.len || at >= UINT16_MAX) break;
        loc.column = (uint16_t)(at + 1);
        if (n == offset) return loc;
        at += source_length(line, at);
    }
    return f->loc;
}

/* The conversion as it is written, for messages. */
static const char *text_of(const format *f, const format_spec *spec) {
    enum { LONGEST = 24 };
    const size_t length = spec->length < LONGEST ? spec->length : LONGEST;
    return qn__arena_strndup(f->p->arena, f->text.data + spec->start, length);
}

/* ---- reading ---- */

static bool invalid(const format *f, const format_spec *spec, const char *hint) {
    front_diag *diag = f->p->diag;
    const front_loc loc = place_of(f, spec->start);
    qn__diag_error(diag, loc, "conversion %u of the format, '%s', is none that printf knows", spec->number,
                   text_of(f, spec));
    qn__diag_range(diag, loc, (uint32_t)spec->length);
    qn__diag_hint(diag, "%s",
                  hint ? hint
                       : "a conversion is % [-+ #0] [width] [.precision] [v2 ... v16] [hh h hl l] and "
                         "one of d i o u x X f F e E g G a A c s p");
    return false;
}

static char peek(const format *f) { return f->at < f->text.len ? f->text.data[f->at] : '\0'; }

static void skip(format *f, const char *set) {
    while (peek(f) && strchr(set, peek(f))) f->at++;
}

static void read_size(format *f, format_spec *spec) {
    const char first = peek(f);
    if (!first || !strchr("hlzjt", first)) return;
    f->at++;
    const char second = peek(f);
    spec->size = first == 'h' ? 'h' : 'l';
    if (first == 'h' && second == 'h') spec->size = 'b';
    if (first == 'h' && second == 'l') spec->size = 'w';
    f->at += spec->size == 'b' || spec->size == 'w' || (first == 'l' && second == 'l');
}

/* Reads the conversion whose '%' was read; false after an error, reported. */
static bool read_spec(format *f, format_spec *spec) {
    spec->start = f->at - 1;
    spec->lanes = 1;
    spec->size = 0;
    spec->number++;
    skip(f, "-+ #0");
    skip(f, "0123456789");
    if (peek(f) == '.') {
        f->at++;
        skip(f, "0123456789");
    }
    const bool is_star = peek(f) == '*';
    const bool is_vector = peek(f) == 'v';
    if (is_vector) {
        spec->lanes = 0;
        for (f->at++; peek(f) >= '0' && peek(f) <= '9' && spec->lanes < 100; f->at++)
            spec->lanes = spec->lanes * 10 + (unsigned)(peek(f) - '0');
    }
    read_size(f, spec);
    spec->letter = peek(f);
    f->at += spec->letter != '\0';
    spec->length = f->at - spec->start;
    const bool lanes_good =
        spec->lanes <= 16 &&
        (is_vector ? spec->lanes == 3 || (spec->lanes > 1 && 16 % spec->lanes == 0) : true);
    const char *letters = is_vector ? "diouxXfFeEgGaA" : "diouxXfFeEgGaAcsp";
    if (is_star) return invalid(f, spec, "write the width or precision as a number: '*' is not in OpenCL C");
    return (spec->letter && strchr(letters, spec->letter) && lanes_good) || invalid(f, spec, NULL);
}

/* ---- arguments ---- */

static bool is_real(const format_spec *spec) { return strchr("fFeEgGaA", spec->letter) != NULL; }

/* Bytes of a lane that the conversion takes. */
static unsigned size_of(const format_spec *spec) {
    if (spec->letter == 'p' || spec->size == 'l') return 8;
    if (spec->lanes > 1 && spec->size) return spec->size == 'b' ? 1 : spec->size == 'h' ? 2 : 4;
    return 4;
}

/* A scalar float of any size is printed as a double. */
static bool fits(const format_spec *spec, const ast_type *type) {
    const ast_type *element = qn__type_element(type);
    if (type->kind == AST_POINTER)
        return spec->letter == 'p' || (spec->letter == 's' && qn__type_element(type->base)->size == 1);
    if (spec->letter == 's' || spec->letter == 'p' || qn__type_lanes(type) != spec->lanes) return false;
    if (type->kind == AST_VECTOR && qn__type_is_small_float(element)) return false;
    if (is_real(spec))
        return qn__type_is_float(element) && (spec->lanes == 1 || element->size == size_of(spec));
    if (!qn__type_is_integer(element)) return false;
    return spec->lanes > 1 ? element->size == size_of(spec) : (element->size == 8) == (size_of(spec) == 8);
}

/* The type that an argument is brought to; NULL where there is none. */
static const ast_type *fitting(front_parser *p, const format_spec *spec, const ast_type *type) {
    const ast_type *element = qn__type_element(type);
    const bool is_number = qn__type_is_scalar(type) || type->kind == AST_VECTOR;
    const bool is_address = type->kind == AST_POINTER && spec->lanes == 1 && !is_real(spec);
    if (spec->letter == 's' || (!is_number && !is_address) || qn__type_lanes(type) != spec->lanes)
        return NULL;
    if (spec->letter == 'p' && !qn__type_is_integer(element)) return NULL;
    const bool has_f64 = !p->context->target.lacks_f64;
    const unsigned size = size_of(spec);
    if (!is_real(spec)) {
        const bool is_integer = qn__type_is_integer(element);
        const bool is_signed = is_integer ? qn__type_is_signed(type) : strchr("di", spec->letter) != NULL;
        const ast_kind kind = size == 1 ? AST_CHAR : size == 2 ? AST_SHORT : size == 4 ? AST_INT : AST_LONG;
        const ast_type *to = p->types->scalars[kind + (is_signed ? 0 : 1)];
        return qn__type_vector(p->types, to, spec->lanes);
    }
    if (spec->lanes == 1) return p->types->scalars[has_f64 ? AST_DOUBLE : AST_FLOAT];
    if (size == 1 || (size == 8 && !has_f64)) return NULL;
    return qn__type_vector(p->types,
                           p->types->scalars[size == 2   ? AST_HALF
                                             : size == 4 ? AST_FLOAT
                                                         : AST_DOUBLE],
                           spec->lanes);
}

static void hint_at(front_parser *p, const format_spec *spec, const ast_type *type) {
    const ast_type *element = qn__type_element(type);
    if (spec->letter == 's')
        qn__diag_hint(p->diag, "%%s prints a string: a pointer to char");
    else if (type->kind == AST_VECTOR && qn__type_is_small_float(element))
        qn__diag_hint(p->diag, "vectors of small floats are printed by %%v%uhlf, converted to float%u",
                      type->lanes, type->lanes);
    else if (type->kind == AST_VECTOR)
        qn__diag_hint(p->diag, "vectors are printed by %%v%u%s", type->lanes,
                      element->size == 8   ? "l..."
                      : element->size == 4 ? "hl..."
                      : element->size == 2 ? "h..."
                                           : "hh...");
    else if (qn__type_is_integer(element) && element->size == 8)
        qn__diag_hint(p->diag, "64-bit integers are printed by %%ld and %%lu");
}

/* Brings an argument to what its conversion takes; false after an error. */
static bool check_argument(const format *f, const format_spec *spec, ast_expr **arg, size_t index) {
    front_parser *p = f->p;
    const ast_type *from = (*arg)->type;
    if (fits(spec, from)) return true;
    const ast_type *to = fitting(p, spec, from);
    const front_loc loc = place_of(f, spec->start);
    const char *message = qn__arena_printf(
        p->arena, "conversion %u of the format, '%s', does not fit argument %zu of type '%s'", spec->number,
        text_of(f, spec), index + 1, qn__type_text(p, from));
    if (to) {
        qn__diag_warning(p->diag, FRONT_WARN_FORMAT, loc, "%s: it is printed as '%s'", message,
                         qn__type_text(p, to));
        *arg = qn__sema_cast_to(p, *arg, to);
    } else {
        qn__diag_error(p->diag, loc, "%s", message);
    }
    qn__diag_range(p->diag, loc, (uint32_t)spec->length);
    hint_at(p, spec, from);
    return to != NULL;
}

bool qn__check_printf(front_parser *p, const ast_expr *literal, ast_expr **args, size_t num_args) {
    format f = {.p = p, .text = literal->string, .loc = literal->loc};
    format_spec spec = {.number = 0};
    size_t next = 0;
    bool good = true;
    if (f.text.len && !f.text.data[f.text.len - 1]) f.text.len--;
    while (f.at < f.text.len) {
        if (f.text.data[f.at++] != '%') continue;
        if (peek(&f) == '%') {
            f.at++;
            continue;
        }
        if (!read_spec(&f, &spec)) return false;
        if (next >= num_args) {
            const front_loc loc = place_of(&f, spec.start);
            qn__diag_warning(p->diag, FRONT_WARN_FORMAT, loc,
                             "conversion %u of the format, '%s', has no argument", spec.number,
                             text_of(&f, &spec));
            qn__diag_range(p->diag, loc, (uint32_t)spec.length);
            return good;
        }
        good &= check_argument(&f, &spec, &args[next], next);
        next++;
    }
    if (next < num_args)
        qn__diag_warning(p->diag, FRONT_WARN_FORMAT, args[next]->loc,
                         "printf has more arguments than conversions");
    return good;
}
