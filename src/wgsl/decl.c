/* Names: scopes, declarations at module scope, which are looked at when they are first named, in any order (WGSL section 5.1),
   and those in functions. */
#include <stdlib.h>
#include <string.h>

#include "wgsl/internal.h"

enum { MOST_ID = 65535 };

/* ---- attributes ---- */

const wgsl_attribute *qn__wf_attribute(const wgsl_attributes *list, const char *name) {
    for (size_t i = 0; i < list->len; i++)
        if (qn__str_is(list->data[i].name, name)) return &list->data[i];
    return NULL;
}

uint64_t qn__wf_attribute_number(wgsl_lower *w, const wgsl_attribute *attribute, size_t index, int64_t least,
                                 wgsl_stage stage) {
    int64_t value = 0;
    if (index >= attribute->args.len) {
        qn__wf_error(w, attribute->loc, "@%.*s needs a number", QN__STR_PRINTF(attribute->name));
        return 0;
    }
    const wgsl_expr *e = attribute->args.data[index];
    if (!qn__wf_const_int(w, e, stage,
                          qn__arena_printf(w->arena, "the number of @%.*s", QN__STR_PRINTF(attribute->name)),
                          &value))
        return 0;
    if (value >= least && value <= INT32_MAX) return (uint64_t)value;
    qn__wf_error(w, e->loc, "@%.*s takes a number of at least %d; this is %lld",
                 QN__STR_PRINTF(attribute->name), (int)least, (long long)value);
    return 0;
}

static const char *const attribute_words[] = {
    /* first letter: where it may stand: m member, v variable, f function, p parameter or result, o override */
    "malign",       "msize",   "vgroup",    "vbinding",    "fworkgroup_size", "fcompute",
    "pbuiltin",     "oid",     "fmust_use", "adiagnostic", "ginvariant",      "glocation",
    "ginterpolate", "gvertex", "gfragment", "gblend_src"};

static void check_attributes(wgsl_lower *w, const wgsl_attributes *list, const char *places) {
    for (size_t i = 0; i < list->len; i++) {
        const wgsl_attribute *a = &list->data[i];
        const char *word = NULL;
        for (size_t k = 0; k < QN__COUNT(attribute_words) && !word; k++)
            if (qn__str_is(a->name, attribute_words[k] + 1)) word = attribute_words[k];
        if (!word)
            qn__wf_error(w, a->loc, "there is no attribute '@%.*s'", QN__STR_PRINTF(a->name));
        else if (*word == 'g')
            qn__wf_error(w, a->loc,
                         "'@%.*s' is for vertex and fragment shaders; quern has compute shaders only",
                         QN__STR_PRINTF(a->name));
        else if (*word != 'a' && !strchr(places, *word))
            qn__wf_error(w, a->loc, "'@%.*s' cannot stand here", QN__STR_PRINTF(a->name));
        for (size_t k = 0; k < i; k++)
            if (*(word ? word : "") != 'a' && qn__str_equal(list->data[k].name, a->name))
                qn__wf_error(w, a->loc, "'@%.*s' is there twice", QN__STR_PRINTF(a->name));
    }
}

/* ---- scopes ---- */

void qn__wf_declare(wgsl_lower *w, qn__str name, front_loc loc, wgsl_value value) {
    qn__vec_push(w->arena, &w->symbols, (wgsl_symbol){name, loc, value});
}

static const wgsl_symbol *find_local(wgsl_lower *w, qn__str name) {
    const size_t first = w->call ? w->call->first_symbol : w->symbols.len;
    for (size_t i = w->symbols.len; i-- > first;) {
        if (!qn__str_equal(w->symbols.data[i].name, name)) continue;
        const wgsl_frame *frame = w->call->frames;
        if (frame && frame->is_continuing && i >= frame->skipped && i < frame->level)
            qn__wf_error(w, frame->continued,
                         "this 'continue' passes the declaration of '%.*s', which 'continuing' uses",
                         QN__STR_PRINTF(name));
        return &w->symbols.data[i];
    }
    return NULL;
}

