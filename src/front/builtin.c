/* Overload resolution of built-in functions: the rows of builtins.def against the types of a call's
   arguments. Each row's signature is matched by itself: first the lanes and the element of its generic type T
   are found from the arguments, then each argument is held against its parameter. What had to be bent (a
   scalar splatted, an integer passed as float) costs; the cheapest row wins (in the spirit of C++
   [over.match], much reduced). */
#include "front/builtin.h"

#include <string.h>

#include "front/library.h"
#include "front/library_index.h"
#include "util/hash.h"

typedef struct builtin_row {
    const char *name;
    uint8_t kind, special;
    uint16_t op;
    int16_t variant;
    qn__trait needs;
    const char *text;
    const char *signature;
} builtin_row;

static const builtin_row rows[] = {
#define ROW(name, kind, op, special, variant, text, needs, signature)                                        \
    {name, BUILTIN_##kind, SPECIAL_##special, op, variant, needs, text, signature},
#include "front/builtins.def"
#undef ROW
};

/* ---- signatures ---- */

typedef struct sig_type {
    char space; /* pointer: which spaces; 0: a value */
    char letter;
    uint8_t lanes; /* written behind the letter; 0: none */
} sig_type;

typedef struct sig {
    char element_class, lanes_class; /* lanes_class 0: any */
    sig_type result, params[FRONT_MAX_BUILTIN_PARAMS];
    uint32_t num_params;
    bool is_variadic;
} sig;

#define BIT(kind)   (1u << AST_##kind)
#define SIGNED_ALL  (BIT(CHAR) | BIT(SHORT) | BIT(INT) | BIT(LONG))
#define UNSIGN_ALL  (BIT(UCHAR) | BIT(USHORT) | BIT(UINT) | BIT(ULONG))
#define FLOAT_ALL   (BIT(HALF) | BIT(FLOAT) | BIT(DOUBLE))
#define SMALL_ALL   (BIT(BF16) | BIT(E4M3) | BIT(E5M2))
#define ATOMIC_INTS (BIT(INT) | BIT(UINT) | BIT(LONG) | BIT(ULONG))

static const struct element_class {
    char letter;
    uint32_t kinds;
    const char *doc;
} element_classes[] = {
    {'n', SIGNED_ALL | UNSIGN_ALL | FLOAT_ALL, "a number"},
    {'t', SIGNED_ALL | UNSIGN_ALL | FLOAT_ALL | SMALL_ALL, "a number or a small float"},
    {'i', SIGNED_ALL | UNSIGN_ALL, "an integer"},
    {'k', SIGNED_ALL, "a signed integer"},
    {'y', UNSIGN_ALL, "an unsigned integer"},
    {'f', FLOAT_ALL, "half, float or double"},
    {'o', BIT(FLOAT), "float"},
    {'p', BIT(UINT), "uint"},
    {'w', BIT(DOUBLE), "double"},
    {'q', ATOMIC_INTS, "int, uint, long or ulong"},
    {'K', BIT(INT) | BIT(LONG), "int or long"},
    {'Y', BIT(UINT) | BIT(ULONG), "uint or ulong"},
    {'j', BIT(INT) | BIT(UINT), "int or uint"},
    {'a', ATOMIC_INTS | BIT(FLOAT) | BIT(DOUBLE), "int, uint, long, ulong, float or double"},
    {'c', ATOMIC_INTS | FLOAT_ALL, "int, uint, long, ulong, half, float or double"},
    {'x', BIT(CHAR) | BIT(SHORT) | BIT(INT), "char, short or int"},
    {'X', BIT(UCHAR) | BIT(USHORT) | BIT(UINT), "uchar, ushort or uint"},
    {'b', BIT(CHAR), "char"},
    {'B', BIT(UCHAR), "uchar"},
    {'z', BIT(USHORT) | BIT(UINT) | BIT(ULONG), "ushort, uint or ulong"},
};

static const struct element_class *class_of(char letter) {
    for (size_t i = 0; i < QN__COUNT(element_classes); i++)
        if (element_classes[i].letter == letter) return &element_classes[i];
    return NULL;
}

static unsigned lanes_of(char c) { return c == 'x' ? 16 : c >= '1' && c <= '8' ? (unsigned)(c - '0') : 0; }

static bool is_space(char c) { return c == '*' || c == '&' || c == '%' || c == '$' || c == '@'; }

static const char *read_type(const char *at, sig_type *type) {
    type->space = is_space(*at) ? *at++ : 0;
    type->letter = *at++;
    type->lanes = (uint8_t)lanes_of(*at);
    return at + (type->lanes ? 1 : 0);
}

static sig read_signature(const char *at) {
    sig s = {.element_class = *at++};
    if (*at != ':') s.lanes_class = *at++;
    at = read_type(at + 1, &s.result);
    while (*at && *at != '.' && s.num_params < FRONT_MAX_BUILTIN_PARAMS)
        at = read_type(at, &s.params[s.num_params++]);
    s.is_variadic = *at == '.';
    return s;
}

static bool lanes_allowed(char lanes_class, unsigned lanes) {
    if (!lanes_class) return true;
    if (lanes_class == 's') return lanes == 1;
    if (lanes_class == 'v') return lanes > 1;
    return lanes == lanes_of(lanes_class);
}

/* ---- matching ---- */

enum { COST_LACKING = 1000 }; /* the device cannot: for a better message than that there is no such form */

/* One row held against one call. */
typedef struct match {
    front_context *context;
    const ast_type *const *args;
    uint32_t num_args;
    sig s;
    ast_kind element;           /* of T */
    unsigned lanes, mask_lanes; /* of T; of the letter m */
    unsigned cost;
    uint32_t bad_arg;       /* where it failed: number from 1, or 0 for the call as a whole */
    const ast_type *wanted; /* what was needed there, or NULL */
    const ast_type *params[FRONT_MAX_BUILTIN_PARAMS];
} match;

static ast_kind common_kind(ast_kind a, ast_kind b) {
    if (a == b) return a;
    ast_kind larger = a > b ? a : b;
    return larger < AST_INT ? AST_INT : larger;
}

static ast_kind with_sign(ast_kind integer, bool is_signed) {
    unsigned pair = ((unsigned)integer - AST_CHAR) / 2;
    return (ast_kind)(AST_CHAR + 2 * pair + !is_signed);
}

static ast_kind integer_like(ast_kind kind, bool is_signed) {
    static const uint8_t integers[AST_LAST_SCALAR + 1] = {
        [AST_HALF] = AST_SHORT, [AST_FLOAT] = AST_INT, [AST_DOUBLE] = AST_LONG,
        [AST_BF16] = AST_SHORT, [AST_E4M3] = AST_CHAR, [AST_E5M2] = AST_CHAR};
    return with_sign(integers[kind] ? (ast_kind)integers[kind] : kind, is_signed);
}

static ast_kind float_like(ast_kind integer) {
    ast_kind kind = with_sign(integer, true);
    return kind == AST_SHORT ? AST_HALF : kind == AST_LONG ? AST_DOUBLE : AST_FLOAT;
}

/* The kind among `kinds` that a scalar of `kind` is passed as, at a cost; AST_VOID: none. */
static ast_kind fit_kind(ast_kind kind, uint32_t kinds, unsigned *cost) {
    if (kind == AST_BOOL) kind = AST_INT;
    if (kinds >> kind & 1) return kind;
    bool is_integer = kind < AST_HALF;
    if (is_integer) {
        *cost += 2;
        if (kinds >> with_sign(kind, true) & 1) return with_sign(kind, true);
        if (kinds >> with_sign(kind, false) & 1) return with_sign(kind, false);
        for (int wider = kind + 1; wider <= AST_ULONG; wider++)
            if (kinds >> wider & 1) return (ast_kind)wider;
        *cost += 2;
    }
    *cost += 4;
    if (kinds & BIT(FLOAT)) return AST_FLOAT;
    return kinds & BIT(DOUBLE) ? AST_DOUBLE : AST_VOID;
}

/* The number or vector that an argument is or points to; NULL: it is neither, or an error's type. */
static const ast_type *number_of(const match *m, uint32_t i) {
    const ast_type *type = m->args[i]->unqualified;
    if (qn__type_is_error(&m->context->types, type)) return NULL;
    if (m->s.params[i].space) {
        if (type->kind != AST_POINTER) return NULL;
        type = type->base->unqualified;
    }
    return type->kind == AST_VECTOR || qn__type_is_scalar(type) ? type : NULL;
}

static bool fail(match *m, uint32_t bad_arg, const ast_type *wanted) {
    m->bad_arg = bad_arg;
    m->wanted = wanted;
    return false;
}

/* Lanes of T: those of the vectors among the arguments that follow it, which must agree. */
static bool find_lanes(match *m) {
    for (uint32_t i = 0; i < m->s.num_params; i++) {
        sig_type param = m->s.params[i];
        const ast_type *type = number_of(m, i);
        if (!type || type->kind != AST_VECTOR || param.lanes) continue;
        if (param.letter == 'm') {
            m->mask_lanes = type->lanes;
        } else if (strchr("TIURDWN", param.letter)) {
            if (m->lanes && m->lanes != type->lanes) return fail(m, i + 1, NULL);
            m->lanes = type->lanes;
        }
    }
    if (!m->lanes) m->lanes = 1;
    return lanes_allowed(m->s.lanes_class, m->lanes) || fail(m, 0, NULL);
}

/* Element of T: that of a vector or pointee, which must agree, else what the scalars have in common. Where that
   is too wide, it is what those scalars have in common that fit, as in mad24(get_global_id(1), width, x). */
static bool find_element(match *m) {
    const struct element_class *class = class_of(m->s.element_class);
    if (!class) return true;
    ast_kind fixed = AST_VOID, loose = AST_VOID, fitting = AST_VOID;
    uint32_t last = 0;
    for (uint32_t i = 0; i < m->s.num_params; i++) {
        sig_type param = m->s.params[i];
        const ast_type *type = param.letter == 'T' || param.letter == 'S' ? number_of(m, i) : NULL;
        if (!type) continue;
        ast_kind kind = (ast_kind)qn__type_element(type)->kind;
        if (type->kind == AST_VECTOR || param.space) {
            if (fixed && fixed != kind) return fail(m, i + 1, NULL);
            if (!(class->kinds >> kind & 1)) return fail(m, i + 1, NULL);
            fixed = kind;
        } else {
            if (kind > AST_DOUBLE) kind = AST_FLOAT;
            loose = loose ? common_kind(loose, kind) : kind;
            if (class->kinds >> kind & 1) fitting = fitting ? common_kind(fitting, kind) : kind;
            last = i + 1;
        }
    }
    if (fixed) {
        m->element = fixed;
        return true;
    }
    if (!loose) loose = class->kinds & BIT(FLOAT) ? AST_FLOAT : AST_INT;
    m->element = fit_kind(loose, class->kinds, &m->cost);
    if (!m->element) m->element = fitting;
    return m->element != AST_VOID || fail(m, last, NULL);
}

/* The type that a letter stands for, not counting the pointer; NULL for W of a 64-bit integer. */
static const ast_type *type_of(match *m, sig_type t) {
    static const uint8_t fixed_kinds['z' + 1] = {
        ['b'] = AST_BOOL,  ['c'] = AST_CHAR, ['i'] = AST_INT,   ['u'] = AST_UINT,  ['l'] = AST_LONG,
        ['z'] = AST_ULONG, ['h'] = AST_HALF, ['f'] = AST_FLOAT, ['d'] = AST_DOUBLE};
    ast_types *types = &m->context->types;
    unsigned lanes = m->lanes;
    ast_kind kind = m->element;
    if (fixed_kinds[(unsigned char)t.letter]) {
        kind = (ast_kind)fixed_kinds[(unsigned char)t.letter];
        lanes = 1;
    }
    switch (t.letter) {
    case 'v': return types->scalars[AST_VOID];
    case 'e': return types->event;
    case 't': return types->tensor_map;
    case 'S': lanes = 1; break;
    case 'I': kind = AST_INT; break;
    case 'U': kind = integer_like(kind, false); break;
    case 'D': kind = integer_like(kind, true); break;
    case 'R': kind = lanes == 1 ? AST_INT : integer_like(kind, true); break;
    case 'W':
        if (kind >= AST_LONG) return NULL;
        kind = (ast_kind)(kind + 2);
        break;
    case 'N': kind = float_like(kind); break;
    case 'm':
        kind = integer_like(kind, false);
        lanes = m->mask_lanes;
        break;
    case 'M': lanes = m->mask_lanes; break;
    default: break;
    }
    if (t.lanes) lanes = t.lanes;
    if (kind == AST_VOID) return types->scalars[AST_VOID];
    return lanes ? qn__type_vector(types, qn__type_scalar(types, kind), lanes) : NULL;
}

static bool space_allowed(char which, unsigned space) {
    switch (which) {
    case '%': return space == IR_GLOBAL_SPACE;
    case '$': return space == IR_LOCAL_SPACE;
    case '@': return space == IR_GLOBAL_SPACE || space == IR_LOCAL_SPACE || space == IR_GENERIC_SPACE;
    case '*': return space != IR_CONSTANT_SPACE;
    default: return true;
    }
}

/* Atomics take generic pointers since OpenCL C 2.0, and with them pointers to private memory. */
static const ast_type *generic_if_private(match *m, char which, const ast_type *arg) {
    const front_options *options = m->context->options;
    if (which != '@' || arg->kind != AST_POINTER || arg->base->space != IR_PRIVATE || !options ||
        options->std < 200)
        return arg;
    ast_types *types = &m->context->types;
    const ast_type *pointee = qn__type_qualified(types, arg->base, arg->base->quals, IR_GENERIC_SPACE);
    return qn__type_pointer(types, pointee);
}

/* Holds argument i against its parameter. */
static bool match_param(match *m, uint32_t i) {
    sig_type param = m->s.params[i];
    const ast_type *type = type_of(m, param), *arg = m->args[i]->unqualified;
    m->params[i] = type;
    if (!type) return fail(m, i + 1, NULL);
    if (qn__type_is_error(&m->context->types, arg)) {
        m->params[i] = arg;
        return true;
    }
    if (param.space) {
        m->params[i] = arg = generic_if_private(m, param.space, arg);
        const bool is_any = type->kind == AST_VOID; /* a pointer to void takes them all */
        return (arg->kind == AST_POINTER && (is_any || arg->base->unqualified == type) &&
                space_allowed(param.space, arg->base->space)) ||
               fail(m, i + 1, type);
    }
    if (arg == type) return true;
    if (!qn__type_is_scalar(arg)) return fail(m, i + 1, type);
    if (type->kind == AST_EVENT) return qn__type_is_integer(arg) || fail(m, i + 1, type);
    bool is_narrowed = arg->kind > type->kind && type->kind >= AST_HALF && arg->kind <= AST_DOUBLE;
    if (type->kind == AST_VECTOR || is_narrowed) m->cost++;
    return true;
}

static bool match_row(match *m, const builtin_row *row) {
    if (!find_lanes(m) || !find_element(m)) return false;
    for (uint32_t i = 0; i < m->s.num_params; i++)
        if (!match_param(m, i)) return false;
    if (row->text && !qn__library_find(qn__str_of(row->text), m->element)) return fail(m, 0, NULL);
    return type_of(m, m->s.result) != NULL || fail(m, 0, NULL);
}

/* ---- results ---- */

static void bind(match *m, front_resolved *out, const char *name, char letter) {
    const ast_type *type = type_of(m, (sig_type){.letter = letter});
    if (type) out->bindings[out->num_bindings++] = (front_type_binding){name, type};
}

/* The names that a library text may use: T and its relatives, P and Q for the pointers. */
static void bind_all(match *m, front_resolved *out) {
    unsigned lanes = m->lanes;
    if (out->builtin.builtin_kind == BUILTIN_LIB_MAP) m->lanes = 1;
    if (class_of(m->s.element_class)) {
        static const char *const names[] = {"T", "S", "I", "U", "D", "R"};
        for (size_t i = 0; i < QN__COUNT(names); i++) bind(m, out, names[i], names[i][0]);
        if (m->element < AST_HALF) {
            bind(m, out, "W", 'W');
            bind(m, out, "N", 'N');
        }
    }
    m->lanes = lanes;
    const char *pointer = "P";
    for (uint32_t i = 0; i < m->s.num_params && *pointer <= 'Q'; i++)
        if (m->s.params[i].space) {
            out->bindings[out->num_bindings++] = (front_type_binding){pointer, m->params[i]};
            out->has_pointers = true;
            pointer = "Q";
        }
}

static void fill(const builtin_row *row, match *m, front_resolved *out) {
    *out = (front_resolved){.builtin = {.name = row->name,
                                        .builtin_kind = row->kind,
                                        .op = (ir_op)row->op,
                                        .special = row->special,
                                        .variant = row->variant},
                            .result = type_of(m, m->s.result),
                            .num_params = m->s.num_params,
                            .is_variadic = m->s.is_variadic,
                            .needs = row->needs};
    memcpy(out->params, m->params, sizeof out->params);
    if (!row->text) return;
    out->library = qn__library_find(qn__str_of(row->text), m->element);
    bind_all(m, out);
}

/* ---- messages ---- */

/* Empty where a pointer may be to any. */
static const char *space_name(char letter) {
    return letter == '%'   ? "__global"
           : letter == '$' ? "__local"
           : letter == '@' ? "__global or __local"
                           : "";
}

static void print_type(qn__buf *out, sig_type t) {
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'v', "void"},     {'b', "bool"},       {'c', "char"},     {'i', "int"},
                 {'u', "uint"},     {'l', "long"},       {'z', "size_t"},   {'h', "half"},
                 {'f', "float"},    {'d', "double"},     {'e', "event_t"},  {'I', "intN"},
                 {'S', "scalar T"}, {'U', "unsigned T"}, {'D', "signed T"}, {'R', "int or signed T"},
                 {'W', "wide T"},   {'N', "float T"},    {'m', "mask"},     {'M', "T"}};
    const char *space = space_name(t.space);
    if (*space) qn__buf_printf(out, "%s ", space);
    const char *name = "T";
    for (size_t i = 0; i < QN__COUNT(names); i++)
        if (names[i].letter == t.letter) name = names[i].name;
    qn__buf_puts(out, name);
    if (t.lanes) qn__buf_printf(out, "%u", t.lanes);
    if (t.space) qn__buf_puts(out, " *");
}

