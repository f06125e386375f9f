/* Expressions: types and values in one walk (WGSL section 8). What is known is folded on the way, which is how
   const-expressions are evaluated. */
#include <string.h>

#include "wgsl/internal.h"

enum { MAX_DEPTH = 3000 };

void qn__wf_at(wgsl_lower *w, front_loc loc) {
    const bool is_there = w->b.loc.line == loc.line && w->b.loc.column == loc.column;
    if (!loc.line || (is_there && qn__loc_same(loc, w->loc)))
        return; /* line 0: of a built-in function's text */
    w->loc = loc;
    w->b.loc = qn__source_resolve(w->config->sources, loc);
}

static void stop(wgsl_lower *w, front_loc loc, const char *message) {
    if (!w->stopped) qn__wf_error(w, loc, "%s", message);
    w->stopped = true;
}

bool qn__wf_enter(wgsl_lower *w, front_loc loc) {
    const uint32_t limit = w->config->max_instrs;
    if (w->depth >= MAX_DEPTH) stop(w, loc, "nested too deeply");
    if (limit && w->b.function && w->b.function->num_values > limit)
        stop(w, loc, "the function is too large to compile");
    if (w->stopped || w->diag->stopped) return false;
    w->depth++;
    return true;
}

static const wgsl_value failed = {.form = WGSL_FORM_ERROR};

/* ---- literals ---- */

static wgsl_value number(wgsl_lower *w, const wgsl_expr *e) {
    const char suffix = e->suffix;
    if (!e->is_float)
        return qn__wf_known(w,
                            w->scalars[suffix == 'i'   ? WGSL_I32
                                       : suffix == 'u' ? WGSL_U32
                                                       : WGSL_ABSTRACT_INT],
                            &e->number);
    double value;
    memcpy(&value, &e->number, sizeof value);
    if (suffix == 'h' && !w->source->enables_f16)
        return qn__wf_error(w, e->loc, "the number %s needs 'enable f16;'", qn__wf_quote(w, e));
    const wgsl_type *type = w->scalars[suffix == 'f'   ? WGSL_F32
                                       : suffix == 'h' ? WGSL_F16
                                                       : WGSL_ABSTRACT_FLOAT];
    return qn__wf_known_splat(w, type, qn__wf_float_bits(type, value));
}

/* ---- types of operands ---- */

static wgsl_value mismatch(wgsl_lower *w, const char *op, const wgsl_value *a, const wgsl_value *b,
                           front_loc loc) {
    const wgsl_value error = qn__wf_error(w, loc, "'%s' does not take '%s' and '%s'", op,
                                          qn__wf_type_name(w, a->type), qn__wf_type_name(w, b->type));
    const wgsl_type *x = qn__wf_scalar_of(a->type), *y = qn__wf_scalar_of(b->type);
    if (qn__wf_is_number(x) && qn__wf_is_number(y) && x != y)
        qn__wf_hint(w, "numbers of different types are converted by hand, as in %s(x)",
                    qn__wf_type_name(w, qn__wf_is_float(x) ? x : y));
    return error;
}

static const char *operator_name(unsigned op, unsigned joined) {
    if (op == WGSL_T_GREATER && joined == WGSL_T_GREATER) return ">>";
    if (op == WGSL_T_GREATER && joined == WGSL_T_ASSIGN) return ">=";
    return qn__wf_token_name((wgsl_token_kind)op);
}

/* Both with the same scalar type, by conversions that are made by themselves; false: there is none. */
static bool unify(wgsl_lower *w, wgsl_value *a, wgsl_value *b, front_loc loc) {
    const wgsl_type *x = qn__wf_scalar_of(a->type), *y = qn__wf_scalar_of(b->type);
    const wgsl_type *scalar = x == y ? x : qn__wf_rank(x, y) >= 0 ? y : qn__wf_rank(y, x) >= 0 ? x : NULL;
    if (!scalar) return false;
    wgsl_value *both[] = {a, b};
    for (unsigned i = 0; i < 2; i++) {
        const wgsl_type *type = both[i]->type;
        const wgsl_type *wanted = type->kind == WGSL_MATRIX
                                      ? qn__wf_matrix(w, scalar, type->columns, type->lanes)
                                      : qn__wf_vector(w, scalar, qn__wf_lanes(type));
        *both[i] = qn__wf_convert(w, *both[i], wanted, loc, NULL);
    }
    return true;
}

