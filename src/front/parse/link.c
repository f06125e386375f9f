/* Linkage (C99 6.2.2, 6.9): a function or variable may be declared in several places and is defined in one, here or in another
   file of the program. Each declaration is pointed at the definition when all files are parsed. What is static belongs to
   its file alone, and so does an inline function, unless a declaration of it is extern or not inline. */
#include "front/parse/parser.h"

#include <string.h>

void qn__link_note(front_parser *p, ast_decl *decl, const front_symbol *symbol) {
    const front_linked linked = {decl, symbol, p->file};
    qn__vec_push(p->arena, &p->context->linked, linked);
}

void qn__link_unknown(front_parser *p, const front_name *name) {
    const front_unknown unknown = {name->data, p->diag->last, p->file};
    if (!p->diag->muted && !p->diag->stopped && !p->is_library)
        qn__vec_push(p->arena, &p->context->unknown, unknown);
}

/* Kernels are known by name to the host, whatever their declarations say. */
static bool is_of_file(const ast_decl *decl) {
    return !decl->is_kernel && (decl->is_static || decl->is_inline);
}

/* ---- types of different files ---- */

typedef struct type_pair {
    const ast_type *a, *b;
} type_pair;

/* Records that are being compared, or were: they count as the same within each other. */
typedef struct type_match {
    qn__arena *arena;
    QN__VEC(type_pair) records;
} type_match;

static bool is_same_type(type_match *m, const ast_type *a, const ast_type *b);

static bool is_same_name(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool is_same_field(type_match *m, const ast_field *a, const ast_field *b) {
    return is_same_name(a->name, b->name) && a->offset == b->offset && a->is_bit_field == b->is_bit_field &&
           a->bit_offset == b->bit_offset && a->bit_width == b->bit_width &&
           is_same_type(m, a->type, b->type);
}

static bool is_same_record(type_match *m, const ast_type *a, const ast_type *b) {
    const ast_record *of_a = a->record, *of_b = b->record;
    const type_pair pair = {a->unqualified, b->unqualified};
    if (!is_same_name(of_a->tag, of_b->tag)) return false;
    if (!of_a->is_complete || !of_b->is_complete) return true;
    for (size_t i = 0; i < m->records.len; i++)
        if (m->records.data[i].a == pair.a && m->records.data[i].b == pair.b) return true;
    qn__vec_push(m->arena, &m->records, pair);
    if (of_a->fields.len != of_b->fields.len || of_a->size != of_b->size || of_a->align != of_b->align)
        return false;
    for (size_t i = 0; i < of_a->fields.len; i++)
        if (!is_same_field(m, &of_a->fields.data[i], &of_b->fields.data[i])) return false;
    return true;
}

static bool are_same_params(type_match *m, const ast_type *a, const ast_type *b) {
    if (a->num_params != b->num_params) return false;
    for (uint32_t i = 0; i < a->num_params; i++)
        if (!is_same_type(m, a->params[i], b->params[i])) return false;
    return true;
}

/* Each file has records of its own; all other types are made once. */
static bool is_same_type(type_match *m, const ast_type *a, const ast_type *b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->quals != b->quals || a->space != b->space) return false;
    switch (a->kind) {
    case AST_ARRAY:
        return (a->is_incomplete || b->is_incomplete || a->length == b->length) &&
               is_same_type(m, a->base, b->base);
    case AST_POINTER: return is_same_type(m, a->base, b->base);
    case AST_STRUCT:
    case AST_UNION: return is_same_record(m, a, b);
    case AST_FUNCTION: return are_same_params(m, a, b) && is_same_type(m, a->base, b->base);
    default: return false;
    }
}

/* Two functions with one name, which overloading allows where their parameters differ. */
static bool are_overloads(front_context *context, const front_linked *a, const front_linked *b) {
    type_match match = {.arena = context->arena};
    if (!a->symbol->is_overloadable || !b->symbol->is_overloadable) return false;
    return a->decl->type->kind == AST_FUNCTION && b->decl->type->kind == AST_FUNCTION &&
           !are_same_params(&match, a->decl->type, b->decl->type);
}

/* ---- definitions ---- */

/* The definitions with one name, overloads of each other. */
typedef QN__VEC(front_linked) link_group;

static void redefined(front_context *context, const front_linked *later, const front_linked *first) {
    qn__diag_error(context->diag, later->decl->loc, "redefinition of '%s'", later->decl->name);
    if (!later->decl->is_kernel)
        qn__diag_hint(context->diag, "write 'static' before it where each file is to have its own");
    qn__diag_note(context->diag, first->decl->loc, "previous definition is here");
}

