/* Statements (C99 6.8). Loops and switches know what break and continue leave; labels are resolved at the end
   of the function. */
#include "front/parse/parser.h"

#include <string.h>

static ast_stmt *parse_statement(front_parser *p);

static ast_stmt *stmt_new(front_parser *p, ast_stmt_kind kind, front_loc loc) {
    ast_stmt *stmt = QN__NEW(p->arena, ast_stmt);
    stmt->stmt_kind = (uint8_t)kind;
    stmt->loc = stmt->end = loc;
    return stmt;
}

/* ---- conditions and bodies ---- */

/* '(' expression ')' */
static ast_expr *parse_condition(front_parser *p, const char *what) {
    front_loc loc = qn__here(p);
    if (!qn__expect(p, FRONT_T_LPAREN, what)) return qn__expr_error(p, loc);
    bool is_doubled = qn__peek(p, FRONT_T_LPAREN);
    ast_expr *e = qn__parse_expression(p);
    qn__expect(p, FRONT_T_RPAREN, "after the condition");
    qn__warn_condition(p, e, is_doubled);
    return qn__sema_bool(p, e, "condition");
}

/* The statement that a loop, an if or a label holds, with a scope of its own. */
static ast_stmt *parse_body(front_parser *p) {
    qn__scope_push(p);
    ast_stmt *stmt = parse_statement(p);
    qn__scope_pop(p);
    return stmt;
}

static ast_stmt *parse_loop_body(front_parser *p, ast_stmt *loop) {
    ast_stmt *outer_loop = p->loop, *outer_breakable = p->breakable;
    p->loop = p->breakable = loop;
    ast_stmt *body = parse_body(p);
    p->loop = outer_loop;
    p->breakable = outer_breakable;
    return body;
}

/* ---- selection ---- */

/* if: 'if' '(' expression ')' statement ('else' statement)? */
static ast_stmt *parse_if(front_parser *p) {
    ast_stmt *stmt = stmt_new(p, STMT_IF, qn__here(p));
    qn__advance(p);
    stmt->cond = parse_condition(p, "after 'if'");
    if (p->panic) return stmt;
    if (qn__peek(p, FRONT_T_SEMICOLON) && !(p->at->flags & FRONT_FROM_MACRO))
        qn__diag_warning(p->diag, FRONT_WARN_OTHER, qn__here(p), "if statement has an empty body");
    stmt->then_stmt = parse_body(p);
    if (qn__accept(p, FRONT_T_ELSE)) stmt->else_stmt = parse_body(p);
    return stmt;
}

/* switch: 'switch' '(' expression ')' statement */
static ast_stmt *parse_switch(front_parser *p) {
    ast_stmt *stmt = stmt_new(p, STMT_SWITCH, qn__here(p));
    qn__advance(p);
    qn__expect(p, FRONT_T_LPAREN, "after 'switch'");
    ast_expr *value = qn__sema_value(p, qn__parse_expression(p));
    qn__expect(p, FRONT_T_RPAREN, "after the switch's value");
    if (!qn__is_error(p, value)) {
        if (qn__type_is_integer(value->type)) {
            value = qn__sema_cast_to(p, value, qn__sema_promote(p, value->type));
        } else {
            qn__diag_error(p->diag, value->loc, "switch needs an integer, not '%s'",
                           qn__type_text(p, value->type));
            value = qn__expr_error(p, value->loc);
        }
    }
    stmt->cond = value;
    if (p->panic) return stmt;
    qn__map64 values = {0}, *outer_values = p->switch_values;
    ast_stmt *outer_switch = p->switch_stmt, *outer_breakable = p->breakable,
             *outer_default = p->switch_default;
    p->switch_values = &values;
    p->switch_stmt = p->breakable = stmt;
    p->switch_default = NULL;
    stmt->then_stmt = parse_body(p);
    p->switch_values = outer_values;
    p->switch_stmt = outer_switch;
    p->switch_default = outer_default;
    p->breakable = outer_breakable;
    return stmt;
}

static void add_case(front_parser *p, ast_stmt *label) {
    bool is_default = label->stmt_kind == STMT_DEFAULT;
    ast_stmt *known = is_default ? p->switch_default : qn__map64_get(p->switch_values, label->case_low);
    if (known) {
        qn__diag_error(p->diag, label->loc,
                       is_default ? "second default label in a switch" : "duplicate case value");
        qn__diag_note(p->diag, known->loc, "the first is here");
        return;
    }
    if (is_default)
        p->switch_default = label;
    else
        qn__map64_set(p->arena, p->switch_values, label->case_low, label);
    qn__vec_push(p->arena, &p->switch_stmt->cases, label);
}