static wgsl_value of_decl(wgsl_lower *w, wgsl_decl *decl, const wgsl_expr *e) {
    if (decl->is_broken) return (wgsl_value){.form = WGSL_FORM_ERROR};
    if (decl->kind == WGSL_DECL_FUNCTION) return (wgsl_value){.form = WGSL_FORM_FUNCTION, .decl = decl};
    if (decl->state == 1) {
        wgsl_value error =
            qn__wf_error(w, e->loc, "'%.*s' is declared by means of itself", QN__STR_PRINTF(e->name));
        qn__diag_note(w->diag, decl->loc, "it is declared here");
        return error;
    }
    qn__wf_resolve(w, decl);
    if (decl->kind == WGSL_DECL_VAR && decl->binding) return qn__wf_module_variable(w, decl->binding, e->loc);
    return decl->value ? *decl->value : (wgsl_value){.form = WGSL_FORM_ERROR};
}

/* The declared name with the fewest differences, of at most a third of its letters; NULL: none is close. */
static unsigned distance(qn__str a, qn__str b) {
    enum { MOST = 40 };
    unsigned row[MOST + 1];
    if (a.len > MOST || b.len > MOST) return MOST;
    for (size_t k = 0; k <= b.len; k++) row[k] = (unsigned)k;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b.len; k++) {
            const unsigned other = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
            const unsigned same = diagonal + (a.data[i - 1] != b.data[k - 1]);
            diagonal = row[k];
            row[k] = same < other ? same : other;
        }
    }
    return row[b.len];
}

static void consider(qn__str wanted, qn__str name, qn__str *best, unsigned *least) {
    const unsigned d = name.len ? distance(wanted, name) : *least;
    if (d >= *least || d * 3 > wanted.len) return;
    *least = d;
    *best = name;
}

static wgsl_value unknown(wgsl_lower *w, const wgsl_expr *e) {
    qn__str best = {0};
    unsigned least = 100;
    const wgsl_value error = qn__wf_error(w, e->loc, "'%.*s' is not declared",
                                          (int)(e->name.len < 100 ? e->name.len : 100), e->name.data);
    for (size_t i = w->call ? w->call->first_symbol : w->symbols.len; i < w->symbols.len; i++)
        consider(e->name, w->symbols.data[i].name, &best, &least);
    for (size_t i = 0; i < w->source->decls.len; i++)
        consider(e->name, w->source->decls.data[i]->name, &best, &least);
    if (best.len) qn__wf_hint(w, "did you mean '%.*s'?", QN__STR_PRINTF(best));
    return error;
}

wgsl_value qn__wf_lookup(wgsl_lower *w, const wgsl_expr *e) {
    const wgsl_symbol *local = find_local(w, e->name);
    const bool is_text = w->call && !w->call->decl; /* of a built-in function */
    wgsl_decl *decl = local || is_text ? NULL : qn__map_get(&w->source->names, e->name);
    if ((local || decl) && e->parameters.len)
        return qn__wf_error(w, e->loc, "'%.*s' takes no template parameters", QN__STR_PRINTF(e->name));
    if (local) return local->value;
    if (decl) return of_decl(w, decl, e);
    bool is_type;
    const wgsl_type *type = qn__wf_predeclared(w, e, &is_type);
    if (is_type) return (wgsl_value){.form = type ? WGSL_FORM_TYPE : WGSL_FORM_ERROR, .type = type};
    const wgsl_builtin *builtin = qn__wf_builtin(w, e->name);
    if (builtin) return (wgsl_value){.form = WGSL_FORM_BUILTIN, .builtin = builtin};
    return unknown(w, e);
}

/* ---- values that are known ---- */

/* The initialiser, converted to the declared type if there is one. */
static wgsl_value initialiser(wgsl_lower *w, const wgsl_decl *decl, const wgsl_type *type) {
    wgsl_value v = qn__wf_rvalue(w, decl->init);
    if (qn__wf_is_error(&v)) return v;
    if (v.form == WGSL_FORM_NONE)
        return qn__wf_error(w, decl->init->loc, "%s has no result", qn__wf_quote(w, decl->init));
    const char *what = qn__arena_printf(w->arena, "the value of '%.*s'", QN__STR_PRINTF(decl->name));
    return type ? qn__wf_convert(w, v, type, decl->init->loc, what) : v;
}

