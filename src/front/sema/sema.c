/* Semantic checks, the base: making nodes, values of lvalues, and conversions (C99 6.3, OpenCL C 6.2). */
#include "front/parse/parser.h"

#include <math.h>

/* ---- nodes ---- */

ast_expr *qn__expr_error(front_parser *p, front_loc loc) {
    ast_expr *e = QN__NEW(p->arena, ast_expr);
    e->expr_kind = EXPR_INT;
    e->type = p->types->error;
    e->loc = loc;
    return e;
}

static uint16_t height_of(const ast_expr *e) { return e ? e->height : 0; }

static void check_height(front_parser *p, ast_expr *e) {
    if (e->height <= FRONT_MAX_HEIGHT) return;
    qn__diag_error(p->diag, e->loc, "expression has more than %d operators one in another", FRONT_MAX_HEIGHT);
    *e = (ast_expr){.expr_kind = EXPR_INT, .type = p->types->error, .loc = e->loc};
}

ast_expr *qn__expr(front_parser *p, ast_expr_kind kind, const ast_type *type, front_loc loc, ast_expr *a,
                   ast_expr *b, ast_expr *c) {
    ast_expr *e = QN__NEW(p->arena, ast_expr);
    uint16_t height = height_of(a);
    if (height_of(b) > height) height = height_of(b);
    if (height_of(c) > height) height = height_of(c);
    e->expr_kind = (uint8_t)kind;
    e->type = type;
    e->loc = loc;
    e->a = a;
    e->b = b;
    e->c = c;
    e->height = (uint16_t)(height + 1);
    check_height(p, e);
    return e;
}

void qn__expr_args(front_parser *p, ast_expr *e) {
    for (size_t i = 0; i < e->args.len; i++)
        if (e->args.data[i]->height >= e->height) e->height = (uint16_t)(e->args.data[i]->height + 1);
    check_height(p, e);
}

uint64_t qn__wrap_int(const ast_type *type, uint64_t value) {
    if (type->kind == AST_BOOL) return value != 0;
    unsigned bits = (unsigned)type->size * 8;
    if (bits >= 64 || bits == 0) return value;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    value &= mask;
    bool is_negative = qn__type_is_signed(type) && (value >> (bits - 1) & 1);
    return is_negative ? value | ~mask : value;
}

ast_expr *qn__expr_int(front_parser *p, const ast_type *type, uint64_t value, front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_INT, type, loc, NULL, NULL, NULL);
    e->int_value = qn__wrap_int(type, value);
    e->is_constant = true;
    return e;
}

double qn__round_to(const ast_type *type, double value) {
    if (type->kind == AST_FLOAT) return (double)(float)value;
    if (type->kind == AST_DOUBLE) return value;
    const qn__float_format *format = qn__type_format(type);
    return qn__float_to_double(format, qn__float_from_double(format, value));
}

ast_expr *qn__expr_float(front_parser *p, const ast_type *type, double value, front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_FLOAT, type, loc, NULL, NULL, NULL);
    e->float_value = qn__round_to(type, value);
    return e;
}

/* ---- values ---- */

ast_decl *qn__lvalue_root(const ast_expr *e) {
    for (;;) {
        switch (e->expr_kind) {
        case EXPR_VARIABLE: return e->decl;
        case EXPR_MEMBER:
        case EXPR_SWIZZLE: e = e->a; break;
        case EXPR_INDEX:
        case EXPR_DEREF:
            if (e->a->expr_kind != EXPR_DECAY) return NULL;
            e = e->a->a;
            break;
        default: return NULL;
        }
    }
}

void qn__check_lvalue_root(front_parser *p, ast_expr *e, bool is_address) {
    (void)p;
    ast_decl *root = qn__lvalue_root(e);
    if (!root) return;
    if (is_address)
        root->is_address_taken = true;
    else
        root->is_assigned = true;
}