/* What a label stands before; before '}' that is nothing. */
static ast_stmt *labelled_statement(front_parser *p) {
    if (qn__peek(p, FRONT_T_RBRACE)) return stmt_new(p, STMT_EMPTY, qn__here(p));
    return parse_statement(p);
}

/* case: 'case' constant ':' statement */
static ast_stmt *parse_case(front_parser *p) {
    ast_stmt *stmt = stmt_new(p, STMT_CASE, qn__here(p));
    int64_t value = 0;
    qn__advance(p);
    bool known = qn__parse_constant(p, "case label", &value, NULL);
    if (qn__peek(p, FRONT_T_ELLIPSIS)) {
        qn__syntax_error(p, "ranges of case labels are not supported");
        return stmt;
    }
    qn__expect(p, FRONT_T_COLON, "after the case label");
    if (p->panic) return stmt;
    if (!p->switch_stmt) {
        qn__diag_error(p->diag, stmt->loc, "case label outside of a switch");
    } else if (known && !qn__is_error(p, p->switch_stmt->cond)) {
        stmt->case_low = qn__wrap_int(p->switch_stmt->cond->type, (uint64_t)value);
        add_case(p, stmt);
    }
    stmt->then_stmt = labelled_statement(p);
    return stmt;
}

/* default: 'default' ':' statement */
static ast_stmt *parse_default(front_parser *p) {
    ast_stmt *stmt = stmt_new(p, STMT_DEFAULT, qn__here(p));
    qn__advance(p);
    qn__expect(p, FRONT_T_COLON, "after 'default'");
    if (p->panic) return stmt;
    if (!p->switch_stmt)
        qn__diag_error(p->diag, stmt->loc, "default label outside of a switch");
    else
        add_case(p, stmt);
    stmt->then_stmt = labelled_statement(p);
    return stmt;
}

/* ---- iteration ---- */

static ast_stmt *loop_new(front_parser *p, ast_stmt_kind kind) {
    ast_stmt *stmt = stmt_new(p, kind, qn__here(p));
    stmt->unroll = p->unroll;
    p->unroll = 0;
    qn__advance(p);
    return stmt;
}

/* while: 'while' '(' expression ')' statement */
static ast_stmt *parse_while(front_parser *p) {
    ast_stmt *stmt = loop_new(p, STMT_WHILE);
    stmt->cond = parse_condition(p, "after 'while'");
    if (!p->panic) stmt->then_stmt = parse_loop_body(p, stmt);
    return stmt;
}

/* do: 'do' statement 'while' '(' expression ')' ';' */
static ast_stmt *parse_do(front_parser *p) {
    ast_stmt *stmt = loop_new(p, STMT_DO);
    stmt->then_stmt = parse_loop_body(p, stmt);
    if (p->panic || !qn__expect(p, FRONT_T_WHILE, "after the body of 'do'")) return stmt;
    stmt->cond = parse_condition(p, "after 'while'");
    qn__expect(p, FRONT_T_SEMICOLON, "after 'do'");
    return stmt;
}

/* for: 'for' '(' (declaration | expression? ';') expression? ';' expression? ')' statement */
static ast_stmt *parse_for(front_parser *p) {
    ast_stmt *stmt = loop_new(p, STMT_FOR);
    if (!qn__expect(p, FRONT_T_LPAREN, "after 'for'")) return stmt;
    qn__scope_push(p);
    if (qn__is_declaration_start(p)) {
        stmt->init = qn__parse_declaration(p);
    } else if (!qn__accept(p, FRONT_T_SEMICOLON)) {
        stmt->init = stmt_new(p, STMT_EXPR, qn__here(p));
        stmt->init->expr = qn__parse_expression(p);
        qn__warn_unused(p, stmt->init->expr);
        qn__expect(p, FRONT_T_SEMICOLON, "after the first part of 'for'");
    }
    if (!p->panic && !qn__peek(p, FRONT_T_SEMICOLON)) {
        ast_expr *condition = qn__parse_expression(p);
        qn__warn_condition(p, condition, false);
        stmt->cond = qn__sema_bool(p, condition, "condition");
    }
    if (!p->panic) qn__expect(p, FRONT_T_SEMICOLON, "after the condition of 'for'");
    if (!p->panic && !qn__peek(p, FRONT_T_RPAREN)) {
        stmt->step = qn__parse_expression(p);
        qn__warn_unused(p, stmt->step);
    }
    if (!p->panic) qn__expect(p, FRONT_T_RPAREN, "after the parts of 'for'");
    if (!p->panic) stmt->then_stmt = parse_loop_body(p, stmt);
    qn__scope_pop(p);
    return stmt;
}

