/* Semantic checks of operators: which operands each takes, to which common type they are brought, and the
   type of the result (C99 6.5, OpenCL C 6.3). */
#include "front/parse/parser.h"

static const char *const spellings[] = {"+", "-", "*",  "/",  "%", "<<", ">>", "&",
                                        "|", "^", "==", "!=", "<", "<=", ">",  ">="};

static bool is_number(const ast_type *type) { return qn__type_is_scalar(type) || type->kind == AST_VECTOR; }
static bool is_integers(const ast_type *type) { return qn__type_is_integer(qn__type_element(type)); }
static bool is_comparison(ast_binary op) { return op >= BINARY_EQ; }

static ast_expr *invalid_operands(front_parser *p, const char *op, const ast_expr *a, const ast_expr *b,
                                  front_loc loc) {
    qn__diag_error(p->diag, loc, "invalid operands to '%s': '%s' and '%s'", op, qn__type_text(p, a->type),
                   qn__type_text(p, b->type));
    return qn__expr_error(p, loc);
}

/* ---- unary ---- */

static ast_expr *invalid_operand(front_parser *p, const char *op, const ast_expr *a, front_loc loc) {
    qn__diag_error(p->diag, loc, "invalid operand to unary '%s': '%s'", op, qn__type_text(p, a->type));
    return qn__expr_error(p, loc);
}

static ast_expr *unary(front_parser *p, ast_unary op, ast_expr *a, const ast_type *type, front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_UNARY, type, loc, a, NULL, NULL);
    if (!qn__is_error(p, e)) e->unary = (uint8_t)op;
    return e;
}

static ast_expr *negate(front_parser *p, ast_expr *a, front_loc loc) {
    if (!is_number(a->type)) return invalid_operand(p, "-", a, loc);
    if (qn__sema_refuse_small(p, "-", a->type, loc)) return qn__expr_error(p, loc);
    a = qn__sema_cast_to(p, a, qn__sema_promote(p, a->type));
    if (a->expr_kind == EXPR_INT) {
        ast_expr *e = qn__expr_int(p, a->type, UINT64_C(0) - a->int_value, loc);
        e->is_constant = a->is_constant;
        return e;
    }
    if (a->expr_kind == EXPR_FLOAT) return qn__expr_float(p, a->type, -a->float_value, loc);
    return unary(p, UNARY_NEGATE, a, a->type, loc);
}

static ast_expr *logical_not(front_parser *p, ast_expr *a, front_loc loc) {
    if (qn__sema_refuse_small(p, "!", a->type, loc)) return qn__expr_error(p, loc);
    if (a->type->kind == AST_VECTOR)
        return unary(p, UNARY_NOT, a, qn__type_integer_like(p->types, a->type, true), loc);
    a = qn__sema_bool(p, a, "operand of '!'");
    return qn__is_error(p, a) ? a : unary(p, UNARY_NOT, a, p->types->scalars[AST_INT], loc);
}

ast_expr *qn__sema_unary(front_parser *p, front_token_kind op, ast_expr *a, front_loc loc) {
    a = qn__sema_value(p, a);
    if (qn__is_error(p, a)) return a;
    switch (op) {
    case FRONT_T_MINUS: return negate(p, a, loc);
    case FRONT_T_EXCLAIM: return logical_not(p, a, loc);
    case FRONT_T_TILDE:
        if (!is_number(a->type) || !is_integers(a->type)) return invalid_operand(p, "~", a, loc);
        a = qn__sema_cast_to(p, a, qn__sema_promote(p, a->type));
        return unary(p, UNARY_COMPLEMENT, a, a->type, loc);
    case FRONT_T_PLUS:
        if (!is_number(a->type)) return invalid_operand(p, "+", a, loc);
        if (qn__sema_refuse_small(p, "+", a->type, loc)) return qn__expr_error(p, loc);
        return qn__sema_cast_to(p, a, qn__sema_promote(p, a->type));
    default: /* '*' */
        if (a->type->kind != AST_POINTER) {
            qn__diag_error(p->diag, loc, "'%s' is no pointer and cannot be dereferenced",
                           qn__type_text(p, a->type));
            return qn__expr_error(p, loc);
        }
        if (!qn__type_is_complete(a->type->base)) {
            qn__diag_error(p->diag, loc, "pointer to incomplete type '%s' cannot be dereferenced",
                           qn__type_text(p, a->type->base));
            return qn__expr_error(p, loc);
        }
        ast_expr *e = qn__expr(p, EXPR_DEREF, a->type->base, loc, a, NULL, NULL);
        e->is_lvalue = true;
        return e;
    }
}

