/* Pointers of safe kernels that constructs carry, as places in their memory: what is behind the begin of a known piece of memory by a
   number is bounded by that number, and checked by one comparison.

       loop (%p = ptr_add %x, %a) { ... continue ptr_add %p, 4 }
   ->
       loop (%p = .., %at = %a) { %q = ptr_add %x, %at ... continue .., add %at, 4 }

   It is done for parameters of loops, results of constructs and selects that can only come from one piece of memory, by ptr_add and each
   other: a flow of origins to a fixed point, which starts with "any" and ends where two meet. What carried the pointer is then dead. */
#include "pass/guard.h"

/* By value id: 0: not known yet; several; else what it comes from, as origin_of makes it. */
typedef uint64_t origin;
static const origin several = UINT64_MAX;

typedef struct indexer {
    qn__pass_context *context;
    ir_function *kernel;
    qn__rewrite rewrite;
    origin *origins;
    uint32_t num_values; /* those of before */
    ir_value **vars;     /* by id */
    bool again;
} indexer;

static const ir_type wide_type = {.kind = IR_I64, .lanes = 1};

/* ---- where pointers come from ---- */

enum { OF_ARG = 1, OF_VAR, OF_LOCAL, OF_GLOBAL };

static origin origin_of(indexer *x, ir_value *value) {
    const bool is_made = value->value_kind == IR_VALUE_RESULT || value->value_kind == IR_VALUE_PARAM;
    if (value->value_kind == IR_VALUE_UNDEF) return 0;
    if (!qn__memory_at(x->kernel, value).root) return is_made ? x->origins[value->id] : several;
    if (value->value_kind == IR_VALUE_ARG) return (origin)OF_ARG << 32 | value->index;
    if (value->def->op == IR_VAR) x->vars[value->id] = value;
    if (value->def->op == IR_VAR) return (origin)OF_VAR << 32 | value->id;
    return (origin)(value->def->op == IR_LOCAL ? OF_LOCAL : OF_GLOBAL) << 32 | value->def->attr.index;
}

static bool is_pointer(const ir_value *value) { return value->type.kind == IR_PTR && value->type.lanes == 1; }

static void meet(indexer *x, const ir_value *value, origin from) {
    origin *own = &x->origins[value->id];
    const origin now = *own == 0 || from == 0 || *own == from ? (*own ? *own : from) : several;
    x->again |= now != *own;
    *own = now;
}

static void flow(ir_instr *i, void *user) {
    indexer *x = user;
    const ir_receivers to = qn__ir_receivers(i);
    for (uint32_t k = 0; k < to.count && k < i->num_operands; k++)
        if (is_pointer(to.values[k])) meet(x, to.values[k], origin_of(x, i->operands[k]));
    if (qn__ir_is_construct(i) || i->num_results != 1 || !is_pointer(i->results[0])) return;
    if (qn__memory_at(x->kernel, i->results[0]).root) return;
    if (i->op == IR_PTR_ADD)
        meet(x, i->results[0], origin_of(x, i->operands[0]));
    else if (i->op == IR_SELECT && i->operands[0]->type.lanes == 1)
        for (uint32_t k = 1; k < 3; k++) meet(x, i->results[0], origin_of(x, i->operands[k]));
    else
        meet(x, i->results[0], several);
}

/* ---- places ---- */

static bool is_indexed(const indexer *x, const ir_value *value) {
    if (!is_pointer(value) || value->id >= x->num_values) return false;
    return x->origins[value->id] && x->origins[value->id] != several;
}

static ir_value *begin_of(indexer *x, ir_builder *b, const ir_value *pointer) {
    const origin from = x->origins[pointer->id];
    const uint32_t index = (uint32_t)from;
    switch (from >> 32) {
    case OF_ARG: return x->kernel->args.data[index].value;
    case OF_VAR: return x->vars[index];
    default: {
        ir_instr *begin =
            qn__ir_emit(b, from >> 32 == OF_LOCAL ? IR_LOCAL : IR_GLOBAL, NULL, 0, &pointer->type, 1);
        begin->attr.index = index;
        return begin->results[0];
    }
    }
}

