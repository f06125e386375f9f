/* The generic address space of OpenCL 2.0 and later, by instantiation: a function with a pointer parameter
   that names no address space is not parsed where it is defined but where it is called, once for each
   combination of address spaces that it is called with, the generic one among them where an argument's is known at run
   time only. All calls are inlined anyway, so nothing is lost. One that is called before it is defined is parsed there,
   with generic parameters. */
#include "front/parse/parser.h"

#include <string.h>

enum { MOST_PARAMS = 64, MOST_NESTED = 32 };

typedef struct generic_instance {
    uint8_t spaces[MOST_PARAMS];
    ast_decl *decl;
} generic_instance;

struct front_generic {
    const front_token *start; /* of the definition */
    bool contract;            /* FP_CONTRACT there */
    QN__VEC(generic_instance *) instances;
};

bool qn__generic_define(front_parser *p, const front_token *start, const front_declarator *declarator,
                        const ast_decl *decl) {
    bool wanted = qn__has_generic(p) && declarator->has_unspaced && !decl->is_kernel && !p->instance_spaces &&
                  !decl->is_called && declarator->params.len <= MOST_PARAMS;
    if (!wanted) return false;
    struct front_generic *generic = QN__NEW(p->arena, struct front_generic);
    generic->start = start;
    generic->contract = p->contract;
    qn__map64_set(p->arena, &p->context->generics, (uint64_t)(uintptr_t)decl, generic);
    qn__advance(p); /* the body's brace */
    qn__skip_to(p, FRONT_T_RBRACE);
    if (p->at == p->end && p->at[-1].kind != FRONT_T_RBRACE)
        qn__syntax_error(p, "expected '}' at the end of the function");
    return true;
}

/* Parses the definition again with these address spaces, in the file's scope. */
static ast_decl *instantiate(front_parser *p, struct front_generic *generic, generic_instance *instance) {
    front_parser inner = *p;
    inner.at = generic->start;
    inner.contract = generic->contract;
    inner.level = inner.base_level = p->level + 1;
    inner.nesting = 0;
    inner.instance_nesting++;
    inner.instance_spaces = instance->spaces;
    inner.instance = &instance->decl;
    inner.function = NULL;
    inner.all_generic = false;
    memset(&inner.labels, 0, sizeof inner.labels);
    memset(&inner.gotos, 0, sizeof inner.gotos);
    memset(&inner.null_returns, 0, sizeof inner.null_returns);
    qn__parse_external_declaration(&inner);
    return instance->decl;
}

void qn__generic_finish(front_parser *file, ast_decl *decl) {
    const struct front_generic *generic = qn__map64_get(&file->context->generics, (uint64_t)(uintptr_t)decl);
    if (!generic || decl->body) return;
    front_parser inner = *file;
    inner.at = generic->start;
    inner.contract = generic->contract;
    decl->is_called = true;
    decl->is_defined = false;
    qn__parse_external_declaration(&inner);
}

ast_decl *qn__generic_callee(front_parser *p, ast_decl *callee, ast_expr *const *args, size_t num_args) {
    struct front_generic *generic = qn__map64_get(&p->context->generics, (uint64_t)(uintptr_t)callee);
    if (!generic || num_args > MOST_PARAMS || p->instance_nesting >= MOST_NESTED) return callee;
    generic_instance *instance = QN__NEW(p->arena, generic_instance);
    for (size_t i = 0; i < num_args; i++)
        if (args[i]->type->kind == AST_POINTER && !qn__is_null_constant(args[i]))
            instance->spaces[i] = args[i]->type->base->space;
    for (size_t i = 0; i < generic->instances.len; i++)
        if (memcmp(generic->instances.data[i]->spaces, instance->spaces, sizeof instance->spaces) == 0)
            return generic->instances.data[i]->decl ? generic->instances.data[i]->decl : callee;
    qn__vec_push(p->arena, &generic->instances, instance);
    ast_decl *decl = instantiate(p, generic, instance);
    return decl ? decl : callee;
}