/* ---- arithmetic ---- */

typedef struct operator_row {
    uint8_t token, joined;
    uint16_t on_float, on_signed, on_unsigned, on_bool;
    bool swaps; /* a > b is b < a */
    bool compares;
} operator_row;

enum { NONE = IR_OP_COUNT };

static const operator_row operators[] = {
    {WGSL_T_PLUS, 0, IR_FADD, IR_ADD, IR_ADD, NONE, false, false},
    {WGSL_T_MINUS, 0, IR_FSUB, IR_SUB, IR_SUB, NONE, false, false},
    {WGSL_T_STAR, 0, IR_FMUL, IR_MUL, IR_MUL, NONE, false, false},
    {WGSL_T_SLASH, 0, IR_FDIV, IR_SDIV, IR_UDIV, NONE, false, false},
    {WGSL_T_PERCENT, 0, IR_FREM, IR_SREM, IR_UREM, NONE, false, false},
    {WGSL_T_AND, 0, NONE, IR_AND, IR_AND, IR_AND, false, false},
    {WGSL_T_OR, 0, NONE, IR_OR, IR_OR, IR_OR, false, false},
    {WGSL_T_XOR, 0, NONE, IR_XOR, IR_XOR, NONE, false, false},
    {WGSL_T_EQUAL, 0, IR_FEQ, IR_EQ, IR_EQ, IR_EQ, false, true},
    {WGSL_T_NOT_EQUAL, 0, IR_FNE, IR_NE, IR_NE, IR_NE, false, true},
    {WGSL_T_LESS, 0, IR_FLT, IR_SLT, IR_ULT, NONE, false, true},
    {WGSL_T_LESS_EQUAL, 0, IR_FLE, IR_SLE, IR_ULE, NONE, false, true},
    {WGSL_T_GREATER, 0, IR_FLT, IR_SLT, IR_ULT, NONE, true, true},
    {WGSL_T_GREATER, WGSL_T_ASSIGN, IR_FLE, IR_SLE, IR_ULE, NONE, true, true},
};

static const operator_row *find_operator(unsigned op, unsigned joined) {
    for (size_t i = 0; i < QN__COUNT(operators); i++)
        if (operators[i].token == op && operators[i].joined == joined) return &operators[i];
    return NULL;
}

static ir_op op_of(const operator_row *row, const wgsl_type *scalar) {
    if (scalar->kind == WGSL_BOOL) return (ir_op)row->on_bool;
    if (qn__wf_is_float(scalar)) return (ir_op)row->on_float;
    return (ir_op)(scalar->kind == WGSL_U32 ? row->on_unsigned : row->on_signed);
}

static bool overflows(ir_op op, int64_t a, int64_t b) {
    switch (op) {
    case IR_ADD: return b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b;
    case IR_SUB: return b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b;
    case IR_MUL:
        if (!a || !b) return false;
        if (a == -1 || b == -1) return a == INT64_MIN || b == INT64_MIN;
        return a > 0 ? b > INT64_MAX / a || b < INT64_MIN / a
                     : b > INT64_MIN / a || (b != 0 && a < INT64_MAX / b && b < 0);
    default: return false;
    }
}

static int64_t signed_lane(const wgsl_value *v, unsigned lane) {
    const uint64_t bits = v->bits[lane];
    return qn__wf_scalar_of(v->type)->kind == WGSL_I32 ? (int32_t)bits : (int64_t)bits;
}