/* ---- jumps and labels ---- */

/* A jump out of a statement expression would leave the expression around it without a value. */
static void check_jump(front_parser *p, const char *what, front_loc loc) {
    if (!p->in_expression) return;
    qn__diag_error(p->diag, loc, "%s in a statement expression", what);
    qn__diag_hint(p->diag,
                  "write the statements in front of the expression, and use a variable for the value");
}

static ast_stmt *parse_break(front_parser *p) {
    bool is_break = qn__peek(p, FRONT_T_BREAK);
    ast_stmt *stmt = stmt_new(p, is_break ? STMT_BREAK : STMT_CONTINUE, qn__here(p));
    stmt->target = is_break ? p->breakable : p->loop;
    if (!stmt->target && p->in_expression)
        check_jump(p, is_break ? "'break'" : "'continue'", stmt->loc);
    else if (!stmt->target)
        qn__diag_error(p->diag, stmt->loc, "'%s' outside of a loop%s", is_break ? "break" : "continue",
                       is_break ? " or switch" : "");
    qn__advance(p);
    qn__expect(p, FRONT_T_SEMICOLON, is_break ? "after 'break'" : "after 'continue'");
    return stmt;
}

/* return: 'return' expression? ';' */
static ast_stmt *parse_return(front_parser *p) {
    ast_stmt *stmt = stmt_new(p, STMT_RETURN, qn__here(p));
    const ast_type *function = p->function->type;
    const ast_type *result = function->kind == AST_FUNCTION ? function->base : p->types->error;
    check_jump(p, "'return'", stmt->loc);
    qn__advance(p);
    if (qn__accept(p, FRONT_T_SEMICOLON)) {
        if (result->kind != AST_VOID)
            qn__diag_error(p->diag, stmt->loc, "function '%s' must return a value of type '%s'",
                           p->function->name, qn__type_text(p, result));
        return stmt;
    }
    ast_expr *value = qn__parse_expression(p);
    qn__expect(p, FRONT_T_SEMICOLON, "after 'return'");
    if (result->kind == AST_VOID && !qn__type_is_error(p->types, result)) {
        bool is_void_call = value->type->kind == AST_VOID;
        if (!is_void_call)
            qn__diag_error(p->diag, stmt->loc, "void function '%s' cannot return a value", p->function->name);
        stmt->stmt_kind = STMT_COMPOUND; /* return f(); of a void function: the call, then the return */
        ast_stmt *call = stmt_new(p, STMT_EXPR, stmt->loc), *leave = stmt_new(p, STMT_RETURN, stmt->loc);
        call->expr = value;
        qn__vec_push(p->arena, &stmt->body, call);
        qn__vec_push(p->arena, &stmt->body, leave);
        return stmt;
    }
    value = qn__sema_value(p, value);
    if (p->function->is_space_open && !qn__is_error(p, value)) {
        qn__sema_settle_result(p, stmt, value);
        result = p->function->type->base;
    }
    if (!qn__is_null_constant(value)) qn__sema_second_space(p, p->function, value->type, result);
    stmt->cond = qn__sema_coerce(p, value, result, value->loc, (front_use){.what = "return value"});
    return stmt;
}

static front_label *label_find(front_parser *p, front_name *name) {
    for (size_t i = 0; i < p->labels.len; i++)
        if (p->labels.data[i].name == name) return &p->labels.data[i];
    return NULL;
}

/* goto: 'goto' identifier ';' */
static ast_stmt *parse_goto(front_parser *p) {
    ast_stmt *stmt = stmt_new(p, STMT_GOTO, qn__here(p));
    qn__advance(p);
    const front_token *token = p->at;
    if (!qn__expect(p, FRONT_T_IDENTIFIER, "after 'goto'")) return stmt;
    stmt->label = token->name->data;
    stmt->loc = token->loc;
    check_jump(p, "'goto'", stmt->loc);
    qn__vec_push(p->arena, &p->gotos, stmt);
    qn__expect(p, FRONT_T_SEMICOLON, "after 'goto'");
    return stmt;
}

