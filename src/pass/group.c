/* Values in local memory for the lowerings of collectives and sub-groups; see group.h. */
#include "pass/group.h"

/* ---- small things ---- */

ir_value *qn__group_word(qn__group *g, int64_t value) { return qn__ir_const_int(g->function, IR_I32, value); }

ir_value *qn__group_op(qn__group *g, ir_op op, ir_value *a, ir_value *b) {
    return qn__ir_op2(&g->b, op, a, b);
}

ir_value *qn__group_with(qn__group *g, ir_op op, ir_value *a, int64_t b) {
    return qn__group_op(g, op, a, qn__ir_const_int(g->function, (ir_kind)a->type.kind, b));
}

ir_value *qn__group_smaller(qn__group *g, ir_value *a, ir_value *b) { return qn__group_op(g, IR_UMIN, a, b); }

static ir_value *convert(qn__group *g, ir_op op, ir_value *value, ir_kind kind) {
    return qn__ir_convert(&g->b, op, value, qn__ir_type(kind, 1));
}

/* ---- the start ---- */

/* A required size is that of full groups: the last one may be smaller, unless it is said that all are alike. */
static ir_value *local_size(qn__group *g, uint32_t dim) {
    const uint32_t required = g->function->reqd_local[dim];
    if (required == 1 || (required && g->function->uniform_groups)) return qn__group_word(g, required);
    return convert(g, IR_TRUNC, qn__ir_query(&g->b, IR_LOCAL_SIZE, dim), IR_I32);
}

/* x + (y + z * size_y) * size_x, and the product of the sizes. */
static void make_ids(qn__group *g) {
    ir_value *sizes[3], *linear = NULL;
    for (uint32_t dim = 0; dim < 3; dim++) sizes[dim] = local_size(g, dim);
    for (uint32_t dim = 3; dim-- > 0;) {
        if (qn__ir_is_splat(sizes[dim], 1)) continue;
        ir_value *id = convert(g, IR_TRUNC, qn__ir_query(&g->b, IR_LOCAL_ID, dim), IR_I32);
        linear = linear ? qn__group_op(g, IR_ADD, qn__group_op(g, IR_MUL, linear, sizes[dim]), id) : id;
    }
    g->linear = linear ? linear : qn__group_word(g, 0);
    g->items = sizes[0];
    for (uint32_t dim = 1; dim < 3; dim++)
        if (!qn__ir_is_splat(sizes[dim], 1)) g->items = qn__group_op(g, IR_MUL, g->items, sizes[dim]);
}

void qn__group_begin(qn__group *g, qn__pass_context *context, bool wide) {
    enum { PLACES = QN__MOST_ITEMS + QN__MOST_ITEMS / QN__CHUNK };
    ir_function *function = context->function;
    const ir_type type = qn__ir_pointer(IR_LOCAL_SPACE);
    *g = (qn__group){.context = context, .function = function, .unit = wide ? 8 : 4};
    ir_instr *first = function->body->first;
    while (first->op == IR_VAR) first = first->next;
    g->b.function = function;
    qn__ir_at(&g->b, first);
    const uint32_t *required = function->reqd_local;
    uint64_t places = (uint64_t)required[0] * required[1] * required[2];
    places = places && places < QN__MOST_ITEMS ? places + places / QN__CHUNK + QN__CHUNK : PLACES;
    const ir_local local = {.name = "collective", .size = places * g->unit, .align = 8};
    ir_instr *made = qn__ir_emit(&g->b, IR_LOCAL, NULL, 0, &type, 1);
    made->attr.index = qn__ir_local_add(function, local);
    g->scratch = made->results[0];
    make_ids(g);
}

/* ---- values in scratch ---- */

static void barrier(qn__group *g) { qn__ir_barrier(&g->b, IR_FENCE_LOCAL, IR_SCOPE_WORK_GROUP); }

void qn__group_before_writes(qn__group *g) {
    if (g->used || g->loops) barrier(g);
    g->used = true;
}

void qn__group_before_reads(qn__group *g) { barrier(g); }

static ir_value *address(qn__group *g, ir_value *index) {
    if (qn__ir_is_const(index))
        return qn__ir_ptr_offset(&g->b, g->scratch, (int64_t)index->bits[0] * g->unit);
    ir_value *bytes = qn__group_with(g, IR_MUL, convert(g, IR_ZEXT, index, IR_I64), g->unit);
    return qn__ir_ptr_add(&g->b, g->scratch, bytes);
}