/* What WGSL wants to be told of before anything runs: quotients by zero, and results that do not fit. */
static bool check_known(wgsl_lower *w, ir_op op, const wgsl_value *a, const wgsl_value *b, front_loc loc) {
    const wgsl_type *scalar = qn__wf_scalar_of(a->type);
    const bool divides = op == IR_SDIV || op == IR_UDIV || op == IR_SREM || op == IR_UREM;
    if (w->unevaluated || !qn__wf_is_int(scalar) || !b->bits || b->stage == WGSL_STAGE_RUN) return true;
    for (unsigned i = 0; i < qn__wf_lanes(b->type); i++) {
        if (divides && !b->bits[i])
            return qn__wf_error(w, loc, "%s divides by zero", w->expr ? qn__wf_quote(w, w->expr) : "this"),
                   false;
        if (!a->bits || a->stage == WGSL_STAGE_RUN || scalar->kind == WGSL_U32) continue;
        const int64_t x = signed_lane(a, i), y = signed_lane(b, i);
        const int64_t least = scalar->kind == WGSL_I32 ? INT32_MIN : INT64_MIN;
        const bool wraps =
            (divides && y == -1 && x == least) || (scalar->kind == WGSL_ABSTRACT_INT && overflows(op, x, y));
        if (wraps)
            return qn__wf_error(w, loc, "the result of %s is too large for '%s'",
                                w->expr ? qn__wf_quote(w, w->expr) : "this", qn__wf_type_name(w, scalar)),
                   false;
    }
    return true;
}

/* Operands of one shape. */
static wgsl_value plain(wgsl_lower *w, const operator_row *row, wgsl_value a, wgsl_value b, front_loc loc) {
    const wgsl_type *scalar = qn__wf_scalar_of(a.type);
    const ir_op op = op_of(row, scalar);
    const wgsl_type *result =
        row->compares ? qn__wf_vector(w, w->scalars[WGSL_BOOL], qn__wf_lanes(a.type)) : a.type;
    if (op == (ir_op)NONE) return mismatch(w, operator_name(row->token, row->joined), &a, &b, loc);
    if (!check_known(w, op, &a, &b, loc)) return failed;
    if (op == IR_FREM && !(a.bits && b.bits)) { /* targets have no such op */
        const wgsl_value both[] = {a, b};
        return qn__wf_library_call(w, "fmod", both, 2);
    }
    wgsl_value v = row->swaps ? qn__wf_op2(w, op, result, b, a) : qn__wf_op2(w, op, result, a, b);
    return v.stage == WGSL_STAGE_RUN ? v : qn__wf_finite(w, v, loc);
}

static wgsl_value matrix_by_part(wgsl_lower *w, const operator_row *row, wgsl_value a, wgsl_value b,
                                 front_loc loc) {
    wgsl_value columns[4];
    for (unsigned i = 0; i < a.type->columns; i++) {
        columns[i] = plain(w, row, qn__wf_part(w, &a, i), qn__wf_part(w, &b, i), loc);
        if (qn__wf_is_error(&columns[i])) return failed;
    }
    return qn__wf_of_parts(w, a.type, columns, a.type->columns);
}

static wgsl_value binary_op(wgsl_lower *w, unsigned op, wgsl_value a, wgsl_value b, front_loc loc) {
    return qn__wf_binary(w, op, 0, a, b, loc);
}

/* The linear combination of the matrix's columns. */
static wgsl_value matrix_vector(wgsl_lower *w, const wgsl_value *m, const wgsl_value *v, front_loc loc) {
    wgsl_value sum = failed;
    for (unsigned i = 0; i < m->type->columns; i++) {
        wgsl_value term = binary_op(w, WGSL_T_STAR, qn__wf_part(w, m, i), qn__wf_lane(w, v, i), loc);
        sum = i ? binary_op(w, WGSL_T_PLUS, sum, term, loc) : term;
    }
    return sum;
}

static wgsl_value vector_matrix(wgsl_lower *w, const wgsl_value *v, const wgsl_value *m, front_loc loc) {
    wgsl_value lanes[4];
    for (unsigned i = 0; i < m->type->columns; i++) {
        const wgsl_value column = qn__wf_part(w, m, i), products = binary_op(w, WGSL_T_STAR, *v, column, loc);
        lanes[i] = qn__wf_lane(w, &products, 0);
        for (unsigned k = 1; k < m->type->lanes; k++)
            lanes[i] = binary_op(w, WGSL_T_PLUS, lanes[i], qn__wf_lane(w, &products, k), loc);
    }
    return qn__wf_gather(w, qn__wf_vector(w, v->type->element, m->type->columns), lanes);
}