static void print_form(qn__buf *out, const builtin_row *row, const sig *s) {
    print_type(out, s->result);
    qn__buf_printf(out, " %s(", row->name);
    for (uint32_t i = 0; i < s->num_params; i++) {
        if (i) qn__buf_puts(out, ", ");
        print_type(out, s->params[i]);
    }
    qn__buf_puts(out, s->is_variadic ? ", ...)" : ")");
    const struct element_class *class = class_of(s->element_class);
    if (!class) return;
    qn__buf_printf(out, " where T is %s", class->doc);
    if (!s->lanes_class)
        qn__buf_puts(out, " or a vector of it");
    else if (s->lanes_class == 'v')
        qn__buf_puts(out, " vector");
    else if (lanes_of(s->lanes_class) > 1)
        qn__buf_printf(out, " vector of %u", lanes_of(s->lanes_class));
}

static const char *hint_forms(qn__arena *arena, front_span span) {
    enum { MAX_FORMS = 4 };
    const builtin_row *forms[MAX_FORMS + 1];
    unsigned count = 0;
    for (uint16_t i = 0; i < span.count && count <= MAX_FORMS; i++) {
        const builtin_row *row = &rows[qn__builtin_order[span.first + i]];
        if (!count || strcmp(row->signature, forms[count - 1]->signature) != 0) forms[count++] = row;
    }
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__buf_puts(&out, count > 1 ? "forms: " : "use it as ");
    for (unsigned i = 0; i < count && i < MAX_FORMS; i++) {
        sig s = read_signature(forms[i]->signature);
        if (i) qn__buf_puts(&out, "; ");
        print_form(&out, forms[i], &s);
    }
    if (count > MAX_FORMS) qn__buf_puts(&out, "; ...");
    return out.data;
}