static wgsl_value constant(wgsl_lower *w, const wgsl_decl *decl, const wgsl_type *type) {
    const wgsl_value v = initialiser(w, decl, type);
    if (qn__wf_is_error(&v)) return v;
    if (v.form != WGSL_FORM_POINTER && v.stage == WGSL_STAGE_CONST) return v;
    return qn__wf_error(w, decl->init->loc, "the value of 'const %.*s', %s, is no constant",
                        QN__STR_PRINTF(decl->name), qn__wf_quote(w, decl->init));
}

void qn__wf_check_assert(wgsl_lower *w, const wgsl_decl *decl) {
    const wgsl_value v = qn__wf_rvalue(w, decl->init);
    if (qn__wf_is_error(&v)) return;
    if (v.form != WGSL_FORM_VALUE || v.type->kind != WGSL_BOOL || v.stage != WGSL_STAGE_CONST)
        qn__wf_error(w, decl->init->loc, "const_assert takes a constant of type bool, which %s is not",
                     qn__wf_quote(w, decl->init));
    else if (!v.bits[0])
        qn__wf_error(w, decl->loc, "const_assert failed");
}

/* ---- overrides ---- */

/* The value that the options give it, or NULL. */
static const char *option_of(const wgsl_lower *w, const wgsl_decl *decl, const char *id) {
    const front_options *options = w->config->options;
    const char *found = NULL;
    for (size_t i = 0; options && i < options->defines.len; i++) {
        const front_define *define = &options->defines.data[i];
        if (!qn__str_is(decl->name, define->name) && !(id && !strcmp(define->name, id))) continue;
        found = define->value;
    }
    return found;
}

/* A number as in C, true or false, whole. */
static bool read_number(const char *text, double *number) {
    char *end;
    if (!strcmp(text, "true") || !strcmp(text, "false")) return *number = *text == 't', true;
    *number = strtod(text, &end);
    return end != text && (!*end || ((*end == 'u' || *end == 'f' || *end == 'i' || *end == 'h') && !end[1]));
}

static wgsl_value from_option(wgsl_lower *w, const wgsl_decl *decl, const wgsl_type *type, const char *text) {
    double number;
    const char *name = qn__wf_type_name(w, type);
    if (!read_number(text, &number))
        return qn__wf_error(w, decl->loc, "the option for override '%.*s' is '%.40s', which is no '%s'",
                            QN__STR_PRINTF(decl->name), text, name);
    if (type->kind == WGSL_BOOL) return qn__wf_known_splat(w, type, number != 0);
    if (qn__wf_is_float(type))
        return qn__wf_finite(w, qn__wf_known_splat(w, type, qn__wf_float_bits(type, number)), decl->loc);
    const bool fits = type->kind == WGSL_U32 ? number >= 0 && number <= UINT32_MAX
                                             : number >= INT32_MIN && number <= INT32_MAX;
    if (!fits || number != (double)(int64_t)number)
        return qn__wf_error(w, decl->loc, "the option for override '%.*s' is '%.40s', which is no '%s'",
                            QN__STR_PRINTF(decl->name), text, name);
    return qn__wf_known_splat(w, type, (uint64_t)(int64_t)number);
}

static const char *override_id(wgsl_lower *w, const wgsl_decl *decl) {
    const wgsl_attribute *id = qn__wf_attribute(&decl->attributes, "id");
    if (!id) return NULL;
    if (qn__wf_attribute_number(w, id, 0, 0, WGSL_STAGE_CONST) > MOST_ID) {
        qn__wf_error(w, id->loc, "@id takes a number of at most %d", MOST_ID);
        return NULL;
    }
    return qn__arena_printf(w->arena, "%llu",
                            (unsigned long long)qn__wf_attribute_number(w, id, 0, 0, WGSL_STAGE_CONST));
}

