/* Values: what is known is computed at once, by the IR's own folding, the rest becomes instructions; and the conversions that
   WGSL makes by itself (section 6.1.2), which concern numbers that are known. */
#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "wgsl/internal.h"

/* ---- errors ---- */

wgsl_value qn__wf_error(wgsl_lower *w, front_loc loc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = qn__arena_vprintf(w->arena, format, args);
    va_end(args);
    qn__diag_error(w->diag, loc.line || !w->call ? loc : w->loc, "%s", text);
    return (wgsl_value){.form = WGSL_FORM_ERROR};
}

const char *qn__wf_quote(wgsl_lower *w, const wgsl_expr *e) {
    enum { MOST = 60 };
    const bool is_long = e->text.len > MOST;
    return qn__arena_printf(w->arena, "'%.*s%s'", is_long ? MOST : (int)e->text.len, e->text.data,
                            is_long ? "..." : "");
}

void qn__wf_hint(wgsl_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = qn__arena_vprintf(w->arena, format, args);
    va_end(args);
    qn__diag_hint(w->diag, "%s", text);
}

/* ---- making ---- */

static uint64_t lane_mask(const wgsl_type *type) {
    const unsigned bits = qn__ir_bits(qn__wf_ir_type(type));
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

wgsl_value qn__wf_known(wgsl_lower *w, const wgsl_type *type, const uint64_t *bits) {
    const unsigned lanes = qn__wf_lanes(type);
    const uint64_t mask = lane_mask(type);
    uint64_t cut[4];
    for (unsigned i = 0; i < lanes; i++) cut[i] = bits[i] & mask;
    return (wgsl_value){
        .form = WGSL_FORM_VALUE, .type = type, .bits = qn__arena_copy(w->arena, cut, lanes * sizeof *cut)};
}

wgsl_value qn__wf_known_splat(wgsl_lower *w, const wgsl_type *type, uint64_t bits) {
    const uint64_t lanes[4] = {bits, bits, bits, bits};
    return qn__wf_known(w, type, lanes);
}

wgsl_value qn__wf_of_ir(const wgsl_type *type, ir_value *ir) {
    return (wgsl_value){.form = WGSL_FORM_VALUE, .stage = WGSL_STAGE_RUN, .type = type, .ir = ir};
}

wgsl_value qn__wf_zero(wgsl_lower *w, const wgsl_type *type) {
    if (qn__wf_is_value(type)) return qn__wf_known_splat(w, type, 0);
    return (wgsl_value){.form = WGSL_FORM_ZERO, .type = type};
}

wgsl_value qn__wf_of_parts(wgsl_lower *w, const wgsl_type *type, const wgsl_value *parts, uint64_t count) {
    wgsl_value v = {.form = WGSL_FORM_PARTS, .type = type};
    v.parts = qn__arena_copy(w->arena, parts, (size_t)count * sizeof *parts);
    for (uint64_t i = 0; i < count; i++)
        if (parts[i].stage > v.stage) v.stage = parts[i].stage;
    return v;
}

wgsl_value qn__wf_part(wgsl_lower *w, const wgsl_value *v, uint64_t index) {
    if (v->form == WGSL_FORM_PARTS) return v->parts[index];
    wgsl_value part = v->form == WGSL_FORM_ZERO ? qn__wf_zero(w, qn__wf_part_type(v->type, index))
                                                : qn__wf_load(w, qn__wf_place_part(w, v, index));
    part.stage = v->stage;
    return part;
}

/* ---- as the IR has them ---- */

ir_value *qn__wf_ir(wgsl_lower *w, const wgsl_value *v) {
    if (v->form != WGSL_FORM_VALUE) return qn__ir_undef(w->b.function, qn__ir_type(IR_I32, 1));
    if (v->bits) return qn__ir_const(w->b.function, qn__wf_ir_type(v->type), v->bits);
    return v->ir;
}

wgsl_value qn__wf_at_run_time(wgsl_lower *w, wgsl_value v) {
    v.stage = WGSL_STAGE_RUN;
    if (v.form == WGSL_FORM_VALUE) {
        v.ir = qn__wf_ir(w, &v);
        v.bits = NULL;
    } else if (v.form == WGSL_FORM_PARTS) {
        const uint64_t count = qn__wf_num_parts(v.type);
        v.parts = qn__arena_copy(w->arena, v.parts, (size_t)count * sizeof *v.parts);
        for (uint64_t i = 0; i < count; i++) v.parts[i] = qn__wf_at_run_time(w, v.parts[i]);
    }
    return v;
}

static const qn__float_format *format_of(const wgsl_type *scalar) {
    return scalar->kind == WGSL_F32   ? &qn__float_32
           : scalar->kind == WGSL_F16 ? &qn__float_16
                                      : &qn__float_64;
}

uint64_t qn__wf_float_bits(const wgsl_type *scalar, double value) {
    return qn__float_from_double(format_of(scalar), value);
}

double qn__wf_number(const wgsl_value *v, unsigned lane) {
    return qn__float_to_double(format_of(qn__wf_scalar_of(v->type)), v->bits[lane]);
}

/* ---- ops ---- */

static bool are_known(const wgsl_value *args, unsigned count, uint8_t *stage) {
    bool known = true;
    for (unsigned i = 0; i < count; i++) {
        known &= args[i].bits != NULL;
        if (args[i].stage > *stage) *stage = args[i].stage;
    }
    return known;
}

wgsl_value qn__wf_op(wgsl_lower *w, ir_op op, const wgsl_type *result, const wgsl_value *args,
                     unsigned count) {
    uint8_t stage = 0;
    for (unsigned i = 0; i < count; i++)
        if (args[i].form != WGSL_FORM_VALUE) return (wgsl_value){.form = WGSL_FORM_ERROR};
    const ir_type from = qn__wf_ir_type(args[0].type), to = qn__wf_ir_type(result);
    if (are_known(args, count, &stage) && qn__ir_ops[op].foldable) {
        uint64_t made[4];
        for (unsigned lane = 0; lane < to.lanes; lane++) {
            uint64_t operands[3] = {0};
            for (unsigned i = 0; i < count; i++) operands[i] = args[i].bits[lane];
            made[lane] = qn__fold_number(op, (ir_kind)from.kind, (ir_kind)to.kind, operands);
        }
        wgsl_value v = qn__wf_known(w, result, made);
        v.stage = stage;
        return v;
    }
    ir_value *operands[3];
    for (unsigned i = 0; i < count; i++) operands[i] = qn__wf_ir(w, &args[i]);
    return qn__wf_of_ir(result, qn__ir_emit(&w->b, op, operands, count, &to, 1)->results[0]);
}

wgsl_value qn__wf_op1(wgsl_lower *w, ir_op op, const wgsl_type *result, wgsl_value a) {
    return qn__wf_op(w, op, result, &a, 1);
}

wgsl_value qn__wf_op2(wgsl_lower *w, ir_op op, const wgsl_type *result, wgsl_value a, wgsl_value b) {
    const wgsl_value args[] = {a, b};
    return qn__wf_op(w, op, result, args, 2);
}

wgsl_value qn__wf_lane(wgsl_lower *w, const wgsl_value *vector, unsigned lane) {
    if (vector->form != WGSL_FORM_VALUE || vector->type->kind != WGSL_VECTOR) return *vector;
    wgsl_value v;
    if (vector->bits)
        v = qn__wf_known(w, vector->type->element, &vector->bits[lane]);
    else if (vector->ir->def && vector->ir->value_kind == IR_VALUE_RESULT && vector->ir->def->op == IR_VECTOR)
        v = qn__wf_of_ir(vector->type->element, vector->ir->def->operands[lane]);
    else
        v = qn__wf_of_ir(vector->type->element, qn__ir_extract(&w->b, vector->ir, lane));
    v.stage = vector->stage;
    return v;
}

wgsl_value qn__wf_gather(wgsl_lower *w, const wgsl_type *vector, const wgsl_value *lanes) {
    const unsigned count = qn__wf_lanes(vector);
    uint8_t stage = 0;
    uint64_t bits[4];
    ir_value *values[4];
    for (unsigned i = 0; i < count; i++)
        if (lanes[i].form != WGSL_FORM_VALUE) return (wgsl_value){.form = WGSL_FORM_ERROR};
    if (are_known(lanes, count, &stage)) {
        for (unsigned i = 0; i < count; i++) bits[i] = lanes[i].bits[0];
        wgsl_value v = qn__wf_known(w, vector, bits);
        v.stage = stage;
        return v;
    }
    for (unsigned i = 0; i < count; i++) values[i] = qn__wf_ir(w, &lanes[i]);
    return qn__wf_of_ir(vector, qn__ir_vector(&w->b, values, count));
}

wgsl_value qn__wf_splat(wgsl_lower *w, wgsl_value v, unsigned lanes) {
    if (lanes == 1 || v.form != WGSL_FORM_VALUE || v.type->kind == WGSL_VECTOR) return v;
    const wgsl_type *type = qn__wf_vector(w, v.type, lanes);
    wgsl_value made = v.bits ? qn__wf_known_splat(w, type, v.bits[0])
                             : qn__wf_of_ir(type, qn__ir_splat(&w->b, v.ir, lanes));
    made.stage = v.stage;
    return made;
}

wgsl_value qn__wf_shuffle(wgsl_lower *w, const wgsl_value *v, const uint8_t *lanes, unsigned count) {
    if (count == 1) return qn__wf_lane(w, v, lanes[0]);
    const wgsl_type *type = qn__wf_vector(w, v->type->element, count);
    if (!v->bits) return qn__wf_of_ir(type, qn__ir_shuffle(&w->b, v->ir, v->ir, lanes, count));
    uint64_t bits[4];
    for (unsigned i = 0; i < count; i++) bits[i] = v->bits[lanes[i]];
    wgsl_value made = qn__wf_known(w, type, bits);
    made.stage = v->stage;
    return made;
}

/* `condition` has the lanes of the values, or one. */
wgsl_value qn__wf_select(wgsl_lower *w, wgsl_value condition, wgsl_value a, wgsl_value b) {
    const wgsl_value args[] = {condition, a, b};
    uint8_t stage = 0;
    for (unsigned i = 0; i < 3; i++)
        if (args[i].form != WGSL_FORM_VALUE) return (wgsl_value){.form = WGSL_FORM_ERROR};
    if (!are_known(args, 3, &stage))
        return qn__wf_of_ir(
            a.type, qn__ir_select(&w->b, qn__wf_ir(w, &condition), qn__wf_ir(w, &a), qn__wf_ir(w, &b)));
    uint64_t bits[4];
    for (unsigned i = 0; i < qn__wf_lanes(a.type); i++)
        bits[i] = condition.bits[condition.type->kind == WGSL_VECTOR ? i : 0] ? a.bits[i] : b.bits[i];
    wgsl_value v = qn__wf_known(w, a.type, bits);
    v.stage = stage;
    return v;
}

/* ---- casts ---- */

/* How numbers of one kind become those of another; RESULT NE: not zero. */
static ir_op cast_op(const wgsl_type *from, const wgsl_type *to) {
    const bool to_float = qn__wf_is_float(to), from_float = qn__wf_is_float(from);
    if (to->kind == WGSL_BOOL) return from_float ? IR_FNE : IR_NE;
    if (from->kind == WGSL_BOOL) return to_float ? IR_U2F : IR_ZEXT;
    if (from_float && to_float) return IR_FCONVERT;
    if (from_float) return to->kind == WGSL_U32 ? IR_F2U : IR_F2S;
    if (to_float) return from->kind == WGSL_U32 ? IR_U2F : IR_S2F;
    return from->size > to->size   ? IR_TRUNC
           : to->size > from->size ? (from->kind == WGSL_U32 ? IR_ZEXT : IR_SEXT)
                                   : IR_OP_COUNT;
}

wgsl_value qn__wf_cast(wgsl_lower *w, const wgsl_value *v, const wgsl_type *to, front_loc loc) {
    const wgsl_type *from = qn__wf_scalar_of(v->type), *scalar = qn__wf_scalar_of(to);
    if (v->form != WGSL_FORM_VALUE || from == scalar) return *v;
    if (qn__wf_is_abstract(from) && !qn__wf_is_abstract(to) && scalar->kind != WGSL_BOOL &&
        qn__wf_rank(from, scalar) >= 0)
        return qn__wf_convert(w, *v, to, loc, NULL);
    const ir_op op = cast_op(from, scalar);
    if (op == IR_EQ || op == IR_NE || op == IR_FNE) {
        wgsl_value zero = qn__wf_known_splat(w, v->type, 0);
        return qn__wf_op2(w, op, to, *v, zero);
    }
    wgsl_value made = *v;
    made.type = to;
    if (op == IR_OP_COUNT) return made;
    const ir_type type = qn__wf_ir_type(to);
    const ir_rounding rounding = op == IR_F2S || op == IR_F2U ? IR_ROUND_ZERO : IR_ROUND_EVEN;
    if (v->bits) {
        uint64_t bits[4];
        const ir_kind kind = (ir_kind)qn__wf_ir_type(from).kind;
        for (unsigned i = 0; i < type.lanes; i++)
            bits[i] = qn__fold_convert(op, kind, (ir_kind)type.kind, rounding, v->bits[i]);
        made = qn__wf_known(w, to, bits);
        made.stage = v->stage;
        return made;
    }
    made.ir = qn__ir_convert(&w->b, op, v->ir, type);
    if (made.ir->def && qn__ir_has(op, IR_ATTR_ROUNDING)) made.ir->def->attr.rounding = (uint8_t)rounding;
    return made;
}

/* ---- conversions that WGSL makes by itself ---- */

static int scalar_rank(unsigned from, unsigned to) {
    static const struct {
        uint8_t from, to;
    } rows[] = {{WGSL_ABSTRACT_FLOAT, WGSL_F32},
                {WGSL_ABSTRACT_FLOAT, WGSL_F16},
                {WGSL_ABSTRACT_INT, WGSL_I32},
                {WGSL_ABSTRACT_INT, WGSL_U32},
                {WGSL_ABSTRACT_INT, WGSL_ABSTRACT_FLOAT},
                {WGSL_ABSTRACT_INT, WGSL_F32},
                {WGSL_ABSTRACT_INT, WGSL_F16}};
    if (from == to) return 0;
    for (size_t i = 0; i < QN__COUNT(rows); i++)
        if (rows[i].from == from && rows[i].to == to) return (int)i + 1;
    return -1;
}

int qn__wf_rank(const wgsl_type *from, const wgsl_type *to) {
    if (from == to) return 0;
    if (from->kind <= WGSL_LAST_SCALAR) return scalar_rank(from->kind, to->kind);
    if (from->kind == WGSL_STRUCT && to->kind == WGSL_STRUCT)
        return qn__wf_is_abstract(from) && qn__str_equal(from->name, to->name)
                   ? qn__wf_rank(from->members[0].type, to->members[0].type)
                   : -1;
    const bool same_shape = from->kind == to->kind && from->lanes == to->lanes &&
                            from->columns == to->columns && from->length == to->length;
    const bool has_shape = from->kind == WGSL_VECTOR || from->kind == WGSL_MATRIX || from->kind == WGSL_ARRAY;
    return same_shape && has_shape ? qn__wf_rank(from->element, to->element) : -1;
}

/* Of a known abstract number: its bits as `to`; false: it does not fit. */
static bool convert_lane(const wgsl_type *from, const wgsl_type *to, uint64_t bits, uint64_t *made) {
    if (qn__wf_is_int(to)) {
        const int64_t value = (int64_t)bits;
        *made = bits;
        return to->kind == WGSL_ABSTRACT_INT ||
               (to->kind == WGSL_U32 ? value >= 0 && value <= UINT32_MAX
                                     : value >= INT32_MIN && value <= INT32_MAX);
    }
    const qn__float_format *format = format_of(to);
    *made = qn__wf_is_int(from) ? qn__float_from_integer(64, true, format, QN__ROUND_EVEN, bits)
                                : qn__float_convert(&qn__float_64, format, QN__ROUND_EVEN, bits);
    return isfinite(qn__float_to_double(format, *made));
}

static wgsl_value does_not_fit(wgsl_lower *w, const wgsl_value *v, unsigned lane, const wgsl_type *to,
                               front_loc loc) {
    const char *name = qn__wf_type_name(w, to);
    if (qn__wf_is_int(qn__wf_scalar_of(v->type)))
        return qn__wf_error(w, loc, "the value %lld cannot be represented as '%s'", (long long)v->bits[lane],
                            name);
    return qn__wf_error(w, loc, "the value %g cannot be represented as '%s'", qn__wf_number(v, lane), name);
}

wgsl_value qn__wf_convert(wgsl_lower *w, wgsl_value v, const wgsl_type *to, front_loc loc, const char *what) {
    if (v.form == WGSL_FORM_ERROR || v.type == to) return v;
    if (v.form == WGSL_FORM_NONE || v.form > WGSL_FORM_COPY || qn__wf_rank(v.type, to) < 0) {
        const char *from = v.form == WGSL_FORM_NONE      ? "nothing"
                           : v.form <= WGSL_FORM_COPY    ? qn__wf_type_name(w, v.type)
                           : v.form == WGSL_FORM_POINTER ? "a pointer"
                                                         : "no value";
        return qn__wf_error(w, loc, "%s is '%s', where '%s' is wanted", what ? what : "the value", from,
                            qn__wf_type_name(w, to));
    }
    if (v.form == WGSL_FORM_ZERO) {
        wgsl_value zero = qn__wf_zero(w, to);
        zero.stage = v.stage;
        return zero;
    }
    if (v.form == WGSL_FORM_VALUE) {
        const wgsl_type *from = qn__wf_scalar_of(v.type), *scalar = qn__wf_scalar_of(to);
        uint64_t bits[4];
        for (unsigned i = 0; i < qn__wf_lanes(to); i++)
            if (!convert_lane(from, scalar, v.bits[i], &bits[i])) return does_not_fit(w, &v, i, scalar, loc);
        wgsl_value made = qn__wf_known(w, to, bits);
        made.stage = v.stage;
        return made;
    }
    const uint64_t count = qn__wf_num_parts(v.type);
    wgsl_value *parts = QN__NEW_ARRAY(w->arena, wgsl_value, count + 1);
    for (uint64_t i = 0; i < count; i++) {
        parts[i] = qn__wf_convert(w, v.parts[i], qn__wf_part_type(to, i), loc, what);
        if (qn__wf_is_error(&parts[i])) return parts[i];
    }
    return qn__wf_of_parts(w, to, parts, count);
}

/* What a built-in function of two results gives for known arguments, as it is for others. */
static const wgsl_type *concrete_pair(wgsl_lower *w, const wgsl_type *type) {
    const char *const names[] = {type->members[0].name.data, type->members[1].name.data};
    const wgsl_type *const types[] = {qn__wf_concrete_type(w, type->members[0].type),
                                      qn__wf_concrete_type(w, type->members[1].type)};
    return qn__wf_result_struct(w, type->name.data, names, types, 2);
}

const wgsl_type *qn__wf_concrete_type(wgsl_lower *w, const wgsl_type *type) {
    if (!qn__wf_is_abstract(type)) return type;
    switch (type->kind) {
    case WGSL_ABSTRACT_INT: return w->scalars[WGSL_I32];
    case WGSL_ABSTRACT_FLOAT: return w->scalars[WGSL_F32];
    case WGSL_VECTOR: return qn__wf_vector(w, qn__wf_concrete_type(w, type->element), type->lanes);
    case WGSL_MATRIX: return qn__wf_matrix(w, w->scalars[WGSL_F32], type->columns, type->lanes);
    case WGSL_STRUCT: return concrete_pair(w, type);
    default: return qn__wf_array(w, qn__wf_concrete_type(w, type->element), type->length);
    }
}

wgsl_value qn__wf_concrete(wgsl_lower *w, wgsl_value v, front_loc loc) {
    if (v.form < WGSL_FORM_VALUE || v.form > WGSL_FORM_COPY) return v;
    return qn__wf_convert(w, v, qn__wf_concrete_type(w, v.type), loc, NULL);
}

wgsl_value qn__wf_finite(wgsl_lower *w, wgsl_value v, front_loc loc) {
    const bool is_float = v.form == WGSL_FORM_VALUE && v.bits && qn__wf_is_float(qn__wf_scalar_of(v.type));
    for (unsigned i = 0; !w->unevaluated && is_float && i < qn__wf_lanes(v.type); i++)
        if (!isfinite(qn__wf_number(&v, i)))
            return qn__wf_error(w, loc, "the result of %s is too large, or no number, as '%s'",
                                w->expr ? qn__wf_quote(w, w->expr) : "this", qn__wf_type_name(w, v.type));
    return v;
}
