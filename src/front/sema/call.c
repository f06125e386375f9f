/* Semantic checks of calls: the user's functions and their overloads, conversions by name (convert_T, as_T),
   built-in functions and those of the library. */
#include "front/parse/parser.h"

#include <string.h>

#include "front/frozen.h"

/* ---- the user's functions ---- */

static ast_expr *call_of(front_parser *p, ast_decl *callee, front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_CALL, callee->type->base, loc, NULL, NULL, NULL);
    e->callee = callee;
    callee->is_called = true;
    front_call call = {p->function, callee, loc};
    if (p->function) qn__vec_push(p->arena, &p->context->calls, call);
    return e;
}

static ast_expr *wrong_count(front_parser *p, const ast_decl *callee, size_t num_args, front_loc loc) {
    size_t wanted = callee->type->num_params;
    qn__diag_error(p->diag, loc, "too %s arguments to '%s': %zu expected, %zu given",
                   num_args < wanted ? "few" : "many", callee->name, wanted, num_args);
    qn__diag_note(p->diag, callee->loc, "'%s' is declared here", callee->name);
    return qn__expr_error(p, loc);
}

static ast_expr *call_function(front_parser *p, ast_decl *callee, ast_expr **args, size_t num_args,
                               front_loc loc, front_loc end) {
    const ast_type *type = callee->type;
    if (qn__type_is_error(p->types, type)) return qn__expr_error(p, loc);
    if (type->num_params != num_args)
        return wrong_count(p, callee, num_args, num_args < type->num_params ? end : loc);
    callee = qn__generic_callee(p, callee, args, num_args);
    type = callee->type;
    ast_expr *e = call_of(p, callee, loc);
    bool good = true;
    for (size_t i = 0; i < num_args; i++) {
        const ast_decl *param = i < callee->params.len ? callee->params.data[i] : NULL;
        front_use use = {.callee = callee->name, .index = i + 1, .param = param};
        ast_expr *arg = qn__sema_coerce(p, args[i], type->params[i], args[i]->loc, use);
        good &= !qn__is_error(p, arg);
        qn__vec_push(p->arena, &e->args, arg);
    }
    qn__expr_args(p, e);
    return good ? e : qn__expr_error(p, loc);
}

/* The overload that fits best; NULL: none. The first of several that are equally good is taken. */
static ast_decl *best_overload(front_parser *p, const front_symbol *symbol, ast_expr **args,
                               size_t num_args) {
    ast_decl *best = NULL;
    unsigned least = UINT32_MAX;
    for (size_t i = 0; i < symbol->overloads.len; i++) {
        ast_decl *decl = symbol->overloads.data[i];
        if (decl->type->kind != AST_FUNCTION || decl->type->num_params != num_args) continue;
        unsigned sum = 0;
        size_t j = 0;
        for (; j < num_args; j++) {
            int fit = qn__sema_fit(p, args[j], decl->type->params[j]);
            if (fit < 0) break;
            sum += (unsigned)(fit * fit);
        }
        if (j < num_args || sum >= least) continue;
        best = decl;
        least = sum;
    }
    return best;
}

static ast_expr *no_overload(front_parser *p, const front_symbol *symbol, front_loc loc) {
    enum { MOST_NOTES = 5 };
    qn__diag_error(p->diag, loc, "no overload of '%s' takes these arguments", symbol->name->data);
    for (size_t i = 0; i < symbol->overloads.len && i < MOST_NOTES; i++)
        qn__diag_note(p->diag, symbol->overloads.data[i]->loc, "candidate: '%s'",
                      qn__type_text(p, symbol->overloads.data[i]->type));
    return qn__expr_error(p, loc);
}

/* ---- as_type and convert_type ---- */

