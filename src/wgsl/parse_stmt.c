/* Statements (WGSL section 9) and declarations of variables and values. */
#include "wgsl/parser.h"

/* What may come last in a list of statements. */
typedef enum list_end { ENDS_NOWHERE, ENDS_IN_CONTINUING, ENDS_IN_BREAK_IF } list_end;

static void statements(wgsl_parser *p, wgsl_stmts *list, list_end end, wgsl_stmt *loop);

static wgsl_stmt *stmt_new(wgsl_parser *p, wgsl_stmt_kind kind) {
    wgsl_stmt *s = QN__NEW(p->arena, wgsl_stmt);
    s->kind = (uint8_t)kind;
    s->loc = s->end = p->at->loc;
    return s;
}

static bool semicolon(wgsl_parser *p) { return qn__wf_expect(p, WGSL_T_SEMICOLON, "behind a statement"); }

/* ---- declarations ---- */

wgsl_decl *qn__wf_variable(wgsl_parser *p) {
    static const struct {
        wgsl_token_kind token;
        wgsl_decl_kind kind;
        const char *of;
    } rows[] = {{WGSL_T_VAR, WGSL_DECL_VAR, "a variable"},
                {WGSL_T_LET, WGSL_DECL_LET, "a value"},
                {WGSL_T_CONST, WGSL_DECL_CONST, "a constant"},
                {WGSL_T_OVERRIDE, WGSL_DECL_OVERRIDE, "an override"}};
    unsigned row = 0;
    while (rows[row].token != p->at->kind) row++;
    wgsl_decl *decl = qn__wf_decl_new(p, rows[row].kind);
    qn__wf_next(p);
    if (row == 0 && qn__wf_peek(p, WGSL_T_LESS))
        qn__wf_complain(p, p->at->loc, "expected a '>' that closes 'var<'");
    if (row == 0 && qn__wf_take(p, WGSL_T_TEMPLATE_BEGIN))
        qn__wf_list(p, &decl->parameters, WGSL_T_TEMPLATE_END);
    qn__wf_typed_name(p, decl, rows[row].of);
    if (qn__wf_take(p, WGSL_T_ASSIGN)) decl->init = qn__wf_expr(p);
    const bool wants_init = decl->kind == WGSL_DECL_LET || decl->kind == WGSL_DECL_CONST;
    if (wants_init && !decl->init)
        qn__wf_complain(p, p->at->loc, "expected '=' and the value of '%.*s'", QN__STR_PRINTF(decl->name));
    if (!decl->init && !decl->type)
        qn__wf_complain(p, p->at->loc, "'%.*s' needs a type or a value", QN__STR_PRINTF(decl->name));
    return decl;
}

static wgsl_stmt *declaration(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_DECL);
    if (qn__wf_peek(p, WGSL_T_CONST_ASSERT)) {
        s->decl = qn__wf_decl_new(p, WGSL_DECL_ASSERT);
        qn__wf_next(p);
        s->decl->init = qn__wf_expr(p);
    } else {
        s->decl = qn__wf_variable(p);
    }
    return s;
}

/* ---- assignments and calls ---- */

/* The token behind a compound assignment's operator is '='; 0: none stands here. */
static unsigned assignment_operator(wgsl_parser *p, uint8_t *joined) {
    static const uint8_t plain[][2] = {{WGSL_T_ADD_ASSIGN, WGSL_T_PLUS},
                                       {WGSL_T_SUB_ASSIGN, WGSL_T_MINUS},
                                       {WGSL_T_MUL_ASSIGN, WGSL_T_STAR},
                                       {WGSL_T_DIV_ASSIGN, WGSL_T_SLASH},
                                       {WGSL_T_REM_ASSIGN, WGSL_T_PERCENT},
                                       {WGSL_T_AND_ASSIGN, WGSL_T_AND},
                                       {WGSL_T_OR_ASSIGN, WGSL_T_OR},
                                       {WGSL_T_XOR_ASSIGN, WGSL_T_XOR},
                                       {WGSL_T_SHIFT_LEFT_ASSIGN, WGSL_T_SHIFT_LEFT}};
    *joined = 0;
    const wgsl_token *t = p->at;
    if (t->kind == WGSL_T_ASSIGN) return qn__wf_next(p), (unsigned)WGSL_T_ASSIGN;
    for (size_t i = 0; i < QN__COUNT(plain); i++)
        if (t->kind == plain[i][0]) return qn__wf_next(p), (unsigned)plain[i][1];
    const bool is_shift = t->kind == WGSL_T_GREATER && t->joined && t[1].kind == WGSL_T_GREATER &&
                          t[1].joined && t[2].kind == WGSL_T_ASSIGN;
    if (!is_shift) return 0;
    p->at += 3;
    *joined = WGSL_T_GREATER;
    return WGSL_T_GREATER;
}