ast_expr *qn__sema_decay(front_parser *p, ast_expr *e) {
    if (!e->is_lvalue) {
        qn__diag_error(p->diag, e->loc, "an array in a temporary object has no address");
        return qn__expr_error(p, e->loc);
    }
    const ast_type *type = qn__type_pointer(p->types, e->type->base);
    return qn__expr(p, EXPR_DECAY, type, e->loc, e, NULL, NULL);
}

ast_expr *qn__sema_value(front_parser *p, ast_expr *e) {
    if (qn__is_error(p, e)) return e;
    if (e->type->kind == AST_ARRAY) {
        qn__check_lvalue_root(p, e, true);
        return qn__sema_decay(p, e);
    }
    if (!e->is_lvalue) return e;
    if (!qn__type_is_complete(e->type)) {
        qn__diag_error(p->diag, e->loc, "incomplete type '%s' has no value", qn__type_text(p, e->type));
        return qn__expr_error(p, e->loc);
    }
    qn__warn_uninitialised(p, e);
    ast_expr *value = qn__expr(p, EXPR_LOAD, e->type->unqualified, e->loc, e, NULL, NULL);
    bool promotes = e->expr_kind == EXPR_MEMBER && e->field->is_bit_field && e->field->bit_width < 32 &&
                    e->type->kind == AST_UINT; /* C99 6.3.1.1: int can hold its values */
    return promotes ? qn__sema_cast_to(p, value, p->types->scalars[AST_INT]) : value;
}

bool qn__is_null_constant(const ast_expr *e) {
    if (e->expr_kind == EXPR_INT && qn__type_is_integer(e->type)) return e->int_value == 0 && e->is_constant;
    return e->expr_kind == EXPR_CONVERT && e->convert == CONVERT_TO_POINTER &&
           e->type->base->kind == AST_VOID && qn__is_null_constant(e->a);
}

/* ---- conversions that are known to be right ---- */

static uint64_t float_to_int(const ast_type *type, double value) {
    if (isnan(value)) return 0;
    unsigned bits = (unsigned)type->size * 8;
    if (qn__type_is_signed(type)) {
        double most = ldexp(1.0, (int)bits - 1);
        if (value >= most) return (UINT64_C(1) << (bits - 1)) - 1;
        if (value <= -most) return UINT64_C(0) - (UINT64_C(1) << (bits - 1));
        return (uint64_t)(int64_t)value;
    }
    if (value >= ldexp(1.0, (int)bits)) return ~UINT64_C(0) >> (64 - bits);
    return value <= 0 ? 0 : (uint64_t)value;
}

double qn__int_to_float(const ast_type *from, uint64_t value, const ast_type *to) {
    const qn__float_format *format = qn__type_format(to);
    return qn__float_to_double(
        format, qn__float_from_integer(64, qn__type_is_signed(from), format, QN__ROUND_EVEN, value));
}

uint64_t qn__float_to_int(const ast_type *to, double value) {
    if (to->kind == AST_BOOL) return value != 0;
    return float_to_int(to, value);
}

/* A literal of one number type as one of another; NULL if it is no literal. */
static ast_expr *fold_number(front_parser *p, const ast_expr *value, const ast_type *type) {
    ast_expr *result = NULL;
    if (value->expr_kind == EXPR_INT && qn__type_is_integer(value->type)) {
        if (qn__type_is_float(type))
            result =
                qn__expr_float(p, type, qn__int_to_float(value->type, value->int_value, type), value->loc);
        else
            result = qn__expr_int(p, type, value->int_value, value->loc);
        result->is_constant = value->is_constant;
    } else if (value->expr_kind == EXPR_FLOAT) {
        if (qn__type_is_float(type))
            result = qn__expr_float(p, type, value->float_value, value->loc);
        else
            result = qn__expr_int(p, type, qn__float_to_int(type, value->float_value), value->loc);
        result->is_constant = false;
    }
    return result;
}

