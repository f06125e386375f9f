/* Matrix fragments, an extension: the type qn_matrix(T, rows, columns, use), which is a record without fields to all who do
   not ask, and the built-in functions on it. Its semantics are those of SPV_KHR_cooperative_matrix: a sub-group holds a
   fragment together, and all of it come by where one is touched. */
#include "front/parse/parser.h"

#include "front/library.h"
#include "ir/matrix.h"

/* ---- the type ---- */

static const struct matrix_element {
    ast_kind kind;
    ir_matrix_element element;
} matrix_elements[] = {
    {AST_HALF, IR_MATRIX_F16},  {AST_FLOAT, IR_MATRIX_F32}, {AST_CHAR, IR_MATRIX_I8},
    {AST_UCHAR, IR_MATRIX_U8},  {AST_INT, IR_MATRIX_I32},   {AST_BF16, IR_MATRIX_BF16},
    {AST_E4M3, IR_MATRIX_E4M3}, {AST_E5M2, IR_MATRIX_E5M2}, {AST_DOUBLE, IR_MATRIX_F64},
};

static ir_matrix_element element_of(const ast_type *type) {
    for (size_t i = 0; i < QN__COUNT(matrix_elements); i++)
        if (matrix_elements[i].kind == type->kind) return matrix_elements[i].element;
    return IR_MATRIX_NONE;
}

static ast_kind kind_of(ir_matrix m) {
    for (size_t i = 0; i < QN__COUNT(matrix_elements); i++)
        if (matrix_elements[i].element == m.element) return matrix_elements[i].kind;
    return AST_VOID;
}

static bool valid_size(int64_t n) { return n == 8 || n == 16 || n == 32 || n == 64; }

const ast_type *qn__sema_matrix_type(front_parser *p, const ast_type *element, int64_t rows, int64_t columns,
                                     int64_t use, front_loc loc) {
    if (qn__type_is_error(p->types, element)) return element;
    if (!valid_size(rows) || !valid_size(columns)) {
        qn__diag_error(p->diag, loc,
                       "a matrix fragment has 8, 16, 32 or 64 rows and columns, not %lld and %lld",
                       (long long)rows, (long long)columns);
        return p->types->error;
    }
    if (use < 0 || use >= IR_MATRIX_USES) {
        qn__diag_error(p->diag, loc,
                       "the use of a matrix fragment is qn_use_a, qn_use_b or qn_use_accumulator");
        return p->types->error;
    }
    const ir_matrix m = {(uint8_t)element_of(element), (uint8_t)rows, (uint8_t)columns, (uint8_t)use};
    if (!qn__ir_matrix_valid(m)) {
        qn__diag_error(p->diag, loc, "'%s' is no element of %s", qn__type_text(p, element),
                       use == IR_USE_ACCUMULATOR ? "accumulators" : "the operands of a matrix product");
        qn__diag_hint(p->diag, use == IR_USE_ACCUMULATOR ? "accumulators are of half, float, double or int"
                                                         : "qn_use_a and qn_use_b are of half, qn_bf16, "
                                                           "qn_e4m3, qn_e5m2, float, double, char or uchar");
        return p->types->error;
    }
    const uint32_t sub_group = p->context->target.sub_group_size ? p->context->target.sub_group_size : 32;
    uint32_t share = qn__ir_matrix_share(m, sub_group);
    if (!share) {
        qn__diag_error(
            p->diag, loc,
            "a fragment of %lld by %lld has fewer elements than this device's sub-groups have work-items",
            (long long)rows, (long long)columns);
        return p->types->error;
    }
    const ast_type *whole = qn__type_matrix(p->types, m, element->unqualified, share);
    return whole;
}

static const char *const use_names[IR_MATRIX_USES] = {"qn_use_a", "qn_use_b", "qn_use_accumulator"};

ast_expr *qn__sema_matrix_constant(front_parser *p, qn__str name, front_loc loc) {
    static const char *const layouts[] = {"qn_row_major", "qn_column_major"};
    for (size_t i = 0; i < QN__COUNT(use_names); i++)
        if (qn__str_is(name, use_names[i])) return qn__expr_int(p, p->types->scalars[AST_INT], i, loc);
    for (size_t i = 0; i < QN__COUNT(layouts); i++)
        if (qn__str_is(name, layouts[i])) return qn__expr_int(p, p->types->scalars[AST_INT], i, loc);
    return NULL;
}

bool qn__matrix_place(front_parser *p, const ast_type *type, front_loc loc) {
    const ast_type *element = type;
    while (element->kind == AST_ARRAY) element = element->base;
    if (!qn__type_is_matrix(element) || element->space == IR_PRIVATE) return true;
    qn__diag_error(p->diag, loc, "a matrix fragment is a private variable: it cannot be in an address space");
    qn__diag_hint(p->diag, "qn_matrix_store writes one to local or global memory");
    return false;
}

/* ---- built-in functions ---- */

/* What follows the pointers to fragments. */
enum { TAKES_NOTHING, TAKES_VALUE, TAKES_MEMORY, TAKES_INDEX, TAKES_INDEX_VALUE };
enum { GIVES_NOTHING, GIVES_ELEMENT, GIVES_INT };

