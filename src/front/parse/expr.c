/* Expressions (C99 6.5): recursive descent, binary operators by precedence climbing. */
#include "front/parse/parser.h"

static ast_expr *parse_cast(front_parser *p);
static ast_expr *parse_unary(front_parser *p);

/* ---- primary ---- */

typedef struct arguments {
    QN__VEC(ast_expr *) list;
    front_loc end;
} arguments;

/* arguments: (assignment (',' assignment)*)? ')'; the '(' is read already */
static void parse_arguments(front_parser *p, arguments *args) {
    if (!qn__peek(p, FRONT_T_RPAREN)) {
        do {
            ast_expr *arg = qn__parse_assignment(p);
            qn__vec_push(p->arena, &args->list, arg);
        } while (!p->panic && qn__accept(p, FRONT_T_COMMA));
    }
    args->end = qn__here(p);
    qn__expect(p, FRONT_T_RPAREN, "after the arguments");
}

static ast_expr *integer_literal(front_parser *p, const front_token *token) {
    uint64_t value = token->integer;
    bool is_decimal = token->literal & FRONT_INT_DECIMAL, is_unsigned = token->literal & FRONT_INT_UNSIGNED;
    bool is_long = token->literal & FRONT_INT_LONG;
    ast_kind kind = is_unsigned ? AST_ULONG : AST_LONG;
    if (!is_long && is_unsigned && value <= UINT32_MAX)
        kind = AST_UINT;
    else if (!is_long && !is_unsigned && value <= INT32_MAX)
        kind = AST_INT;
    else if (!is_long && !is_unsigned && !is_decimal && value <= UINT32_MAX)
        kind = AST_UINT;
    else if (!is_unsigned && value > INT64_MAX)
        kind = AST_ULONG;
    return qn__expr_int(p, p->types->scalars[kind], value, token->loc);
}

static ast_expr *float_literal(front_parser *p, const front_token *token) {
    ast_kind kind = token->literal == FRONT_F32   ? AST_FLOAT
                    : token->literal == FRONT_F16 ? AST_HALF
                                                  : AST_DOUBLE;
    if (kind == AST_DOUBLE && !p->is_library && p->context->target.lacks_f64) kind = AST_FLOAT;
    return qn__expr_float(p, p->types->scalars[kind], token->real, token->loc);
}

static ast_expr *string_literal(front_parser *p, qn__str text, front_loc loc) {
    const ast_type *element = qn__type_qualified(p->types, p->types->scalars[AST_CHAR], 0, IR_CONSTANT_SPACE);
    const ast_type *type = qn__type_array(p->types, element, text.len + 1);
    ast_expr *e = qn__expr(p, EXPR_STRING, type, loc, NULL, NULL, NULL);
    e->string = (qn__str){qn__arena_strndup(p->arena, text.data, text.len), text.len + 1};
    e->is_lvalue = true;
    return e;
}

/* A name that no scope knows: one of the library's, or a mistake. */
static ast_expr *unknown_name(front_parser *p, const front_token *token) {
    qn__str name = {token->name->data, token->name->len};
    if (p->is_library) {
        const front_library_entry *entry = qn__library_find(name, AST_VOID);
        if (entry && entry->library_kind == LIBRARY_DATA) {
            ast_decl *decl =
                qn__parse_library(p->context, (qn__str){entry->text, entry->length}, entry->name, NULL, 0);
            return decl ? qn__sema_variable(p, decl, token->loc) : qn__expr_error(p, token->loc);
        }
    }
    ast_expr *constant = qn__sema_image_constant(p, name, token->loc);
    if (!constant) constant = qn__sema_matrix_constant(p, name, token->loc);
    if (constant) return constant;
    if (qn__builtin_exists(name)) {
        qn__diag_error(p->diag, token->loc, "built-in function '%s' can only be called", token->name->data);
        return qn__expr_error(p, token->loc);
    }
    if (qn__foreign_word(p, token->name, token->loc)) return qn__expr_error(p, token->loc);
    qn__diag_error(p->diag, token->loc, "use of undeclared identifier '%s'", token->name->data);
    qn__diag_range(p->diag, token->loc, token->len);
    const char *meant = qn__did_you_mean(p, token->name);
    if (meant) qn__diag_hint(p->diag, "did you mean '%s'?", meant);
    qn__link_unknown(p, token->name);
    return qn__expr_error(p, token->loc);
}