static ast_expr *convert(front_parser *p, ast_convert how, ast_expr *value, const ast_type *type) {
    ast_expr *e = qn__expr(p, EXPR_CONVERT, type, value->loc, value, NULL, NULL);
    if (!qn__is_error(p, e)) e->convert = (uint8_t)how;
    return e;
}

static ast_expr *cast_to_pointer(front_parser *p, ast_expr *value, const ast_type *type) {
    if (value->type->kind == AST_POINTER) return convert(p, CONVERT_POINTER, value, type);
    bool is_signed = qn__type_is_signed(value->type);
    value = qn__sema_cast_to(p, value, p->types->scalars[is_signed ? AST_LONG : AST_ULONG]);
    return convert(p, CONVERT_TO_POINTER, value, type);
}

ast_expr *qn__sema_cast_to(front_parser *p, ast_expr *value, const ast_type *type) {
    const ast_type *from = value->type;
    type = type->unqualified;
    if (from == type || qn__type_is_error(p->types, from)) return value;
    if (qn__type_is_error(p->types, type)) return qn__expr_error(p, value->loc);
    if (type->kind == AST_VOID) return convert(p, CONVERT_VOID, value, type);
    if (type->kind == AST_POINTER) return cast_to_pointer(p, value, type);
    if (type->kind == AST_EVENT) {
        ast_expr *e = qn__expr(p, EXPR_INT, type, value->loc, NULL, NULL, NULL);
        return e;
    }
    if (from->kind == AST_POINTER) {
        if (type->kind == AST_BOOL) return convert(p, CONVERT_TO_BOOL, value, type);
        ast_kind wide = qn__type_is_signed(type) ? AST_LONG : AST_ULONG;
        return qn__sema_cast_to(p, convert(p, CONVERT_FROM_POINTER, value, p->types->scalars[wide]), type);
    }
    if (type->kind == AST_BOOL && qn__type_is_small_float(from))
        value = qn__sema_cast_to(p, value, p->types->scalars[AST_FLOAT]);
    if (type->kind == AST_VECTOR && from->kind != AST_VECTOR)
        return convert(p, CONVERT_SPLAT, qn__sema_cast_to(p, value, type->base), type);
    ast_expr *folded = fold_number(p, value, type);
    if (folded) return folded;
    return convert(p, type->kind == AST_BOOL ? CONVERT_TO_BOOL : CONVERT_NUMBER, value, type);
}

ast_expr *qn__sema_bool(front_parser *p, ast_expr *e, const char *what) {
    e = qn__sema_value(p, e);
    if (qn__is_error(p, e)) return e;
    if (!qn__type_is_scalar(e->type) && e->type->kind != AST_POINTER) {
        qn__diag_error(p->diag, e->loc, "%s has type '%s', which is no scalar", what,
                       qn__type_text(p, e->type));
        if (e->type->kind == AST_VECTOR) qn__diag_hint(p->diag, "use any() or all()");
        return qn__expr_error(p, e->loc);
    }
    return qn__sema_cast_to(p, e, p->types->scalars[AST_BOOL]);
}

/* ---- common types ---- */

const ast_type *qn__sema_promote(front_parser *p, const ast_type *type) {
    bool is_small = type->kind >= AST_BOOL && type->kind < AST_INT;
    if (qn__type_is_small_float(type)) return p->types->scalars[AST_FLOAT];
    return is_small ? p->types->scalars[AST_INT] : type;
}

/* C99 6.3.1.8 for scalars. */
static const ast_type *usual_scalar(front_parser *p, const ast_type *a, const ast_type *b) {
    a = qn__sema_promote(p, a);
    b = qn__sema_promote(p, b);
    if (a == b) return a;
    unsigned rank_a = qn__type_rank(a), rank_b = qn__type_rank(b);
    if (rank_a != rank_b) return rank_a > rank_b ? a : b;
    return qn__type_is_signed(a) ? b : a;
}