static bool is_narrow(ir_type type) { return qn__ir_bits(type) < 32; }

void qn__group_store(qn__group *g, ir_value *index, ir_value *value) {
    if (value->type.kind == IR_F16) value = convert(g, IR_BITCAST, value, IR_I16);
    if (is_narrow(value->type)) value = convert(g, IR_ZEXT, value, IR_I32);
    qn__ir_store(&g->b, address(g, index), value, 0, 0);
}

ir_value *qn__group_load(qn__group *g, ir_value *index, ir_type type) {
    if (!is_narrow(type)) return qn__ir_load(&g->b, address(g, index), type, 0, 0);
    ir_value *value = qn__ir_load(&g->b, address(g, index), qn__ir_type(IR_I32, 1), 0, 0);
    if (type.kind != IR_F16) return qn__ir_convert(&g->b, IR_TRUNC, value, type);
    return convert(g, IR_BITCAST, convert(g, IR_TRUNC, value, IR_I16), IR_F16);
}

ir_value *qn__group_place(qn__group *g, ir_value *id) {
    return qn__group_op(g, IR_ADD, id, qn__group_with(g, IR_LSHR, id, 5));
}

/* ---- control flow ---- */

ir_builder qn__group_enter(qn__group *g, ir_value *condition) {
    ir_instr *made = qn__ir_if(&g->b, condition, NULL, 0);
    const ir_builder outside = g->b;
    qn__ir_at_end(&g->b, made->regions[1]);
    qn__ir_yield(&g->b, NULL, 0);
    qn__ir_at_end(&g->b, made->regions[0]);
    return outside;
}

void qn__group_leave(qn__group *g, ir_builder outside) {
    qn__ir_yield(&g->b, NULL, 0);
    g->b = outside;
}

ir_value *qn__group_choose(qn__group *g, ir_value *condition, ir_type type, qn__group_value *a,
                           qn__group_value *b, void *user) {
    const ir_builder outside = g->b;
    ir_instr *made = qn__ir_if(&g->b, condition, &type, 1);
    for (unsigned r = 0; r < 2; r++) {
        qn__ir_at_end(&g->b, made->regions[r]);
        ir_value *value = (r ? b : a)(user);
        qn__ir_yield(&g->b, &value, 1);
    }
    g->b = outside;
    return made->results[0];
}

ir_value *qn__group_fold(qn__group *g, ir_combine combine, ir_type type, ir_value *first, ir_value *end,
                         bool keep) {
    const ir_builder outside = g->b;
    ir_value *inits[2] = {qn__group_with(g, IR_ADD, first, 1)};
    inits[1] = qn__group_load(g, qn__group_place(g, first), type);
    ir_instr *loop = qn__ir_loop(&g->b, inits, 2, &type, 1);
    loop->attr.unroll = 1;
    ir_value **params = loop->regions[0]->params;
    qn__ir_at_end(&g->b, loop->regions[0]);
    ir_instr *test = qn__ir_if(&g->b, qn__group_op(g, IR_ULT, params[0], end), NULL, 0);
    qn__ir_at_end(&g->b, test->regions[0]);
    qn__ir_yield(&g->b, NULL, 0);
    qn__ir_at_end(&g->b, test->regions[1]);
    qn__ir_break(&g->b, loop, &params[1], 1);
    qn__ir_at_end(&g->b, loop->regions[0]);
    ir_value *place = qn__group_place(g, params[0]);
    ir_value *joined = qn__ir_combine(&g->b, combine, params[1], qn__group_load(g, place, type));
    if (keep) qn__group_store(g, place, joined);
    ir_value *next[2] = {qn__group_with(g, IR_ADD, params[0], 1), joined};
    qn__ir_continue(&g->b, loop, next, 2);
    g->b = outside;
    return loop->results[0];
}

/* ---- identities ---- */

ir_value *qn__group_identity(qn__group *g, ir_combine combine, ir_kind kind, bool exact) {
    const uint64_t bits = qn__ir_combine_identity(combine, kind, exact);
    return qn__ir_const_splat(g->function, qn__ir_type(kind, 1), bits);
}
