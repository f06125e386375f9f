/* Uniformity: which values are the same for all work-items of a group that compute them together, and at
   which constructs those work-items may diverge. Forward data flow to a fixed point from "everything is
   uniform", after the divergence analysis of Karrenberg and Hack ("Whole-Function Vectorization"), made
   simple by structured control: a value leaves a construct only as its result, so a work-item that leaves a
   loop early shows in the results of that loop and nowhere else. The analysis numbers all instructions:
   ir_instr.mark is the position in walk order, and indexes varying_branch. */
#include "pass/analysis.h"

/* Which work-items are compared: those of a work-group, those of it that differ in x only, those of a sub-group. */
enum among { OF_GROUP, OF_ROW, OF_SUB_GROUP };

typedef struct analysis {
    qn__uniformity result;
    qn__arena *arena;
    QN__VEC(ir_instr *) order; /* by mark */
    bool changed;
    enum among among;
} analysis;

static void number(ir_instr *instr, void *user) {
    analysis *a = user;
    instr->mark = (uint32_t)a->order.len;
    qn__vec_push(a->arena, &a->order, instr);
}

static void set_varying(analysis *a, const ir_value *value) {
    if (a->result.varying[value->id]) return;
    a->result.varying[value->id] = true;
    a->changed = true;
}

static void set_varying_branch(analysis *a, const ir_instr *construct) {
    if (a->result.varying_branch[construct->mark]) return;
    a->result.varying_branch[construct->mark] = true;
    a->changed = true;
}

static bool any_operand_varies(const analysis *a, const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        if (a->result.varying[instr->operands[i]->id]) return true;
    }
    return false;
}

/* Values whose source is the work-item itself, or its sub-group. */
static bool is_source(const analysis *a, const ir_instr *instr) {
    const uint32_t has = qn__ir_ops[instr->op].has;
    if (has & IR_VARIES) return !(has & IR_ATTR_DIM) || a->among != OF_ROW || instr->attr.dim == 0;
    if (has & IR_LEVELS)
        return a->among != OF_SUB_GROUP && !(has & IR_ATTR_SCOPE && instr->attr.scope == IR_SCOPE_WORK_GROUP);
    return instr->op == IR_LOAD && instr->flags & IR_VOLATILE;
}

static void visit_plain(analysis *a, const ir_instr *instr) {
    if (instr->num_results == 1 && a->result.varying[instr->results[0]->id]) return;
    const bool levels = qn__ir_has(instr->op, IR_LEVELS);
    if (!is_source(a, instr) && (levels || !any_operand_varies(a, instr))) return;
    for (uint32_t i = 0; i < instr->num_results; i++) set_varying(a, instr->results[i]);
}

/* True where only some of the work-items that run `target` may take the jump: a varying construct lies
   between. */
static bool is_divergent(const analysis *a, const ir_instr *jump, const ir_instr *target) {
    for (const ir_instr *at = jump->parent->owner; at && at != target; at = at->parent->owner) {
        if (a->result.varying_branch[at->mark]) return true;
    }
    return false;
}

/* What a jump, or a loop's beginning, hands over. */
static void merge(analysis *a, const ir_instr *instr, bool divergent) {
    const ir_receivers to = qn__ir_receivers(instr);
    for (uint32_t i = 0; i < to.count; i++)
        if (divergent || a->result.varying[instr->operands[i]->id]) set_varying(a, to.values[i]);
}

/* A return inside constructs makes those of them vary whose work-items may now diverge. */
static void visit_return(analysis *a, const ir_instr *jump) {
    if (!is_divergent(a, jump, NULL)) return;
    bool inside = false;
    for (const ir_instr *at = jump->parent->owner; at; at = at->parent->owner) {
        if (inside && at->op != IR_IF) set_varying_branch(a, at);
        inside = inside || a->result.varying_branch[at->mark];
    }
}

/* Some work-items leave the body of `target` before the others: by a break, or by a continue, after which the
   others may break while these come again. */
static void diverge(analysis *a, const ir_instr *target) {
    set_varying_branch(a, target);
    for (uint32_t i = 0; i < target->num_results; i++) set_varying(a, target->results[i]);
}

static void visit_jump(analysis *a, const ir_instr *jump) {
    ir_instr *owner = jump->parent->owner;
    if (jump->op == IR_YIELD && owner) {
        bool divergent = owner->op == IR_IF && a->result.varying_branch[owner->mark];
        merge(a, jump, divergent);
    } else if (jump->op == IR_BREAK || jump->op == IR_CONTINUE) {
        ir_instr *target = qn__ir_jump_target(jump);
        bool divergent = is_divergent(a, jump, target);
        merge(a, jump, divergent);
        if (divergent) diverge(a, target);
        /* What the jump leaves on its way varies, too. */
        for (ir_instr *at = owner; divergent && at != target; at = at->parent->owner) {
            if (at->op != IR_IF) set_varying_branch(a, at);
        }
    } else if (jump->op == IR_RETURN) {
        visit_return(a, jump);
    }
}

static void visit(analysis *a, ir_instr *instr) {
    if (qn__ir_is_jump(instr)) {
        visit_jump(a, instr);
    } else if (instr->op == IR_IF) {
        if (a->result.varying[instr->operands[0]->id]) set_varying_branch(a, instr);
    } else if (instr->op == IR_LOOP) {
        merge(a, instr, false);
    } else if (instr->op != IR_BLOCK) {
        visit_plain(a, instr);
    }
}

static qn__uniformity analyse(qn__arena *arena, ir_function *kernel, enum among among, const bool *forced) {
    analysis a = {.among = among, .arena = arena};
    qn__ir_walk(kernel->body, number, &a);
    a.result.varying = QN__NEW_ARRAY(arena, bool, (size_t)kernel->num_values + 1);
    a.result.varying_branch = QN__NEW_ARRAY(arena, bool, a.order.len + 1);
    for (uint32_t i = 0; forced && i < kernel->num_values; i++) a.result.varying[i] = forced[i];
    do {
        a.changed = false;
        for (size_t i = 0; i < a.order.len; i++) visit(&a, a.order.data[i]);
    } while (a.changed);
    return a.result;
}

qn__uniformity qn__uniformity_analyse(qn__arena *arena, ir_function *kernel) {
    return analyse(arena, kernel, OF_GROUP, NULL);
}

qn__uniformity qn__uniformity_analyse_row(qn__arena *arena, ir_function *kernel, const bool *forced) {
    return analyse(arena, kernel, OF_ROW, forced);
}

qn__uniformity qn__uniformity_analyse_sub_group(qn__arena *arena, ir_function *kernel) {
    return analyse(arena, kernel, OF_SUB_GROUP, NULL);
}

bool qn__uniformity_is_varying_branch(const qn__uniformity *u, const ir_instr *construct) {
    return u->varying_branch[construct->mark];
}