wgsl_value qn__wf_multiply(wgsl_lower *w, wgsl_value a, wgsl_value b, front_loc loc) {
    const bool left = a.type->kind == WGSL_MATRIX, right = b.type->kind == WGSL_MATRIX;
    const wgsl_value *matrix = left ? &a : &b, *other = left ? &b : &a;
    wgsl_value columns[4];
    if (qn__wf_is_scalar(other->type)) {
        for (unsigned i = 0; i < matrix->type->columns; i++)
            columns[i] = binary_op(w, WGSL_T_STAR, qn__wf_part(w, matrix, i), *other, loc);
        return qn__wf_of_parts(w, matrix->type, columns, matrix->type->columns);
    }
    if (left && b.type->kind == WGSL_VECTOR && b.type->lanes == a.type->columns)
        return matrix_vector(w, &a, &b, loc);
    if (right && a.type->kind == WGSL_VECTOR && a.type->lanes == b.type->lanes)
        return vector_matrix(w, &a, &b, loc);
    if (!left || !right || a.type->columns != b.type->lanes) return mismatch(w, "*", &a, &b, loc);
    for (unsigned i = 0; i < b.type->columns; i++) {
        const wgsl_value column = qn__wf_part(w, &b, i);
        columns[i] = matrix_vector(w, &a, &column, loc);
    }
    const wgsl_type *type = qn__wf_matrix(w, qn__wf_scalar_of(a.type), b.type->columns, a.type->lanes);
    return qn__wf_of_parts(w, type, columns, b.type->columns);
}

/* ---- shifts ---- */

/* Of what is known: the amount is less than the width, and no bits that count are lost. */
static bool check_shift(wgsl_lower *w, bool left, const wgsl_value *a, const wgsl_value *b, front_loc loc) {
    const wgsl_type *scalar = qn__wf_scalar_of(a->type);
    const bool is_abstract = scalar->kind == WGSL_ABSTRACT_INT, is_text = w->call && !w->call->decl;
    const unsigned width = is_abstract ? 64 : 32;
    for (unsigned i = 0; b->bits && b->stage != WGSL_STAGE_RUN && i < qn__wf_lanes(b->type); i++) {
        if (b->bits[i] >= width) {
            qn__wf_error(w, loc, "a shift by %u is not less than the %u bits of the number",
                         (unsigned)b->bits[i], width);
            return false;
        }
        if (!left || !a->bits || a->stage == WGSL_STAGE_RUN || is_text) continue;
        const int64_t value = scalar->kind == WGSL_U32 ? (int64_t)a->bits[i] : signed_lane(a, i);
        const int64_t most = (is_abstract                ? INT64_MAX
                              : scalar->kind == WGSL_U32 ? (int64_t)UINT32_MAX
                                                         : (int64_t)INT32_MAX) >>
                             b->bits[i];
        if (value <= most && value >= -most - 1) continue;
        qn__wf_error(w, loc, "the number shifted by %u is too large for '%s'", (unsigned)b->bits[i],
                     qn__wf_type_name(w, scalar));
        return false;
    }
    return true;
}

static wgsl_value shift(wgsl_lower *w, bool left, wgsl_value a, wgsl_value b, front_loc loc) {
    const char *name = left ? "<<" : ">>";
    const wgsl_type *scalar = qn__wf_scalar_of(a.type),
                    *amounts = qn__wf_vector(w, w->scalars[WGSL_U32], qn__wf_lanes(b.type));
    if (!qn__wf_is_int(scalar) || qn__wf_lanes(a.type) != qn__wf_lanes(b.type) ||
        qn__wf_rank(b.type, amounts) < 0) {
        const wgsl_value error = mismatch(w, name, &a, &b, loc);
        if (qn__wf_is_int(scalar)) qn__wf_hint(w, "a shift's right side is u32");
        return error;
    }
    b = qn__wf_convert(w, b, amounts, loc, NULL);
    if (qn__wf_is_error(&b)) return b;
    if (b.stage == WGSL_STAGE_RUN) a = qn__wf_concrete(w, a, loc);
    if (qn__wf_is_error(&a)) return a;
    scalar = qn__wf_scalar_of(a.type);
    const bool is_abstract = scalar->kind == WGSL_ABSTRACT_INT;
    if (!check_shift(w, left, &a, &b, loc)) return failed;
    if (is_abstract) { /* of 64 bits both */
        wgsl_value wide = b;
        wide.type = a.type;
        return qn__wf_op2(w, left ? IR_SHL : IR_ASHR, a.type, a, wide);
    }
    return qn__wf_op2(w, left ? IR_SHL : scalar->kind == WGSL_U32 ? IR_LSHR : IR_ASHR, a.type, a, b);
}