/* ---- lvalues ---- */

/* Complains where an expression cannot be written to. */
static bool check_modifiable(front_parser *p, ast_expr *a, front_loc loc) {
    if (qn__is_error(p, a)) return false;
    if (!a->is_lvalue) {
        qn__diag_error(p->diag, loc, "expression is not assignable");
        if (a->expr_kind == EXPR_SWIZZLE)
            qn__diag_hint(p->diag, "each component may be named once on the left side");
        return false;
    }
    if (a->type->kind == AST_ARRAY) {
        qn__diag_error(p->diag, loc, "an array cannot be assigned to");
        return false;
    }
    if (a->type->space == IR_CONSTANT_SPACE) {
        qn__diag_error(p->diag, loc, "cannot write to __constant memory");
        return false;
    }
    if (a->type->quals & AST_CONST) {
        qn__diag_error(p->diag, loc, "cannot assign to '%s', which is const", qn__type_text(p, a->type));
        return false;
    }
    if (!qn__type_is_complete(a->type)) {
        qn__diag_error(p->diag, loc, "cannot assign to incomplete type '%s'", qn__type_text(p, a->type));
        return false;
    }
    qn__check_lvalue_root(p, a, false);
    return true;
}

static bool check_pointee(front_parser *p, const ast_type *pointer, front_loc loc) {
    if (qn__type_is_complete(pointer->base)) return true;
    if (pointer->base->kind == AST_VOID) {
        qn__diag_error(p->diag, loc, "arithmetic on a pointer to void");
        qn__diag_hint(p->diag, "cast it to a pointer to what it points to, such as 'uchar *'");
    } else {
        qn__diag_error(p->diag, loc, "arithmetic on a pointer to incomplete type '%s'",
                       qn__type_text(p, pointer->base));
    }
    return false;
}

ast_expr *qn__sema_increment(front_parser *p, ast_expr *a, bool is_decrement, bool is_postfix,
                             front_loc loc) {
    if (!qn__is_error(p, a) && a->is_lvalue) qn__warn_uninitialised(p, a);
    if (!check_modifiable(p, a, loc)) return qn__expr_error(p, loc);
    bool is_pointer = a->type->kind == AST_POINTER;
    if (!is_pointer && !is_number(a->type)) return invalid_operand(p, is_decrement ? "--" : "++", a, loc);
    if (qn__sema_refuse_small(p, is_decrement ? "--" : "++", a->type, loc)) return qn__expr_error(p, loc);
    if (is_pointer && !check_pointee(p, a->type, loc)) return qn__expr_error(p, loc);
    ast_expr *e = qn__expr(p, EXPR_INCREMENT, a->type->unqualified, loc, a, NULL, NULL);
    if (qn__is_error(p, e)) return e;
    e->is_decrement = is_decrement;
    e->compute_type = qn__sema_promote(p, e->type);
    e->is_postfix = is_postfix;
    return e;
}

/* ---- binary ---- */

static ast_expr *binary(front_parser *p, ast_binary op, const ast_type *type, ast_expr *a, ast_expr *b,
                        front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_BINARY, type, loc, a, b, NULL);
    if (!qn__is_error(p, e)) e->binary = (uint8_t)op;
    return e;
}