static wgsl_value override_value(wgsl_lower *w, const wgsl_decl *decl, const wgsl_type *type) {
    const char *option = option_of(w, decl, override_id(w, decl));
    wgsl_value v = {.form = WGSL_FORM_ERROR};
    if (decl->init) v = qn__wf_concrete(w, initialiser(w, decl, type), decl->init->loc);
    if (decl->init && qn__wf_is_error(&v)) return v;
    if (!type) type = v.type;
    if (!qn__wf_is_scalar(type))
        return qn__wf_error(w, decl->loc, "override '%.*s' must be a number or bool, not '%s'",
                            QN__STR_PRINTF(decl->name), qn__wf_type_name(w, type));
    if (decl->init && v.stage == WGSL_STAGE_RUN)
        return qn__wf_error(w, decl->init->loc, "the value of an override must be known before it runs");
    if (option) v = from_option(w, decl, type, option);
    if (v.form == WGSL_FORM_ERROR && !option) {
        v = qn__wf_error(w, decl->loc, "override '%.*s' has no value", QN__STR_PRINTF(decl->name));
        qn__wf_hint(w, "give it one with the option -D %.*s=VALUE", QN__STR_PRINTF(decl->name));
    }
    v.stage = WGSL_STAGE_OVERRIDE;
    return v;
}

/* Two overrides of one number. */
static void check_ids(wgsl_lower *w) {
    const wgsl_decls *decls = &w->source->decls;
    for (size_t i = 0; i < decls->len; i++) {
        const char *id = decls->data[i]->kind == WGSL_DECL_OVERRIDE ? override_id(w, decls->data[i]) : NULL;
        for (size_t k = 0; id && k < i; k++) {
            const char *other =
                decls->data[k]->kind == WGSL_DECL_OVERRIDE ? override_id(w, decls->data[k]) : NULL;
            if (other && !strcmp(id, other))
                qn__wf_error(w, decls->data[i]->loc, "@id(%s) is there twice", id);
        }
    }
}

static bool is_override(wgsl_lower *w, const char *name) {
    for (size_t i = 0; i < w->source->decls.len; i++) {
        const wgsl_decl *decl = w->source->decls.data[i];
        if (decl->kind != WGSL_DECL_OVERRIDE) continue;
        const char *id = override_id(w, decl);
        if (qn__str_is(decl->name, name) || (id && !strcmp(id, name))) return true;
    }
    return false;
}

void qn__wf_check_overrides(wgsl_lower *w) {
    check_ids(w);
    const front_options *options = w->config->options;
    for (size_t i = 0; options && i < options->defines.len; i++) {
        const char *name = options->defines.data[i].name;
        if (!is_override(w, name))
            qn__wf_error(w, FRONT_NO_LOC, "the option -D %s names no 'override' of the module", name);
    }
}

/* ---- variables at module scope ---- */

static wgsl_value wrong_variable(wgsl_lower *w, const wgsl_decl *decl, const char *why) {
    return qn__wf_error(w, decl->loc, "variable '%.*s' %s", QN__STR_PRINTF(decl->name), why);
}

static bool read_space(wgsl_lower *w, const wgsl_decl *decl, wgsl_binding *binding) {
    static const char *const spaces[] = {"function", "private", "workgroup", "uniform", "storage"};
    static const char *const modes[] = {"", "read", "write", "read_write"};
    const wgsl_exprs *words = &decl->parameters;
    unsigned space = 0, mode = 0;
    while (words->len && space < QN__COUNT(spaces) && !qn__str_is(words->data[0]->name, spaces[space]))
        space++;
    if (!words->len || space == QN__COUNT(spaces) || space == WGSL_FUNCTION) {
        if (words->len)
            qn__wf_error(w, words->data[0]->loc, "there is no address space %s at module scope",
                         qn__wf_quote(w, words->data[0]));
        else
            wrong_variable(w, decl, "needs an address space");
        qn__wf_hint(
            w, "write var<private>, var<workgroup>, var<uniform>, var<storage> or var<storage, read_write>");
        return false;
    }
    binding->space = (uint8_t)space;
    binding->access = space == WGSL_STORAGE || space == WGSL_UNIFORM ? WGSL_READ : WGSL_READ_WRITE;
    if (words->len == 1) return true;
    while (mode < QN__COUNT(modes) && !qn__str_is(words->data[1]->name, modes[mode])) mode++;
    if (space != WGSL_STORAGE || words->len > 2 || mode == QN__COUNT(modes) || mode == WGSL_WRITE || !mode) {
        qn__wf_error(w, words->data[1]->loc,
                     space == WGSL_STORAGE
                         ? "a storage variable's access mode is read or read_write"
                         : "an access mode is for the address space 'storage' only, not '%s'",
                     spaces[space]);
        return false;
    }
    binding->access = (uint8_t)mode;
    return true;
}