/* __builtin_astype(e, type) and the like take what no function does. */
static ast_expr *parse_astype(front_parser *p, front_loc loc) {
    ast_expr *a = qn__parse_assignment(p);
    qn__expect(p, FRONT_T_COMMA, "after the value");
    if (p->panic) return qn__expr_error(p, loc);
    const ast_type *type = qn__parse_type_name(p);
    qn__expect(p, FRONT_T_RPAREN, "after the type");
    return qn__sema_reinterpret(p, qn__sema_value(p, a), type, loc);
}

static ast_expr *parse_call(front_parser *p, const front_token *token) {
    arguments args = {0};
    if (qn__str_is((qn__str){token->name->data, token->name->len}, "__builtin_astype"))
        return parse_astype(p, token->loc);
    parse_arguments(p, &args);
    if (p->panic) return qn__expr_error(p, token->loc);
    return qn__sema_call_name(p, token->name, args.list.data, args.list.len, token->loc, args.end);
}

static ast_expr *parse_name(front_parser *p) {
    const front_token *token = p->at;
    qn__advance(p);
    front_symbol *symbol = qn__lookup(p, token->name);
    bool is_call = qn__peek(p, FRONT_T_LPAREN) && (!symbol || symbol->symbol_kind != SYMBOL_TYPEDEF);
    if (is_call) {
        qn__advance(p);
        return parse_call(p, token);
    }
    if (!symbol) return unknown_name(p, token);
    switch (symbol->symbol_kind) {
    case SYMBOL_OBJECT: return qn__sema_variable(p, symbol->decl, token->loc);
    case SYMBOL_ENUMERATOR: return qn__expr_int(p, symbol->type, (uint64_t)symbol->value, token->loc);
    case SYMBOL_FUNCTION:
        qn__diag_error(p->diag, token->loc, "function '%s' can only be called", token->name->data);
        qn__diag_hint(p->diag, "OpenCL C has no pointers to functions");
        return qn__expr_error(p, token->loc);
    default:
        qn__syntax_error(p, "unexpected type name '%s'", token->name->data);
        return qn__expr_error(p, token->loc);
    }
}

/* '(' expression ')', or a name in parentheses that is called, as in (min)(a, b) */
static ast_expr *parse_parenthesized(front_parser *p) {
    front_loc loc = qn__here(p);
    qn__advance(p);
    if (qn__peek(p, FRONT_T_LBRACE)) return qn__parse_statement_expression(p, loc);
    const front_token *name = p->at;
    bool is_name = name->kind == FRONT_T_IDENTIFIER && p->end - name > 2 && name[1].kind == FRONT_T_RPAREN &&
                   name[2].kind == FRONT_T_LPAREN;
    if (is_name) {
        p->at = name + 3;
        return parse_call(p, name);
    }
    ast_expr *e = qn__parse_expression(p);
    qn__expect(p, FRONT_T_RPAREN, "after the expression");
    if (e->expr_kind == EXPR_BINARY || e->expr_kind == EXPR_ASSIGN) e->is_parenthesized = true;
    return e;
}

/* generic: '_Generic' '(' assignment (',' (type | 'default') ':' assignment)+ ')' */
static ast_expr *parse_generic(front_parser *p) {
    front_loc loc = qn__here(p);
    ast_expr *fallback = NULL, *chosen = NULL;
    qn__advance(p);
    if (!qn__expect(p, FRONT_T_LPAREN, "after '_Generic'")) return qn__expr_error(p, loc);
    p->unevaluated++;
    const ast_type *type = qn__sema_value(p, qn__parse_assignment(p))->type;
    p->unevaluated--;
    while (!p->panic && qn__accept(p, FRONT_T_COMMA)) {
        bool is_default = qn__accept(p, FRONT_T_DEFAULT);
        const ast_type *named = is_default ? NULL : qn__parse_type_name(p);
        qn__expect(p, FRONT_T_COLON, "after the type");
        if (p->panic) break;
        ast_expr *e = qn__parse_assignment(p);
        if (is_default)
            fallback = e;
        else if (!chosen && named->unqualified == type)
            chosen = e;
    }
    qn__expect(p, FRONT_T_RPAREN, "after '_Generic'");
    if (!chosen) chosen = fallback;
    if (!chosen && !p->panic)
        qn__diag_error(p->diag, loc, "'_Generic' has no case for type '%s'", qn__type_text(p, type));
    return chosen ? chosen : qn__expr_error(p, loc);
}