/* Integer to long or ulong, as offsets of pointers are. */
static ast_expr *widen_index(front_parser *p, ast_expr *index) {
    return qn__sema_cast_to(
        p, index,
        p->types->scalars[qn__type_is_signed(qn__sema_promote(p, index->type)) ? AST_LONG : AST_ULONG]);
}

static ast_expr *pointer_difference(front_parser *p, ast_expr *a, ast_expr *b, front_loc loc) {
    const ast_type *pa = a->type->base, *pb = b->type->base;
    if (!qn__type_compatible(pa, pb) || !qn__sema_join_spaces(p, &a, &b) || !check_pointee(p, a->type, loc) ||
        pa->size == 0)
        return invalid_operands(p, "-", a, b, loc);
    return binary(p, BINARY_SUB, p->types->scalars[AST_LONG], a, qn__sema_cast_to(p, b, a->type), loc);
}

static ast_expr *pointer_arithmetic(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc) {
    bool both = a->type->kind == AST_POINTER && b->type->kind == AST_POINTER;
    if (both && op == BINARY_SUB) return pointer_difference(p, a, b, loc);
    if (op == BINARY_ADD && b->type->kind == AST_POINTER) {
        ast_expr *swap = a;
        a = b;
        b = swap;
    }
    bool good = a->type->kind == AST_POINTER && qn__type_is_integer(b->type) &&
                (op == BINARY_ADD || op == BINARY_SUB);
    if (!good) return invalid_operands(p, spellings[op], a, b, loc);
    if (!check_pointee(p, a->type, loc)) return qn__expr_error(p, loc);
    return binary(p, op, a->type, a, widen_index(p, b), loc);
}

static ast_expr *pointer_comparison(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc) {
    if (a->type->kind == AST_POINTER && qn__is_null_constant(b))
        b = qn__sema_cast_to(p, b->type->kind == AST_POINTER ? b->a : b, a->type);
    else if (b->type->kind == AST_POINTER && qn__is_null_constant(a))
        a = qn__sema_cast_to(p, a->type->kind == AST_POINTER ? a->a : a, b->type);
    if (a->type->kind != AST_POINTER || b->type->kind != AST_POINTER)
        return invalid_operands(p, spellings[op], a, b, loc);
    const ast_type *pa = a->type->base, *pb = b->type->base;
    if (!qn__sema_join_spaces(p, &a, &b)) {
        qn__diag_error(p->diag, loc, "comparison of pointers to different address spaces: '%s' and '%s'",
                       qn__type_text(p, a->type), qn__type_text(p, b->type));
        return qn__expr_error(p, loc);
    }
    if (!qn__type_compatible(pa, pb) && pa->kind != AST_VOID && pb->kind != AST_VOID)
        qn__diag_warning(p->diag, FRONT_WARN_POINTER, loc,
                         "comparison of distinct pointer types '%s' and '%s'", qn__type_text(p, a->type),
                         qn__type_text(p, b->type));
    return binary(p, op, p->types->scalars[AST_INT], a, qn__sema_cast_to(p, b, a->type), loc);
}

static void warn_shift(front_parser *p, const ast_type *type, const ast_expr *count, front_loc loc) {
    if (count->expr_kind == EXPR_CONVERT && count->convert == CONVERT_SPLAT) count = count->a;
    if (count->expr_kind != EXPR_INT || count->int_value < qn__type_bits(type)) return;
    qn__diag_warning(p->diag, FRONT_WARN_SHIFT, loc,
                     "shift count is not below the %u bits of '%s'; it is taken modulo them",
                     qn__type_bits(type), qn__type_text(p, type));
}

/* Operands of << and >>; false after an error. */
static bool shift_operands(front_parser *p, ast_expr **a, ast_expr **b, front_loc loc) {
    const ast_type *ta = (*a)->type, *tb = (*b)->type;
    bool lanes_fit = tb->kind != AST_VECTOR || (ta->kind == AST_VECTOR && ta->lanes == tb->lanes);
    if (!is_integers(ta) || !is_integers(tb) || !lanes_fit) return false;
    *a = qn__sema_cast_to(p, *a, qn__sema_promote(p, ta));
    *b = qn__sema_cast_to(p, *b, qn__sema_promote(p, tb));
    if (ta->kind == AST_VECTOR && tb->kind != AST_VECTOR) *b = qn__sema_cast_to(p, *b, ta);
    warn_shift(p, (*a)->type, *b, loc);
    return true;
}