static const char *message_count(qn__arena *arena, front_span span, const char *name, uint32_t num_args) {
    uint32_t counts = 0;
    for (uint16_t i = 0; i < span.count; i++)
        counts |= 1u << read_signature(rows[qn__builtin_order[span.first + i]].signature).num_params;
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__buf_printf(&out, "'%s' takes ", name);
    uint32_t last = 0;
    for (uint32_t n = 0, first = 1; n <= FRONT_MAX_BUILTIN_PARAMS; n++) {
        if (!(counts >> n & 1)) continue;
        qn__buf_printf(&out, first ? "%u" : counts >> n == 1 ? " or %u" : ", %u", n);
        first = 0;
        last = n;
    }
    qn__buf_printf(&out, " argument%s, not %u", last == 1 ? "" : "s", num_args);
    return out.data;
}

static const char *message_types(const match *m, const char *name) {
    qn__arena *arena = m->context->arena;
    if (m->bad_arg && m->bad_arg <= m->num_args) {
        const char *given = qn__type_name(arena, m->args[m->bad_arg - 1]);
        sig_type param = m->s.params[m->bad_arg - 1];
        const struct element_class *class = class_of(m->s.element_class);
        const char *space = space_name(param.space);
        if (m->wanted)
            return qn__arena_printf(arena, "argument %u of '%s' is of type '%s', but %s'%s'%s%s%s is needed",
                                    m->bad_arg, name, given, param.space ? "a pointer to " : "",
                                    qn__type_name(arena, m->wanted), *space ? " in " : "", space,
                                    *space ? " memory" : "");
        if (class && m->num_args == 1)
            return qn__arena_printf(arena, "argument of '%s' is of type '%s', but %s is needed", name, given,
                                    class->doc);
    }
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__buf_printf(&out, "no form of '%s' takes (", name);
    for (uint32_t i = 0; i < m->num_args; i++)
        qn__buf_printf(&out, "%s%s", i ? ", " : "", qn__type_name(arena, m->args[i]));
    qn__buf_putc(&out, ')');
    return out.data;
}