/* Whether a literal keeps its value in a type of lower rank. */
static bool literal_fits(const ast_expr *e, const ast_type *element) {
    if (e->expr_kind == EXPR_FLOAT) return qn__type_is_float(element);
    if (e->expr_kind != EXPR_INT) return false;
    if (qn__type_is_float(element)) return true;
    uint64_t wrapped = qn__wrap_int(element, e->int_value);
    return wrapped == e->int_value ||
           (wrapped & (~UINT64_C(0) >> (64 - qn__type_bits(element)))) == e->int_value;
}

/* A scalar beside a vector is widened to it (OpenCL C 6.2.6); it must not lose rank. */
static bool widen(front_parser *p, ast_expr **scalar, const ast_type *vector, front_loc loc) {
    const ast_type *element = qn__type_element(vector), *type = (*scalar)->type;
    bool fits = qn__type_rank(type) <= qn__type_rank(element) &&
                !(qn__type_is_float(type) && !qn__type_is_float(element));
    if (!fits && literal_fits(*scalar, element)) {
        bool is_quiet = qn__type_is_float(type) == qn__type_is_float(element) && qn__type_is_integer(type);
        if (!p->is_library && !is_quiet)
            qn__diag_warning(p->diag, FRONT_WARN_PORTABILITY, (*scalar)->loc,
                             "'%s' literal is narrowed to the vector's element type '%s'",
                             qn__type_text(p, type), qn__type_text(p, element));
        fits = true;
    }
    if (!fits) {
        qn__diag_error(p->diag, loc, "scalar of type '%s' has a greater rank than the elements of '%s'",
                       qn__type_text(p, type), qn__type_text(p, vector));
        qn__diag_hint(p->diag, "convert it: (%s)(...)", qn__type_text(p, element));
        return false;
    }
    *scalar = qn__sema_cast_to(p, *scalar, vector);
    return true;
}

static bool is_number(const ast_type *type) { return qn__type_is_scalar(type) || type->kind == AST_VECTOR; }

bool qn__sema_refuse_small(front_parser *p, const char *op, const ast_type *type, front_loc loc) {
    if (type->kind != AST_VECTOR || !qn__type_is_small_float(type->base)) return false;
    qn__diag_error(p->diag, loc, "'%s' is not for vectors of small floats such as '%s'", op,
                   qn__type_text(p, type));
    qn__diag_hint(p->diag, "compute in float: convert_float%u(...) and back by convert_%s(...)", type->lanes,
                  qn__type_text(p, type));
    return true;
}

const ast_type *qn__sema_usual(front_parser *p, ast_expr **a, ast_expr **b, front_loc loc) {
    const ast_type *ta = (*a)->type, *tb = (*b)->type;
    if (!is_number(ta) || !is_number(tb)) return NULL;
    if (ta->kind == AST_VECTOR && tb->kind == AST_VECTOR) {
        if (ta == tb) return ta;
        qn__diag_error(p->diag, loc, "operands have different vector types '%s' and '%s'",
                       qn__type_text(p, ta), qn__type_text(p, tb));
        if (qn__type_lanes(ta) == qn__type_lanes(tb))
            qn__diag_hint(p->diag, "convert one of them: convert_%s(...)", qn__type_text(p, ta));
        return p->types->error;
    }
    if (ta->kind == AST_VECTOR) return widen(p, b, ta, loc) ? ta : p->types->error;
    if (tb->kind == AST_VECTOR) return widen(p, a, tb, loc) ? tb : p->types->error;
    const ast_type *common = usual_scalar(p, ta, tb);
    *a = qn__sema_cast_to(p, *a, common);
    *b = qn__sema_cast_to(p, *b, common);
    return common;
}

/* ---- implicit conversion ---- */

static const char *use_text(front_parser *p, front_use use) {
    if (!use.callee) return use.what;
    return qn__arena_printf(p->arena, "argument %zu of '%s'", use.index, use.callee);
}