/* primary: identifier | literal | string | '(' expression ')' | generic */
static ast_expr *parse_primary(front_parser *p) {
    const front_token *token = p->at;
    switch (token->kind) {
    case FRONT_T_IDENTIFIER: return parse_name(p);
    case FRONT_T_INT: qn__advance(p); return integer_literal(p, token);
    case FRONT_T_CHAR:
        qn__advance(p);
        return qn__expr_int(p, p->types->scalars[AST_INT], token->integer, token->loc);
    case FRONT_T_FLOAT: qn__advance(p); return float_literal(p, token);
    case FRONT_T_STRING: qn__advance(p); return string_literal(p, *token->string, token->loc);
    case FRONT_T_FUNC: {
        const char *name = p->function ? p->function->name : "";
        qn__advance(p);
        return string_literal(p, qn__str_of(name), token->loc);
    }
    case FRONT_T_LPAREN: return parse_parenthesized(p);
    case FRONT_T_GENERIC_SELECTION: return parse_generic(p);
    case FRONT_T_EXTENSION: qn__advance(p); return parse_cast(p);
    default: qn__syntax_error(p, "expected an expression"); return qn__expr_error(p, token->loc);
    }
}

/* ---- postfix ---- */

static ast_expr *parse_member(front_parser *p, ast_expr *e, bool arrow) {
    qn__advance(p);
    const front_token *token = p->at;
    /* Any word may follow: a member can have the name of a keyword's alias only by mistake. */
    if (!qn__expect(p, FRONT_T_IDENTIFIER, "after the dot or arrow")) return qn__expr_error(p, token->loc);
    return qn__sema_member(p, e, token->name, arrow, token->loc);
}

/* postfix: primary ('[' expression ']' | '(' arguments ')' | ('.' | '->') identifier | '++' | '--')* */
static ast_expr *parse_postfix_rest(front_parser *p, ast_expr *e) {
    while (!p->panic) {
        front_loc loc = qn__here(p);
        switch (p->at->kind) {
        case FRONT_T_LBRACKET: {
            qn__advance(p);
            ast_expr *index = qn__parse_expression(p);
            qn__expect(p, FRONT_T_RBRACKET, "after the index");
            e = qn__sema_index(p, e, index, loc);
            break;
        }
        case FRONT_T_LPAREN: {
            arguments args = {0};
            qn__advance(p);
            parse_arguments(p, &args);
            if (!qn__is_error(p, e))
                qn__diag_error(p->diag, loc, "'%s' is no function and cannot be called",
                               qn__type_text(p, e->type));
            e = qn__expr_error(p, loc);
            break;
        }
        case FRONT_T_DOT: e = parse_member(p, e, false); break;
        case FRONT_T_ARROW: e = parse_member(p, e, true); break;
        case FRONT_T_PLUS_PLUS:
        case FRONT_T_MINUS_MINUS: {
            bool is_decrement = qn__peek(p, FRONT_T_MINUS_MINUS);
            qn__advance(p);
            e = qn__sema_increment(p, e, is_decrement, true, loc);
            break;
        }
        default: return e;
        }
    }
    return e;
}

/* ---- unary and casts ---- */

/* '(' type-name ')' ahead? */
static bool is_type_in_parentheses(front_parser *p) {
    return qn__peek(p, FRONT_T_LPAREN) && qn__is_type_start(p, p->at + 1);
}