/* ---- binary ---- */

/* Arithmetic of a vector and a scalar, which stands for a vector. */
static bool match_lanes(wgsl_lower *w, const operator_row *row, wgsl_value *a, wgsl_value *b) {
    const unsigned x = qn__wf_lanes(a->type), y = qn__wf_lanes(b->type);
    const bool may_splat = row->token == WGSL_T_PLUS || row->token == WGSL_T_MINUS ||
                           row->token == WGSL_T_STAR || row->token == WGSL_T_SLASH ||
                           row->token == WGSL_T_PERCENT;
    if (x == y) return true;
    if (!may_splat || (x > 1 && y > 1)) return false;
    *a = qn__wf_splat(w, *a, y);
    *b = qn__wf_splat(w, *b, x);
    return true;
}

static bool is_operand(const wgsl_value *v) {
    return v->form >= WGSL_FORM_VALUE && v->form <= WGSL_FORM_ZERO &&
           (qn__wf_is_value(v->type) || v->type->kind == WGSL_MATRIX);
}

wgsl_value qn__wf_binary(wgsl_lower *w, unsigned op, unsigned joined, wgsl_value a, wgsl_value b,
                         front_loc loc) {
    if (qn__wf_is_error(&a) || qn__wf_is_error(&b)) return failed;
    if (!is_operand(&a) || !is_operand(&b)) {
        const wgsl_value *wrong = is_operand(&a) ? &b : &a;
        return qn__wf_error(
            w, loc, "'%s' does not take %s%s%s", operator_name(op, joined), wrong->type ? "'" : "",
            wrong->type ? qn__wf_type_name(w, wrong->type)
            : w->expr   ? qn__arena_printf(w->arena, "what is no value: %s", qn__wf_quote(w, w->expr))
                        : "what is no value",
            wrong->type ? "'" : "");
    }
    if (op == WGSL_T_SHIFT_LEFT || joined == WGSL_T_GREATER)
        return shift(w, op == WGSL_T_SHIFT_LEFT, a, b, loc);
    const operator_row *row = find_operator(op, joined);
    const wgsl_value first = a, second = b;
    const bool has_matrix = a.type->kind == WGSL_MATRIX || b.type->kind == WGSL_MATRIX;
    if (!row || !unify(w, &a, &b, loc)) return mismatch(w, operator_name(op, joined), &first, &second, loc);
    if (qn__wf_is_error(&a) || qn__wf_is_error(&b)) return failed;
    if (has_matrix && op == WGSL_T_STAR) return qn__wf_multiply(w, a, b, loc);
    if (has_matrix) {
        if (a.type == b.type && (op == WGSL_T_PLUS || op == WGSL_T_MINUS))
            return matrix_by_part(w, row, a, b, loc);
        return mismatch(w, operator_name(op, joined), &first, &second, loc);
    }
    if (!match_lanes(w, row, &a, &b)) return mismatch(w, operator_name(op, joined), &first, &second, loc);
    return plain(w, row, a, b, loc);
}

/* ---- && and || ---- */

static wgsl_value as_bool(wgsl_lower *w, wgsl_value v, const char *name, front_loc loc) {
    if (qn__wf_is_error(&v) || (v.form == WGSL_FORM_VALUE && v.type->kind == WGSL_BOOL)) return v;
    return qn__wf_error(w, loc, "'%s' takes bool on both sides, not '%s'", name,
                        v.type ? qn__wf_type_name(w, v.type) : "nothing");
}

