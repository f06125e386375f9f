/* Built-in functions: which row of builtins.def a call means, and those that are an op, a function of the library, or an
   expression in the language's own text. */
#include <math.h>
#include <string.h>

#include "wgsl/internal.h"
#include "wgsl/special.h"

static double inverse_root(double x) { return 1 / sqrt(x); }

enum { NONE = IR_OP_COUNT, IR_NONE = IR_OP_COUNT, MOST_ARGS = 4 };

static const wgsl_builtin rows[] = {
#define OP(name, signature, f, s, u) {name, signature, IR_##f, IR_##s, IR_##u, NULL, NULL, NULL, NULL, 0},
#define LIB(name, signature, function, known)                                                                \
    {name, signature, NONE, NONE, NONE, function, NULL, known, NULL, 0},
#define LIB2(name, signature, function, known)                                                               \
    {name, signature, NONE, NONE, NONE, function, NULL, NULL, known, 0},
#define EXPR(name, signature, text) {name, signature, NONE, NONE, NONE, text, NULL, NULL, NULL, 0},
#define SPECIAL(name, signature, function, variant)                                                          \
    {name, signature, NONE, NONE, NONE, NULL, qn__wf_##function, NULL, NULL, variant},
#include "wgsl/builtins.def"
};

static const wgsl_value failed = {.form = WGSL_FORM_ERROR};

_Static_assert(QN__COUNT(rows) <= WGSL_MOST_BUILTINS, "room for the texts that were read");

static const wgsl_builtin *find_row(qn__str name) {
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        const bool is_prefix = rows[i].special == qn__wf_refused;
        if (is_prefix ? qn__str_starts(name, rows[i].name) : qn__str_is(name, rows[i].name)) return &rows[i];
    }
    return NULL;
}

/* Names that were met are kept with their rows. */
const wgsl_builtin *qn__wf_builtin(wgsl_lower *w, qn__str name) {
    const wgsl_builtin *row = qn__map_get(&w->builtins, name);
    if (row || qn__map_has(&w->builtins, name)) return row;
    row = find_row(name);
    qn__map_set(w->arena, &w->builtins, name, (void *)row);
    return row;
}

wgsl_value qn__wf_refused(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                          const wgsl_expr *e) {
    (void)args, (void)count;
    return qn__wf_error(w, e->loc,
                        row->variant ? "'%.*s' is for fragment shaders; quern has compute shaders only"
                                     : "'%.*s': quern has no textures and no samplers",
                        QN__STR_PRINTF(e->name));
}

/* ---- signatures ---- */

typedef struct matching {
    const char *class; /* of the signature: its letter, then the lanes */
    const char *parameters;
    const wgsl_type *scalar; /* of T; NULL: none yet */
    unsigned lanes;          /* of T; 0: none yet */
    const wgsl_type *matrix; /* T is one */
    const wgsl_type *generic;
} matching;

static const wgsl_type *fixed_type(wgsl_lower *w, char letter) {
    switch (letter) {
    case 'b': return w->scalars[WGSL_BOOL];
    case 'e': return w->scalars[WGSL_I32];
    case 'u': return w->scalars[WGSL_U32];
    case 'f': return w->scalars[WGSL_F32];
    case 'q': return qn__wf_vector(w, w->scalars[WGSL_F32], 2);
    case 'p': return qn__wf_vector(w, w->scalars[WGSL_F32], 4);
    case 'x': return qn__wf_vector(w, w->scalars[WGSL_I32], 4);
    case 'y': return qn__wf_vector(w, w->scalars[WGSL_U32], 4);
    default: return NULL;
    }
}

static const wgsl_type *parameter_type(wgsl_lower *w, const matching *m, char letter) {
    switch (letter) {
    case 'T': return m->generic;
    case 'S': return m->scalar;
    case 'B': return qn__wf_vector(w, w->scalars[WGSL_BOOL], m->lanes);
    case 'I': return qn__wf_vector(w, w->scalars[WGSL_I32], m->lanes);
    case 'U': return qn__wf_vector(w, w->scalars[WGSL_U32], m->lanes);
    default: return fixed_type(w, letter);
    }
}