static void add_definition(front_context *context, qn__map *groups, const front_linked *linked) {
    const qn__str name = qn__str_of(linked->decl->name);
    link_group *group = qn__map_get(groups, name);
    if (!group) {
        group = QN__NEW(context->arena, link_group);
        qn__map_set(context->arena, groups, name, group);
    }
    for (size_t i = 0; i < group->len; i++) {
        if (group->data[i].file == linked->file || are_overloads(context, &group->data[i], linked)) continue;
        redefined(context, linked, &group->data[i]);
        return;
    }
    qn__vec_push(context->arena, group, *linked);
}

static void conflicting(front_context *context, const front_linked *linked, const front_linked *definition) {
    qn__diag_error(context->diag, linked->decl->loc, "conflicting types for '%s'", linked->decl->name);
    qn__diag_note(context->diag, definition->decl->loc, "it is defined here");
}

static void find_definition(front_context *context, const qn__map *groups, const front_linked *linked) {
    const link_group *group = qn__map_get(groups, qn__str_of(linked->decl->name));
    for (size_t i = 0; group && i < group->len; i++) {
        const front_linked *definition = &group->data[i];
        type_match match = {.arena = context->arena};
        if (are_overloads(context, linked, definition)) continue;
        if (is_same_type(&match, linked->decl->type, definition->decl->type))
            linked->decl->definition = definition->decl;
        else
            conflicting(context, linked, definition);
        qn__generic_finish(definition->file, definition->decl);
        return;
    }
}

/* ---- what is left ---- */

/* What another file keeps to itself is no definition for this one. */
static void hint_at_own(front_context *context, const ast_decl *decl) {
    for (size_t i = 0; i < context->linked.len; i++) {
        const ast_decl *other = context->linked.data[i].decl;
        if (other == decl || !other->is_defined || !is_of_file(other) || strcmp(other->name, decl->name) != 0)
            continue;
        qn__diag_note(context->diag, other->loc, "this one is %s and belongs to its file alone",
                      other->is_static ? "static" : "inline");
        return;
    }
}

/* What is used before its definition, or in another file than it, has to be declared. */
static void hint_at_definition(front_context *context, const front_unknown *unknown) {
    for (size_t i = 0; i < context->linked.len; i++) {
        const front_linked *linked = &context->linked.data[i];
        const bool is_here = linked->file == unknown->file;
        if (!linked->decl->is_defined || (!is_here && is_of_file(linked->decl)) ||
            strcmp(linked->decl->name, unknown->name) != 0)
            continue;
        const ir_loc loc = qn__source_resolve(context->sources, linked->decl->loc);
        context->diag->messages.data[unknown->message].hint =
            is_here ? qn__arena_printf(context->arena, "it is defined below, in line %u: declare it before",
                                       (unsigned)loc.line)
                    : qn__arena_printf(context->arena, "it is defined in %s:%u: declare it in this file, too",
                                       context->sources->names.data[loc.file], (unsigned)loc.line);
        return;
    }
}

static void check_calls(front_context *context) {
    for (size_t i = 0; i < context->calls.len; i++) {
        front_call *call = &context->calls.data[i];
        call->callee = qn__decl_definition(call->callee);
        if (call->callee->is_defined || call->callee->visit) continue;
        call->callee->visit = 1;
        qn__diag_error(context->diag, call->loc, "function '%s' is called but never defined",
                       call->callee->name);
        qn__diag_note(context->diag, call->callee->loc, "it is declared here");
        hint_at_own(context, call->callee);
    }
}

static void check_variable(front_context *context, const ast_decl *decl) {
    if (decl->decl_kind != DECL_VARIABLE || decl->is_defined || decl->definition || !decl->mentions) return;
    if (qn__type_is_error(&context->types, decl->type)) return;
    qn__diag_error(context->diag, decl->loc, "variable '%s' is used but never defined", decl->name);
    hint_at_own(context, decl);
}

void qn__link(front_context *context) {
    qn__map groups = {0};
    const size_t count = context->linked.len;
    const front_linked *linked = context->linked.data;
    for (size_t i = 0; i < count; i++)
        if (linked[i].decl->is_defined && !is_of_file(linked[i].decl))
            add_definition(context, &groups, &linked[i]);
    /* The list grows where a function is parsed that was kept for its calls. */
    for (size_t i = 0; i < context->linked.len; i++) {
        const front_linked wanted = context->linked.data[i];
        if (!wanted.decl->is_defined && !is_of_file(wanted.decl)) find_definition(context, &groups, &wanted);
    }
    for (size_t i = 0; i < context->linked.len; i++) check_variable(context, context->linked.data[i].decl);
    check_calls(context);
    for (size_t i = 0; i < context->unknown.len; i++) hint_at_definition(context, &context->unknown.data[i]);
}