static ast_expr *size_of(front_parser *p, const ast_type *type, unsigned what, front_loc loc) {
    if (qn__type_is_error(p->types, type)) return qn__expr_error(p, loc);
    if (what == FRONT_T_VEC_STEP) {
        unsigned lanes = qn__type_lanes(type);
        return qn__expr_int(p, p->types->scalars[AST_INT], lanes == 3 ? 4 : lanes, loc);
    }
    const ast_type *element = type;
    while (element->kind == AST_ARRAY) element = element->base;
    if (qn__type_is_matrix(element)) {
        qn__diag_error(p->diag, loc, "a matrix fragment has no size in bytes that all devices agree on");
        qn__diag_hint(p->diag, "qn_matrix_length tells the elements of a work-item's share");
        return qn__expr_error(p, loc);
    }
    if (!qn__type_is_complete(type) && type->kind != AST_VOID) {
        qn__diag_error(p->diag, loc, "size of incomplete type '%s'", qn__type_text(p, type));
        return qn__expr_error(p, loc);
    }
    if (type->kind == AST_VOID) return qn__expr_int(p, p->types->scalars[AST_ULONG], 1, loc);
    uint64_t value = what == FRONT_T_SIZEOF ? type->size : type->align;
    return qn__expr_int(p, p->types->scalars[AST_ULONG], value, loc);
}

/* sizeof: ('sizeof' | '_Alignof' | 'vec_step') ('(' type-name ')' | unary) */
static ast_expr *parse_sizeof(front_parser *p) {
    unsigned what = p->at->kind;
    front_loc loc = qn__here(p);
    qn__advance(p);
    if (is_type_in_parentheses(p)) {
        qn__advance(p);
        const ast_type *type = qn__parse_type_name(p);
        qn__expect(p, FRONT_T_RPAREN, "after the type");
        return size_of(p, type, what, loc);
    }
    p->unevaluated++;
    ast_expr *operand = parse_unary(p);
    p->unevaluated--;
    if (operand->expr_kind == EXPR_MEMBER && operand->field->is_bit_field) {
        qn__diag_error(p->diag, loc, "a bit-field has no size in bytes");
        return qn__expr_error(p, loc);
    }
    return size_of(p, operand->type, what, loc);
}

/* unary: postfix | ('++' | '--') unary | ('&' | '*' | '+' | '-' | '~' | '!') cast | sizeof */
static ast_expr *parse_unary(front_parser *p) {
    front_loc loc = qn__here(p);
    unsigned kind = p->at->kind;
    if (!qn__enter(p)) return qn__expr_error(p, loc);
    ast_expr *e = NULL;
    switch (kind) {
    case FRONT_T_PLUS_PLUS:
    case FRONT_T_MINUS_MINUS:
        qn__advance(p);
        e = qn__sema_increment(p, parse_unary(p), kind == FRONT_T_MINUS_MINUS, false, loc);
        break;
    case FRONT_T_AMP:
        qn__advance(p);
        e = qn__sema_address(p, parse_cast(p), loc);
        break;
    case FRONT_T_STAR:
    case FRONT_T_PLUS:
    case FRONT_T_MINUS:
    case FRONT_T_TILDE:
    case FRONT_T_EXCLAIM:
        qn__advance(p);
        e = qn__sema_unary(p, (front_token_kind)kind, parse_cast(p), loc);
        break;
    case FRONT_T_SIZEOF:
    case FRONT_T_ALIGNOF:
    case FRONT_T_VEC_STEP: e = parse_sizeof(p); break;
    default: e = parse_postfix_rest(p, parse_primary(p)); break;
    }
    qn__leave(p);
    return e;
}

static ast_expr *parse_compound_literal(front_parser *p, const ast_type *type, front_loc loc) {
    if (!qn__type_is_complete(type) && !(type->kind == AST_ARRAY && type->is_incomplete)) {
        if (!qn__type_is_error(p->types, type))
            qn__diag_error(p->diag, loc, "compound literal of incomplete type '%s'", qn__type_text(p, type));
        type = p->types->error;
    }
    ast_init *init = qn__parse_initializer(p, &type);
    ast_expr *e = qn__expr(p, EXPR_COMPOUND, type, loc, NULL, NULL, NULL);
    e->init = init;
    e->is_lvalue = true;
    for (size_t i = 0; i < init->items.len; i++)
        if (init->items.data[i].value->height >= e->height)
            e->height = (uint16_t)(init->items.data[i].value->height + 1);
    qn__expr_args(p, e);
    return parse_postfix_rest(p, e);
}