static void warn_division(front_parser *p, const ast_expr *b, front_loc loc) {
    if (b->expr_kind == EXPR_CONVERT && b->convert == CONVERT_SPLAT) b = b->a;
    if (b->expr_kind == EXPR_INT && b->int_value == 0)
        qn__diag_warning(p->diag, FRONT_WARN_DIVISION, loc, "division by zero");
}

/* Of two operands one may be a vector of small floats. */
static bool refuse_small(front_parser *p, const char *op, const ast_expr *a, const ast_expr *b,
                         front_loc loc) {
    return qn__sema_refuse_small(p, op, a->type, loc) || qn__sema_refuse_small(p, op, b->type, loc);
}

/* a op b for numbers: the common type in *common; NULL: error, reported. */
static bool arithmetic_operands(front_parser *p, ast_binary op, ast_expr **a, ast_expr **b, front_loc loc) {
    if (op == BINARY_SHL || op == BINARY_SHR) {
        if (is_number((*a)->type) && is_number((*b)->type) && shift_operands(p, a, b, loc)) return true;
        invalid_operands(p, spellings[op], *a, *b, loc);
        return false;
    }
    bool needs_integers = op == BINARY_REM || op == BINARY_AND || op == BINARY_OR || op == BINARY_XOR;
    bool good = is_number((*a)->type) && is_number((*b)->type);
    if (good && needs_integers) good = is_integers((*a)->type) && is_integers((*b)->type);
    if (!good) {
        invalid_operands(p, spellings[op], *a, *b, loc);
        if (op == BINARY_REM) qn__diag_hint(p->diag, "'%%' is for integers; use fmod for floats");
        return false;
    }
    if (refuse_small(p, spellings[op], *a, *b, loc)) return false;
    const ast_type *common = qn__sema_usual(p, a, b, loc);
    if (qn__type_is_error(p->types, common)) return false;
    if ((op == BINARY_DIV || op == BINARY_REM) && is_integers(common)) warn_division(p, *b, loc);
    return true;
}

static void warn_precedence(front_parser *p, ast_binary op, const ast_expr *a, const ast_expr *b) {
    if (op != BINARY_AND && op != BINARY_OR && op != BINARY_XOR) return;
    const ast_expr *inner =
        b->expr_kind == EXPR_BINARY && is_comparison(b->binary) && !b->is_parenthesized   ? b
        : a->expr_kind == EXPR_BINARY && is_comparison(a->binary) && !a->is_parenthesized ? a
                                                                                          : NULL;
    const ast_expr *other = inner == b ? a : b;
    bool other_compares = other->expr_kind == EXPR_BINARY && is_comparison(other->binary);
    if (!inner || other_compares) return;
    qn__diag_warning(p->diag, FRONT_WARN_PARENTHESES, inner->loc, "'%s' binds tighter than '%s'",
                     spellings[inner->binary], spellings[op]);
    qn__diag_hint(p->diag, "put parentheses around what belongs together");
}

ast_expr *qn__sema_binary(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc) {
    warn_precedence(p, op, a, b);
    a = qn__sema_value(p, a);
    b = qn__sema_value(p, b);
    if (qn__is_error(p, a)) return a;
    if (qn__is_error(p, b)) return b;
    if (a->type->kind == AST_POINTER || b->type->kind == AST_POINTER)
        return is_comparison(op) ? pointer_comparison(p, op, a, b, loc)
                                 : pointer_arithmetic(p, op, a, b, loc);
    if (!arithmetic_operands(p, op, &a, &b, loc)) return qn__expr_error(p, loc);
    const ast_type *type = a->type;
    if (is_comparison(op)) qn__warn_tautology(p, op, a, b, loc);
    if (is_comparison(op))
        type = type->kind == AST_VECTOR ? qn__type_integer_like(p->types, type, true)
                                        : p->types->scalars[AST_INT];
    return binary(p, op, type, a, b, loc);
}