/* What has to hold for a type in its space (WGSL section 7.3). */
static const char *unfit(const wgsl_binding *binding) {
    const wgsl_type *type = binding->type;
    switch (binding->space) {
    case WGSL_STORAGE:
    case WGSL_UNIFORM:
        if (type->has_bool) return "holds a bool, which has no bytes that the host could see";
        if (type->kind == WGSL_POINTER) return "is a pointer (ptr), which no variable holds";
        if (type->is_overridable)
            return "has a length that is no const-expression, which only workgroup variables may have";
        if (binding->space == WGSL_UNIFORM && type->has_runtime)
            return "holds an array without a length, which a uniform variable cannot";
        if (type->has_atomic && binding->access != WGSL_READ_WRITE)
            return "holds an atomic, so its access mode must be read_write";
        return NULL;
    case WGSL_PRIVATE:
        if (type->is_overridable)
            return "has a length that is no const-expression, which only workgroup variables may have";
        if (type->has_atomic) return "holds an atomic, which only workgroup and storage variables can";
        QN__FALLTHROUGH;
    default:
        return type->has_runtime ? "holds an array without a length, which only storage variables can"
               : type->kind == WGSL_POINTER ? "is a pointer (ptr), which no variable holds"
                                            : NULL;
    }
}

/* Arrays and structs in uniform memory are aligned to 16 bytes (WGSL section 14.4.4). */
static const char *uniform_layout(const wgsl_type *type) {
    if (type->kind == WGSL_ARRAY) {
        if (type->stride % 16)
            return "holds an array whose elements do not lie 16 bytes apart, as uniform memory wants it";
        return uniform_layout(type->element);
    }
    for (uint32_t i = 0; type->kind == WGSL_STRUCT && i < type->num_members; i++) {
        const wgsl_member *member = &type->members[i];
        const bool is_whole = member->type->kind == WGSL_STRUCT || member->type->kind == WGSL_ARRAY;
        if (is_whole && member->offset % 16)
            return "holds a struct or array at an offset that is no multiple of 16, as uniform memory wants "
                   "it";
        const char *inner = uniform_layout(member->type);
        if (inner) return inner;
        if (member->type->kind == WGSL_STRUCT && i + 1 < type->num_members &&
            type->members[i + 1].offset - member->offset < (member->type->size + 15) / 16 * 16)
            return "holds a member less than 16 bytes behind the begin of the struct's last 16, as uniform "
                   "memory wants it";
    }
    return NULL;
}

static void read_binding(wgsl_lower *w, const wgsl_decl *decl, wgsl_binding *binding) {
    const wgsl_attribute *group = qn__wf_attribute(&decl->attributes, "group");
    const wgsl_attribute *number = qn__wf_attribute(&decl->attributes, "binding");
    const bool wants = binding->space == WGSL_STORAGE || binding->space == WGSL_UNIFORM;
    if (wants != (group && number)) {
        wrong_variable(
            w, decl,
            wants ? "needs @group and @binding"
            : binding->space == WGSL_PRIVATE
                ? "is private and has a binding, which only storage and uniform variables have"
                : "is in workgroup memory and has a binding, which only storage and uniform variables have");
        return;
    }
    if (!wants) return;
    binding->group = (uint32_t)qn__wf_attribute_number(w, group, 0, 0, WGSL_STAGE_CONST);
    binding->number = (uint32_t)qn__wf_attribute_number(w, number, 0, 0, WGSL_STAGE_CONST);
}

static void variable(wgsl_lower *w, wgsl_decl *decl) {
    wgsl_binding *binding = QN__NEW(w->arena, wgsl_binding);
    binding->decl = decl;
    check_attributes(w, &decl->attributes, "v");
    const wgsl_type *type = decl->type ? qn__wf_type_of(w, decl->type) : NULL;
    if (decl->type && !type) return;
    if (!decl->parameters.len && decl->type &&
        (qn__str_starts(decl->type->name, "texture") || qn__str_starts(decl->type->name, "sampler")))
        return;
    if (!read_space(w, decl, binding)) return;
    if (decl->init && binding->space != WGSL_PRIVATE) {
        wrong_variable(w, decl, "has an initialiser, which only private variables have");
        return;
    }
    if (decl->init) {
        wgsl_value v = qn__wf_concrete(w, initialiser(w, decl, type), decl->init->loc);
        if (qn__wf_is_error(&v)) return;
        if (v.stage == WGSL_STAGE_RUN) {
            wrong_variable(w, decl, "has an initialiser that is no constant");
            return;
        }
        decl->value = qn__arena_copy(w->arena, &v, sizeof v);
        type = v.type;
    }
    binding->type = type;
    const char *why = type ? unfit(binding) : "needs a type";
    if (!why && binding->space == WGSL_UNIFORM) why = uniform_layout(type);
    if (why) {
        wrong_variable(w, decl, why);
        return;
    }
    read_binding(w, decl, binding);
    decl->binding = binding;
    qn__vec_push(w->arena, &w->bindings, binding);
}