/* The right side runs only where the left one does not decide. */
static wgsl_value short_circuit(wgsl_lower *w, const wgsl_expr *e) {
    const bool is_and = e->op == WGSL_T_AND_AND;
    const char *name = is_and ? "&&" : "||";
    const wgsl_value a = as_bool(w, qn__wf_rvalue(w, e->a), name, e->loc);
    if (qn__wf_is_error(&a)) return a;
    if (a.bits && a.stage != WGSL_STAGE_RUN) {
        const bool decides = is_and != (a.bits[0] != 0);
        if (decides) w->unevaluated++;
        wgsl_value b = as_bool(w, qn__wf_rvalue(w, e->b), name, e->loc);
        if (decides) w->unevaluated--;
        if (decides && !qn__wf_is_error(&b)) return a;
        return b;
    }
    const ir_type type = qn__ir_type(IR_BOOL, 1);
    ir_instr *branch = qn__ir_if(&w->b, qn__wf_ir(w, &a), &type, 1);
    const ir_builder outer = w->b;
    qn__ir_at_end(&w->b, branch->regions[is_and ? 0 : 1]);
    const wgsl_value b = as_bool(w, qn__wf_rvalue(w, e->b), name, e->loc);
    ir_value *right = qn__wf_is_error(&b) ? qn__ir_const_bool(w->b.function, false) : qn__wf_ir(w, &b);
    qn__ir_yield(&w->b, &right, 1);
    qn__ir_at_end(&w->b, branch->regions[is_and ? 1 : 0]);
    ir_value *decided = qn__ir_const_bool(w->b.function, !is_and);
    qn__ir_yield(&w->b, &decided, 1);
    const front_loc loc = e->loc;
    w->b = outer;
    qn__wf_at(w, loc);
    if (qn__wf_is_error(&b)) return b;
    return qn__wf_of_ir(w->scalars[WGSL_BOOL], branch->results[0]);
}

/* ---- unary ---- */

static wgsl_value unary(wgsl_lower *w, const wgsl_expr *e) {
    const wgsl_value a = qn__wf_rvalue(w, e->a);
    if (qn__wf_is_error(&a)) return a;
    const wgsl_type *scalar = a.form == WGSL_FORM_VALUE ? qn__wf_scalar_of(a.type) : NULL;
    const bool is_matrix = a.type && a.type->kind == WGSL_MATRIX && e->op == WGSL_T_MINUS;
    const char *name = qn__wf_token_name((wgsl_token_kind)e->op);
    ir_op op = IR_OP_COUNT;
    if (is_matrix) {
        wgsl_value columns[4];
        for (unsigned i = 0; i < a.type->columns; i++) {
            const wgsl_value column = qn__wf_part(w, &a, i);
            columns[i] = qn__wf_op1(w, IR_FNEG, column.type, column);
        }
        return qn__wf_of_parts(w, a.type, columns, a.type->columns);
    }
    if (!scalar)
        return qn__wf_error(w, e->loc, "'%s' does not take '%s'", name,
                            a.type ? qn__wf_type_name(w, a.type) : "nothing");
    if (e->op == WGSL_T_NOT && scalar->kind == WGSL_BOOL) op = IR_NOT;
    if (e->op == WGSL_T_TILDE && qn__wf_is_int(scalar)) op = IR_NOT;
    if (e->op == WGSL_T_MINUS && qn__wf_is_float(scalar)) op = IR_FNEG;
    if (op != IR_OP_COUNT) return qn__wf_op1(w, op, a.type, a);
    if (e->op == WGSL_T_MINUS && qn__wf_is_int(scalar) && scalar->kind != WGSL_U32)
        return binary_op(w, WGSL_T_MINUS, qn__wf_known_splat(w, a.type, 0), a, e->loc);
    return qn__wf_error(w, e->loc, "'%s' does not take '%s'", name, qn__wf_type_name(w, a.type));
}

/* ---- pointers ---- */

static wgsl_value address(wgsl_lower *w, const wgsl_expr *e) {
    wgsl_value v = qn__wf_eval(w, e->a);
    if (qn__wf_is_error(&v)) return v;
    if (v.form != WGSL_FORM_PLACE)
        return qn__wf_error(w, e->loc, "%s: '&' takes a variable or a part of one", qn__wf_quote(w, e));
    if (v.place.is_lane)
        return qn__wf_error(w, e->loc, "%s: there are no pointers to a vector's components",
                            qn__wf_quote(w, e));
    v.form = WGSL_FORM_POINTER;
    return v;
}

static wgsl_value indirect(wgsl_lower *w, const wgsl_expr *e) {
    wgsl_value v = qn__wf_eval(w, e->a);
    if (qn__wf_is_error(&v)) return v;
    if (v.form != WGSL_FORM_POINTER) return qn__wf_error(w, e->loc, "'*' takes a pointer");
    v.form = WGSL_FORM_PLACE;
    return v;
}

