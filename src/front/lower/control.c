/* switch. The labels cut the body into segments; segments that run into each other form a group. A few groups
   of one segment each are a chain of ifs on the value; otherwise the value is first turned into the number of
   its segment, by a balanced tree of comparisons, and a second tree picks the group, in which the segments
   from that number on are run. */
#include <stdlib.h>

#include "front/lower/internal.h"

typedef struct segment {
    size_t first, count; /* statements */
    bool is_default, falls_through;
} segment;

typedef struct label {
    uint64_t value;
    uint32_t segment;
} label;

typedef struct group {
    uint32_t first, count; /* segments */
} group;

typedef struct switch_plan {
    QN__VEC(ast_stmt *) stmts;
    QN__VEC(segment) segments;
    QN__VEC(label) labels;
    QN__VEC(group) groups;
    int64_t default_segment; /* -1: none */
    bool is_signed;
    ir_value *value;
    ir_instr *block; /* what `break` leaves, or NULL */
    ast_stmt *stmt;
} switch_plan;

enum { MAX_CHAIN_LABELS = 8, MAX_OPENED = 64 /* compound statements, one in another */ };

/* ---- cutting ---- */

static bool is_label_of(const ast_stmt *stmt, const void *user) {
    const ast_stmt *switch_stmt = user;
    if (stmt->stmt_kind != STMT_CASE && stmt->stmt_kind != STMT_DEFAULT) return false;
    for (size_t i = 0; i < switch_stmt->cases.len; i++)
        if (switch_stmt->cases.data[i] == stmt) return true;
    return false;
}

static void add_label(lower *l, switch_plan *plan, const ast_stmt *stmt) {
    bool is_new = !plan->segments.len || qn__vec_last(&plan->segments).count;
    if (is_new) qn__vec_push(l->arena, &plan->segments, (segment){.first = plan->stmts.len});
    uint32_t index = (uint32_t)plan->segments.len - 1;
    if (stmt->stmt_kind == STMT_DEFAULT) {
        plan->segments.data[index].is_default = true;
        plan->default_segment = index;
    } else {
        qn__vec_push(l->arena, &plan->labels, (label){.value = stmt->case_low, .segment = index});
    }
}

/* Puts a statement of the body into the current segment; compound statements that hold labels are opened
   up. */
static void add_statement(lower *l, switch_plan *plan, ast_stmt *stmt, unsigned depth) {
    while (stmt->stmt_kind == STMT_CASE || stmt->stmt_kind == STMT_DEFAULT) {
        add_label(l, plan, stmt);
        stmt = stmt->then_stmt;
    }
    bool opens = stmt->stmt_kind == STMT_COMPOUND && depth < MAX_OPENED &&
                 qn__lower_find(stmt, is_label_of, plan->stmt);
    if (opens) {
        for (size_t i = 0; i < stmt->body.len; i++) add_statement(l, plan, stmt->body.data[i], depth + 1);
        return;
    }
    if (!plan->segments.len) { /* before the first label: only declarations matter */
        if (stmt->stmt_kind == STMT_DECL) qn__lower_stmt(l, stmt);
        return;
    }
    qn__vec_push(l->arena, &plan->stmts, stmt);
    qn__vec_last(&plan->segments).count++;
}

/* The labels of a switch that add_statement finds. */
static void count_labels(const ast_stmt *stmt, unsigned depth, size_t *count) {
    for (; stmt->stmt_kind == STMT_CASE || stmt->stmt_kind == STMT_DEFAULT; stmt = stmt->then_stmt) ++*count;
    if (stmt->stmt_kind != STMT_COMPOUND || depth > MAX_OPENED) return;
    for (size_t i = 0; i < stmt->body.len; i++) count_labels(stmt->body.data[i], depth + 1, count);
}

static void plan_groups(lower *l, switch_plan *plan) {
    for (size_t i = 0; i < plan->segments.len; i++) {
        segment *s = &plan->segments.data[i];
        bool is_last = i + 1 == plan->segments.len;
        s->falls_through =
            !is_last && !(s->count && qn__lower_ends_in_jump(plan->stmts.data[s->first + s->count - 1]));
        bool joins = i && plan->segments.data[i - 1].falls_through;
        if (!joins) qn__vec_push(l->arena, &plan->groups, (group){.first = (uint32_t)i});
        qn__vec_last(&plan->groups).count++;
    }
}

/* ---- bodies ---- */

static bool is_break_of(const ast_stmt *stmt, const void *target) {
    return stmt->stmt_kind == STMT_BREAK && stmt->target == target;
}

