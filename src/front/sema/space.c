/* Pointers that name no address space (OpenCL C 2.0 and later, 6.13.9): each has the space of the first thing that it
   gets, which is known when it is met, so that the functions that ask for a pointer's space have their answer here. */
#include "front/parse/parser.h"

const ast_type *qn__sema_space_of_value(front_parser *p, const ast_type *type, const ast_type *from) {
    if (from->kind != AST_POINTER || from->base->space == IR_CONSTANT_SPACE) return type;
    const ast_type *pointee = qn__type_qualified(p->types, type->base, type->base->quals, from->base->space);
    return qn__type_qualified(p->types, qn__type_pointer(p->types, pointee), type->quals, type->space);
}

void qn__sema_settle_space(front_parser *p, ast_expr *a, const ast_expr *b) {
    ast_decl *decl = a->expr_kind == EXPR_VARIABLE ? a->decl : NULL;
    if (!decl || !decl->is_space_open) return;
    const bool is_first = decl->mentions == 1; /* by this assignment */
    decl->is_space_open = false;
    if (is_first && !qn__is_null_constant(b))
        a->type = decl->type = qn__sema_space_of_value(p, a->type, b->type);
}

void qn__sema_settle_result(front_parser *p, ast_stmt *stmt, const ast_expr *value) {
    if (qn__is_null_constant(value)) {
        qn__vec_push(p->arena, &p->null_returns, stmt);
        return;
    }
    ast_decl *function = p->function;
    const ast_type *type = function->type, *result = qn__sema_space_of_value(p, type->base, value->type);
    function->is_space_open = false;
    function->type = qn__type_function(p->types, result, type->params, type->num_params, type->is_variadic);
    for (size_t i = 0; i < p->null_returns.len; i++) {
        ast_stmt *earlier = p->null_returns.data[i];
        earlier->cond = qn__sema_cast(p, qn__expr_int(p, p->types->scalars[AST_INT], 0, earlier->loc), result,
                                      earlier->loc);
    }
}

/* The pointer itself where it is of that space, else null. */
static ast_expr *to_space(front_parser *p, ast_expr *pointer, ir_space space, front_loc loc) {
    const ast_type *base = pointer->type->base;
    if (base->space == space) return pointer;
    const ast_type *type = qn__type_pointer(p->types, qn__type_qualified(p->types, base, base->quals, space));
    ast_expr *null = qn__sema_cast(p, qn__expr_int(p, p->types->scalars[AST_INT], 0, loc), type, loc);
    return qn__sema_comma(p, pointer, null, loc);
}

static ast_expr *get_fence(front_parser *p, ast_expr *pointer, front_loc loc) {
    const unsigned space = pointer->type->base->space;
    const unsigned flags = space == IR_GLOBAL_SPACE  ? IR_FENCE_GLOBAL
                           : space == IR_LOCAL_SPACE ? IR_FENCE_LOCAL
                                                     : 0;
    ast_expr *fence = qn__expr_int(p, p->types->scalars[AST_UINT], flags, loc);
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
    if (type->kind != AST_POINTER || type->base->space == IR_CONSTANT_SPACE) {
        qn__diag_error(p->diag, loc, "'%.*s' takes a pointer to private, local or global memory, not '%s'",
                       (int)name.len, name.data, qn__type_text(p, type));
        return qn__expr_error(p, loc);
    }
    return is_fence ? get_fence(p, args[0], loc) : to_space(p, args[0], rows[row].space, loc);
}