static ast_expr *refuse(front_parser *p, ast_expr *e, const ast_type *type, front_loc loc, front_use use) {
    qn__diag_error(p->diag, loc, "%s: cannot convert '%s' to '%s'", use_text(p, use),
                   qn__type_text(p, e->type), qn__type_text(p, type->unqualified));
    if (e->type->kind == AST_VECTOR && type->kind == AST_VECTOR &&
        qn__type_lanes(e->type) == qn__type_lanes(type))
        qn__diag_hint(p->diag, "vectors are converted by name: convert_%s(...)",
                      qn__type_text(p, type->unqualified));
    else if (e->type->kind == AST_VECTOR && qn__type_is_scalar(type))
        qn__diag_hint(p->diag, "choose a component: .x");
    if (use.param) qn__diag_note(p->diag, use.param->loc, "the parameter is declared here");
    ast_expr *error = qn__expr_error(p, e->loc);
    return error;
}

static ast_expr *refuse_space(front_parser *p, ast_expr *e, const ast_type *type, front_loc loc,
                              front_use use) {
    static const char *const names[IR_SPACE_COUNT] = {"__private", "__global",  "__constant",
                                                      "__local",   "__private", "__generic"};
    const char *from = names[e->type->base->space], *to = names[type->base->space];
    qn__diag_error(p->diag, loc, "%s: '%s' to '%s' would change the address space from %s to %s",
                   use_text(p, use), qn__type_text(p, e->type), qn__type_text(p, type->unqualified), from,
                   to);
    if (e->type->base->space == IR_GENERIC_SPACE && type->base->space != IR_CONSTANT_SPACE)
        qn__diag_hint(p->diag,
                      "to%s(p) asks whether it points there, and is null where it does not; a cast to '%s' "
                      "is not checked",
                      to + 1, qn__type_text(p, type->unqualified));
    else if (type->base->space == IR_GENERIC_SPACE)
        qn__diag_hint(
            p->diag,
            "a pointer without an address space cannot point to __constant memory: declare it as '%s %s*'",
            from, qn__type_text(p, type->base->unqualified));
    else if (type->base->space == IR_PRIVATE)
        qn__diag_hint(p->diag,
                      "a pointer without an address space points to private memory: declare it as '%s %s*'",
                      from, qn__type_text(p, type->base->unqualified));
    else if (e->type->base->space == IR_PRIVATE)
        qn__diag_hint(p->diag, "what it points to lies in private memory; copy it to %s memory first", to);
    if (use.param) qn__diag_note(p->diag, use.param->loc, "the parameter is declared here");
    return qn__expr_error(p, e->loc);
}

/* A generic pointer lies in memory in another form than one whose address space is named. */
static bool is_other_inside(const ast_type *a, const ast_type *b) {
    if (a->kind != AST_POINTER || b->kind != AST_POINTER || a->base->space == b->base->space) return false;
    return a->base->space == IR_GENERIC_SPACE || b->base->space == IR_GENERIC_SPACE;
}

static ast_expr *refuse_inside(front_parser *p, ast_expr *e, const ast_type *type, front_loc loc,
                               front_use use) {
    qn__diag_error(p->diag, loc, "%s: '%s' to '%s': pointers to different address spaces lie there",
                   use_text(p, use), qn__type_text(p, e->type), qn__type_text(p, type->unqualified));
    qn__diag_hint(p->diag, "name the same address space, or none, in both");
    return qn__expr_error(p, e->loc);
}

