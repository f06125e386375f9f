/* Constructors: T(...) makes a value of a type from its parts, or from one of another type (WGSL section 17.1). */
#include <string.h>

#include "wgsl/internal.h"

enum { MOST_LANES = 16 };

static const wgsl_value failed = {.form = WGSL_FORM_ERROR};

typedef struct arguments {
    wgsl_value *values;
    size_t count;
} arguments;

static bool evaluate(wgsl_lower *w, const wgsl_expr *e, arguments *args) {
    bool fine = true;
    args->count = e->args.len;
    args->values = QN__NEW_ARRAY(w->arena, wgsl_value, args->count + 1);
    for (size_t i = 0; i < args->count; i++) {
        args->values[i] = qn__wf_rvalue(w, e->args.data[i]);
        fine &= !qn__wf_is_error(&args->values[i]);
        if (args->values[i].form == WGSL_FORM_NONE || args->values[i].form == WGSL_FORM_POINTER) {
            qn__wf_error(w, e->args.data[i]->loc, "a constructor takes values");
            fine = false;
        }
    }
    qn__wf_at(w, e->loc);
    return fine;
}

static wgsl_value wrong(wgsl_lower *w, const wgsl_expr *e, const wgsl_type *type, const arguments *args) {
    qn__buf text;
    qn__buf_init(&text, w->arena);
    for (size_t i = 0; i < args->count && i < 8; i++)
        qn__buf_printf(&text, "%s%s", i ? ", " : "", qn__wf_type_name(w, args->values[i].type));
    return qn__wf_error(w, e->loc, "'%s' cannot be made of (%s%s)", qn__wf_type_name(w, type),
                        text.len ? text.data : "", args->count > 8 ? ", ..." : "");
}

static front_loc loc_of(const wgsl_expr *e, size_t index) { return e->args.data[index]->loc; }

/* ---- scalars and vectors ---- */

static wgsl_value scalar(wgsl_lower *w, const wgsl_expr *e, const wgsl_type *type, const arguments *args) {
    if (args->count != 1 || !qn__wf_is_scalar(args->values[0].type)) return wrong(w, e, type, args);
    return qn__wf_finite(w, qn__wf_cast(w, &args->values[0], type, e->loc), e->loc);
}

/* The lanes of all arguments one after another; their number, 0: some argument has none. */
static size_t spread(wgsl_lower *w, const arguments *args, wgsl_value lanes[MOST_LANES]) {
    size_t count = 0;
    for (size_t i = 0; i < args->count; i++) {
        const wgsl_value *v = &args->values[i];
        if (v->form != WGSL_FORM_VALUE) return 0;
        for (unsigned k = 0; k < qn__wf_lanes(v->type); k++) {
            if (count == MOST_LANES) return 0;
            lanes[count++] = qn__wf_lane(w, v, k);
        }
    }
    return count;
}

static wgsl_value vector(wgsl_lower *w, const wgsl_expr *e, const wgsl_type *type, const arguments *args) {
    wgsl_value lanes[MOST_LANES];
    const wgsl_value *first = args->values;
    if (args->count == 1 && first->type->kind == WGSL_VECTOR && first->type->lanes == type->lanes)
        return qn__wf_finite(w, qn__wf_cast(w, first, type, e->loc), e->loc);
    const size_t count = spread(w, args, lanes);
    const bool is_splat = args->count == 1 && count == 1;
    if (!is_splat && count != type->lanes) return wrong(w, e, type, args);
    for (size_t i = 0; i < count; i++) {
        if (qn__wf_rank(lanes[i].type, type->element) < 0) {
            const wgsl_value error = wrong(w, e, type, args);
            if (qn__wf_is_number(lanes[i].type))
                qn__wf_hint(w, "convert the numbers: %s(x)", qn__wf_type_name(w, type->element));
            return error;
        }
        lanes[i] = qn__wf_convert(w, lanes[i], type->element, e->loc, NULL);
    }
    return is_splat ? qn__wf_splat(w, lanes[0], type->lanes) : qn__wf_gather(w, type, lanes);
}

/* ---- matrices ---- */

static wgsl_value matrix(wgsl_lower *w, const wgsl_expr *e, const wgsl_type *type, const arguments *args) {
    wgsl_value columns[4], lanes[MOST_LANES];
    const wgsl_value *first = args->values;
    const bool is_matrix = args->count == 1 && first->type->kind == WGSL_MATRIX &&
                           first->type->columns == type->columns && first->type->lanes == type->lanes;
    for (unsigned i = 0; is_matrix && i < type->columns; i++) {
        const wgsl_value column = qn__wf_part(w, first, i);
        columns[i] = qn__wf_cast(w, &column, type->element, e->loc);
        if (qn__wf_is_error(&columns[i])) return failed;
    }
    if (is_matrix) return qn__wf_of_parts(w, type, columns, type->columns);
    const bool by_columns = args->count == type->columns && first->type->kind == WGSL_VECTOR;
    const size_t wanted = (size_t)type->columns * type->lanes;
    for (size_t i = 0; i < args->count; i++) {
        const wgsl_type *has = args->values[i].type;
        const bool fits =
            by_columns ? has->kind == WGSL_VECTOR && has->lanes == type->lanes : qn__wf_is_scalar(has);
        if (!fits || qn__wf_rank(qn__wf_scalar_of(has), type->element->element) < 0)
            return wrong(w, e, type, args);
    }
    if (spread(w, args, lanes) != wanted) return wrong(w, e, type, args);
    for (size_t i = 0; i < wanted; i++)
        lanes[i] = qn__wf_convert(w, lanes[i], type->element->element, e->loc, NULL);
    for (unsigned i = 0; i < type->columns; i++)
        columns[i] = qn__wf_gather(w, type->element, &lanes[i * type->lanes]);
    return qn__wf_of_parts(w, type, columns, type->columns);
}

