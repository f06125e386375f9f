/* Expressions (WGSL section 8): precedence as in the specification's grammar, which wants parentheses where operators of
   different families meet. */
#include <string.h>

#include "front/token.h"
#include "wgsl/parser.h"

enum { MOST_CHAINED = 1000 };

wgsl_expr *qn__wf_expr_new(wgsl_parser *p, wgsl_expr_kind kind, front_loc loc) {
    wgsl_expr *e = QN__NEW(p->arena, wgsl_expr);
    e->kind = (uint8_t)kind;
    e->loc = loc;
    return e;
}

/* Notes where it is written: from `begin` to here. */
static wgsl_expr *spanned(const wgsl_parser *p, const wgsl_token *begin, wgsl_expr *e) {
    const wgsl_token *last = p->at > begin ? p->at - 1 : begin;
    if (e)
        e->text = (qn__str){begin->text.data, (size_t)(last->text.data + last->text.len - begin->text.data)};
    return e;
}

/* ---- numbers ---- */

static void parse_float(wgsl_parser *p, wgsl_expr *e, qn__str digits) {
    const front_float_suffix kinds[] = {FRONT_F64, FRONT_F32, FRONT_F16};
    bool out_of_range;
    const double value = qn__number_parse(digits.data, digits.len,
                                          kinds[e->suffix == 'f'   ? 1
                                                : e->suffix == 'h' ? 2
                                                                   : 0],
                                          &out_of_range);
    memcpy(&e->number, &value, sizeof value);
    e->is_float = true;
    const bool is_large = out_of_range && (value > 1 || value < -1);
    if (is_large)
        qn__diag_error(p->diag, e->loc, "the number '%.*s' is too large for its type",
                       (int)digits.len + (e->suffix != 0), digits.data);
}

static void parse_integer(wgsl_parser *p, wgsl_expr *e, qn__str digits) {
    const bool hex = digits.len > 2 && (digits.data[1] | 0x20) == 'x';
    const uint64_t limit = e->suffix == 'u'   ? UINT32_MAX
                           : e->suffix == 'i' ? (uint64_t)INT32_MAX
                                              : (uint64_t)INT64_MAX;
    const unsigned base = hex ? 16 : 10;
    bool overflows = false;
    for (size_t i = hex ? 2 : 0; i < digits.len; i++) {
        const char c = digits.data[i];
        const unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
        overflows |= e->number > (limit - digit) / base;
        e->number = e->number * base + digit;
    }
    if (overflows)
        qn__diag_error(p->diag, e->loc, "the number '%.*s' is too large for '%s'",
                       (int)digits.len + (e->suffix != 0), digits.data,
                       e->suffix == 'u'   ? "u32"
                       : e->suffix == 'i' ? "i32"
                                          : "an integer");
    if (!hex && digits.len > 1 && digits.data[0] == '0')
        qn__diag_error(p->diag, e->loc, "an integer does not begin with a zero");
}

static wgsl_expr *number(wgsl_parser *p) {
    wgsl_expr *e = qn__wf_expr_new(p, WGSL_EXPR_NUMBER, p->at->loc);
    qn__str text = p->at->text;
    const bool hex = text.len > 1 && (text.data[1] | 0x20) == 'x' && text.data[0] == '0';
    const char *marks = hex ? ".pP" : ".eE", last = text.data[text.len - 1];
    bool is_float = false, has_exponent = false;
    for (size_t i = 0; i < text.len; i++) {
        is_float |= strchr(marks, text.data[i]) != NULL;
        has_exponent |= strchr(marks + 1, text.data[i]) != NULL;
    }
    if (strchr("iuh", last) || (last == 'f' && (!hex || has_exponent))) {
        e->suffix = last;
        text.len--;
    }
    is_float |= e->suffix == 'f' || e->suffix == 'h';
    qn__wf_next(p);
    const char end = text.data[text.len - 1];
    if ((is_float && (e->suffix == 'i' || e->suffix == 'u')) || end == '+' || end == '-' ||
        (hex && text.len == 2) || strchr(hex ? "pP" : "eE", end) ||
        (hex && is_float && e->suffix && !has_exponent))
        qn__wf_complain(p, e->loc, "'%.*s' is no number", (int)text.len, text.data);
    else if (is_float)
        parse_float(p, e, text);
    else
        parse_integer(p, e, text);
    return e;
}