/* T from an argument. */
static bool join(matching *m, const wgsl_value *v, bool is_generic) {
    if (v->form < WGSL_FORM_VALUE || v->form > WGSL_FORM_ZERO) return false;
    const wgsl_type *type = v->type, *scalar = qn__wf_scalar_of(type);
    if (type->kind == WGSL_MATRIX) {
        m->matrix = type;
    } else if (!qn__wf_is_value(type)) {
        return false;
    }
    const unsigned lanes = qn__wf_lanes(type);
    if (is_generic && m->lanes && m->lanes != lanes) return false;
    if (!is_generic && lanes != 1) return false;
    if (is_generic) m->lanes = lanes;
    if (!m->scalar || qn__wf_rank(m->scalar, scalar) >= 0)
        m->scalar = scalar;
    else if (qn__wf_rank(scalar, m->scalar) < 0)
        return false;
    return true;
}

/* The scalar as the class wants it; NULL: it is not in it. */
static const wgsl_type *in_class(wgsl_lower *w, char class, const wgsl_type *scalar) {
    const unsigned kind = scalar->kind;
    const bool is_abstract_int = kind == WGSL_ABSTRACT_INT;
    switch (class) {
    case 'f':
        return is_abstract_int ? w->scalars[WGSL_ABSTRACT_FLOAT] : qn__wf_is_float(scalar) ? scalar : NULL;
    case 'j': return kind == WGSL_I32 || is_abstract_int ? scalar : NULL;
    case 'u': return kind == WGSL_U32 ? scalar : NULL;
    case 'i': return is_abstract_int ? w->scalars[WGSL_I32] : qn__wf_is_int(scalar) ? scalar : NULL;
    case 'n': return kind != WGSL_BOOL ? scalar : NULL;
    case 'b': return kind == WGSL_BOOL ? scalar : NULL;
    default: return scalar;
    }
}

static bool fits_lanes(const matching *m) {
    const char wanted = m->class[1];
    if (wanted == 'm') {
        const char size = m->class[2];
        return m->matrix &&
               (size == ':' || (m->matrix->columns == size - '0' && m->matrix->lanes == size - '0'));
    }
    if (m->matrix) return false;
    if (wanted == 's') return m->lanes == 1;
    if (wanted == 'v') return m->lanes > 1;
    return wanted == ':' || m->lanes == (unsigned)(wanted - '0');
}

static bool match(wgsl_lower *w, const wgsl_builtin *row, const wgsl_value *args, size_t count, matching *m) {
    *m = (matching){.class = row->signature, .parameters = strchr(row->signature, ':') + 1};
    if (count != strlen(m->parameters)) return false;
    for (size_t i = 0; i < count; i++) {
        const char letter = m->parameters[i];
        if ((letter == 'T' || letter == 'S') && !join(m, &args[i], letter == 'T')) return false;
    }
    if (*m->class != '-') {
        if (!m->scalar || !fits_lanes(m)) return false;
        m->scalar = in_class(w, *m->class, m->scalar);
        if (!m->scalar) return false;
        m->generic = m->matrix ? qn__wf_matrix(w, m->scalar, m->matrix->columns, m->matrix->lanes)
                               : qn__wf_vector(w, m->scalar, m->lanes);
    }
    for (size_t i = 0; i < count; i++) {
        const wgsl_type *type = parameter_type(w, m, m->parameters[i]);
        const bool is_pointer = m->parameters[i] == '*',
                   is_value = args[i].form >= WGSL_FORM_VALUE && args[i].form <= WGSL_FORM_COPY;
        if (is_pointer ? args[i].form != WGSL_FORM_POINTER : !is_value) return false;
        if (type && qn__wf_rank(args[i].type, type) < 0) return false;
    }
    return true;
}

static const char *letter_name(char letter) {
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'T', "T"},         {'S', "scalar of T"}, {'B', "bool as T"}, {'I', "i32 as T"},
                 {'U', "u32 as T"},  {'b', "bool"},        {'e', "i32"},       {'u', "u32"},
                 {'f', "f32"},       {'q', "vec2<f32>"},   {'p', "vec4<f32>"}, {'x', "vec4<i32>"},
                 {'y', "vec4<u32>"}, {'*', "pointer"},     {'?', "value"}};
    for (size_t i = 0; i < QN__COUNT(names); i++)
        if (names[i].letter == letter) return names[i].name;
    return "?";
}

static const char *class_name(char class) {
    switch (class) {
    case 'f': return "floats";
    case 'j':
    case 'u':
    case 'i': return "integers";
    case 'n': return "numbers";
    case 'b': return "bool";
    default: return "numbers or bool";
    }
}