/* Lanes of a vector as 0 or -1. */
static ast_expr *truth_lanes(front_parser *p, ast_expr *a, front_loc loc) {
    const ast_type *type = qn__type_integer_like(p->types, a->type, true);
    const ast_type *element = qn__type_element(a->type);
    ast_expr *zero =
        qn__type_is_float(element) ? qn__expr_float(p, element, 0, loc) : qn__expr_int(p, element, 0, loc);
    return binary(p, BINARY_NE, type, a, qn__sema_cast_to(p, zero, a->type), loc);
}

ast_expr *qn__sema_logical(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc) {
    a = qn__sema_value(p, a);
    b = qn__sema_value(p, b);
    if (qn__is_error(p, a)) return a;
    if (qn__is_error(p, b)) return b;
    if (a->type->kind == AST_VECTOR || b->type->kind == AST_VECTOR) {
        if (refuse_small(p, op == BINARY_AND ? "&&" : "||", a, b, loc)) return qn__expr_error(p, loc);
        const ast_type *common = qn__sema_usual(p, &a, &b, loc);
        if (!common) return invalid_operands(p, op == BINARY_AND ? "&&" : "||", a, b, loc);
        if (qn__type_is_error(p->types, common)) return qn__expr_error(p, loc);
        const ast_type *type = qn__type_integer_like(p->types, common, true);
        return binary(p, op, type, truth_lanes(p, a, loc), truth_lanes(p, b, loc), loc);
    }
    a = qn__sema_bool(p, a, op == BINARY_AND ? "operand of '&&'" : "operand of '||'");
    b = qn__sema_bool(p, b, op == BINARY_AND ? "operand of '&&'" : "operand of '||'");
    if (qn__is_error(p, a)) return a;
    if (qn__is_error(p, b)) return b;
    ast_expr *e = qn__expr(p, EXPR_LOGICAL, p->types->scalars[AST_INT], loc, a, b, NULL);
    if (!qn__is_error(p, e)) e->binary = (uint8_t)op;
    return e;
}

/* ---- ?: ---- */

static ast_expr *pointer_arms(front_parser *p, ast_expr **b, ast_expr **c, front_loc loc) {
    ast_expr *vb = *b, *vc = *c;
    if (vb->type->kind != AST_POINTER || qn__is_null_constant(vb)) {
        if (!qn__is_null_constant(vb)) return invalid_operands(p, "?:", vb, vc, loc);
        *b = vc->type->kind == AST_POINTER
                 ? qn__sema_cast_to(p, vb->type->kind == AST_POINTER ? vb->a : vb, vc->type)
                 : vb;
        return NULL;
    }
    if (qn__is_null_constant(vc)) {
        *c = qn__sema_cast_to(p, vc->type->kind == AST_POINTER ? vc->a : vc, vb->type);
        return NULL;
    }
    if (vc->type->kind != AST_POINTER) return invalid_operands(p, "?:", vb, vc, loc);
    if (!qn__sema_arm_spaces(p, &vb, &vc)) {
        qn__diag_error(p->diag, loc, "the arms of '?:' point to different address spaces: '%s' and '%s'",
                       qn__type_text(p, vb->type), qn__type_text(p, vc->type));
        qn__diag_hint(p->diag,
                      "a pointer has one address space: choose between what is read there, or branch");
        return qn__expr_error(p, loc);
    }
    const ast_type *pb = vb->type->base, *pc = vc->type->base;
    bool same = qn__type_compatible(pb, pc) || (pb->unqualified == pc->unqualified);
    if (!same && pb->kind != AST_VOID && pc->kind != AST_VOID)
        qn__diag_warning(p->diag, FRONT_WARN_POINTER, loc,
                         "the arms of '?:' have different pointer types '%s' and '%s'",
                         qn__type_text(p, vb->type), qn__type_text(p, vc->type));
    const ast_type *pointee = pc->kind == AST_VOID ? pc : pb;
    pointee = qn__type_add_quals(p->types, pointee, pb->quals | pc->quals);
    const ast_type *type = qn__type_pointer(p->types, pointee);
    *b = qn__sema_cast_to(p, vb, type);
    *c = qn__sema_cast_to(p, vc, type);
    return NULL;
}