/* ---- primaries ---- */

/* (expression ','?)* up to the token `end`, which is taken. */
void qn__wf_list(wgsl_parser *p, wgsl_exprs *list, wgsl_token_kind end) {
    while (!p->panic && !qn__wf_peek(p, end)) {
        wgsl_expr *e = qn__wf_expr(p);
        if (e) qn__vec_push(p->arena, list, e);
        if (!qn__wf_take(p, WGSL_T_COMMA)) break;
    }
    qn__wf_expect(p, end, "or ',' in a list");
}

/* name template_list? argument_list? */
static wgsl_expr *named(wgsl_parser *p, bool may_call) {
    wgsl_expr *e = qn__wf_expr_new(p, WGSL_EXPR_NAME, p->at->loc);
    e->name = p->at->text;
    qn__wf_next(p);
    if (qn__wf_take(p, WGSL_T_TEMPLATE_BEGIN)) {
        qn__wf_list(p, &e->parameters, WGSL_T_TEMPLATE_END);
        if (!p->panic && !e->parameters.len)
            qn__wf_complain(p, e->loc, "the list of template parameters is empty");
    }
    if (may_call && qn__wf_take(p, WGSL_T_OPEN)) {
        e->kind = WGSL_EXPR_CALL;
        qn__wf_list(p, &e->args, WGSL_T_CLOSE);
    }
    return e;
}

wgsl_expr *qn__wf_type_expr(wgsl_parser *p) {
    const wgsl_token *begin = p->at;
    if (!qn__wf_nest(p)) return NULL;
    wgsl_expr *e = NULL;
    if (qn__wf_peek(p, WGSL_T_NAME))
        e = named(p, false);
    else
        qn__wf_complain(p, p->at->loc, "expected a type, found '%.*s'", QN__STR_PRINTF(p->at->text));
    p->depth--;
    return p->panic ? NULL : spanned(p, begin, e);
}

/* ('[' expression ']' | '.' name)* */
static wgsl_expr *postfix(wgsl_parser *p, const wgsl_token *begin, wgsl_expr *e) {
    for (unsigned count = 0; e && !p->panic; count++) {
        spanned(p, begin, e);
        const front_loc loc = p->at->loc;
        if (count == MOST_CHAINED) return qn__wf_complain(p, loc, "nested too deeply"), NULL;
        if (qn__wf_take(p, WGSL_T_OPEN_BRACKET)) {
            wgsl_expr *index = qn__wf_expr_new(p, WGSL_EXPR_INDEX, loc);
            index->a = e;
            index->b = qn__wf_expr(p);
            qn__wf_expect(p, WGSL_T_CLOSE_BRACKET, "behind an index");
            e = index;
        } else if (qn__wf_take(p, WGSL_T_DOT)) {
            wgsl_expr *member = qn__wf_expr_new(p, WGSL_EXPR_MEMBER, p->at->loc);
            member->a = e;
            member->name = p->at->text;
            if (!qn__wf_take(p, WGSL_T_NAME))
                qn__wf_complain(p, p->at->loc, "expected the name of a member behind '.', found '%.*s'",
                                QN__STR_PRINTF(p->at->text));
            e = member;
        } else {
            return e;
        }
    }
    return NULL;
}

static wgsl_expr *primary(wgsl_parser *p) {
    wgsl_expr *e;
    const front_loc loc = p->at->loc;
    switch (p->at->kind) {
    case WGSL_T_NUMBER: return number(p);
    case WGSL_T_NAME: return named(p, true);
    case WGSL_T_TRUE:
    case WGSL_T_FALSE:
        e = qn__wf_expr_new(p, WGSL_EXPR_BOOL, loc);
        e->number = p->at->kind == WGSL_T_TRUE;
        qn__wf_next(p);
        return e;
    case WGSL_T_OPEN:
        qn__wf_next(p);
        e = qn__wf_expr(p);
        if (e) e->is_grouped = true;
        qn__wf_expect(p, WGSL_T_CLOSE, NULL);
        return e;
    default:
        qn__wf_complain(p, loc,
                        p->at->kind == WGSL_T_END ? "expected an expression, found the end of the file%.*s"
                                                  : "expected an expression, found '%.*s'",
                        p->at->kind == WGSL_T_END ? 0 : (int)p->at->text.len, p->at->text.data);
        return NULL;
    }
}