/* What follows a type in parentheses: several values make a vector literal, which is a primary expression;
   one is an expression in parentheses, which further postfix operators bind to. */
static ast_expr *parse_vector_operand(front_parser *p, const ast_type *type, front_loc loc) {
    arguments args = {0};
    front_loc inner = qn__here(p);
    qn__advance(p);
    parse_arguments(p, &args);
    if (p->panic || args.list.len == 0) {
        qn__syntax_error(p, "expected an expression");
        return qn__expr_error(p, inner);
    }
    if (args.list.len > 1)
        return parse_postfix_rest(p, qn__sema_vector_literal(p, type, args.list.data, args.list.len, loc));
    return qn__sema_cast(p, parse_postfix_rest(p, args.list.data[0]), type, loc);
}

/* cast: '(' type-name ')' (cast | '{' initializers '}' | '(' assignment (',' assignment)* ')') | unary */
static ast_expr *parse_cast(front_parser *p) {
    front_loc loc = qn__here(p);
    if (!is_type_in_parentheses(p)) return parse_unary(p);
    if (!qn__enter(p)) return qn__expr_error(p, loc);
    qn__advance(p);
    const ast_type *type = qn__parse_type_name(p);
    qn__expect(p, FRONT_T_RPAREN, "after the type");
    ast_expr *e = NULL;
    if (p->panic)
        e = qn__expr_error(p, loc);
    else if (qn__peek(p, FRONT_T_LBRACE))
        e = parse_compound_literal(p, type, loc);
    else if (type->kind == AST_VECTOR && qn__peek(p, FRONT_T_LPAREN) && !is_type_in_parentheses(p))
        e = parse_vector_operand(p, type, loc);
    else
        e = qn__sema_cast(p, parse_cast(p), type, loc);
    qn__leave(p);
    return e;
}

/* ---- binary operators ---- */

typedef struct operator_row {
    uint8_t precedence; /* 0: no binary operator */
    uint8_t binary;
} operator_row;

enum { PRECEDENCE_OR = 1, PRECEDENCE_AND = 2 };

static operator_row operator_of(unsigned kind) {
    switch (kind) {
    case FRONT_T_PIPE_PIPE: return (operator_row){PRECEDENCE_OR, BINARY_OR};
    case FRONT_T_AMP_AMP: return (operator_row){PRECEDENCE_AND, BINARY_AND};
    case FRONT_T_PIPE: return (operator_row){3, BINARY_OR};
    case FRONT_T_CARET: return (operator_row){4, BINARY_XOR};
    case FRONT_T_AMP: return (operator_row){5, BINARY_AND};
    case FRONT_T_EQUAL: return (operator_row){6, BINARY_EQ};
    case FRONT_T_NOT_EQUAL: return (operator_row){6, BINARY_NE};
    case FRONT_T_LESS: return (operator_row){7, BINARY_LT};
    case FRONT_T_GREATER: return (operator_row){7, BINARY_GT};
    case FRONT_T_LESS_EQUAL: return (operator_row){7, BINARY_LE};
    case FRONT_T_GREATER_EQUAL: return (operator_row){7, BINARY_GE};
    case FRONT_T_SHL: return (operator_row){8, BINARY_SHL};
    case FRONT_T_SHR: return (operator_row){8, BINARY_SHR};
    case FRONT_T_PLUS: return (operator_row){9, BINARY_ADD};
    case FRONT_T_MINUS: return (operator_row){9, BINARY_SUB};
    case FRONT_T_STAR: return (operator_row){10, BINARY_MUL};
    case FRONT_T_SLASH: return (operator_row){10, BINARY_DIV};
    case FRONT_T_PERCENT: return (operator_row){10, BINARY_REM};
    default: return (operator_row){0, 0};
    }
}

