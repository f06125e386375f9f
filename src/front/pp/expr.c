/* The expression of #if (C99 6.10.1): 64-bit integers, precedence climbing. An operand that is not evaluated
   may divide by zero. */
#include <string.h>

#include "front/pp/internal.h"

enum { MAX_NESTING = 200 };

typedef struct value {
    uint64_t bits;
    bool is_unsigned;
} value;

typedef struct evaluator {
    front_pp *pp;
    const front_token *at, *end;
    front_loc loc; /* of the directive, for what is missing at the end */
    unsigned depth, unevaluated;
    bool failed;
} evaluator;

static front_token_kind peek(const evaluator *e) {
    return e->at < e->end ? (front_token_kind)e->at->kind : FRONT_T_END;
}

static value fail(evaluator *e, const char *message) {
    if (!e->failed) qn__diag_error(e->pp->diag, e->at < e->end ? e->at->loc : e->loc, "%s", message);
    e->failed = true;
    e->at = e->end;
    return (value){0};
}

static value conditional(evaluator *e);

static value literal(evaluator *e) {
    front_token token = *e->at++;
    if (token.kind == FRONT_T_NUMBER) qn__lex_number(&token, e->pp->diag, false);
    if (token.kind == FRONT_T_CHAR) {
        qn__lex_char(&token, e->pp->diag);
        return (value){token.integer, false};
    }
    if (token.kind != FRONT_T_INT) {
        e->at--;
        return fail(e, "#if needs integers; this is a floating literal");
    }
    /* A decimal literal is signed unless it says otherwise; the others become unsigned when they need the top
       bit. */
    bool top = token.integer >> 63;
    return (value){token.integer, (token.literal & FRONT_INT_UNSIGNED) || top};
}

/* primary: literal | identifier | '(' conditional ')' */
static value primary(evaluator *e) {
    switch (peek(e)) {
    case FRONT_T_NUMBER:
    case FRONT_T_CHAR:
    case FRONT_T_FLOAT: return literal(e);
    case FRONT_T_IDENTIFIER: /* not a macro: 0 */
        e->at++;
        if (peek(e) != FRONT_T_LPAREN) return (value){0};
        e->at--;
        return fail(e, "no function-like macro of this name is defined");
    case FRONT_T_LPAREN: {
        e->at++;
        value v = conditional(e);
        if (peek(e) != FRONT_T_RPAREN) return fail(e, "')' is expected in the expression of #if");
        e->at++;
        return v;
    }
    case FRONT_T_END: return fail(e, "a value is expected at the end of the expression of #if");
    default: return fail(e, "a value is expected in the expression of #if");
    }
}

/* unary: ('+' | '-' | '~' | '!') unary | primary */
static value unary(evaluator *e) {
    if (++e->depth > MAX_NESTING) return e->depth--, fail(e, "the expression of #if is nested too deeply");
    front_token_kind op = peek(e);
    value v;
    if (op == FRONT_T_PLUS || op == FRONT_T_MINUS || op == FRONT_T_TILDE || op == FRONT_T_EXCLAIM) {
        e->at++;
        v = unary(e);
        if (op == FRONT_T_MINUS) v.bits = 0 - v.bits;
        if (op == FRONT_T_TILDE) v.bits = ~v.bits;
        if (op == FRONT_T_EXCLAIM) v = (value){!v.bits, false};
    } else {
        v = primary(e);
    }
    e->depth--;
    return v;
}

static int precedence(front_token_kind op) {
    switch (op) {
    case FRONT_T_STAR:
    case FRONT_T_SLASH:
    case FRONT_T_PERCENT: return 10;
    case FRONT_T_PLUS:
    case FRONT_T_MINUS: return 9;
    case FRONT_T_SHL:
    case FRONT_T_SHR: return 8;
    case FRONT_T_LESS:
    case FRONT_T_GREATER:
    case FRONT_T_LESS_EQUAL:
    case FRONT_T_GREATER_EQUAL: return 7;
    case FRONT_T_EQUAL:
    case FRONT_T_NOT_EQUAL: return 6;
    case FRONT_T_AMP: return 5;
    case FRONT_T_CARET: return 4;
    case FRONT_T_PIPE: return 3;
    case FRONT_T_AMP_AMP: return 2;
    case FRONT_T_PIPE_PIPE: return 1;
    default: return 0;
    }
}

/* Signed division, of which INT64_MIN / -1 wraps. */
static uint64_t divide(value a, value b, bool is_unsigned, bool remainder) {
    if (is_unsigned) return remainder ? a.bits % b.bits : a.bits / b.bits;
    if (b.bits == UINT64_MAX) return remainder ? 0 : 0 - a.bits;
    int64_t x = (int64_t)a.bits, y = (int64_t)b.bits;
    return (uint64_t)(remainder ? x % y : x / y);
}