/* ---- resolving ---- */

static wgsl_value value_of(wgsl_lower *w, wgsl_decl *decl) {
    const wgsl_type *type = decl->type ? qn__wf_type_of(w, decl->type) : NULL;
    wgsl_value v = {.form = WGSL_FORM_ERROR};
    if (decl->type && !type) return v;
    check_attributes(w, &decl->attributes, decl->kind == WGSL_DECL_OVERRIDE ? "o" : "");
    if (decl->kind != WGSL_DECL_OVERRIDE) return constant(w, decl, type);
    return override_value(w, decl, type);
}

static wgsl_value type_value(const wgsl_type *type) {
    return (wgsl_value){.form = type ? WGSL_FORM_TYPE : WGSL_FORM_ERROR, .type = type};
}

/* What a function can take and give: values, and pointers to it. */
static void check_signature(wgsl_lower *w, const wgsl_decl *decl) {
    for (size_t i = 0; i <= decl->members.len; i++) {
        const wgsl_decl *of = i < decl->members.len ? decl->members.data[i] : decl;
        const wgsl_type *type = of->type ? qn__wf_type_of(w, of->type) : NULL;
        if (!type) continue;
        const bool is_pointer = type->kind == WGSL_POINTER && of != decl;
        const bool fits =
            is_pointer || (!type->has_atomic && !type->has_runtime && type->kind != WGSL_POINTER);
        if (!fits)
            qn__wf_error(w, of->type->loc, "%s of a function cannot be of type '%s'",
                         of == decl ? "the result" : "a parameter", qn__wf_type_name(w, type));
    }
}

static void check_function(wgsl_lower *w, const wgsl_decl *decl) {
    check_attributes(w, &decl->attributes, "f");
    check_attributes(w, &decl->result, "p");
    for (size_t i = 0; i < decl->members.len; i++)
        check_attributes(w, &decl->members.data[i]->attributes, "p");
    check_signature(w, decl);
    const wgsl_attribute *must_use = qn__wf_attribute(&decl->attributes, "must_use");
    if (must_use && !decl->type) qn__wf_error(w, must_use->loc, "'@must_use' is for functions with a result");
    if (qn__wf_attribute(&decl->attributes, "workgroup_size") &&
        !qn__wf_attribute(&decl->attributes, "compute"))
        qn__wf_error(w, decl->loc, "'@workgroup_size' is for entry points, which have '@compute'");
}

/* At module scope nothing of a function is seen, and instructions go nowhere. */
void qn__wf_resolve(wgsl_lower *w, wgsl_decl *decl) {
    if (decl->state || decl->is_broken || !qn__wf_enter(w, decl->loc)) return;
    const ir_builder outer = w->b;
    wgsl_call *call = w->call;
    wgsl_value v = {.form = WGSL_FORM_ERROR};
    w->call = NULL;
    decl->state = 1;
    qn__ir_at_end(&w->b, w->scratch->body);
    switch (decl->kind) {
    case WGSL_DECL_VAR: variable(w, decl); break;
    case WGSL_DECL_ALIAS: v = type_value(qn__wf_type_of(w, decl->init)); break;
    case WGSL_DECL_STRUCT:
        for (size_t i = 0; i < decl->members.len; i++)
            check_attributes(w, &decl->members.data[i]->attributes, "mp");
        v = type_value(qn__wf_struct(w, decl));
        break;
    case WGSL_DECL_ASSERT: qn__wf_check_assert(w, decl); break;
    case WGSL_DECL_FUNCTION: check_function(w, decl); break;
    default: v = value_of(w, decl);
    }
    if (decl->kind != WGSL_DECL_VAR) decl->value = qn__arena_copy(w->arena, &v, sizeof v);
    decl->state = 2;
    w->call = call;
    w->b = outer;
    w->depth--;
}