/* ---- arrays and structs ---- */

static wgsl_value composite(wgsl_lower *w, const wgsl_expr *e, const wgsl_type *type, const arguments *args) {
    const uint64_t count = qn__wf_num_parts(type);
    if (args->count != count)
        return qn__wf_error(w, e->loc, "'%s' is made of %llu values; here are %zu", qn__wf_type_name(w, type),
                            (unsigned long long)count, args->count);
    for (size_t i = 0; i < count; i++) {
        const char *what = type->kind == WGSL_STRUCT ? qn__arena_printf(w->arena, "member '%.*s' of '%.*s'",
                                                                        QN__STR_PRINTF(type->members[i].name),
                                                                        QN__STR_PRINTF(type->name))
                                                     : "an element";
        args->values[i] = qn__wf_convert(w, args->values[i], qn__wf_part_type(type, i), loc_of(e, i), what);
        if (qn__wf_is_error(&args->values[i])) return failed;
    }
    return qn__wf_of_parts(w, type, args->values, count);
}

wgsl_value qn__wf_construct(wgsl_lower *w, const wgsl_expr *e, const wgsl_type *type) {
    arguments args;
    if (!evaluate(w, e, &args)) return failed;
    if (type->has_atomic || type->has_runtime || type->kind == WGSL_POINTER)
        return qn__wf_error(w, e->loc, "there are no values of type '%s'", qn__wf_type_name(w, type));
    if (!args.count) return qn__wf_zero(w, type);
    switch (type->kind) {
    case WGSL_VECTOR: return vector(w, e, type, &args);
    case WGSL_MATRIX: return matrix(w, e, type, &args);
    case WGSL_ARRAY:
    case WGSL_STRUCT: return composite(w, e, type, &args);
    default: return scalar(w, e, type, &args);
    }
}

/* ---- types that the arguments tell ---- */

static bool read_generator(qn__str name, unsigned *columns, unsigned *rows) {
    const bool is_matrix = name.len == 6 && qn__str_starts(name, "mat") && name.data[4] == 'x';
    if (!is_matrix && !(name.len == 4 && qn__str_starts(name, "vec"))) return false;
    *columns = is_matrix ? (unsigned)(name.data[3] - '0') : 1;
    *rows = (unsigned)(name.data[is_matrix ? 5 : 3] - '0');
    return *rows >= 2 && *rows <= 4 && (!is_matrix || (*columns >= 2 && *columns <= 4));
}

bool qn__wf_is_generator(qn__str name) {
    unsigned columns, rows;
    return qn__str_is(name, "array") || read_generator(name, &columns, &rows);
}

/* What all can be converted to, by themselves; of scalars alone where `scalars` is set. NULL: there is nothing. */
static const wgsl_type *common(const arguments *args, bool scalars) {
    const wgsl_type *type = NULL;
    for (size_t i = 0; i < args->count; i++) {
        const wgsl_type *other = scalars ? qn__wf_scalar_of(args->values[i].type) : args->values[i].type;
        if (!type || qn__wf_rank(type, other) >= 0)
            type = other;
        else if (qn__wf_rank(other, type) < 0)
            return NULL;
    }
    return type;
}

wgsl_value qn__wf_construct_inferred(wgsl_lower *w, const wgsl_expr *e) {
    arguments args;
    unsigned columns = 1, rows = 1;
    const bool is_array = !read_generator(e->name, &columns, &rows);
    if (!evaluate(w, e, &args)) return failed;
    const wgsl_type *element = common(&args, !is_array);
    if (!args.count && columns == 1 && !is_array) element = w->scalars[WGSL_ABSTRACT_INT];
    if (!element || !(is_array || qn__wf_is_scalar(element))) {
        const wgsl_value error =
            qn__wf_error(w, e->loc, "the arguments of '%.*s' tell no type", QN__STR_PRINTF(e->name));
        qn__wf_hint(w, "write the element's type: %.*s<...>(...)", QN__STR_PRINTF(e->name));
        return error;
    }
    if (!args.count) return qn__wf_zero(w, qn__wf_vector(w, element, rows));
    if (is_array) return composite(w, e, qn__wf_array(w, element, args.count), &args);
    if (columns == 1) return vector(w, e, qn__wf_vector(w, element, rows), &args);
    if (element->kind == WGSL_ABSTRACT_INT) element = w->scalars[WGSL_ABSTRACT_FLOAT];
    if (!qn__wf_is_float(element))
        return qn__wf_error(w, e->loc, "a matrix of '%s' is not possible", qn__wf_type_name(w, element));
    return matrix(w, e, qn__wf_matrix(w, element, columns, rows), &args);
}