/* A shift by 64 or more gives what shifting bit by bit would; by a negative number it goes the other way. */
static uint64_t shift(value a, value b, bool left) {
    uint64_t count = b.bits;
    if (!b.is_unsigned && (int64_t)count < 0) {
        left = !left;
        count = 0 - count;
    }
    bool sign = !a.is_unsigned && a.bits >> 63;
    if (left) return count > 63 ? 0 : a.bits << count;
    if (count > 63) return sign ? UINT64_MAX : 0;
    uint64_t shifted = a.bits >> count;
    return sign && count ? shifted | ~(UINT64_MAX >> count) : shifted;
}

static bool less(value a, value b, bool is_unsigned) {
    return is_unsigned ? a.bits < b.bits : (int64_t)a.bits < (int64_t)b.bits;
}

static value apply(evaluator *e, const front_token *op, value a, value b) {
    bool u = a.is_unsigned || b.is_unsigned;
    switch (op->kind) {
    case FRONT_T_STAR: return (value){a.bits * b.bits, u};
    case FRONT_T_SLASH:
    case FRONT_T_PERCENT:
        if (b.bits) return (value){divide(a, b, u, op->kind == FRONT_T_PERCENT), u};
        if (!e->unevaluated && !e->failed) {
            qn__diag_error(e->pp->diag, op->loc, "division by zero in the expression of #if");
            e->failed = true;
        }
        return (value){0, u};
    case FRONT_T_PLUS: return (value){a.bits + b.bits, u};
    case FRONT_T_MINUS: return (value){a.bits - b.bits, u};
    case FRONT_T_SHL:
    case FRONT_T_SHR: return (value){shift(a, b, op->kind == FRONT_T_SHL), a.is_unsigned};
    case FRONT_T_LESS: return (value){less(a, b, u), false};
    case FRONT_T_GREATER: return (value){less(b, a, u), false};
    case FRONT_T_LESS_EQUAL: return (value){!less(b, a, u), false};
    case FRONT_T_GREATER_EQUAL: return (value){!less(a, b, u), false};
    case FRONT_T_EQUAL: return (value){a.bits == b.bits, false};
    case FRONT_T_NOT_EQUAL: return (value){a.bits != b.bits, false};
    case FRONT_T_AMP: return (value){a.bits & b.bits, u};
    case FRONT_T_CARET: return (value){a.bits ^ b.bits, u};
    case FRONT_T_PIPE: return (value){a.bits | b.bits, u};
    case FRONT_T_AMP_AMP: return (value){a.bits && b.bits, false};
    default: return (value){a.bits || b.bits, false};
    }
}

/* Operators of at least the given precedence, all of them left-associative. */
static value binary(evaluator *e, int least) {
    value left = unary(e);
    for (;;) {
        int level = precedence(peek(e));
        if (!level || level < least) return left;
        const front_token *op = e->at++;
        bool decided =
            (op->kind == FRONT_T_AMP_AMP && !left.bits) || (op->kind == FRONT_T_PIPE_PIPE && left.bits);
        e->unevaluated += decided;
        value right = binary(e, level + 1);
        e->unevaluated -= decided;
        left = apply(e, op, left, right);
    }
}

/* conditional: binary ['?' conditional ':' conditional] */
static value conditional(evaluator *e) {
    if (++e->depth > MAX_NESTING) return e->depth--, fail(e, "the expression of #if is nested too deeply");
    value v = binary(e, 1);
    if (peek(e) == FRONT_T_QUESTION) {
        bool condition = v.bits != 0;
        e->at++;
        e->unevaluated += !condition;
        value a = conditional(e);
        e->unevaluated -= !condition;
        if (peek(e) != FRONT_T_COLON) return e->depth--, fail(e, "':' is expected in the expression of #if");
        e->at++;
        e->unevaluated += condition;
        value b = conditional(e);
        e->unevaluated -= condition;
        v = (value){condition ? a.bits : b.bits, a.is_unsigned || b.is_unsigned};
    }
    e->depth--;
    return v;
}

bool qn__pp_evaluate(front_pp *pp, const front_token *tokens, size_t len, front_loc loc) {
    if (!len) {
        if (!pp->diag->stopped) qn__diag_error(pp->diag, loc, "#if needs an expression");
        return false;
    }
    evaluator e = {.pp = pp, .at = tokens, .end = tokens + len, .loc = loc};
    value v = conditional(&e);
    if (e.at < e.end) fail(&e, "an operator is expected in the expression of #if");
    return !e.failed && v.bits;
}