/* The pointer is this number of bytes behind the begin of its memory. */
static ir_value *place_of(const indexer *x, ir_builder *b, ir_value *pointer) {
    ir_value *place = NULL;
    int64_t offset = 0;
    for (pointer = qn__rewrite_get(pointer); qn__defined_by(pointer, IR_PTR_ADD);
         pointer = qn__rewrite_get(pointer->def->operands[0])) {
        ir_value *bytes = qn__rewrite_get(pointer->def->operands[1]);
        place = place ? qn__ir_op2(b, IR_ADD, place, bytes) : bytes;
        offset += pointer->def->attr.offset;
    }
    ir_value *rest = qn__ir_const_int(x->kernel, IR_I64, offset);
    if (!place) return rest;
    return offset ? qn__ir_op2(b, IR_ADD, place, rest) : place;
}

static void replace(indexer *x, ir_builder *b, ir_value *pointer, ir_value *place) {
    ir_value *again = qn__ir_ptr_add(b, begin_of(x, b, pointer), place);
    again->name = pointer->name;
    qn__rewrite_set(&x->rewrite, pointer, again);
}

static void index_select(indexer *x, ir_instr *select) {
    ir_builder b = {.function = x->kernel};
    qn__ir_at(&b, select);
    ir_value *first = place_of(x, &b, select->operands[1]), *second = place_of(x, &b, select->operands[2]);
    replace(x, &b, select->results[0], qn__ir_select(&b, select->operands[0], first, second));
}

/* ---- constructs ---- */

static void index_params(indexer *x, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    const uint32_t count = body->num_params;
    ir_builder before = {.function = x->kernel}, inside = {.function = x->kernel};
    qn__ir_at(&before, loop);
    qn__ir_at(&inside, body->first);
    for (uint32_t k = 0; k < count; k++) {
        if (!is_indexed(x, body->params[k])) continue;
        ir_value *place = qn__ir_param_add(loop, place_of(x, &before, loop->operands[k]), NULL);
        replace(x, &inside, body->params[k], place);
    }
}

static void index_results(indexer *x, ir_instr *construct) {
    const uint32_t count = construct->num_results;
    ir_builder behind = {.function = x->kernel};
    if (construct->next)
        qn__ir_at(&behind, construct->next);
    else
        qn__ir_at_end(&behind, construct->parent);
    behind.loc = construct->loc;
    for (uint32_t k = 0; k < count; k++)
        if (is_indexed(x, construct->results[k]))
            replace(x, &behind, construct->results[k], qn__ir_result_add(construct, wide_type, NULL));
}

static void index_jump(indexer *x, ir_instr *jump) {
    const ir_receivers to = qn__ir_receivers(jump);
    const uint32_t count = jump->num_operands;
    ir_builder b = {.function = x->kernel};
    qn__ir_at(&b, jump);
    for (uint32_t k = 0; k < count; k++) {
        if (!is_indexed(x, to.values[k])) continue;
        ir_value *place = place_of(x, &b, jump->operands[k]);
        qn__operands_extend(x->kernel, jump, &place, 1);
    }
}

static void visit(indexer *x, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        qn__rewrite_operands(&x->rewrite, i);
        if (i->op == IR_SELECT && is_indexed(x, i->results[0])) index_select(x, i);
        if (qn__ir_is_construct(i)) index_results(x, i);
        if (i->op == IR_LOOP) index_params(x, i);
        next = i->next;
        for (uint32_t r = 0; r < i->num_regions; r++) visit(x, i->regions[r]);
        if (qn__ir_is_jump(i)) index_jump(x, i);
    }
}

static void find(ir_instr *i, void *user) {
    indexer *x = user;
    const ir_receivers to = qn__ir_is_jump(i) || i->op == IR_LOOP ? qn__ir_receivers(i) : (ir_receivers){0};
    for (uint32_t k = 0; k < to.count; k++) x->again |= is_indexed(x, to.values[k]);
    if (i->op == IR_SELECT) x->again |= is_indexed(x, i->results[0]);
}

void qn__index_pointers(qn__pass_context *context, ir_function *kernel) {
    indexer x = {.context = context, .kernel = kernel, .num_values = kernel->num_values, .again = true};
    x.origins = QN__NEW_ARRAY(context->scratch, origin, kernel->num_values + 1u);
    x.vars = QN__NEW_ARRAY(context->scratch, ir_value *, kernel->num_values + 1u);
    while (x.again) {
        x.again = false;
        qn__ir_walk(kernel->body, flow, &x);
    }
    qn__ir_walk(kernel->body, find, &x);
    if (!x.again) return;
    visit(&x, kernel->body);
    context->function = kernel;
    if (context->options->level > 0) qn__pass_dce(context);
}
