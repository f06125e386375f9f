/* Rules for whole functions: what a kernel may take (OpenCL C 6.9), that nothing calls itself, and what callers have
   of those that they call. */
#include "front/parse/parser.h"

/* ---- parameters of kernels ---- */

enum { MAX_PARAMETER = 64 << 10 }; /* bytes; no kernel can have more in all */

static void refuse_parameter(front_parser *p, const ast_decl *param, const char *why, const char *hint) {
    qn__diag_error(p->diag, param->loc, "kernel parameter '%s' of type '%s' %s",
                   param->name ? param->name : "", qn__type_text(p, param->type), why);
    if (hint) qn__diag_hint(p->diag, "%s", hint);
}

static void check_pointer(front_parser *p, const ast_decl *param) {
    const ast_type *pointee = param->type->base, *inner = pointee;
    while (inner->kind == AST_ARRAY) inner = inner->base;
    if (inner->kind == AST_POINTER)
        refuse_parameter(p, param, "is a pointer to a pointer", NULL);
    else if (pointee->space == IR_PRIVATE || pointee->space == IR_GENERIC_SPACE)
        refuse_parameter(p, param,
                         pointee->space == IR_PRIVATE ? "points to private memory" : "names no address space",
                         "write __global, __constant or __local before its type");
}

static void check_parameter(front_parser *p, const ast_decl *param) {
    const ast_type *type = param->type;
    if (qn__type_is_error(p->types, type)) return;
    if (type->kind == AST_POINTER)
        check_pointer(p, param);
    else if (param->is_size_type)
        refuse_parameter(p, param, "(size_t or the like) has no size that host and device agree on",
                         "use uint or ulong");
    else if (type->kind == AST_BOOL)
        refuse_parameter(p, param, "has no size that host and device agree on", "use int or uchar");
    else if (type->kind == AST_EVENT || qn__type_is_matrix(type))
        refuse_parameter(p, param, "cannot be passed to a kernel", NULL);
    else if (qn__type_is_record(type) && qn__type_contains(type, AST_POINTER))
        refuse_parameter(p, param, "contains a pointer", "pass the pointer as a parameter of its own");
    else if (qn__type_is_record(type) && qn__type_contains(type, AST_BOOL))
        refuse_parameter(p, param, "contains a bool, which has no size that host and device agree on",
                         "use int or uchar");
    else if (type->size > MAX_PARAMETER)
        refuse_parameter(p, param, "is too large", "pass it in a __constant buffer");
}

void qn__check_kernel(front_parser *p, const ast_decl *function) {
    if (function->type->kind != AST_FUNCTION) return;
    if (function->type->base->kind != AST_VOID)
        qn__diag_error(p->diag, function->loc, "kernel '%s' must return void", function->name);
    for (size_t i = 0; i < function->params.len; i++) check_parameter(p, function->params.data[i]);
}

/* ---- recursion ---- */

/* A function on the way down the call graph; the walk is iterative because chains can be long. */
typedef struct walk_step {
    ast_decl *function;
    size_t next; /* index into the sorted calls */
} walk_step;

typedef struct call_graph {
    front_context *context;
    front_call *calls; /* grouped by caller */
    size_t *first;     /* by number of the caller (ast_decl.visit - 1): its first call */
    QN__VEC(ast_decl *) functions;
    uint8_t *state; /* 0: not seen, 1: on the way, 2: done */
    QN__VEC(walk_step) path;
} call_graph;

static size_t number_of(call_graph *g, ast_decl *function) {
    if (function->visit == 0 || function->visit > g->functions.len ||
        g->functions.data[function->visit - 1] != function) {
        qn__vec_push(g->context->arena, &g->functions, function);
        function->visit = (uint32_t)g->functions.len;
    }
    return function->visit - 1;
}

/* Counting sort of the calls by their caller. */
static void graph_build(call_graph *g) {
    front_context *context = g->context;
    size_t num = context->calls.len;
    for (size_t i = 0; i < num; i++) {
        number_of(g, context->calls.data[i].caller);
        number_of(g, context->calls.data[i].callee);
    }
    g->first = QN__NEW_ARRAY(context->arena, size_t, g->functions.len + 2);
    g->calls = QN__NEW_ARRAY(context->arena, front_call, num + 1);
    g->state = QN__NEW_ARRAY(context->arena, uint8_t, g->functions.len + 1);
    for (size_t i = 0; i < num; i++) g->first[number_of(g, context->calls.data[i].caller) + 2]++;
    for (size_t i = 1; i < g->functions.len + 2; i++) g->first[i] += g->first[i - 1];
    for (size_t i = 0; i < num; i++) {
        size_t caller = number_of(g, context->calls.data[i].caller);
        g->calls[g->first[caller + 1]++] = context->calls.data[i];
    }
}

static void report_cycle(call_graph *g, const front_call *call) {
    front_diag *diag = g->context->diag;
    qn__diag_error(diag, call->loc, "recursion: '%s' calls itself%s", call->callee->name,
                   call->callee == call->caller ? "" : " through other functions");
    qn__diag_hint(diag, "OpenCL C does not allow recursion; use a loop with a stack of your own");
    size_t start = g->path.len;
    while (start > 0 && g->path.data[start - 1].function != call->callee) start--;
    for (size_t i = start; i < g->path.len && i < start + 8; i++)
        qn__diag_note(diag, g->calls[g->path.data[i - 1].next - 1].loc, "'%s' calls '%s' here",
                      g->path.data[i - 1].function->name, g->path.data[i].function->name);
}

static void walk_enter(call_graph *g, ast_decl *function) {
    size_t number = number_of(g, function);
    walk_step step = {function, g->first[number]};
    g->state[number] = 1;
    qn__vec_push(g->context->arena, &g->path, step);
}

static void walk_from(call_graph *g, ast_decl *root) {
    walk_enter(g, root);
    while (g->path.len) {
        walk_step *top = &qn__vec_last(&g->path);
        size_t number = number_of(g, top->function);
        if (top->next == g->first[number + 1]) {
            g->state[number] = 2;
            g->path.len--;
            continue;
        }
        const front_call *call = &g->calls[top->next++];
        uint8_t state = g->state[number_of(g, call->callee)];
        if (state == 1) report_cycle(g, call);
        if (state == 0) walk_enter(g, call->callee);
    }
}

void qn__check_recursion(front_context *context) {
    call_graph g = {.context = context};
    if (context->calls.len == 0) return;
    for (size_t i = 0; i < context->calls.len; i++)
        context->calls.data[i].caller->visit = context->calls.data[i].callee->visit = 0;
    graph_build(&g);
    for (size_t i = 0; i < g.functions.len; i++)
        if (g.state[i] == 0) walk_from(&g, g.functions.data[i]);
}

/* ---- facts that callers inherit ---- */

static bool inherit(const front_call *call) {
    ast_decl *caller = call->caller;
    const ast_decl *callee = call->callee;
    const bool takes_use = callee->opaque_use && !caller->opaque_use;
    const bool takes_state = callee->uses_state && !caller->uses_state;
    if (takes_use) {
        caller->opaque_use = callee->opaque_use;
        caller->opaque_loc = callee->opaque_loc;
    }
    caller->uses_state |= callee->uses_state;
    return takes_use || takes_state;
}

/* Calls stand mostly behind what they call, in the order of the file: one walk each way is enough for nearly all. */
void qn__inherit_facts(front_context *context) {
    const size_t count = context->calls.len;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++) changed |= inherit(&context->calls.data[i]);
        for (size_t i = count; i > 0; i--) changed |= inherit(&context->calls.data[i - 1]);
    }
}