/* Brings the arms to one type; an error node, reported, where there is none. */
static ast_expr *common_arms(front_parser *p, ast_expr **b, ast_expr **c, front_loc loc) {
    if ((*b)->type == (*c)->type && !qn__type_is_scalar((*b)->type)) return NULL;
    if ((*b)->type->kind == AST_POINTER || (*c)->type->kind == AST_POINTER) return pointer_arms(p, b, c, loc);
    if (refuse_small(p, "?:", *b, *c, loc)) return qn__expr_error(p, loc);
    const ast_type *common = qn__sema_usual(p, b, c, loc);
    if (!common) return invalid_operands(p, "?:", *b, *c, loc);
    return qn__type_is_error(p->types, common) ? qn__expr_error(p, loc) : NULL;
}

static const ast_type *unsmall(front_parser *p, const ast_type *type) {
    return qn__type_is_small_float(type) ? p->types->scalars[AST_FLOAT] : type;
}

/* The scalars of `vector ? b : c`: brought to one type without promotion to int, or the lanes would not match the
   condition's (OpenCL C 6.3.9); a literal takes the other's type, two of them that of the condition's lanes. */
static const ast_type *scalar_arms(front_parser *p, const ast_type *condition, ast_expr **b, ast_expr **c) {
    const bool b_literal = (*b)->expr_kind == EXPR_INT && (*b)->is_constant;
    const bool c_literal = (*c)->expr_kind == EXPR_INT && (*c)->is_constant;
    const bool differ = (*b)->type != (*c)->type;
    const ast_type *tb = differ ? unsmall(p, (*b)->type) : (*b)->type;
    const ast_type *tc = differ ? unsmall(p, (*c)->type) : (*c)->type, *type = tb;
    if (b_literal && c_literal)
        type = qn__type_element(condition);
    else if (b_literal)
        type = tc;
    else if (!c_literal && qn__type_rank(tb) != qn__type_rank(tc))
        type = qn__type_rank(tb) > qn__type_rank(tc) ? tb : tc;
    else if (!c_literal && qn__type_is_signed(tb))
        type = tc;
    *b = qn__sema_cast_to(p, *b, type);
    *c = qn__sema_cast_to(p, *c, type);
    return type;
}

static ast_expr *vector_select(front_parser *p, ast_expr *a, ast_expr *b, ast_expr *c, front_loc loc) {
    if (!is_integers(a->type)) {
        qn__diag_error(p->diag, loc, "a vector before '?' must have integer elements, not '%s'",
                       qn__type_text(p, a->type));
        qn__diag_hint(p->diag, "compare it: v != 0");
        return qn__expr_error(p, loc);
    }
    if (!is_number(b->type) || !is_number(c->type)) return invalid_operands(p, "?:", b, c, loc);
    const bool are_scalars = b->type->kind != AST_VECTOR && c->type->kind != AST_VECTOR;
    ast_expr *error = are_scalars ? NULL : common_arms(p, &b, &c, loc);
    if (error) return error;
    if (are_scalars) {
        const ast_type *type = qn__type_vector(p->types, scalar_arms(p, a->type, &b, &c), a->type->lanes);
        b = qn__sema_cast_to(p, b, type);
        c = qn__sema_cast_to(p, c, type);
    }
    if (b->type->lanes != a->type->lanes || qn__type_bits(b->type) != qn__type_bits(a->type)) {
        qn__diag_error(p->diag, loc,
                       "condition '%s' and value '%s' of '?:' differ in lanes or in element size",
                       qn__type_text(p, a->type), qn__type_text(p, b->type));
        return qn__expr_error(p, loc);
    }
    return qn__expr(p, EXPR_SELECT, b->type, loc, a, b, c);
}

