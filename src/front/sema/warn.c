/* Warnings: what is legal but will bite. */
#include "front/parse/parser.h"

/* ---- conditions and dropped values ---- */

void qn__warn_condition(front_parser *p, const ast_expr *e, bool parenthesized) {
    if (parenthesized || e->expr_kind != EXPR_ASSIGN || e->is_parenthesized) return;
    qn__diag_warning(p->diag, FRONT_WARN_PARENTHESES, e->loc, "assignment used as a condition");
    qn__diag_hint(p->diag, "write '==' to compare, or put parentheses around the assignment");
}

static bool is_pure_builtin(const ast_builtin *builtin) {
    switch (builtin->builtin_kind) {
    case BUILTIN_OP: return true;
    case BUILTIN_IMAGE: return false;
    case BUILTIN_LIB:
    case BUILTIN_LIB_MAP: return builtin->function && builtin->function->is_pure;
    default:
        return builtin->special == SPECIAL_QUERY || builtin->special == SPECIAL_LINEAR_ID ||
               builtin->special == SPECIAL_SELECT || builtin->special == SPECIAL_VECTOR_SHUFFLE ||
               builtin->special == SPECIAL_VLOAD || builtin->special == SPECIAL_VLOAD_HALF;
    }
}

/* The operator of a statement that does nothing but compute a value; NULL if it does more. */
static const ast_expr *dropped(const ast_expr *e) {
    switch (e->expr_kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_VARIABLE:
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_SWIZZLE:
    case EXPR_MEMBER:
    case EXPR_INDEX:
    case EXPR_DEREF: return e;
    case EXPR_LOAD: return dropped(e->a);
    case EXPR_COMMA: return dropped(e->b);
    case EXPR_CALL: return e->callee->is_pure ? e : NULL;
    case EXPR_BUILTIN: return is_pure_builtin(e->builtin) ? e : NULL;
    default: return NULL;
    }
}

void qn__warn_unused(front_parser *p, const ast_expr *e) {
    if (qn__is_error(p, e) || e->type->kind == AST_VOID || (e->type->quals & AST_VOLATILE)) return;
    const ast_expr *value = dropped(e);
    if (!value) return;
    if (value->expr_kind == EXPR_CALL || value->expr_kind == EXPR_BUILTIN) {
        const char *name = value->expr_kind == EXPR_CALL ? value->callee->name : value->builtin->name;
        qn__diag_warning(p->diag, FRONT_WARN_UNUSED_VALUE, value->loc, "result of '%s' is not used", name);
    } else if (value->expr_kind == EXPR_BINARY && value->binary == BINARY_EQ) {
        qn__diag_warning(p->diag, FRONT_WARN_UNUSED_VALUE, value->loc,
                         "result of the comparison is not used");
        qn__diag_hint(p->diag, "write '=' to assign");
    } else {
        qn__diag_warning(p->diag, FRONT_WARN_UNUSED_VALUE, value->loc,
                         "result of the expression is not used");
    }
}

/* ---- missing return ---- */

static bool may_fall_through(const ast_stmt *stmt);

/* Whether a loop or switch is left by a break inside. */
static bool has_break(const ast_stmt *stmt, const ast_stmt *target) {
    if (!stmt) return false;
    if (stmt->stmt_kind == STMT_BREAK) return stmt->target == target;
    for (size_t i = 0; i < stmt->body.len; i++)
        if (has_break(stmt->body.data[i], target)) return true;
    return has_break(stmt->then_stmt, target) || has_break(stmt->else_stmt, target);
}

static bool is_endless(const ast_stmt *stmt) {
    const ast_expr *cond = stmt->cond;
    bool always = cond ? cond->expr_kind == EXPR_INT && cond->int_value != 0 : stmt->stmt_kind == STMT_FOR;
    return always && !has_break(stmt->then_stmt, stmt);
}

static bool switch_falls_through(const ast_stmt *stmt) {
    bool has_default = false;
    for (size_t i = 0; i < stmt->cases.len; i++)
        has_default |= stmt->cases.data[i]->stmt_kind == STMT_DEFAULT;
    return !has_default || has_break(stmt->then_stmt, stmt) || may_fall_through(stmt->then_stmt);
}

static bool may_fall_through(const ast_stmt *stmt) {
    if (!stmt) return true;
    switch (stmt->stmt_kind) {
    case STMT_RETURN:
    case STMT_GOTO:
    case STMT_BREAK:
    case STMT_CONTINUE: return false;
    case STMT_COMPOUND:
        for (size_t i = stmt->body.len; i > 0; i--) /* the last one decides, but for labels before it */
            if (stmt->body.data[i - 1]->stmt_kind != STMT_EMPTY)
                return may_fall_through(stmt->body.data[i - 1]);
        return true;
    case STMT_IF: return may_fall_through(stmt->then_stmt) || may_fall_through(stmt->else_stmt);
    case STMT_WHILE:
    case STMT_DO:
    case STMT_FOR: return !is_endless(stmt);
    case STMT_SWITCH: return switch_falls_through(stmt);
    case STMT_CASE:
    case STMT_DEFAULT:
    case STMT_LABEL: return may_fall_through(stmt->then_stmt);
    default: return true;
    }
}

void qn__warn_no_return(front_parser *p, const ast_decl *function) {
    if (p->diag->errors || function->type->kind != AST_FUNCTION || function->type->base->kind == AST_VOID)
        return;
    if (!may_fall_through(function->body)) return;
    qn__diag_warning(p->diag, FRONT_WARN_RETURN, function->body->end,
                     "function '%s' does not return a value on every path", function->name);
}