/* variable_updating_statement or a call, without the ';'. */
static wgsl_stmt *update(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_ASSIGN);
    if (qn__wf_take(p, WGSL_T_UNDERSCORE)) {
        s->op = WGSL_T_ASSIGN;
        if (qn__wf_expect(p, WGSL_T_ASSIGN, "behind '_'")) s->b = qn__wf_expr(p);
        return s;
    }
    s->a = qn__wf_lhs(p);
    if (!s->a) return s;
    s->loc = p->at->loc;
    if (qn__wf_peek(p, WGSL_T_PLUS_PLUS) || qn__wf_peek(p, WGSL_T_MINUS_MINUS)) {
        s->kind = WGSL_STMT_STEP;
        s->op = p->at->kind == WGSL_T_PLUS_PLUS ? WGSL_T_PLUS : WGSL_T_MINUS;
        qn__wf_next(p);
        return s;
    }
    s->op = (uint8_t)assignment_operator(p, &s->joined);
    if (s->op) {
        s->b = qn__wf_expr(p);
    } else if (s->a->kind == WGSL_EXPR_CALL) {
        s->kind = WGSL_STMT_CALL;
        s->loc = s->a->loc;
    } else {
        qn__wf_complain(p, p->at->loc,
                        "'%.*s' is no statement: expected '=' or another assignment, or a call, found '%.*s'",
                        (int)(s->a->text.len < 60 ? s->a->text.len : 60), s->a->text.data,
                        QN__STR_PRINTF(p->at->text));
    }
    return s;
}

/* ---- control flow ---- */

wgsl_stmt *qn__wf_block(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_BLOCK);
    qn__wf_attributes(p, &s->attributes);
    if (!qn__wf_expect(p, WGSL_T_OPEN_BRACE, NULL) || !qn__wf_nest(p)) return s;
    statements(p, &s->body, ENDS_NOWHERE, NULL);
    s->end = p->at->loc;
    qn__wf_expect(p, WGSL_T_CLOSE_BRACE, NULL);
    p->depth--;
    return s;
}

static wgsl_stmt *if_statement(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_IF);
    if (!qn__wf_nest(p)) return s;
    qn__wf_next(p);
    s->a = qn__wf_expr(p);
    s->then = qn__wf_block(p);
    if (!p->panic && qn__wf_take(p, WGSL_T_ELSE))
        s->otherwise = qn__wf_peek(p, WGSL_T_IF) ? if_statement(p) : qn__wf_block(p);
    p->depth--;
    return s;
}

/* 'case' (expression | 'default') (',' ...)* ':'? block | 'default' ':'? block */
static wgsl_stmt *clause(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_CLAUSE);
    if (qn__wf_take(p, WGSL_T_DEFAULT)) {
        s->is_default = true;
    } else if (qn__wf_expect(p, WGSL_T_CASE, "or 'default' in a switch")) {
        do {
            if (qn__wf_peek(p, WGSL_T_COLON) || qn__wf_peek(p, WGSL_T_OPEN_BRACE)) break;
            if (qn__wf_take(p, WGSL_T_DEFAULT)) {
                s->is_default = true;
                continue;
            }
            wgsl_expr *value = qn__wf_expr(p);
            if (value) qn__vec_push(p->arena, &s->values, value);
        } while (qn__wf_take(p, WGSL_T_COMMA) && !p->panic);
    }
    qn__wf_take(p, WGSL_T_COLON);
    if (!p->panic) s->then = qn__wf_block(p);
    return s;
}