/* unary_expression: ('!' | '~' | '-' | '*' | '&') unary_expression | singular_expression */
static wgsl_expr *unary(wgsl_parser *p) {
    const wgsl_token *token = p->at;
    wgsl_expr_kind kind;
    switch (token->kind) {
    case WGSL_T_NOT:
    case WGSL_T_TILDE:
    case WGSL_T_MINUS: kind = WGSL_EXPR_UNARY; break;
    case WGSL_T_STAR: kind = WGSL_EXPR_INDIRECT; break;
    case WGSL_T_AND: kind = WGSL_EXPR_ADDRESS; break;
    case WGSL_T_AND_AND:
    case WGSL_T_MINUS_MINUS:
    case WGSL_T_PLUS:
    case WGSL_T_PLUS_PLUS:
        qn__wf_complain(p, token->loc, "'%.*s' is no unary operator of WGSL", QN__STR_PRINTF(token->text));
        return NULL;
    default: return postfix(p, token, primary(p));
    }
    if (!qn__wf_nest(p)) return NULL;
    qn__wf_next(p);
    wgsl_expr *e = qn__wf_expr_new(p, kind, token->loc);
    e->op = token->kind;
    e->a = unary(p);
    p->depth--;
    return e->a ? spanned(p, token, e) : NULL;
}

/* core_lhs_expression and what may follow: as an expression, without calls and operators but * and &. */
wgsl_expr *qn__wf_lhs(wgsl_parser *p) { return unary(p); }

/* ---- binary operators ---- */

typedef enum family {
    FAMILY_NONE,
    FAMILY_PRODUCT,
    FAMILY_SUM,
    FAMILY_SHIFT,
    FAMILY_RELATION,
    FAMILY_AND_AND,
    FAMILY_OR_OR,
    FAMILY_AND,
    FAMILY_OR,
    FAMILY_XOR
} family;

static const uint8_t families[WGSL_T_COUNT] = {
    [WGSL_T_STAR] = FAMILY_PRODUCT,
    [WGSL_T_SLASH] = FAMILY_PRODUCT,
    [WGSL_T_PERCENT] = FAMILY_PRODUCT,
    [WGSL_T_PLUS] = FAMILY_SUM,
    [WGSL_T_MINUS] = FAMILY_SUM,
    [WGSL_T_SHIFT_LEFT] = FAMILY_SHIFT,
    [WGSL_T_EQUAL] = FAMILY_RELATION,
    [WGSL_T_NOT_EQUAL] = FAMILY_RELATION,
    [WGSL_T_LESS] = FAMILY_RELATION,
    [WGSL_T_LESS_EQUAL] = FAMILY_RELATION,
    [WGSL_T_GREATER] = FAMILY_RELATION,
    [WGSL_T_AND_AND] = FAMILY_AND_AND,
    [WGSL_T_OR_OR] = FAMILY_OR_OR,
    [WGSL_T_AND] = FAMILY_AND,
    [WGSL_T_OR] = FAMILY_OR,
    [WGSL_T_XOR] = FAMILY_XOR,
};

/* '>' and the token behind it make '>=' (joined ASSIGN) and '>>' (joined GREATER); '>>=' is no binary operator. */
unsigned qn__wf_operator(const wgsl_parser *p, uint8_t *joined) {
    const wgsl_token *t = p->at;
    *joined = 0;
    if (t->kind != WGSL_T_GREATER || !t->joined) return t->kind;
    if (t[1].kind == WGSL_T_ASSIGN || t[1].kind == WGSL_T_GREATER) *joined = t[1].kind;
    return t->kind;
}

static family family_here(const wgsl_parser *p, uint8_t *joined) {
    const unsigned kind = qn__wf_operator(p, joined);
    if (*joined != WGSL_T_GREATER) return (family)families[kind];
    const bool assigns = p->at[1].joined && p->at[2].kind == WGSL_T_ASSIGN;
    return assigns ? FAMILY_NONE : FAMILY_SHIFT;
}

/* The operator here, as it is written. */
static const char *family_name(const wgsl_parser *p, uint8_t joined) {
    if (joined) return joined == WGSL_T_GREATER ? ">>" : ">=";
    return qn__wf_token_name((wgsl_token_kind)p->at->kind);
}

