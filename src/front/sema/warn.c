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

/* ---- values that nobody gave ---- */

/* Only what is certain: nothing before this place in the text can have written the variable. In a loop that the
   variable is declared outside of, and behind a label, what follows in the text may run before. */
void qn__warn_uninitialised(front_parser *p, const ast_expr *lvalue) {
    if (p->is_library || p->unevaluated || p->labels.len || !p->function) return;
    ast_decl *decl = qn__lvalue_root(lvalue);
    if (!decl || decl->decl_kind != DECL_VARIABLE || decl->type->space != IR_PRIVATE || decl->is_static_local)
        return;
    if (decl->init || decl->is_assigned || decl->is_address_taken || decl->is_warned) return;
    if (decl->loop != p->loop || (decl->type->quals & AST_VOLATILE)) return;
    decl->is_warned = true;
    qn__diag_warning(p->diag, FRONT_WARN_UNINITIALIZED, lvalue->loc,
                     "'%s' is read, but nothing was written to it yet", decl->name);
    qn__diag_note(p->diag, decl->loc, "it is declared here");
}

/* ---- constants out of range ---- */

/* The constant of which an operand is made; NULL: none. */
static const ast_expr *constant_of(const ast_expr *e) {
    if (e->expr_kind == EXPR_CONVERT && e->convert == CONVERT_SPLAT) e = e->a;
    return e->expr_kind == EXPR_INT && qn__type_is_integer(e->type) ? e : NULL;
}

/* -1 in an unsigned type and 0xff in a signed one are meant: only lost bits count. */
static bool keeps_bits(const ast_expr *e, const ast_type *type) {
    const unsigned bits = (unsigned)type->size * 8;
    const uint64_t high = bits < 64 ? e->int_value >> bits : 0;
    const uint64_t ones = bits < 64 ? ~UINT64_C(0) >> bits : 0;
    const bool is_sign = qn__type_is_signed(e->type) && high == ones && e->int_value >> (bits - 1) & 1;
    return bits >= 64 || high == 0 || is_sign;
}

static bool float_fits(double value, const ast_type *type) {
    if (qn__type_is_float(type))
        return value - value != 0 || qn__round_to(type, value) - qn__round_to(type, value) == 0;
    const double most = type->size == 8 ? 0x1p64 : (double)(UINT64_C(1) << (type->size * 8));
    const bool is_signed = qn__type_is_signed(type);
    return is_signed ? value < most / 2 && value >= -most / 2 : value < most && value > -1;
}

void qn__warn_constant(front_parser *p, const ast_expr *e, const ast_type *type) {
    type = qn__type_element(type);
    if (p->is_library || type->kind <= AST_BOOL || type->kind > AST_LAST_SCALAR) return;
    if (e->expr_kind == EXPR_INT && qn__type_is_integer(e->type) && qn__type_is_integer(type)) {
        if (keeps_bits(e, type)) return;
        const bool is_signed = qn__type_is_signed(e->type);
        qn__diag_warning(p->diag, FRONT_WARN_CONVERSION, e->loc,
                         is_signed ? "the constant %lld does not fit '%s': it becomes %lld"
                                   : "the constant %llu does not fit '%s': it becomes %lld",
                         (long long)e->int_value, qn__type_text(p, type),
                         (long long)qn__wrap_int(type, e->int_value));
    } else if (e->expr_kind == EXPR_FLOAT && !float_fits(e->float_value, type)) {
        qn__diag_warning(p->diag, FRONT_WARN_CONVERSION, e->loc, "the constant %g does not fit '%s'",
                         e->float_value, qn__type_text(p, type));
    }
}

/* ---- comparisons that are settled ---- */

/* The integer type that an operand had before it was promoted. */
static const ast_type *narrow_type(const ast_expr *e) {
    const bool is_promoted = e->expr_kind == EXPR_CONVERT && e->convert == CONVERT_NUMBER &&
                             e->type->kind != AST_VECTOR && qn__type_is_integer(e->type) &&
                             qn__type_is_integer(e->a->type) && e->a->type->size < e->type->size;
    return qn__type_element(is_promoted ? e->a->type : e->type);
}

static ast_binary swapped(ast_binary op) {
    switch (op) {
    case BINARY_LT: return BINARY_GT;
    case BINARY_LE: return BINARY_GE;
    case BINARY_GT: return BINARY_LT;
    case BINARY_GE: return BINARY_LE;
    default: return op;
    }
}

/* Values of a type in the order of its numbers. */
static uint64_t order_of(const ast_type *type, uint64_t value) {
    return qn__type_is_signed(type) ? value ^ UINT64_C(1) << 63 : value;
}

/* Whether a value is below (-1) or above (1) all of a narrower type, or in its range (0); both as `common`. */
static int side_of(uint64_t value, const ast_type *narrow, const ast_type *common) {
    const unsigned bits = (unsigned)narrow->size * 8;
    const bool is_signed = qn__type_is_signed(narrow);
    const uint64_t ones = ~UINT64_C(0) >> (64 - bits), most = is_signed ? ones >> 1 : ones,
                   least = is_signed ? ~most : 0;
    const uint64_t at = order_of(common, value);
    return at < order_of(common, least) ? -1 : at > order_of(common, most) ? 1 : 0;
}

/* Unsigned values with zero, and values of narrow types with constants that none of them can have. */
void qn__warn_tautology(front_parser *p, ast_binary op, const ast_expr *a, const ast_expr *b, front_loc loc) {
    const ast_expr *constant = constant_of(b);
    if (p->is_library || (constant && constant_of(a))) return;
    if (!constant) {
        constant = constant_of(a);
        op = swapped(op);
        a = b;
    }
    if (!constant) return;
    const ast_type *narrow = narrow_type(a), *common = qn__type_element(constant->type);
    if (!qn__type_is_integer(narrow) || narrow->kind == AST_BOOL) return;
    if (qn__type_is_signed(narrow) && !qn__type_is_signed(common)) return;
    const int side = side_of(constant->int_value, narrow, common);
    const bool is_zero = constant->int_value == 0 && !qn__type_is_signed(narrow);
    if (!side && !(is_zero && (op == BINARY_LT || op == BINARY_GE))) return;
    const bool is_true = op == BINARY_NE ||
                         (side > 0 ? op == BINARY_LT || op == BINARY_LE : op == BINARY_GT || op == BINARY_GE);
    if (side)
        qn__diag_warning(p->diag, FRONT_WARN_TAUTOLOGY, loc,
                         "this comparison is always %s: '%s' has no value %lld", is_true ? "true" : "false",
                         qn__type_text(p, narrow), (long long)constant->int_value);
    else
        qn__diag_warning(p->diag, FRONT_WARN_TAUTOLOGY, loc,
                         "this comparison is always %s: '%s' has no values below 0",
                         is_true ? "true" : "false", qn__type_text(p, narrow));
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