ast_expr *qn__sema_reinterpret(front_parser *p, ast_expr *a, const ast_type *type, front_loc loc) {
    if (qn__is_error(p, a)) return a;
    const ast_type *from = a->type;
    bool to_number = qn__type_is_scalar(type) || type->kind == AST_VECTOR;
    bool from_number = qn__type_is_scalar(from) || from->kind == AST_VECTOR;
    if (from->kind == AST_POINTER && type->kind == AST_POINTER) return qn__sema_cast(p, a, type, loc);
    if (!to_number || !from_number || from->size != type->size) {
        if (!qn__type_is_error(p->types, type))
            qn__diag_error(p->diag, loc, "the bits of '%s' (%u bytes) cannot be taken as '%s' (%u bytes)",
                           qn__type_text(p, from), (unsigned)from->size, qn__type_text(p, type),
                           (unsigned)type->size);
        return qn__expr_error(p, loc);
    }
    if (from == type) return a;
    ast_expr *e = qn__expr(p, EXPR_CONVERT, type, loc, a, NULL, NULL);
    if (!qn__is_error(p, e)) e->convert = CONVERT_BITS;
    return e;
}

/* Takes a suffix off the name. */
static bool strip(qn__str *name, const char *suffix) {
    size_t len = strlen(suffix);
    if (name->len <= len || memcmp(name->data + name->len - len, suffix, len) != 0) return false;
    name->len -= len;
    return true;
}

/* A type by its name, or in the library one that is bound to it. */
static const ast_type *type_named(front_parser *p, qn__str name) {
    bool is_unsupported = false;
    const ast_type *type = NULL;
    if (p->is_library) {
        front_symbol *symbol = qn__lookup(p, qn__name_str(&p->context->library_names, name));
        if (symbol && symbol->symbol_kind == SYMBOL_TYPEDEF) type = symbol->type;
    }
    if (!type) type = qn__type_by_name(p->types, name, &is_unsupported);
    bool is_number = type && !is_unsupported && (qn__type_is_scalar(type) || type->kind == AST_VECTOR);
    return is_number ? type->unqualified : NULL;
}

typedef struct conversion {
    const ast_type *type;
    ast_rounding rounding;
    bool saturate, is_bits;
} conversion;