static wgsl_value no_match(wgsl_lower *w, const wgsl_builtin *row, const wgsl_value *args,
                           const wgsl_expr *e) {
    qn__buf given, form;
    qn__buf_init(&given, w->arena);
    qn__buf_init(&form, w->arena);
    qn__buf_puts(&given, "");
    qn__buf_puts(&form, "");
    for (size_t i = 0; i < e->args.len && i < 8; i++) {
        const bool is_value = args[i].form >= WGSL_FORM_VALUE && args[i].form <= WGSL_FORM_COPY;
        qn__buf_printf(&given, "%s%s", i ? ", " : "",
                       is_value                            ? qn__wf_type_name(w, args[i].type)
                       : args[i].form == WGSL_FORM_POINTER ? "a pointer"
                                                           : "nothing");
    }
    const char *parameters = strchr(row->signature, ':') + 1;
    for (const char *p = parameters; *p; p++)
        qn__buf_printf(&form, "%s%s", p > parameters ? ", " : "", letter_name(*p));
    const wgsl_value error = qn__wf_error(w, e->loc, "'%s' does not take (%s)", row->name, given.data);
    const char class = *row->signature, lanes = row->signature[1];
    if (class == '-')
        qn__wf_hint(w, "it is %s(%s)", row->name, form.data);
    else
        qn__wf_hint(w, "it is %s(%s), T a %s of %s", row->name, form.data,
                    lanes == 'm'   ? "matrix"
                    : lanes == 's' ? "scalar"
                    : lanes == ':' ? "scalar or vector"
                                   : "vector",
                    class_name(class));
    return error;
}

/* ---- kinds of rows ---- */

static wgsl_value op_row(wgsl_lower *w, const wgsl_builtin *row, const matching *m, const wgsl_value *args,
                         unsigned count) {
    const unsigned kind = m->scalar->kind;
    const ir_op op = (ir_op)(qn__wf_is_float(m->scalar) ? row->on_float
                             : kind == WGSL_U32         ? row->on_unsigned
                                                        : row->on_signed);
    const wgsl_value v = qn__wf_op(w, op, m->generic, args, count);
    return v.stage == WGSL_STAGE_RUN ? v : qn__wf_finite(w, v, w->loc);
}

wgsl_value qn__wf_library_call(wgsl_lower *w, const char *name, const wgsl_value *args, unsigned count) {
    const unsigned lanes = qn__wf_lanes(args[0].type);
    lower_library_kind kinds[MOST_ARGS];
    wgsl_value made[4];
    for (unsigned i = 0; i < count; i++) {
        const unsigned kind = qn__wf_scalar_of(args[i].type)->kind;
        kinds[i] = kind == WGSL_F16   ? LOWER_LIBRARY_HALF
                   : kind == WGSL_F32 ? LOWER_LIBRARY_FLOAT
                                      : LOWER_LIBRARY_INT;
    }
    ir_function *function = qn__lower_library_function(w->library, name, kinds, count);
    if (!function) return qn__wf_error(w, w->loc, "'%s' is missing in the library", name);
    const bool is_float = qn__ir_is_float(function->result);
    const wgsl_type *scalar = is_float ? qn__wf_scalar_of(args[0].type) : w->scalars[WGSL_I32];
    for (unsigned lane = 0; lane < lanes; lane++) {
        ir_value *operands[MOST_ARGS];
        for (unsigned i = 0; i < count; i++) {
            const wgsl_value v = qn__wf_lane(w, &args[i], lane);
            operands[i] = qn__wf_ir(w, &v);
        }
        ir_instr *call = qn__ir_emit(&w->b, IR_CALL, operands, count, &function->result, 1);
        call->attr.callee = function;
        made[lane] = qn__wf_of_ir(scalar, call->results[0]);
    }
    return qn__wf_gather(w, qn__wf_vector(w, scalar, lanes), made);
}

static wgsl_value library_row(wgsl_lower *w, const wgsl_builtin *row, const wgsl_value *args,
                              unsigned count) {
    bool known = true;
    uint8_t stage = 0;
    for (unsigned i = 0; i < count; i++) {
        known &= args[i].bits && args[i].stage != WGSL_STAGE_RUN;
        if (args[i].stage > stage) stage = args[i].stage;
    }
    if (!known) return qn__wf_library_call(w, row->text, args, count);
    uint64_t bits[4];
    const wgsl_type *type = args[0].type;
    for (unsigned i = 0; i < qn__wf_lanes(type); i++) {
        const double a = qn__wf_number(&args[0], i);
        const double value = row->known1 ? row->known1(a) : row->known2(a, qn__wf_number(&args[1], i));
        bits[i] = qn__wf_float_bits(qn__wf_scalar_of(type), value);
    }
    wgsl_value v = qn__wf_known(w, type, bits);
    v.stage = stage;
    return qn__wf_finite(w, v, w->loc);
}