static wgsl_stmt *switch_statement(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_SWITCH);
    unsigned defaults = 0;
    qn__wf_next(p);
    s->a = qn__wf_expr(p);
    qn__wf_attributes(p, &s->attributes);
    qn__wf_expect(p, WGSL_T_OPEN_BRACE, NULL);
    const bool no_break = p->no_break;
    p->no_break = false;
    while (!p->panic && !qn__wf_peek(p, WGSL_T_CLOSE_BRACE)) {
        wgsl_stmt *inner = clause(p);
        defaults += inner->is_default;
        if (defaults > 1 && inner->is_default)
            qn__diag_error(p->diag, inner->loc, "a second 'default' in a switch");
        if (inner->then) qn__vec_push(p->arena, &s->body, inner);
    }
    p->no_break = no_break;
    qn__wf_expect(p, WGSL_T_CLOSE_BRACE, NULL);
    if (!p->panic && !defaults) qn__diag_error(p->diag, s->loc, "a switch needs a 'default'");
    return s;
}

/* 'continuing' '{' statement* ('break' 'if' expression ';')? '}' */
static void continuing(wgsl_parser *p, wgsl_stmt *loop) {
    qn__wf_next(p);
    wgsl_stmt *outer = p->loop, *s = stmt_new(p, WGSL_STMT_BLOCK);
    const bool no_break = p->no_break, no_return = p->no_return;
    p->no_break = p->no_return = true;
    p->loop = NULL;
    qn__wf_attributes(p, &s->attributes);
    qn__wf_expect(p, WGSL_T_OPEN_BRACE, "behind 'continuing'");
    statements(p, &s->body, ENDS_IN_BREAK_IF, loop);
    s->end = p->at->loc;
    qn__wf_expect(p, WGSL_T_CLOSE_BRACE, loop->break_if ? "behind 'break if', which comes last" : NULL);
    loop->continuing = s;
    p->loop = outer;
    p->no_break = no_break;
    p->no_return = no_return;
}

static wgsl_stmt *loop_statement(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_LOOP), *outer = p->loop, *body = stmt_new(p, WGSL_STMT_BLOCK);
    s->keyword = p->at->kind;
    qn__wf_next(p);
    qn__wf_attributes(p, &s->attributes);
    if (!qn__wf_expect(p, WGSL_T_OPEN_BRACE, NULL) || !qn__wf_nest(p)) return s;
    const bool no_break = p->no_break;
    p->loop = s;
    p->no_break = false;
    s->then = body;
    statements(p, &body->body, ENDS_IN_CONTINUING, s);
    body->end = p->at->loc;
    qn__wf_expect(p, WGSL_T_CLOSE_BRACE, s->continuing ? "behind 'continuing', which comes last" : NULL);
    p->loop = outer;
    p->no_break = no_break;
    p->depth--;
    return s;
}

/* The body of a while or for. */
static wgsl_stmt *loop_body(wgsl_parser *p, wgsl_stmt *s) {
    wgsl_stmt *outer = p->loop;
    const bool no_break = p->no_break;
    p->loop = s;
    p->no_break = false;
    s->then = qn__wf_block(p);
    p->no_break = no_break;
    p->loop = outer;
    return s;
}

static wgsl_stmt *while_statement(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_LOOP);
    s->keyword = p->at->kind;
    qn__wf_next(p);
    s->a = qn__wf_expr(p);
    return loop_body(p, s);
}

static wgsl_stmt *for_statement(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_LOOP);
    s->keyword = p->at->kind;
    qn__wf_next(p);
    qn__wf_expect(p, WGSL_T_OPEN, "behind 'for'");
    const wgsl_token_kind kind = (wgsl_token_kind)p->at->kind;
    const bool declares = kind == WGSL_T_VAR || kind == WGSL_T_LET || kind == WGSL_T_CONST;
    if (kind != WGSL_T_SEMICOLON) s->init = declares ? declaration(p) : update(p);
    qn__wf_expect(p, WGSL_T_SEMICOLON, "behind the first part of 'for'");
    if (!qn__wf_peek(p, WGSL_T_SEMICOLON)) s->a = qn__wf_expr(p);
    qn__wf_expect(p, WGSL_T_SEMICOLON, "behind the condition of 'for'");
    if (!qn__wf_peek(p, WGSL_T_CLOSE)) s->step = update(p);
    qn__wf_expect(p, WGSL_T_CLOSE, NULL);
    return loop_body(p, s);
}