static ast_expr *coerce_pointer(front_parser *p, ast_expr *e, const ast_type *type, front_loc loc,
                                front_use use) {
    const ast_type *from = e->type->base, *to = type->base;
    if (from->space != to->space) {
        if (qn__is_null_constant(e)) return qn__sema_cast_to(p, e->a, type);
        if (to->space != IR_GENERIC_SPACE || from->space == IR_CONSTANT_SPACE)
            return refuse_space(p, e, type, loc, use);
    }
    if (is_other_inside(from, to)) {
        const bool is_variable = e->expr_kind == EXPR_ADDRESS && e->a->expr_kind == EXPR_VARIABLE;
        if (is_variable && qn__sema_second_space(p, e->a->decl, to, from)) return qn__expr_error(p, e->loc);
        return refuse_inside(p, e, type, loc, use);
    }
    bool same = qn__type_compatible(from, to) || from->kind == AST_VOID || to->kind == AST_VOID;
    if (!same)
        qn__diag_warning(p->diag, FRONT_WARN_POINTER, loc, "%s: incompatible pointer types '%s' and '%s'",
                         use_text(p, use), qn__type_text(p, e->type), qn__type_text(p, type->unqualified));
    unsigned dropped = from->quals & ~(unsigned)to->quals & (AST_CONST | AST_VOLATILE);
    if (same && dropped)
        qn__diag_warning(p->diag, FRONT_WARN_POINTER, loc, "%s: '%s' to '%s' discards '%s'", use_text(p, use),
                         qn__type_text(p, e->type), qn__type_text(p, type->unqualified),
                         dropped & AST_CONST ? "const" : "volatile");
    return qn__sema_cast_to(p, e, type);
}

ast_expr *qn__sema_coerce(front_parser *p, ast_expr *e, const ast_type *type, front_loc loc, front_use use) {
    type = type->unqualified;
    if (qn__is_error(p, e) || e->type == type) return e;
    if (qn__type_is_error(p->types, type)) return qn__expr_error(p, e->loc);
    const ast_type *from = e->type;
    qn__warn_constant(p, e, type);
    if (qn__type_is_scalar(from) && (qn__type_is_scalar(type) || type->kind == AST_VECTOR))
        return qn__sema_cast_to(p, e, type);
    if (type->kind == AST_POINTER) {
        if (from->kind == AST_POINTER) return coerce_pointer(p, e, type, loc, use);
        if (qn__is_null_constant(e)) return qn__sema_cast_to(p, e, type);
    }
    if (from->kind == AST_POINTER && type->kind == AST_BOOL) return qn__sema_cast_to(p, e, type);
    if (type->kind == AST_EVENT && qn__is_null_constant(e)) return qn__sema_cast_to(p, e, type);
    ast_expr *sampler = qn__sema_sampler(p, e, type);
    if (sampler) return sampler;
    return refuse(p, e, type, loc, use);
}

int qn__sema_fit(front_parser *p, const ast_expr *value, const ast_type *param) {
    const ast_type *from = value->type, *to = param->unqualified;
    if (from == to || qn__type_is_error(p->types, from) || qn__type_is_error(p->types, to)) return 0;
    if (qn__type_is_scalar(from) && qn__type_is_scalar(to)) {
        if (qn__sema_promote(p, from) == to || (from->kind == AST_FLOAT && to->kind == AST_DOUBLE)) return 1;
        return 2;
    }
    if (qn__type_is_scalar(from) && to->kind == AST_VECTOR) return 4;
    if (to->kind == AST_POINTER && from->kind == AST_POINTER) {
        if (from->base->space != to->base->space) {
            const bool fits = to->base->space == IR_GENERIC_SPACE && from->base->space != IR_CONSTANT_SPACE;
            return !fits                                       ? -1
                   : qn__type_compatible(from->base, to->base) ? 2
                   : to->base->kind == AST_VOID                ? 3
                                                               : -1;
        }
        if (qn__type_compatible(from->base, to->base))
            return (from->base->quals & ~(unsigned)to->base->quals) ? 3 : 1;
        return to->base->kind == AST_VOID ? 2 : -1;
    }
    if (to->kind == AST_POINTER && qn__is_null_constant(value)) return 2;
    return -1;
}