static void bind_type(wgsl_lower *w, const char *name, const wgsl_type *type) {
    if (type)
        qn__wf_declare(w, qn__str_of(name), FRONT_NO_LOC, (wgsl_value){.form = WGSL_FORM_TYPE, .type = type});
}

/* The text, with the arguments for a, b, c and d. */
static wgsl_value expr_row(wgsl_lower *w, const wgsl_builtin *row, const matching *m, const wgsl_value *args,
                           unsigned count) {
    static const char *const names[] = {"a", "b", "c", "d"};
    wgsl_expr **parsed = &w->parsed[row - rows];
    if (!*parsed) *parsed = qn__wf_parse_text(w->arena, w->diag, row->text);
    wgsl_call frame = {.outer = w->call, .first_symbol = w->symbols.len};
    for (unsigned i = 0; i < count; i++) qn__wf_declare(w, qn__str_of(names[i]), FRONT_NO_LOC, args[i]);
    bind_type(w, "T", m->generic);
    bind_type(w, "S", m->scalar);
    if (m->lanes) bind_type(w, "U", qn__wf_vector(w, w->scalars[WGSL_U32], m->lanes));
    w->call = &frame;
    const wgsl_value v = qn__wf_rvalue(w, *parsed);
    w->call = frame.outer;
    w->symbols.len = frame.first_symbol;
    return v;
}

static wgsl_value call_row(wgsl_lower *w, const wgsl_builtin *row, const matching *m, wgsl_value *args,
                           unsigned count, const wgsl_expr *e) {
    for (unsigned i = 0; i < count; i++) {
        const wgsl_type *type = parameter_type(w, m, m->parameters[i]);
        if (type)
            args[i] = qn__wf_convert(w, args[i], type, e->args.data[i]->loc,
                                     qn__arena_printf(w->arena, "an argument of '%s'", row->name));
        if (qn__wf_is_error(&args[i])) return failed;
    }
    if (e->loc.line) qn__wf_at(w, e->loc);
    if (row->special) return row->special(w, row, args, count, e);
    if (!row->text) return op_row(w, row, m, args, count);
    if (row->known1 || row->known2) return library_row(w, row, args, count);
    return expr_row(w, row, m, args, count);
}

wgsl_value qn__wf_builtin_call(wgsl_lower *w, const wgsl_builtin *row, const wgsl_expr *e) {
    wgsl_value args[MOST_ARGS];
    matching m;
    if (row->special == qn__wf_refused) return row->special(w, row, NULL, 0, e);
    const size_t count = e->args.len;
    for (size_t i = 0; i < count && i < MOST_ARGS; i++) {
        const char letter =
            strchr(row->signature, ':')[1 + (i < strlen(strchr(row->signature, ':') + 1) ? i : 0)];
        args[i] = letter == '*' ? qn__wf_eval(w, e->args.data[i]) : qn__wf_rvalue(w, e->args.data[i]);
        if (qn__wf_is_error(&args[i])) return failed;
        if (letter != '*' || args[i].form != WGSL_FORM_PLACE) continue;
        const wgsl_value error = qn__wf_error(w, e->args.data[i]->loc, "'%s' takes a pointer, not %s itself",
                                              row->name, qn__wf_quote(w, e->args.data[i]));
        qn__wf_hint(w, "write '&' in front of it");
        return error;
    }
    if (e->loc.line) qn__wf_at(w, e->loc);
    if (e->parameters.len && row->special != qn__wf_bitcast)
        return qn__wf_error(w, e->loc, "'%s' takes no template parameters", row->name);
    for (const wgsl_builtin *r = row; r < rows + QN__COUNT(rows) && !strcmp(r->name, row->name); r++)
        if (count <= MOST_ARGS && match(w, r, args, count, &m))
            return call_row(w, r, &m, args, (unsigned)count, e);
    if (count > MOST_ARGS)
        return qn__wf_error(w, e->loc, "'%s' takes %zu arguments; here are %zu", row->name,
                            strlen(strchr(row->signature, ':') + 1), count);
    return no_match(w, row, args, e);
}