/* Members and elements of what a pointer points to are reached without '*', too. */
static wgsl_value base_of(wgsl_lower *w, const wgsl_expr *e) {
    wgsl_value v = qn__wf_eval(w, e->a);
    if (v.form == WGSL_FORM_POINTER) v.form = WGSL_FORM_PLACE;
    if (qn__wf_is_error(&v) || (v.form >= WGSL_FORM_VALUE && v.form <= WGSL_FORM_COPY)) return v;
    return qn__wf_error(w, e->a->loc, "this is no value");
}

/* ---- all of them ---- */

static wgsl_value eval(wgsl_lower *w, const wgsl_expr *e) {
    wgsl_value a, b;
    switch (e->kind) {
    case WGSL_EXPR_NUMBER: return number(w, e);
    case WGSL_EXPR_BOOL: return qn__wf_known(w, w->scalars[WGSL_BOOL], &e->number);
    case WGSL_EXPR_NAME: return qn__wf_lookup(w, e);
    case WGSL_EXPR_CALL: return qn__wf_call_expr(w, e);
    case WGSL_EXPR_MEMBER: return qn__wf_member(w, base_of(w, e), e);
    case WGSL_EXPR_INDEX: a = base_of(w, e); return qn__wf_index(w, a, qn__wf_rvalue(w, e->b), e);
    case WGSL_EXPR_UNARY: return unary(w, e);
    case WGSL_EXPR_ADDRESS: return address(w, e);
    case WGSL_EXPR_INDIRECT: return indirect(w, e);
    default: break;
    }
    if (e->op == WGSL_T_AND_AND || e->op == WGSL_T_OR_OR) return short_circuit(w, e);
    a = qn__wf_rvalue(w, e->a);
    b = qn__wf_rvalue(w, e->b);
    qn__wf_at(w, e->loc);
    return qn__wf_binary(w, e->op, e->joined, a, b, e->loc);
}

wgsl_value qn__wf_eval(wgsl_lower *w, const wgsl_expr *e) {
    if (!e || !qn__wf_enter(w, e->loc)) return failed;
    const wgsl_expr *outer = w->expr;
    if (e->loc.line) w->expr = e; /* not of a built-in function's text */
    qn__wf_at(w, e->loc);
    const wgsl_value v = eval(w, e);
    w->expr = outer;
    w->depth--;
    return v;
}

wgsl_value qn__wf_rvalue(wgsl_lower *w, const wgsl_expr *e) {
    const wgsl_value v = qn__wf_eval(w, e);
    if (v.form == WGSL_FORM_TYPE || v.form == WGSL_FORM_FUNCTION || v.form == WGSL_FORM_BUILTIN) {
        const wgsl_value error =
            qn__wf_error(w, e->loc, "'%.*s' is %s, where a value is wanted", QN__STR_PRINTF(e->name),
                         v.form == WGSL_FORM_TYPE ? "a type" : "a function");
        if (v.form != WGSL_FORM_TYPE) qn__wf_hint(w, "call it: %.*s(...)", QN__STR_PRINTF(e->name));
        return error;
    }
    if (v.form == WGSL_FORM_PLACE && (v.type->has_atomic || v.type->has_runtime))
        return qn__wf_error(w, e->loc,
                            v.type->has_atomic ? "%s is an atomic, which atomicLoad reads"
                                               : "%s is an array without a length, which is no value",
                            qn__wf_quote(w, e));
    if (v.form == WGSL_FORM_PLACE && w->b.region == w->scratch->body)
        return qn__wf_error(w, e->loc, "%s is a variable, where a constant is wanted", qn__wf_quote(w, e));
    return qn__wf_load(w, v);
}

bool qn__wf_const_int(wgsl_lower *w, const wgsl_expr *e, wgsl_stage stage, const char *what, int64_t *value) {
    const wgsl_value v = qn__wf_rvalue(w, e);
    if (qn__wf_is_error(&v)) return false;
    const bool is_int = v.form == WGSL_FORM_VALUE && v.bits && qn__wf_is_int(v.type);
    if (!is_int || v.stage > stage) {
        qn__wf_error(w, e->loc, "%s must be an integer that is known %s; %s is not", what,
                     stage == WGSL_STAGE_CONST ? "when it is compiled" : "before it runs",
                     qn__wf_quote(w, e));
        return false;
    }
    *value = signed_lane(&v, 0);
    return true;
}