/* Reads convert_T[_sat][_rtx] or as_T. */
static bool conversion_parse(front_parser *p, qn__str name, conversion *out) {
    static const char *const modes[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
    *out = (conversion){.rounding = ROUND_DEFAULT};
    if (qn__str_starts(name, "as_")) {
        out->is_bits = true;
        name = (qn__str){name.data + 3, name.len - 3};
    } else if (qn__str_starts(name, "convert_")) {
        name = (qn__str){name.data + 8, name.len - 8};
        for (unsigned mode = ROUND_RTE; mode <= ROUND_RTN; mode++)
            if (strip(&name, modes[mode])) out->rounding = (ast_rounding)mode;
        out->saturate = strip(&name, "_sat");
    } else {
        return false;
    }
    out->type = type_named(p, name);
    return out->type != NULL;
}

static ast_expr *convert_number(front_parser *p, const conversion *how, ast_expr *a, front_loc loc) {
    const ast_type *type = how->type;
    bool is_number = qn__type_is_scalar(a->type) || a->type->kind == AST_VECTOR;
    if (!is_number || qn__type_lanes(a->type) != qn__type_lanes(type)) {
        qn__diag_error(p->diag, loc, "cannot convert '%s' to '%s': both need the same number of components",
                       qn__type_text(p, a->type), qn__type_text(p, type));
        return qn__expr_error(p, loc);
    }
    const ast_kind element = (ast_kind)qn__type_element(type)->kind;
    const bool saturates = element <= AST_ULONG || element == AST_E4M3 || element == AST_E5M2;
    if (how->saturate && !saturates) {
        qn__diag_error(p->diag, loc, "'_sat' is for conversions to integers and to 8-bit floats, not to '%s'",
                       qn__type_text(p, type));
        return qn__expr_error(p, loc);
    }
    if (a->type == type) return a;
    if (type->kind == AST_BOOL) return qn__sema_cast_to(p, a, type);
    ast_expr *e = qn__expr(p, EXPR_CONVERT, type, loc, a, NULL, NULL);
    if (qn__is_error(p, e)) return e;
    e->convert = CONVERT_NUMBER;
    e->rounding = (uint8_t)how->rounding;
    e->saturate = how->saturate;
    return e;
}

static ast_expr *call_conversion(front_parser *p, const conversion *how, qn__str name, ast_expr **args,
                                 size_t num_args, front_loc loc) {
    if (num_args != 1) {
        qn__diag_error(p->diag, loc, "'%.*s' takes one argument, %zu given", QN__STR_PRINTF(name), num_args);
        return qn__expr_error(p, loc);
    }
    if (qn__is_error(p, args[0])) return args[0];
    if (how->is_bits) return qn__sema_reinterpret(p, args[0], how->type, loc);
    return convert_number(p, how, args[0], loc);
}

/* ---- built-in functions ---- */

/* The default promotions of further arguments of printf; half goes as float. */
static ast_expr *promote_variadic(front_parser *p, ast_expr *arg) {
    if (arg->type->kind == AST_HALF) return qn__sema_cast_to(p, arg, p->types->scalars[AST_FLOAT]);
    return qn__sema_cast_to(p, arg, qn__sema_promote(p, arg->type));
}

/* A scalar beside vectors is widened; pointers of another type that the resolution let pass are cast. */
static ast_expr *builtin_argument(front_parser *p, ast_expr *arg, const ast_type *type) {
    if (qn__is_error(p, arg) || arg->type == type->unqualified) return arg;
    bool space_differs = arg->type->kind == AST_POINTER && type->kind == AST_POINTER &&
                         arg->type->base->space != type->base->space && type->base->space != IR_GENERIC_SPACE;
    if (space_differs) return qn__is_null_constant(arg) ? qn__sema_cast_to(p, arg->a, type) : arg;
    return qn__sema_cast_to(p, arg, type);
}

static bool check_needs(front_parser *p, const front_resolved *resolved, front_loc loc) {
    if (!resolved->needs || qn__has_trait(&p->context->target, resolved->needs) || p->is_library) return true;
    qn__diag_error(p->diag, loc, "built-in function '%s' needs something that this device does not have",
                   resolved->builtin.name);
    return false;
}

/* Of a function that is applied lane by lane: what one lane is. */
static const ast_type *lane_of(const front_resolved *resolved, const ast_type *type) {
    const bool is_mapped = resolved->builtin.builtin_kind == BUILTIN_LIB_MAP;
    return is_mapped && type->kind == AST_VECTOR ? type->base->unqualified : type;
}

static ast_decl *frozen_decl(front_context *context, const front_resolved *resolved, const uint16_t *words) {
    const ast_type *params[FRONT_MAX_BUILTIN_PARAMS];
    ast_decl *decl = QN__NEW(context->arena, ast_decl);
    decl->decl_kind = DECL_FUNCTION;
    decl->name = resolved->library->name;
    decl->is_defined = decl->is_library = true;
    decl->is_pure = resolved->library->is_pure;
    decl->frozen = words;
    for (uint32_t i = 0; i < resolved->num_params; i++) {
        ast_decl *param = QN__NEW(context->arena, ast_decl);
        param->type = params[i] = lane_of(resolved, resolved->params[i]);
        qn__vec_push(context->arena, &decl->params, param);
    }
    decl->type = qn__type_function(&context->types, lane_of(resolved, resolved->result), params,
                                   resolved->num_params, false);
    qn__map64_set(context->arena, &context->frozen_decls, (uint64_t)(uintptr_t)words, decl);
    return decl;
}

/* The function where it is there as IR for the call's type, else NULL. */
static ast_decl *frozen_function(front_context *context, const front_resolved *resolved) {
    const ast_type *type = resolved->num_bindings ? resolved->bindings[0].type : NULL;
    const ast_kind element = type ? (ast_kind)qn__type_element(type)->kind : AST_VOID;
    if (resolved->has_pointers) return NULL;
    const uint16_t *words =
        qn__frozen_find(context->frozen, resolved->library, element, type ? qn__type_lanes(type) : 1);
    if (!words) return NULL;
    ast_decl *known = qn__map64_get(&context->frozen_decls, (uint64_t)(uintptr_t)words);
    return known ? known : frozen_decl(context, resolved, words);
}

ast_decl *qn__library_function(front_context *context, const front_resolved *resolved, front_loc loc) {
    const front_library_entry *entry = resolved->library;
    if (!entry) {
        qn__diag_error(context->diag, loc, "built-in function '%s' is not in the library",
                       resolved->builtin.name);
        return NULL;
    }
    ast_decl *function = frozen_function(context, resolved);
    if (function) return function;
    function = qn__parse_library(context, (qn__str){entry->text, entry->length}, entry->name,
                                 resolved->bindings, resolved->num_bindings);
    if (function && function->decl_kind != DECL_FUNCTION) return NULL;
    if (function) function->is_pure |= entry->is_pure;
    return function;
}

static ast_expr *builtin_expr(front_parser *p, const front_resolved *resolved, ast_decl *function,
                              front_loc loc) {
    ast_builtin *builtin = QN__NEW(p->arena, ast_builtin);
    *builtin = resolved->builtin;
    builtin->function = function;
    ast_expr *e = qn__expr(p, EXPR_BUILTIN, resolved->result, loc, NULL, NULL, NULL);
    e->builtin = builtin;
    front_call call = {p->function, function, loc};
    if (function && p->function) qn__vec_push(p->arena, &p->context->calls, call);
    return e;
}

static ast_expr *call_resolved(front_parser *p, const front_resolved *resolved, ast_expr **args,
                               size_t num_args, front_loc loc) {
    unsigned kind = resolved->builtin.builtin_kind;
    ast_decl *function = NULL;
    if (!check_needs(p, resolved, loc)) return qn__expr_error(p, loc);
    if (kind == BUILTIN_LIB || kind == BUILTIN_LIB_MAP) {
        function = qn__library_function(p->context, resolved, loc);
        if (!function) return qn__expr_error(p, loc);
    }
    bool is_call = kind == BUILTIN_LIB || (kind == BUILTIN_LIB_MAP && resolved->result->kind != AST_VECTOR);
    ast_expr *e = is_call ? call_of(p, function, loc) : builtin_expr(p, resolved, function, loc);
    for (size_t i = 0; i < num_args; i++) {
        bool is_fixed = i < resolved->num_params;
        ast_expr *arg =
            is_fixed ? builtin_argument(p, args[i], resolved->params[i]) : promote_variadic(p, args[i]);
        if (qn__is_error(p, arg)) return qn__expr_error(p, loc);
        qn__vec_push(p->arena, &e->args, arg);
    }
    qn__expr_args(p, e);
    return e;
}

/* printf's format is a string that is known now. */
static bool check_printf(front_parser *p, const front_resolved *resolved, ast_expr **args, size_t num_args,
                         front_loc loc) {
    if (resolved->builtin.builtin_kind != BUILTIN_SPECIAL || resolved->builtin.special != SPECIAL_PRINTF)
        return true;
    const ast_expr *format = num_args ? args[0] : NULL;
    while (format && format->expr_kind == EXPR_CONVERT && format->convert == CONVERT_POINTER)
        format = format->a;
    if (format && format->expr_kind == EXPR_DECAY && format->a->expr_kind == EXPR_STRING)
        return qn__check_printf(p, format->a, args + 1, num_args - 1);
    qn__diag_error(p->diag, format ? format->loc : loc, "the format of printf must be a string literal");
    return false;
}

static ast_expr *call_builtin(front_parser *p, qn__str name, ast_expr **args, size_t num_args,
                              front_loc loc) {
    enum { MOST_ARGS = 64 };
    const ast_type *types[MOST_ARGS];
    const char *message = NULL, *hint = NULL;
    if (num_args > MOST_ARGS) {
        qn__diag_error(p->diag, loc, "too many arguments");
        return qn__expr_error(p, loc);
    }
    for (size_t i = 0; i < num_args; i++) {
        types[i] = args[i]->type;
        if (qn__is_error(p, args[i])) return qn__expr_error(p, loc);
    }
    front_resolved resolved;
    memset(&resolved, 0, sizeof resolved);
    front_resolution found =
        qn__builtin_resolve(p->context, name, types, (uint32_t)num_args, &resolved, &message, &hint);
    if (found == RESOLUTION_NONE) return NULL;
    if (found == RESOLUTION_OK) {
        if (!check_printf(p, &resolved, args, num_args, loc)) return qn__expr_error(p, loc);
        return call_resolved(p, &resolved, args, num_args, loc);
    }
    qn__diag_error(p->diag, loc, "%s", message ? message : "arguments do not fit the built-in function");
    if (hint) qn__diag_hint(p->diag, "%s", hint);
    return qn__expr_error(p, loc);
}

/* ---- by name ---- */

/* __builtin_expect(e, value) is e. */
static ast_expr *call_compiler(front_parser *p, qn__str name, ast_expr **args, size_t num_args,
                               front_loc loc) {
    bool is_expect = qn__str_is(name, "__builtin_expect") && num_args == 2;
    bool is_assume = qn__str_is(name, "__builtin_assume") && num_args == 1;
    if (is_expect) return qn__sema_cast(p, args[0], p->types->scalars[AST_LONG], loc);
    if (is_assume)
        return qn__sema_cast(p, qn__expr_int(p, p->types->scalars[AST_INT], 0, loc),
                             p->types->scalars[AST_VOID], loc);
    return NULL;
}

static ast_expr *call_library_helper(front_parser *p, qn__str name, ast_expr **args, size_t num_args,
                                     front_loc loc, front_loc end) {
    const front_library_entry *entry = p->is_library ? qn__library_find(name, AST_VOID) : NULL;
    if (!entry || entry->library_kind != LIBRARY_FUNCTION) return NULL;
    ast_decl *function =
        qn__parse_library(p->context, (qn__str){entry->text, entry->length}, entry->name, NULL, 0);
    if (!function || function->decl_kind != DECL_FUNCTION) return qn__expr_error(p, loc);
    function->is_pure |= entry->is_pure;
    return call_function(p, function, args, num_args, loc, end);
}

static ast_expr *undeclared(front_parser *p, front_name *name, front_loc loc) {
    if (qn__foreign_word(p, name, loc)) return qn__expr_error(p, loc);
    qn__diag_error(p->diag, loc, "call to undeclared function '%s'", name->data);
    qn__diag_range(p->diag, loc, name->len);
    const char *meant = qn__did_you_mean(p, name);
    if (meant) qn__diag_hint(p->diag, "did you mean '%s'?", meant);
    qn__link_unknown(p, name);
    return qn__expr_error(p, loc);
}

static ast_expr *call_symbol(front_parser *p, front_symbol *symbol, ast_expr **args, size_t num_args,
                             front_loc loc, front_loc end) {
    if (symbol->symbol_kind != SYMBOL_FUNCTION) {
        qn__diag_error(p->diag, loc, "'%s' is no function and cannot be called", symbol->name->data);
        qn__diag_note(p->diag, symbol->loc, "it is declared here");
        return qn__expr_error(p, loc);
    }
    if (!symbol->is_overloadable) return call_function(p, symbol->decl, args, num_args, loc, end);
    ast_decl *callee = best_overload(p, symbol, args, num_args);
    if (callee) return call_function(p, callee, args, num_args, loc, end);
    if (qn__builtin_exists((qn__str){symbol->name->data, symbol->name->len})) return NULL;
    if (symbol->overloads.len == 1) return call_function(p, symbol->decl, args, num_args, loc, end);
    return no_overload(p, symbol, loc);
}

ast_expr *qn__sema_call_name(front_parser *p, front_name *name, ast_expr **args, size_t num_args,
                             front_loc loc, front_loc end) {
    qn__str text = {name->data, name->len};
    conversion how;
    for (size_t i = 0; i < num_args; i++) {
        args[i] = qn__sema_value(p, args[i]);
        if (args[i]->type->kind == AST_VOID && !qn__is_error(p, args[i])) {
            qn__diag_error(p->diag, args[i]->loc, "argument %zu of '%s' has no value", i + 1, name->data);
            args[i] = qn__expr_error(p, args[i]->loc);
        }
    }
    front_symbol *symbol = qn__lookup(p, name);
    /* A library function that names itself means the built-in's form for another type. */
    if (p->is_library && symbol && p->function && symbol->decl == p->function) symbol = NULL;
    ast_expr *e = symbol ? call_symbol(p, symbol, args, num_args, loc, end) : NULL;
    if (!e && conversion_parse(p, text, &how)) e = call_conversion(p, &how, text, args, num_args, loc);
    if (!e) e = call_builtin(p, text, args, num_args, loc);
    if (!e) e = call_library_helper(p, text, args, num_args, loc, end);
    if (!e) e = qn__sema_space_call(p, text, args, num_args, loc);
    if (!e) e = qn__sema_matrix_call(p, text, args, num_args, loc);
    if (!e) e = qn__sema_image_call(p, text, args, num_args, loc);
    if (!e && num_args) e = call_compiler(p, text, args, num_args, loc);
    return e ? e : undeclared(p, name, loc);
}