ast_expr *qn__sema_conditional(front_parser *p, ast_expr *a, ast_expr *b, ast_expr *c, front_loc loc) {
    a = qn__sema_value(p, a);
    b = qn__sema_value(p, b);
    c = qn__sema_value(p, c);
    if (qn__is_error(p, a)) return a;
    if (qn__is_error(p, b)) return b;
    if (qn__is_error(p, c)) return c;
    if (a->type->kind == AST_VECTOR) return vector_select(p, a, b, c, loc);
    a = qn__sema_bool(p, a, "condition of '?:'");
    if (qn__is_error(p, a)) return a;
    ast_expr *error = common_arms(p, &b, &c, loc);
    if (error) return error;
    return qn__expr(p, EXPR_CONDITIONAL, b->type, loc, a, b, c);
}

/* ---- assignment and comma ---- */

ast_expr *qn__sema_assign(front_parser *p, ast_expr *a, ast_expr *b, front_loc loc) {
    b = qn__sema_value(p, b);
    if (!check_modifiable(p, a, loc)) return qn__expr_error(p, loc);
    if (!qn__is_error(p, b)) qn__sema_settle_space(p, a, b);
    const bool has_taken = a->expr_kind == EXPR_VARIABLE && a->decl->is_space_taken;
    if (has_taken && !qn__is_null_constant(b) && qn__sema_second_space(p, a->decl, b->type, a->type))
        return qn__expr_error(p, loc);
    b = qn__sema_coerce(p, b, a->type, loc, (front_use){.what = "assignment"});
    if (qn__is_error(p, b)) return b;
    return qn__expr(p, EXPR_ASSIGN, a->type->unqualified, loc, a, b, NULL);
}

static ast_expr *assign_op(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, const ast_type *compute,
                           front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_ASSIGN_OP, a->type->unqualified, loc, a, b, NULL);
    if (qn__is_error(p, e)) return e;
    e->binary = (uint8_t)op;
    e->compute_type = compute;
    return e;
}

ast_expr *qn__sema_assign_op(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc) {
    b = qn__sema_value(p, b);
    if (!qn__is_error(p, a) && a->is_lvalue) qn__warn_uninitialised(p, a);
    if (!check_modifiable(p, a, loc)) return qn__expr_error(p, loc);
    if (qn__is_error(p, b)) return b;
    const ast_type *type = a->type->unqualified;
    if (type->kind == AST_POINTER) {
        bool good = (op == BINARY_ADD || op == BINARY_SUB) && qn__type_is_integer(b->type);
        if (!good) return invalid_operands(p, spellings[op], a, b, loc);
        if (!check_pointee(p, type, loc)) return qn__expr_error(p, loc);
        return assign_op(p, op, a, widen_index(p, b), type, loc);
    }
    /* The left side stands in for its value while the common type is found. */
    ast_expr *left = qn__sema_value(p, a);
    if (qn__is_error(p, left)) return left;
    if (!arithmetic_operands(p, op, &left, &b, loc)) return qn__expr_error(p, loc);
    if (left->type->kind == AST_VECTOR && type->kind != AST_VECTOR)
        return invalid_operands(p, spellings[op], a, b, loc);
    return assign_op(p, op, a, b, left->type, loc);
}

ast_expr *qn__sema_comma(front_parser *p, ast_expr *a, ast_expr *b, front_loc loc) {
    a = qn__is_error(p, a) || a->type->kind == AST_VOID ? a
        : a->type->kind == AST_ARRAY                    ? a
                                                        : qn__sema_value(p, a);
    b = qn__sema_value(p, b);
    if (qn__is_error(p, b)) return b;
    if (qn__is_error(p, a)) return a;
    return qn__expr(p, EXPR_COMMA, b->type, loc, a, b, NULL);
}
