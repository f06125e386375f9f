/* Pointers that name no address space (OpenCL C 2.0 and later, 6.13.9). Such a variable, parameter or result has that of
   the first thing that it gets, which is known when it is met. Where it gets a second one, the function is read again,
   and all of them in it are generic pointers, which what is read from memory is in any case. */
#include "front/parse/parser.h"

bool qn__has_generic(const front_parser *p) { return qn__standard(p) >= 200 && !p->is_library; }

const ast_type *qn__type_in_space(front_parser *p, const ast_type *pointer, unsigned space) {
    const ast_type *pointee = qn__type_qualified(p->types, pointer->base, pointer->base->quals, space);
    return qn__type_qualified(p->types, qn__type_pointer(p->types, pointee), pointer->quals, pointer->space);
}

/* ---- the first address space, and a second ---- */

const ast_type *qn__sema_space_of_value(front_parser *p, const ast_type *type, const ast_type *from) {
    if (from->kind != AST_POINTER || from->base->space == IR_CONSTANT_SPACE) return type;
    return qn__type_in_space(p, type, from->base->space);
}

void qn__sema_settle_space(front_parser *p, ast_expr *a, const ast_expr *b) {
    ast_decl *decl = a->expr_kind == EXPR_VARIABLE ? a->decl : NULL;
    if (!decl || !decl->is_space_open || qn__is_null_constant(b)) return;
    const bool is_first = decl->mentions == 1; /* by this assignment */
    decl->is_space_open = false;
    if (!is_first) return;
    const ast_type *open = decl->type;
    a->type = decl->type = qn__sema_space_of_value(p, open, b->type);
    decl->is_space_taken = decl->type != open;
    if (!decl->init) return;
    ast_init_item *null = &decl->init->items.data[0];
    null->type = decl->type;
    null->value = qn__sema_cast_to(p, qn__expr_int(p, p->types->scalars[AST_INT], 0, decl->loc),
                                   decl->type->unqualified);
}

void qn__sema_settle_result(front_parser *p, ast_stmt *stmt, const ast_expr *value) {
    if (qn__is_null_constant(value)) {
        qn__vec_push(p->arena, &p->null_returns, stmt);
        return;
    }
    ast_decl *function = p->function;
    const ast_type *type = function->type, *result = qn__sema_space_of_value(p, type->base, value->type);
    function->is_space_open = false;
    function->is_space_taken = true;
    function->type = qn__type_function(p->types, result, type->params, type->num_params, type->is_variadic);
    for (size_t i = 0; i < p->null_returns.len; i++) {
        ast_stmt *earlier = p->null_returns.data[i];
        earlier->cond = qn__sema_cast(p, qn__expr_int(p, p->types->scalars[AST_INT], 0, earlier->loc), result,
                                      earlier->loc);
    }
}

static bool is_in_generic(unsigned space) {
    return space == IR_PRIVATE || space == IR_GLOBAL_SPACE || space == IR_LOCAL_SPACE ||
           space == IR_GENERIC_SPACE;
}

bool qn__sema_second_space(front_parser *p, const ast_decl *decl, const ast_type *from, const ast_type *to) {
    if (!decl || !decl->is_space_taken || p->all_generic || p->diag->stopped) return false;
    if (from->kind != AST_POINTER || to->kind != AST_POINTER) return false;
    if (to->base->space == IR_GENERIC_SPACE || from->base->space == to->base->space) return false;
    if (!is_in_generic(from->base->space)) return false;
    p->is_given_up = p->panic = p->diag->stopped = true;
    p->at = p->end;
    return true;
}

/* The variable or function that a pointer's address space was taken by, or NULL. */
static const ast_decl *taker(const ast_expr *e) {
    for (;;) {
        switch (e->expr_kind) {
        case EXPR_LOAD:
        case EXPR_INCREMENT:
        case EXPR_CONVERT:
        case EXPR_BINARY:
        case EXPR_ASSIGN:
        case EXPR_ASSIGN_OP: e = e->a; break;
        case EXPR_VARIABLE: return e->decl->is_space_taken ? e->decl : NULL;
        case EXPR_CALL: return e->callee->is_space_taken ? e->callee : NULL;
        default: return NULL;
        }
    }
}