/* operand (operator operand)*, of operators of one family; left-associative, `most` times. */
static wgsl_expr *chain(wgsl_parser *p, family family, wgsl_expr *a, wgsl_expr *(*operand)(wgsl_parser *),
                        unsigned most) {
    uint8_t joined;
    for (unsigned count = 0; a && family_here(p, &joined) == family; count++) {
        if (count == most) {
            qn__wf_complain(p, p->at->loc,
                            most == 1 ? "operators such as '%s' do not chain" : "nested too deeply",
                            family_name(p, joined));
            if (most == 1) qn__diag_hint(p->diag, "use parentheses");
            return NULL;
        }
        wgsl_expr *e = qn__wf_expr_new(p, WGSL_EXPR_BINARY, p->at->loc);
        e->op = p->at->kind;
        e->joined = joined;
        qn__wf_next(p);
        if (joined) qn__wf_next(p);
        e->a = a;
        e->b = operand(p);
        const char *end = p->at[-1].text.data + p->at[-1].text.len;
        e->text = (qn__str){a->text.data, (size_t)(end - a->text.data)};
        a = e->b ? e : NULL;
    }
    return a;
}

static wgsl_expr *product(wgsl_parser *p) { return chain(p, FAMILY_PRODUCT, unary(p), unary, MOST_CHAINED); }
static wgsl_expr *sum(wgsl_parser *p) { return chain(p, FAMILY_SUM, product(p), product, MOST_CHAINED); }

/* An operand of a relation: sums, or a shift of unary expressions. */
static wgsl_expr *shift(wgsl_parser *p) {
    const wgsl_token *begin = p->at;
    wgsl_expr *e = sum(p);
    uint8_t joined;
    if (!e || family_here(p, &joined) != FAMILY_SHIFT) return e;
    const bool is_binary = e->kind == WGSL_EXPR_BINARY && !e->is_grouped;
    if (is_binary) {
        qn__wf_complain(p, p->at->loc, "the operands of '%s' need parentheses where they have operators",
                        family_name(p, joined));
        qn__diag_range(p->diag, begin->loc, 1);
        return NULL;
    }
    e = chain(p, FAMILY_SHIFT, e, unary, 1);
    if (e && (family_here(p, &joined) == FAMILY_SUM || family_here(p, &joined) == FAMILY_PRODUCT))
        qn__wf_complain(p, p->at->loc, "the operands of a shift need parentheses where they have operators");
    return e;
}

static wgsl_expr *relation(wgsl_parser *p) { return chain(p, FAMILY_RELATION, shift(p), shift, 1); }

/* expression: relations joined by && or by ||; or unary expressions joined by one of & | ^. */
static wgsl_expr *whole(wgsl_parser *p) {
    const wgsl_token *begin = p->at;
    wgsl_expr *e = relation(p);
    uint8_t joined;
    const family family = family_here(p, &joined);
    const bool is_binary = e && e->kind == WGSL_EXPR_BINARY && !e->is_grouped;
    if (!e || family < FAMILY_AND_AND) return e;
    if (family >= FAMILY_AND && is_binary) {
        qn__wf_complain(p, p->at->loc, "mixing '%s' with other operators needs parentheses",
                        qn__wf_token_name((wgsl_token_kind)p->at->kind));
        qn__diag_range(p->diag, begin->loc, 1);
        return NULL;
    }
    e = chain(p, family, e, family >= FAMILY_AND ? unary : relation, MOST_CHAINED);
    if (e && family_here(p, &joined) != FAMILY_NONE) {
        qn__wf_complain(p, p->at->loc, "mixing '%s' with other operators needs parentheses",
                        qn__wf_token_name((wgsl_token_kind)p->at->kind));
        return NULL;
    }
    return e;
}

wgsl_expr *qn__wf_expr(wgsl_parser *p) {
    if (p->panic || !qn__wf_nest(p)) return NULL;
    wgsl_expr *e = whole(p);
    p->depth--;
    return p->panic ? NULL : e;
}

wgsl_expr *qn__wf_parse_text(qn__arena *arena, front_diag *diag, const char *text) {
    wgsl_parser p = {.arena = arena, .diag = diag};
    p.at = qn__wf_lex_text(arena, text, diag);
    return qn__wf_expr(&p);
}