/* The statements of a segment but for a closing break, which is where control goes anyway. */
static size_t without_break(const switch_plan *plan, const segment *s) {
    if (!s->count || s->falls_through) return s->count;
    return s->count - is_break_of(plan->stmts.data[s->first + s->count - 1], plan->stmt);
}

static bool needs_block(const switch_plan *plan) {
    for (size_t i = 0; i < plan->segments.len; i++) {
        const segment *s = &plan->segments.data[i];
        for (size_t k = 0; k < without_break(plan, s); k++)
            if (qn__lower_find(plan->stmts.data[s->first + k], is_break_of, plan->stmt)) return true;
    }
    return false;
}

static void end_region(lower *l) {
    if (!l->b.region->last || !qn__ir_is_jump(l->b.region->last)) qn__ir_yield(&l->b, NULL, 0);
}

static void lower_segment(lower *l, const switch_plan *plan, uint32_t index) {
    const segment *s = &plan->segments.data[index];
    if (s->count) qn__lower_list(l, plan->stmts.data + s->first, without_break(plan, s));
}

/* Runs the segments of a group from number `at` on. */
static void lower_group(lower *l, const switch_plan *plan, const group *g, ir_value *at) {
    for (uint32_t i = 0; i < g->count && !qn__lower_is_dead(l); i++) {
        uint32_t index = g->first + i;
        if (i + 1 == g->count) {
            lower_segment(l, plan, index);
            return;
        }
        qn__lower_at(l, plan->stmt->loc);
        ir_value *limit = qn__ir_const_int(l->b.function, IR_I32, index);
        ir_value *runs = qn__ir_op2(&l->b, IR_SLE, at, limit);
        ir_instr *branch = qn__ir_if(&l->b, runs, NULL, 0);
        ir_region *after = l->b.region;
        qn__ir_at_end(&l->b, branch->regions[0]);
        lower_segment(l, plan, index);
        end_region(l);
        qn__ir_at_end(&l->b, branch->regions[1]);
        qn__ir_yield(&l->b, NULL, 0);
        qn__ir_at_end(&l->b, after);
    }
}

/* ---- dispatch ---- */

static ir_value *is_case(lower *l, const switch_plan *plan, uint32_t segment) {
    ir_value *matches = NULL;
    for (size_t i = 0; i < plan->labels.len; i++) {
        if (plan->labels.data[i].segment != segment) continue;
        ir_value *value = qn__ir_const_int(l->b.function, (ir_kind)plan->value->type.kind,
                                           (int64_t)plan->labels.data[i].value);
        ir_value *equal = qn__ir_op2(&l->b, IR_EQ, plan->value, value);
        matches = matches ? qn__ir_op2(&l->b, IR_OR, matches, equal) : equal;
    }
    return matches;
}

/* if (x == 0) ... else if (x == 1) ... else default; `from` is a group. */
static void lower_chain(lower *l, const switch_plan *plan, size_t from) {
    while (from < plan->groups.len && plan->segments.data[plan->groups.data[from].first].is_default) from++;
    if (from == plan->groups.len) {
        if (plan->default_segment >= 0) lower_segment(l, plan, (uint32_t)plan->default_segment);
        return;
    }
    qn__lower_at(l, plan->stmt->loc);
    uint32_t index = plan->groups.data[from].first;
    ir_instr *branch = qn__ir_if(&l->b, is_case(l, plan, index), NULL, 0);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, branch->regions[0]);
    lower_segment(l, plan, index);
    end_region(l);
    qn__ir_at_end(&l->b, branch->regions[1]);
    lower_chain(l, plan, from + 1);
    end_region(l);
    qn__ir_at_end(&l->b, after);
}

static int compare_signed(const void *a, const void *b) {
    int64_t x = (int64_t)((const label *)a)->value, y = (int64_t)((const label *)b)->value;
    return (x > y) - (x < y);
}

static int compare_unsigned(const void *a, const void *b) {
    uint64_t x = ((const label *)a)->value, y = ((const label *)b)->value;
    return (x > y) - (x < y);
}