/* ---- entry ---- */

static front_span find_name(qn__str name) {
    for (uint32_t slot = (uint32_t)qn__hash(name.data, name.len, 0) & qn__builtin_mask;;
         slot = (slot + 1) & qn__builtin_mask) {
        front_span span = qn__builtin_slots[slot];
        if (!span.count || qn__str_is(name, rows[qn__builtin_order[span.first]].name)) return span;
    }
}

bool qn__builtin_exists(qn__str name) { return find_name(name).count > 0; }

front_resolution qn__builtin_resolve(front_context *context, qn__str name, const ast_type *const *args,
                                     uint32_t num_args, front_resolved *out, const char **message,
                                     const char **hint) {
    front_span span = find_name(name);
    if (!span.count) return RESOLUTION_NONE;
    const builtin_row *best_row = NULL, *tried = NULL;
    match best = {0}, worst = {0};
    for (uint16_t i = 0; i < span.count; i++) {
        const builtin_row *row = &rows[qn__builtin_order[span.first + i]];
        const bool lacks = row->needs && !qn__has_trait(&context->target, row->needs);
        match m = {.context = context,
                   .args = args,
                   .num_args = num_args,
                   .s = read_signature(row->signature),
                   .cost = lacks ? COST_LACKING : 0};
        if (num_args < m.s.num_params || (num_args > m.s.num_params && !m.s.is_variadic)) continue;
        if (!match_row(&m, row)) {
            if (!tried || m.bad_arg > worst.bad_arg) worst = m;
            tried = row;
        } else if (!best_row || m.cost < best.cost) {
            best = m;
            best_row = row;
        }
    }
    if (best_row) {
        fill(best_row, &best, out);
        return RESOLUTION_OK;
    }
    const char *called = rows[qn__builtin_order[span.first]].name;
    *message = tried ? message_types(&worst, called) : message_count(context->arena, span, called, num_args);
    *hint = hint_forms(context->arena, span);
    return RESOLUTION_FAIL;
}

/* Levenshtein distance, cut off at 3; for names shorter than 40 bytes. */
static unsigned distance(qn__str a, const char *b) {
    enum { MAX_NAME = 40 };
    unsigned row[MAX_NAME + 1];
    size_t length = strlen(b);
    if (a.len > MAX_NAME || length > MAX_NAME || a.len > length + 2 || length > a.len + 2) return 3;
    for (size_t k = 0; k <= length; k++) row[k] = (unsigned)k;
    for (size_t i = 0; i < a.len; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t k = 0; k < length; k++) {
            unsigned change = diagonal + (a.data[i] != b[k]);
            unsigned shorter = (row[k] < row[k + 1] ? row[k] : row[k + 1]) + 1;
            diagonal = row[k + 1];
            row[k + 1] = change < shorter ? change : shorter;
        }
    }
    return row[length] < 3 ? row[length] : 3;
}

const char *qn__builtin_suggest(qn__str name) {
    const char *best = NULL;
    unsigned best_distance = name.len < 4 ? 2 : 3;
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        unsigned d = strncmp(rows[i].name, "__qn_", 5) ? distance(name, rows[i].name) : 3;
        if (d < best_distance) {
            best_distance = d;
            best = rows[i].name;
        }
    }
    return best;
}