/* ---- in functions ---- */

static void declare_once(wgsl_lower *w, const wgsl_decl *decl, wgsl_value v) {
    if (!qn__wf_is_error(&v) || decl->name.len) qn__wf_declare(w, decl->name, decl->loc, v);
}

static wgsl_value local_variable(wgsl_lower *w, const wgsl_decl *decl, const wgsl_type *type) {
    const bool has_space = decl->parameters.len > 0;
    if (has_space && !qn__str_is(decl->parameters.data[0]->name, "function"))
        return qn__wf_error(w, decl->parameters.data[0]->loc,
                            "a variable in address space %s is declared at module scope",
                            qn__wf_quote(w, decl->parameters.data[0]));
    wgsl_value v = {.form = WGSL_FORM_ERROR};
    if (decl->init) {
        v = qn__wf_concrete(w, initialiser(w, decl, type), decl->init->loc);
        if (qn__wf_is_error(&v)) return v;
        if (v.form == WGSL_FORM_POINTER)
            return qn__wf_error(w, decl->init->loc, "a variable cannot hold a pointer; 'let' can");
        type = v.type;
    }
    if (type->has_atomic || type->has_runtime || type->is_overridable || type->kind == WGSL_POINTER)
        return qn__wf_error(w, decl->loc, "a function's variable cannot be of type '%s'",
                            qn__wf_type_name(w, type));
    qn__wf_at(w, decl->loc);
    const char *name = qn__arena_strndup(w->arena, decl->name.data, decl->name.len);
    const wgsl_value place = qn__wf_variable_place(w, type, name, WGSL_FUNCTION);
    if (!decl->init) v = qn__wf_zero(w, type);
    qn__wf_store(w, &place, &v);
    return place;
}

static bool has_array(const wgsl_type *type) {
    if (type->kind == WGSL_ARRAY) return true;
    for (uint32_t i = 0; type->kind == WGSL_STRUCT && i < type->num_members; i++)
        if (has_array(type->members[i].type)) return true;
    return false;
}

/* Arrays go to memory once, not at each index. */
static wgsl_value let_value(wgsl_lower *w, const wgsl_decl *decl, const wgsl_type *type) {
    wgsl_value v = qn__wf_concrete(w, initialiser(w, decl, type), decl->init->loc);
    if (v.form == WGSL_FORM_PARTS && v.stage == WGSL_STAGE_RUN && has_array(v.type)) {
        const char *name = qn__arena_strndup(w->arena, decl->name.data, decl->name.len);
        v = qn__wf_to_memory(w, &v, name);
    }
    return qn__wf_at_run_time(w, v); /* no const-expression, whatever is known of it */
}

void qn__wf_local_decl(wgsl_lower *w, wgsl_decl *decl) {
    if (decl->kind == WGSL_DECL_ASSERT) {
        qn__wf_check_assert(w, decl);
        return;
    }
    const wgsl_type *type = NULL;
    wgsl_value v = {.form = WGSL_FORM_ERROR};
    qn__wf_at(w, decl->loc);
    if (decl->is_broken) {
        declare_once(w, decl, v);
        return;
    }
    if (decl->kind == WGSL_DECL_OVERRIDE) {
        qn__wf_error(w, decl->loc, "an override is declared at module scope");
    } else {
        if (decl->type) type = qn__wf_type_of(w, decl->type);
        if (type && type->kind == WGSL_POINTER && decl->kind == WGSL_DECL_LET) {
            v = qn__wf_eval(w, decl->init);
            if (v.form != WGSL_FORM_POINTER || v.type != type->element)
                v = qn__wf_error(w, decl->init->loc, "the value of '%.*s' is no '%s'",
                                 QN__STR_PRINTF(decl->name), qn__wf_type_name(w, type));
        } else if (!decl->type || type) {
            v = decl->kind == WGSL_DECL_VAR   ? local_variable(w, decl, type)
                : decl->kind == WGSL_DECL_LET ? let_value(w, decl, type)
                                              : constant(w, decl, type);
        }
    }
    declare_once(w, decl, v);
}