static const struct matrix_row {
    const char *name;
    uint16_t op;
    uint8_t fragments, takes, gives;
} matrix_rows[] = {
    {"qn_matrix_fill", IR_MATRIX_FILL, 1, TAKES_VALUE, GIVES_NOTHING},
    {"qn_matrix_load", IR_MATRIX_LOAD, 1, TAKES_MEMORY, GIVES_NOTHING},
    {"qn_matrix_store", IR_MATRIX_STORE, 1, TAKES_MEMORY, GIVES_NOTHING},
    {"qn_matrix_multiply_add", IR_MATRIX_MULTIPLY_ADD, 3, TAKES_NOTHING, GIVES_NOTHING},
    {"qn_matrix_convert", IR_MATRIX_CONVERT, 2, TAKES_NOTHING, GIVES_NOTHING},
    {"qn_matrix_get", IR_MATRIX_GET, 1, TAKES_INDEX, GIVES_ELEMENT},
    {"qn_matrix_set", IR_MATRIX_SET, 1, TAKES_INDEX_VALUE, GIVES_NOTHING},
    {"qn_matrix_row", IR_MATRIX_ROW, 1, TAKES_INDEX, GIVES_INT},
    {"qn_matrix_column", IR_MATRIX_COLUMN, 1, TAKES_INDEX, GIVES_INT},
    {"qn_matrix_length", IR_MATRIX_LENGTH, 1, TAKES_NOTHING, GIVES_INT},
};

typedef struct matrix_call {
    const struct matrix_row *row;
    ast_expr **args;
    front_loc loc;
    ir_matrix matrices[IR_MATRICES];
} matrix_call;

static size_t args_of(const struct matrix_row *row) {
    static const uint8_t more[] = {
        [TAKES_VALUE] = 1, [TAKES_MEMORY] = 3, [TAKES_INDEX] = 1, [TAKES_INDEX_VALUE] = 2};
    return row->fragments + (row->takes == TAKES_NOTHING ? 0u : more[row->takes]);
}

static const ast_type *fragment_type(const ast_expr *e) {
    const ast_type *type = e->type->kind == AST_POINTER ? e->type->base : NULL;
    return type && qn__type_is_matrix(type) && type->space == IR_PRIVATE ? type : NULL;
}

static bool read_fragments(front_parser *p, matrix_call *c) {
    const bool writes = c->row->gives == GIVES_NOTHING && c->row->op != IR_MATRIX_STORE;
    for (size_t i = 0; i < c->row->fragments; i++) {
        const ast_type *type = fragment_type(c->args[i]);
        if (!type) {
            qn__diag_error(p->diag, c->args[i]->loc,
                           "argument %zu of '%s' is a pointer to a qn_matrix, not '%s'", i + 1, c->row->name,
                           qn__type_text(p, c->args[i]->type));
            if (qn__type_is_matrix(c->args[i]->type)) qn__diag_hint(p->diag, "write '&' in front of it");
            return false;
        }
        if (i == 0 && writes && type->quals & AST_CONST) {
            qn__diag_error(p->diag, c->args[i]->loc, "'%s' writes its first argument, which is const",
                           c->row->name);
            return false;
        }
        c->matrices[i] = type->record->matrix;
    }
    return true;
}

static bool check_product(front_parser *p, const matrix_call *c) {
    const ir_matrix *m = c->matrices;
    static const ir_matrix_use uses[] = {IR_USE_ACCUMULATOR, IR_USE_A, IR_USE_B};
    for (size_t i = 0; i < QN__COUNT(uses); i++) {
        if (m[i].use == uses[i]) continue;
        qn__diag_error(p->diag, c->args[i]->loc, "argument %zu of '%s' is a fragment for %s, not '%s'", i + 1,
                       c->row->name, use_names[uses[i]], qn__type_text(p, c->args[i]->type->base));
        return false;
    }
    if (m[1].rows != m[0].rows || m[2].columns != m[0].columns || m[1].columns != m[2].rows) {
        qn__diag_error(p->diag, c->loc, "%u x %u by %u x %u gives no %u x %u", m[1].rows, m[1].columns,
                       m[2].rows, m[2].columns, m[0].rows, m[0].columns);
        return false;
    }
    if (qn__ir_matrix_has_product(m[0], m[1], m[2])) return true;
    qn__diag_error(p->diag, c->loc, "no device sums products of '%s' and '%s' in '%s'",
                   qn__type_text(p, c->args[1]->type->base), qn__type_text(p, c->args[2]->type->base),
                   qn__type_text(p, c->args[0]->type->base));
    qn__diag_hint(p->diag, "the products are: half in half or float; float, qn_bf16, qn_e4m3 and qn_e5m2 in "
                           "float; char and uchar in int");
    return false;
}

static bool check_conversion(front_parser *p, const matrix_call *c) {
    const ir_matrix to = c->matrices[0], from = c->matrices[1];
    if (to.rows == from.rows && to.columns == from.columns) return true;
    qn__diag_error(p->diag, c->loc, "'%s' keeps the shape: %u x %u is not %u x %u", c->row->name, from.rows,
                   from.columns, to.rows, to.columns);
    return false;
}