static wgsl_stmt *continue_statement(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_CONTINUE);
    if (!p->loop) {
        qn__wf_complain(p, p->at->loc, "'continue' stands in a loop only, and not in its 'continuing'");
    } else {
        p->loop->has_continue = true;
    }
    qn__wf_next(p);
    return s;
}

static wgsl_stmt *return_statement(wgsl_parser *p) {
    wgsl_stmt *s = stmt_new(p, WGSL_STMT_RETURN);
    if (p->no_return) qn__diag_error(p->diag, s->loc, "'return' cannot stand in a 'continuing'");
    if (p->function) p->function->num_returns++;
    qn__wf_next(p);
    if (!qn__wf_peek(p, WGSL_T_SEMICOLON)) s->a = qn__wf_expr(p);
    return s;
}

static wgsl_stmt *simple_statement(wgsl_parser *p) {
    wgsl_stmt *s;
    switch (p->at->kind) {
    case WGSL_T_VAR:
    case WGSL_T_LET:
    case WGSL_T_CONST:
    case WGSL_T_CONST_ASSERT: return declaration(p);
    case WGSL_T_BREAK:
        s = stmt_new(p, WGSL_STMT_BREAK);
        if (p->no_break && p->at[1].kind != WGSL_T_IF)
            qn__diag_error(p->diag, s->loc,
                           "'break' cannot stand in a 'continuing', which 'break if' leaves at its end");
        qn__wf_next(p);
        if (qn__wf_peek(p, WGSL_T_IF))
            qn__wf_complain(p, p->at->loc, "'break if' stands at the end of a loop's 'continuing' only");
        return s;
    case WGSL_T_CONTINUE: return continue_statement(p);
    case WGSL_T_RETURN: return return_statement(p);
    case WGSL_T_DISCARD:
        qn__wf_complain(p, p->at->loc, "'discard' is for fragment shaders; quern has compute shaders only");
        return NULL;
    default: return update(p);
    }
}

static wgsl_stmt *statement(wgsl_parser *p) {
    if (qn__wf_take(p, WGSL_T_SEMICOLON)) return NULL;
    wgsl_attributes attributes = {0};
    qn__wf_attributes(p, &attributes);
    wgsl_stmt *s;
    switch (p->at->kind) {
    case WGSL_T_OPEN_BRACE: s = qn__wf_block(p); break;
    case WGSL_T_IF: s = if_statement(p); break;
    case WGSL_T_SWITCH: s = switch_statement(p); break;
    case WGSL_T_LOOP: s = loop_statement(p); break;
    case WGSL_T_WHILE: s = while_statement(p); break;
    case WGSL_T_FOR: s = for_statement(p); break;
    default: s = simple_statement(p); semicolon(p);
    }
    if (!p->panic || !s || s->kind != WGSL_STMT_DECL || !s->decl->name.len) return p->panic ? NULL : s;
    s->decl->is_broken = true; /* its name is known */
    return s;
}

/* The end of the list, if it stands here. */
static bool list_end_here(wgsl_parser *p, list_end end, wgsl_stmt *loop) {
    if (end == ENDS_IN_CONTINUING && qn__wf_peek(p, WGSL_T_CONTINUING)) {
        continuing(p, loop);
        return true;
    }
    if (end != ENDS_IN_BREAK_IF || !qn__wf_peek(p, WGSL_T_BREAK) || p->at[1].kind != WGSL_T_IF) return false;
    p->at += 2;
    loop->break_if = qn__wf_expr(p);
    semicolon(p);
    return true;
}

/* After an error the list goes on behind the statement. */
static void statements(wgsl_parser *p, wgsl_stmts *list, list_end end, wgsl_stmt *loop) {
    const unsigned depth = p->depth;
    wgsl_stmt *around = p->loop;
    while (!qn__wf_peek(p, WGSL_T_CLOSE_BRACE) && !qn__wf_peek(p, WGSL_T_END) && !p->diag->stopped) {
        const wgsl_token *begin = p->at;
        const bool ends = list_end_here(p, end, loop);
        wgsl_stmt *inner = ends || p->panic ? NULL : statement(p);
        if (inner) qn__vec_push(p->arena, list, inner);
        if (p->panic) {
            qn__wf_recover(p, begin);
            p->depth = depth;
            p->loop = around;
        }
        if (ends || p->at == begin) break;
    }
}
