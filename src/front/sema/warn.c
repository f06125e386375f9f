/* Warnings: what is legal but will bite. */
#include "front/parse/parser.h"

#include <string.h>

/* ---- conditions and dropped values ---- */

void qn__warn_condition(front_parser *p, const ast_expr *e, bool parenthesized) {
    if (parenthesized || e->expr_kind != EXPR_ASSIGN || e->is_parenthesized) return;
    qn__diag_warning(p->diag, FRONT_WARN_PARENTHESES, e->loc, "assignment used as a condition");
    qn__diag_hint(p->diag, "write '==' to compare, or put parentheses around the assignment");
}

static bool is_pure_builtin(const ast_builtin *builtin) {
    switch (builtin->builtin_kind) {
    case BUILTIN_OP: return true;
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

/* ---- printf ---- */

typedef struct format_spec {
    unsigned lanes; /* of %v4hlf; 1: a scalar */
    int length;     /* 'b' for hh, 'h', 'w' for hl, 'l', 0 */
    char letter;
} format_spec;

/* Reads a conversion behind its '%'; false at the string's end or after an error, reported. */
static bool format_read(front_parser *p, qn__str format, size_t *at, format_spec *spec, unsigned *stars,
                        front_loc loc) {
    *spec = (format_spec){.lanes = 1};
    *stars = 0;
    size_t i = *at;
#define AT (i < format.len ? format.data[i] : '\0')
    while (AT && strchr("-+ #0", AT)) i++;
    for (; (AT >= '0' && AT <= '9') || AT == '.' || AT == '*'; i++) *stars += AT == '*';
    if (AT == 'v') {
        spec->lanes = 0;
        for (i++; AT >= '0' && AT <= '9' && spec->lanes < 100; i++)
            spec->lanes = spec->lanes * 10 + (unsigned)(AT - '0');
    }
    if (AT == 'h') {
        i++;
        spec->length = AT == 'h' ? 'b' : AT == 'l' ? 'w' : 'h';
        if (spec->length != 'h') i++;
    } else if (AT == 'l') {
        spec->length = 'l';
        i++;
        if (AT == 'l') i++;
    }
    spec->letter = AT;
#undef AT
    *at = i + 1;
    bool lanes_good = spec->lanes == 1 || spec->lanes == 2 || spec->lanes == 3 || spec->lanes == 4 ||
                      spec->lanes == 8 || spec->lanes == 16;
    if (spec->letter && strchr("diouxXfFeEgGaAcsp", spec->letter) && lanes_good) return true;
    qn__diag_warning(p->diag, FRONT_WARN_FORMAT, loc, "invalid conversion in the format of printf");
    return false;
}

static bool format_fits(const format_spec *spec, const ast_type *type) {
    const ast_type *element = qn__type_element(type);
    if (qn__type_lanes(type) != spec->lanes) return false;
    switch (spec->letter) {
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return qn__type_is_float(element);
    case 's': return type->kind == AST_POINTER && qn__type_element(type->base)->size == 1;
    case 'p': return type->kind == AST_POINTER;
    case 'c': return qn__type_is_integer(type) && type->size <= 4;
    default: break;
    }
    if (!qn__type_is_integer(element)) return false;
    if (spec->lanes > 1) {
        unsigned size = spec->length == 'b' ? 1 : spec->length == 'h' ? 2 : spec->length == 'l' ? 8 : 4;
        return element->size == size;
    }
    return (element->size == 8) == (spec->length == 'l');
}

static void format_mismatch(front_parser *p, const format_spec *spec, const ast_expr *arg) {
    const ast_type *element = qn__type_element(arg->type);
    qn__diag_warning(p->diag, FRONT_WARN_FORMAT, arg->loc,
                     "argument of type '%s' does not fit the conversion '%%%c'", qn__type_text(p, arg->type),
                     spec->letter);
    if (arg->type->kind == AST_VECTOR)
        qn__diag_hint(p->diag, "vectors are printed by %%v%u%s", arg->type->lanes,
                      element->size == 8   ? "l..."
                      : element->size == 4 ? "hl..."
                      : element->size == 2 ? "h..."
                                           : "hh...");
    else if (qn__type_is_integer(element) && element->size == 8)
        qn__diag_hint(p->diag, "64-bit integers are printed by %%ld and %%lu");
}

void qn__warn_printf(front_parser *p, qn__str format, ast_expr *const *args, size_t num_args, front_loc loc) {
    size_t arg = 0;
    if (format.len && !format.data[format.len - 1]) format.len--;
    for (size_t at = 0; at < format.len;) {
        format_spec spec;
        unsigned stars = 0;
        if (format.data[at++] != '%') continue;
        if (at < format.len && format.data[at] == '%') {
            at++;
            continue;
        }
        if (!format_read(p, format, &at, &spec, &stars, loc)) return;
        arg += stars;
        if (arg >= num_args) {
            qn__diag_warning(p->diag, FRONT_WARN_FORMAT, loc, "printf has more conversions than arguments");
            return;
        }
        const ast_expr *value = args[arg++];
        if (qn__is_error(p, value)) continue;
        if (!format_fits(&spec, value->type)) format_mismatch(p, &spec, value);
    }
    if (arg < num_args)
        qn__diag_warning(p->diag, FRONT_WARN_FORMAT, args[arg]->loc,
                         "printf has more arguments than conversions");
}