/* A pointer to elements in memory that all of the sub-group see. */
static bool check_pointer(front_parser *p, const matrix_call *c) {
    const ast_expr *e = c->args[1];
    const ast_type *element = p->types->scalars[kind_of(c->matrices[0])], *type = e->type;
    const bool is_pointer = type->kind == AST_POINTER && type->base->unqualified == element;
    const bool writes = c->row->op == IR_MATRIX_STORE;
    if (is_pointer && (type->base->space == IR_GLOBAL_SPACE || type->base->space == IR_LOCAL_SPACE ||
                       (type->base->space == IR_CONSTANT_SPACE && !writes))) {
        if (!writes || !(type->base->quals & AST_CONST)) return true;
        qn__diag_error(p->diag, e->loc, "'%s' writes where its second argument points, which is const",
                       c->row->name);
        return false;
    }
    qn__diag_error(p->diag, e->loc,
                   "argument 2 of '%s' is a pointer to '%s' in global or local memory, not '%s'",
                   c->row->name, qn__type_text(p, element), qn__type_text(p, type));
    return false;
}

/* The argument becomes its value, whatever expression it is. */
static bool check_layout(front_parser *p, const matrix_call *c) {
    int64_t layout = 0;
    if (qn__const_int(p, c->args[3], &layout) && (layout == 0 || layout == 1)) {
        c->args[3] = qn__expr_int(p, p->types->scalars[AST_INT], (uint64_t)layout, c->args[3]->loc);
        return true;
    }
    qn__diag_error(p->diag, c->args[3]->loc,
                   "the layout is qn_row_major or qn_column_major, known when the kernel is compiled");
    return false;
}

static bool check_call(front_parser *p, matrix_call *c) {
    if (!read_fragments(p, c)) return false;
    if (c->row->op == IR_MATRIX_MULTIPLY_ADD) return check_product(p, c);
    if (c->row->op == IR_MATRIX_CONVERT) return check_conversion(p, c);
    return c->row->takes != TAKES_MEMORY || (check_pointer(p, c) && check_layout(p, c));
}

/* The arguments behind the fragments, converted to what they are taken as. */
static ast_expr *coerced(front_parser *p, const matrix_call *c, size_t i) {
    const ast_type *element = p->types->scalars[kind_of(c->matrices[0])];
    const ast_type *index = p->types->scalars[AST_INT], *stride = p->types->scalars[AST_LONG];
    const size_t place = i - c->row->fragments;
    const ast_type *type = c->row->takes == TAKES_VALUE    ? element
                           : c->row->takes != TAKES_MEMORY ? (place == 0 ? index : element)
                           : place == 1                    ? stride
                                                           : c->args[i]->type;
    const front_use use = {.callee = c->row->name, .index = i + 1};
    return qn__sema_coerce(p, c->args[i], type, c->args[i]->loc, use);
}

static ast_expr *make_call(front_parser *p, const matrix_call *c) {
    ast_builtin *builtin = QN__NEW(p->arena, ast_builtin);
    *builtin = (ast_builtin){.name = c->row->name,
                             .builtin_kind = BUILTIN_SPECIAL,
                             .special = SPECIAL_MATRIX,
                             .variant = c->row->op};
    const ast_type *type = c->row->gives == GIVES_INT       ? p->types->scalars[AST_INT]
                           : c->row->gives == GIVES_ELEMENT ? p->types->scalars[kind_of(c->matrices[0])]
                                                            : p->types->scalars[AST_VOID];
    ast_expr *e = qn__expr(p, EXPR_BUILTIN, type, c->loc, NULL, NULL, NULL);
    if (qn__is_error(p, e)) return e;
    e->builtin = builtin;
    for (size_t i = 0; i < args_of(c->row); i++) {
        ast_expr *arg = i < c->row->fragments ? c->args[i] : coerced(p, c, i);
        if (qn__is_error(p, arg)) return qn__expr_error(p, c->loc);
        qn__vec_push(p->arena, &e->args, arg);
    }
    qn__expr_args(p, e);
    return e;
}

ast_expr *qn__sema_matrix_call(front_parser *p, qn__str name, ast_expr **args, size_t num_args,
                               front_loc loc) {
    matrix_call c = {.args = args, .loc = loc};
    for (size_t i = 0; i < QN__COUNT(matrix_rows) && !c.row; i++)
        if (qn__str_is(name, matrix_rows[i].name)) c.row = &matrix_rows[i];
    if (!c.row) return NULL;
    for (size_t i = 0; i < num_args; i++)
        if (qn__is_error(p, args[i])) return qn__expr_error(p, loc);
    if (num_args != args_of(c.row)) {
        qn__diag_error(p->diag, loc, "'%s' takes %zu arguments, %zu given", c.row->name, args_of(c.row),
                       num_args);
        return qn__expr_error(p, loc);
    }
    return check_call(p, &c) ? make_call(p, &c) : qn__expr_error(p, loc);
}