/* label: identifier ':' statement */
static ast_stmt *parse_label(front_parser *p) {
    const front_token *token = p->at;
    ast_stmt *stmt = stmt_new(p, STMT_LABEL, token->loc);
    front_attributes attributes = {0};
    qn__advance(p);
    qn__advance(p);
    qn__parse_attributes(p, &attributes);
    check_jump(p, "a label", stmt->loc);
    stmt->label = token->name->data;
    front_label *known = p->labels.len < FRONT_MAX_LABELS ? label_find(p, token->name) : NULL;
    if (known) {
        qn__diag_error(p->diag, token->loc, "redefinition of label '%s'", token->name->data);
        qn__diag_note(p->diag, known->loc, "previous definition is here");
    } else {
        front_label label = {token->name, stmt, token->loc};
        qn__vec_push(p->arena, &p->labels, label);
    }
    stmt->then_stmt = labelled_statement(p);
    return stmt;
}

/* ---- pragmas and attributes of loops ---- */

static ast_stmt *parse_hinted(front_parser *p) {
    if (qn__peek(p, FRONT_T_PRAGMA)) {
        const front_pragma *pragma = p->at->pragma;
        if (pragma->kind == FRONT_PRAGMA_UNROLL) p->unroll = pragma->unroll;
        if (pragma->kind == FRONT_PRAGMA_FP_CONTRACT) p->contract = pragma->setting != FRONT_OFF;
        qn__advance(p);
    } else {
        front_attributes attributes = {0};
        qn__parse_attributes(p, &attributes);
        if (attributes.unroll) p->unroll = attributes.unroll;
    }
    if (qn__peek(p, FRONT_T_RBRACE) || qn__peek(p, FRONT_T_END) || p->panic)
        return stmt_new(p, STMT_EMPTY, qn__here(p));
    if (qn__is_declaration_start(p)) return qn__parse_declaration(p);
    return parse_statement(p);
}

/* ---- statements ---- */

static ast_stmt *parse_expression_statement(front_parser *p) {
    ast_stmt *stmt = stmt_new(p, STMT_EXPR, qn__here(p));
    stmt->expr = qn__parse_expression(p);
    const bool is_value = p->in_expression && qn__peek(p, FRONT_T_SEMICOLON) &&
                          p->at[1].kind == FRONT_T_RBRACE && p->at + 2 < p->end &&
                          p->at[2].kind == FRONT_T_RPAREN;
    if (!p->panic && !is_value) qn__warn_unused(p, stmt->expr);
    qn__expect(p, FRONT_T_SEMICOLON, "after the expression");
    return stmt;
}

/* statement-expression: '(' compound ')'. Its value is that of its last statement, if that is an expression. */
ast_expr *qn__parse_statement_expression(front_parser *p, front_loc loc) {
    if (!p->function) {
        qn__syntax_error(p, "a statement expression is only allowed in a function");
        return qn__expr_error(p, loc);
    }
    if (!qn__enter(p)) return qn__expr_error(p, loc);
    ast_stmt *outer_loop = p->loop, *outer_breakable = p->breakable, *outer_switch = p->switch_stmt;
    p->loop = p->breakable = p->switch_stmt = NULL;
    p->in_expression++;
    ast_stmt *block = qn__parse_compound(p, true);
    p->in_expression--;
    p->loop = outer_loop;
    p->breakable = outer_breakable;
    p->switch_stmt = outer_switch;
    qn__leave(p);
    qn__expect(p, FRONT_T_RPAREN, "after the statement expression");
    ast_expr *value = NULL;
    const ast_stmt *last = block->body.len ? qn__vec_last(&block->body) : NULL;
    if (last && last->stmt_kind == STMT_EXPR) {
        value = last->expr->type->kind == AST_VOID ? last->expr : qn__sema_value(p, last->expr);
        block->body.len--;
    }
    if (value && qn__is_error(p, value)) return value;
    ast_expr *e = qn__expr(p, EXPR_STATEMENT, value ? value->type : p->types->scalars[AST_VOID], loc, value,
                           NULL, NULL);
    if (!qn__is_error(p, e)) e->block = block;
    return e;
}