/* binary: cast (operator binary)*, with operators of at least this precedence */
static ast_expr *parse_binary(front_parser *p, unsigned precedence) {
    ast_expr *left = parse_cast(p);
    while (!p->panic) {
        operator_row row = operator_of(p->at->kind);
        if (row.precedence == 0 || row.precedence < precedence) return left;
        front_loc loc = qn__here(p);
        qn__advance(p);
        ast_expr *right = parse_binary(p, row.precedence + 1u);
        bool is_logical = row.precedence <= PRECEDENCE_AND;
        left = is_logical ? qn__sema_logical(p, (ast_binary)row.binary, left, right, loc)
                          : qn__sema_binary(p, (ast_binary)row.binary, left, right, loc);
    }
    return left;
}

/* conditional: binary ('?' expression ':' conditional)? */
ast_expr *qn__parse_conditional(front_parser *p) {
    ast_expr *condition = parse_binary(p, PRECEDENCE_OR);
    front_loc loc = qn__here(p);
    if (p->panic || !qn__peek(p, FRONT_T_QUESTION) || !qn__enter(p)) return condition;
    qn__advance(p);
    ast_expr *then = qn__parse_expression(p);
    qn__expect(p, FRONT_T_COLON, "in the conditional expression");
    ast_expr *otherwise = p->panic ? qn__expr_error(p, loc) : qn__parse_conditional(p);
    qn__leave(p);
    return qn__sema_conditional(p, condition, then, otherwise, loc);
}

static int assignment_operator(unsigned kind) {
    switch (kind) {
    case FRONT_T_STAR_ASSIGN: return BINARY_MUL;
    case FRONT_T_SLASH_ASSIGN: return BINARY_DIV;
    case FRONT_T_PERCENT_ASSIGN: return BINARY_REM;
    case FRONT_T_PLUS_ASSIGN: return BINARY_ADD;
    case FRONT_T_MINUS_ASSIGN: return BINARY_SUB;
    case FRONT_T_SHL_ASSIGN: return BINARY_SHL;
    case FRONT_T_SHR_ASSIGN: return BINARY_SHR;
    case FRONT_T_AMP_ASSIGN: return BINARY_AND;
    case FRONT_T_CARET_ASSIGN: return BINARY_XOR;
    case FRONT_T_PIPE_ASSIGN: return BINARY_OR;
    default: return -1;
    }
}

/* assignment: conditional (('=' | '*=' | ...) assignment)? */
ast_expr *qn__parse_assignment(front_parser *p) {
    ast_expr *left = qn__parse_conditional(p);
    if (p->panic) return left;
    front_loc loc = qn__here(p);
    bool is_plain = qn__peek(p, FRONT_T_ASSIGN);
    int op = assignment_operator(p->at->kind);
    if ((!is_plain && op < 0) || !qn__enter(p)) return left;
    qn__advance(p);
    ast_expr *right = qn__parse_assignment(p);
    qn__leave(p);
    return is_plain ? qn__sema_assign(p, left, right, loc)
                    : qn__sema_assign_op(p, (ast_binary)op, left, right, loc);
}

/* expression: assignment (',' assignment)* */
ast_expr *qn__parse_expression(front_parser *p) {
    ast_expr *e = qn__parse_assignment(p);
    while (!p->panic && qn__peek(p, FRONT_T_COMMA)) {
        front_loc loc = qn__here(p);
        qn__advance(p);
        e = qn__sema_comma(p, e, qn__parse_assignment(p), loc);
    }
    return e;
}

bool qn__parse_constant(front_parser *p, const char *what, int64_t *value, const ast_type **type) {
    front_loc loc = qn__here(p);
    ast_expr *e = qn__sema_value(p, qn__parse_conditional(p));
    if (type) *type = e->type;
    if (p->panic || qn__is_error(p, e)) return false;
    if (!qn__type_is_integer(e->type)) {
        qn__diag_error(p->diag, loc, "%s has type '%s', which is no integer", what,
                       qn__type_text(p, e->type));
        return false;
    }
    if (qn__const_int(p, e, value)) return true;
    qn__diag_error(p->diag, loc, "%s is not a constant expression", what);
    return false;
}