/* The number of the segment that the labels from..to-1, sorted, lead to. */
static ir_value *segment_of(lower *l, const switch_plan *plan, size_t from, size_t to, ir_value *otherwise) {
    const label *labels = plan->labels.data;
    ir_kind kind = (ir_kind)plan->value->type.kind;
    if (from == to) return otherwise;
    if (to - from == 1) {
        ir_value *value = qn__ir_const_int(l->b.function, kind, (int64_t)labels[from].value);
        ir_value *number = qn__ir_const_int(l->b.function, IR_I32, labels[from].segment);
        return qn__ir_select(&l->b, qn__ir_op2(&l->b, IR_EQ, plan->value, value), number, otherwise);
    }
    size_t middle = from + (to - from) / 2;
    ir_value *pivot = qn__ir_const_int(l->b.function, kind, (int64_t)labels[middle].value);
    ir_value *is_low = qn__ir_op2(&l->b, plan->is_signed ? IR_SLT : IR_ULT, plan->value, pivot);
    ir_type type = qn__ir_type(IR_I32, 1);
    ir_instr *branch = qn__ir_if(&l->b, is_low, &type, 1);
    ir_region *after = l->b.region;
    for (int arm = 0; arm < 2; arm++) {
        qn__ir_at_end(&l->b, branch->regions[arm]);
        ir_value *number =
            arm ? segment_of(l, plan, middle, to, otherwise) : segment_of(l, plan, from, middle, otherwise);
        qn__ir_yield(&l->b, &number, 1);
    }
    qn__ir_at_end(&l->b, after);
    return branch->results[0];
}

static void pick_group(lower *l, const switch_plan *plan, size_t from, size_t to, ir_value *number) {
    if (to - from == 1) {
        lower_group(l, plan, &plan->groups.data[from], number);
        return;
    }
    size_t middle = from + (to - from) / 2;
    qn__lower_at(l, plan->stmt->loc);
    ir_value *pivot = qn__ir_const_int(l->b.function, IR_I32, plan->groups.data[middle].first);
    ir_instr *branch = qn__ir_if(&l->b, qn__ir_op2(&l->b, IR_SLT, number, pivot), NULL, 0);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, branch->regions[0]);
    pick_group(l, plan, from, middle, number);
    end_region(l);
    qn__ir_at_end(&l->b, branch->regions[1]);
    pick_group(l, plan, middle, to, number);
    end_region(l);
    qn__ir_at_end(&l->b, after);
}

static void lower_tree(lower *l, switch_plan *plan) {
    if (plan->labels.len)
        qsort(plan->labels.data, plan->labels.len, sizeof(label),
              plan->is_signed ? compare_signed : compare_unsigned);
    if (plan->default_segment < 0) { /* an empty last segment of its own stands for "none of them" */
        uint32_t none = (uint32_t)plan->segments.len;
        qn__vec_push(l->arena, &plan->segments, (segment){.first = plan->stmts.len});
        qn__vec_push(l->arena, &plan->groups, (group){.first = none, .count = 1});
        plan->default_segment = none;
    }
    ir_value *otherwise = qn__ir_const_int(l->b.function, IR_I32, plan->default_segment);
    ir_value *number = segment_of(l, plan, 0, plan->labels.len, otherwise);
    pick_group(l, plan, 0, plan->groups.len, number);
}

static void dispatch(lower *l, switch_plan *plan) {
    bool is_chain = plan->groups.len == plan->segments.len && plan->labels.len <= MAX_CHAIN_LABELS;
    if (is_chain)
        lower_chain(l, plan, 0);
    else
        lower_tree(l, plan);
}

/* Whether all labels stand in the switch's own list, or in compound statements there. */
static bool has_flat_labels(const ast_stmt *stmt) {
    size_t count = 0;
    count_labels(stmt->then_stmt, 0, &count);
    return count == stmt->cases.len;
}

void qn__lower_switch(lower *l, ast_stmt *stmt) {
    switch_plan plan = {.default_segment = -1, .stmt = stmt};
    if (!has_flat_labels(stmt)) {
        qn__lower_nested_switch(l, stmt);
        return;
    }
    plan.value = qn__lower_value(l, stmt->cond);
    plan.is_signed = qn__type_is_signed(stmt->cond->type);
    if (plan.value->type.kind == IR_BOOL)
        plan.value = qn__lower_from_bool(l, plan.value, qn__ir_type(IR_I32, 1));
    ast_stmt *body = stmt->then_stmt;
    if (body->stmt_kind == STMT_COMPOUND)
        for (size_t i = 0; i < body->body.len; i++) add_statement(l, &plan, body->body.data[i], 0);
    else
        add_statement(l, &plan, body, 0);
    if (!plan.segments.len) return;
    plan_groups(l, &plan);
    lower_frame frame = {.outer = l->frames, .stmt = stmt};
    l->frames = &frame;
    qn__lower_at(l, stmt->loc);
    if (!needs_block(&plan)) {
        dispatch(l, &plan);
    } else {
        ir_instr *block = qn__ir_block(&l->b, NULL, 0);
        ir_region *after = l->b.region;
        frame.break_to = block;
        qn__ir_at_end(&l->b, block->regions[0]);
        dispatch(l, &plan);
        end_region(l);
        qn__ir_at_end(&l->b, after);
    }
    l->frames = frame.outer;
}