bool qn__sema_arm_spaces(front_parser *p, ast_expr **a, ast_expr **b) {
    const unsigned of_a = (*a)->type->base->space, of_b = (*b)->type->base->space;
    if (of_a == of_b) return true;
    if (!qn__has_generic(p) || !is_in_generic(of_a) || !is_in_generic(of_b)) return false;
    *a = qn__sema_cast_to(p, *a, qn__type_in_space(p, (*a)->type, IR_GENERIC_SPACE));
    *b = qn__sema_cast_to(p, *b, qn__type_in_space(p, (*b)->type, IR_GENERIC_SPACE));
    return true;
}

bool qn__sema_join_spaces(front_parser *p, ast_expr **a, ast_expr **b) {
    const unsigned of_a = (*a)->type->base->space, of_b = (*b)->type->base->space;
    const bool is_one_generic =
        of_a == IR_GENERIC_SPACE || of_b == IR_GENERIC_SPACE || taker(*a) || taker(*b);
    return of_a == of_b || (is_one_generic && qn__sema_arm_spaces(p, a, b));
}

/* ---- to_global and its kin ---- */

/* The pointer itself where it is of that space, else null. */
static ast_expr *to_space(front_parser *p, ast_expr *pointer, ir_space space, front_loc loc) {
    const ast_type *base = pointer->type->base;
    if (base->space == space) return pointer;
    const ast_type *type = qn__type_pointer(p->types, qn__type_qualified(p->types, base, base->quals, space));
    if (base->space == IR_GENERIC_SPACE) return qn__sema_cast_to(p, pointer, type);
    ast_expr *null = qn__sema_cast(p, qn__expr_int(p, p->types->scalars[AST_INT], 0, loc), type, loc);
    return qn__sema_comma(p, pointer, null, loc);
}

static ast_expr *get_fence(front_parser *p, ast_expr *pointer, front_loc loc) {
    const unsigned space = pointer->type->base->space;
    const ast_type *type = p->types->scalars[AST_UINT];
    if (space == IR_GENERIC_SPACE) {
        ast_expr *e = qn__expr(p, EXPR_BUILTIN, type, loc, NULL, NULL, NULL);
        ast_builtin *builtin = QN__NEW(p->arena, ast_builtin);
        *builtin =
            (ast_builtin){.name = "get_fence", .builtin_kind = BUILTIN_SPECIAL, .special = SPECIAL_GET_FENCE};
        e->builtin = builtin;
        qn__vec_push(p->arena, &e->args, pointer);
        qn__expr_args(p, e);
        return e;
    }
    const unsigned flags = space == IR_GLOBAL_SPACE  ? IR_FENCE_GLOBAL
                           : space == IR_LOCAL_SPACE ? IR_FENCE_LOCAL
                                                     : 0;
    ast_expr *fence = qn__expr_int(p, type, flags, loc);
    const bool is_variable = pointer->expr_kind == EXPR_LOAD && pointer->a->expr_kind == EXPR_VARIABLE;
    return is_variable ? fence : qn__sema_comma(p, pointer, fence, loc);
}

ast_expr *qn__sema_space_call(front_parser *p, qn__str name, ast_expr **args, size_t num_args,
                              front_loc loc) {
    static const struct {
        const char *name;
        ir_space space;
    } rows[] = {{"to_global", IR_GLOBAL_SPACE}, {"to_local", IR_LOCAL_SPACE}, {"to_private", IR_PRIVATE}};
    size_t row = 0;
    while (row < QN__COUNT(rows) && !qn__str_is(name, rows[row].name)) row++;
    const bool is_fence = qn__str_is(name, "get_fence");
    if ((row == QN__COUNT(rows) && !is_fence) || num_args != 1 || qn__standard(p) < 200) return NULL;
    if (qn__is_error(p, args[0])) return args[0];
    const ast_type *type = args[0]->type;
    if (type->kind != AST_POINTER || !is_in_generic(type->base->space)) {
        qn__diag_error(p->diag, loc, "'%.*s' takes a pointer to private, local or global memory, not '%s'",
                       (int)name.len, name.data, qn__type_text(p, type));
        return qn__expr_error(p, loc);
    }
    return is_fence ? get_fence(p, args[0], loc) : to_space(p, args[0], rows[row].space, loc);
}