static ast_stmt *parse_simple(front_parser *p) {
    switch (p->at->kind) {
    case FRONT_T_LBRACE: return qn__parse_compound(p, true);
    case FRONT_T_IF: return parse_if(p);
    case FRONT_T_SWITCH: return parse_switch(p);
    case FRONT_T_CASE: return parse_case(p);
    case FRONT_T_DEFAULT: return parse_default(p);
    case FRONT_T_WHILE: return parse_while(p);
    case FRONT_T_DO: return parse_do(p);
    case FRONT_T_FOR: return parse_for(p);
    case FRONT_T_BREAK:
    case FRONT_T_CONTINUE: return parse_break(p);
    case FRONT_T_RETURN: return parse_return(p);
    case FRONT_T_GOTO: return parse_goto(p);
    case FRONT_T_PRAGMA:
    case FRONT_T_ATTRIBUTE: return parse_hinted(p);
    case FRONT_T_SEMICOLON: {
        ast_stmt *stmt = stmt_new(p, STMT_EMPTY, qn__here(p));
        qn__advance(p);
        return stmt;
    }
    case FRONT_T_ASM:
        qn__syntax_error(p, "assembler is not supported");
        return stmt_new(p, STMT_EMPTY, qn__here(p));
    case FRONT_T_IDENTIFIER:
        if (p->at[1].kind == FRONT_T_COLON) return parse_label(p);
        break;
    default: break;
    }
    if (qn__is_declaration_start(p)) {
        qn__diag_error(p->diag, qn__here(p), "a declaration is not allowed here");
        qn__diag_hint(p->diag, "put it in braces");
        return qn__parse_declaration(p);
    }
    return parse_expression_statement(p);
}

/* statement: compound | if | switch | ... | expression? ';'. Recovers from a syntax error at its end. */
static ast_stmt *parse_statement(front_parser *p) {
    if (!qn__enter(p)) return stmt_new(p, STMT_EMPTY, qn__here(p));
    ast_stmt *stmt = parse_simple(p);
    if (p->panic) {
        qn__skip_to(p, FRONT_T_SEMICOLON);
        p->panic = p->at == p->end;
    }
    qn__leave(p);
    return stmt;
}

static bool is_loop(unsigned kind) {
    return kind == FRONT_T_FOR || kind == FRONT_T_WHILE || kind == FRONT_T_DO;
}

/* Attributes that belong to a declaration, not to a loop or to nothing. */
static bool is_attributed_declaration(front_parser *p) {
    if (!qn__peek(p, FRONT_T_ATTRIBUTE)) return false;
    front_parser ahead = *p;
    while (qn__peek(&ahead, FRONT_T_ATTRIBUTE)) {
        qn__advance(&ahead);
        if (!qn__accept(&ahead, FRONT_T_LPAREN)) return false;
        qn__skip_to(&ahead, FRONT_T_RPAREN);
    }
    return qn__is_declaration_start(&ahead);
}

/* `name x` with an unknown name: a declaration whose type is missing. */
static bool is_unknown_declaration(front_parser *p) {
    return qn__peek(p, FRONT_T_IDENTIFIER) && p->at[1].kind == FRONT_T_IDENTIFIER &&
           !qn__lookup(p, p->at->name);
}

static ast_stmt *parse_block_item(front_parser *p) {
    bool is_label = qn__peek(p, FRONT_T_IDENTIFIER) && p->at[1].kind == FRONT_T_COLON;
    bool is_declaration = !is_label && (qn__peek(p, FRONT_T_STATIC_ASSERT) || qn__is_declaration_start(p) ||
                                        is_attributed_declaration(p) || is_unknown_declaration(p));
    if (p->unroll && !is_loop(p->at->kind) && !qn__peek(p, FRONT_T_PRAGMA)) p->unroll = 0;
    if (!is_declaration) return parse_statement(p);
    ast_stmt *stmt = qn__parse_declaration(p);
    if (p->panic) {
        qn__skip_to(p, FRONT_T_SEMICOLON);
        p->panic = p->at == p->end;
    }
    return stmt;
}

/* compound: '{' (declaration | statement)* '}' */
ast_stmt *qn__parse_compound(front_parser *p, bool own_scope) {
    ast_stmt *stmt = stmt_new(p, STMT_COMPOUND, qn__here(p));
    if (!qn__expect(p, FRONT_T_LBRACE, NULL)) return stmt;
    if (own_scope) qn__scope_push(p);
    while (!qn__peek(p, FRONT_T_RBRACE) && !qn__peek(p, FRONT_T_END)) {
        const front_token *before = p->at;
        ast_stmt *item = parse_block_item(p);
        qn__vec_push(p->arena, &stmt->body, item);
        if (p->at == before) qn__advance(p);
    }
    stmt->end = qn__here(p);
    if (!qn__accept(p, FRONT_T_RBRACE)) {
        p->panic = false;
        qn__syntax_error(p, "expected '}' at the end of the block");
        qn__diag_note(p->diag, stmt->loc, "to match this '{'");
    }
    if (own_scope) qn__scope_pop(p);
    return stmt;
}
