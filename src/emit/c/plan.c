/* The plan of a kernel for the C target: what runs in step, the chunks between, and where each value
   lives. */
#include "emit/c/internal.h"

/* ---- what runs in step ---- */

static bool is_sync(const ir_instr *instr) { return qn__ir_is_together((ir_op)instr->op); }

/* Marks sync points and the constructs around them. */
static void visit_sync(ir_instr *instr, void *user) {
    c_plan *plan = user;
    if (!is_sync(instr)) return;
    plan->sync = true;
    for (ir_instr *at = instr; at && !plan->in_step[at->mark]; at = at->parent->owner)
        plan->in_step[at->mark] = true;
}

typedef struct escape {
    const c_plan *plan;
    const ir_instr *construct;
    bool found, divergent;
} escape;

/* A jump out of `construct` to something that is in step: does every work-item take it or none? */
static void visit_escape(ir_instr *instr, void *user) {
    escape *x = user;
    const ir_instr *target = qn__ir_jump_target(instr);
    if (instr->op == IR_BREAK || instr->op == IR_CONTINUE) {
        if (!x->plan->in_step[target->mark]) return;
    } else if (instr->op != IR_RETURN) {
        return;
    }
    x->found = true;
    for (const ir_instr *at = instr->parent->owner; at; at = at->parent->owner) {
        if (x->plan->uniformity.varying_branch[at->mark]) x->divergent = true;
        if (at == x->construct) break;
    }
}

/* Constructs without a sync point that jump out to what is in step: uniform ones run in step, too; for
   varying ones the kernel needs masks. Outer constructs come first in the walk. */
static void visit_construct(ir_instr *instr, void *user) {
    c_plan *plan = user;
    if (!qn__ir_is_construct(instr)) return;
    if (plan->in_step[instr->mark]) {
        if (plan->uniformity.varying_branch[instr->mark]) plan->masked = true;
        return;
    }
    if (instr->parent->owner && !plan->in_step[instr->parent->owner->mark]) return;
    escape x = {.plan = plan, .construct = instr};
    for (unsigned i = 0; i < instr->num_regions; i++) qn__ir_walk(instr->regions[i], visit_escape, &x);
    if (!x.found) return;
    if (x.divergent) {
        plan->masked = true;
    } else {
        plan->in_step[instr->mark] = true;
    }
}

/* ---- chunks ---- */

static void set_chunk(ir_instr *instr, void *user) {
    c_plan *plan = user;
    plan->chunk[instr->mark] = plan->num_chunks;
    unsigned effects = qn__ir_ops[instr->op].effects;
    /* The next item uses a private object's memory again, which compilers forget when told that items are
       independent. */
    if (instr->op == IR_VAR || (effects == IR_EFFECT_READWRITE && instr->op != IR_COPY))
        plan->chunk_ordered[plan->num_chunks] = true;
}

static void split_region(c_plan *plan, ir_region *region, bool in_loop) {
    bool open = false;
    for (ir_instr *i = region->first; i; i = i->next) {
        if (plan->in_step[i->mark]) {
            open = false;
            for (unsigned r = 0; r < i->num_regions; r++)
                split_region(plan, i->regions[r], in_loop || i->op == IR_LOOP);
            continue;
        }
        if (!open) {
            plan->num_chunks++;
            plan->chunk_loops[plan->num_chunks] = in_loop;
            open = true;
        }
        set_chunk(i, plan);
        for (unsigned r = 0; r < i->num_regions; r++) qn__ir_walk(i->regions[r], set_chunk, plan);
    }
}

/* ---- hoisting ---- */

/* Can be read in step, before the loops of `chunk`. */
static bool is_at_hand(const c_plan *plan, const ir_value *value, uint32_t chunk) {
    if (value->value_kind > IR_VALUE_PARAM) return true;
    if (plan->uniformity.varying[value->id]) return false;
    if (plan->in_step[value->def->mark]) return true;
    if (value->value_kind == IR_VALUE_PARAM) return false;
    return plan->hoisted[value->def->mark] || plan->chunk[value->def->mark] != chunk;
}

static bool is_hoistable(const c_plan *plan, const ir_instr *instr, bool written) {
    unsigned effects = qn__ir_ops[instr->op].effects;
    bool load = instr->op == IR_LOAD && !(instr->flags & IR_VOLATILE) && !plan->masked &&
                (!written || (instr->flags & IR_READONLY));
    if (effects > IR_EFFECT_QUERY && !load) return false;
    if (instr->num_results != 1 || plan->uniformity.varying[instr->results[0]->id]) return false;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        if (!is_at_hand(plan, instr->operands[i], plan->chunk[instr->mark])) return false;
    }
    return true;
}

typedef struct write_scan {
    bool found;
} write_scan;

static void visit_write(ir_instr *instr, void *user) {
    unsigned effects = qn__ir_ops[instr->op].effects;
    if ((effects == IR_EFFECT_WRITE || effects == IR_EFFECT_READWRITE) && instr->op != IR_VAR)
        ((write_scan *)user)->found = true;
}

static void hoist_region(c_plan *plan, ir_region *region) {
    write_scan written = {0};
    uint32_t chunk = 0;
    for (ir_instr *i = region->first; i; i = i->next) {
        if (plan->in_step[i->mark]) {
            for (unsigned r = 0; r < i->num_regions; r++) hoist_region(plan, i->regions[r]);
            continue;
        }
        if (plan->chunk[i->mark] != chunk) written.found = false;
        chunk = plan->chunk[i->mark];
        plan->hoisted[i->mark] = is_hoistable(plan, i, written.found);
        visit_write(i, &written);
        for (unsigned r = 0; r < i->num_regions; r++) qn__ir_walk(i->regions[r], visit_write, &written);
    }
}

/* ---- where values live ---- */

/* Costs of computing a value again, in operations; LOADED is that of reading it from its array. */
enum { COST_LOADED = 3, COST_MOST = 6 };

typedef struct placing {
    c_plan *plan;
    uint8_t *cost;    /* by value id */
    bool *escapes;    /* by value id: used outside its chunk */
    bool *needed;     /* by value id: operand of a sync point, must be in an array */
    ir_instr **order; /* all instructions in walk order */
    uint32_t count;
} placing;

static bool can_repeat(const ir_instr *instr) {
    unsigned effects = qn__ir_ops[instr->op].effects;
    return effects == IR_EFFECT_PURE || effects == IR_EFFECT_QUERY;
}

static void visit_cost(ir_instr *instr, void *user) {
    placing *p = user;
    p->order[p->count++] = instr;
    if (instr->num_results != 1 || !can_repeat(instr) || p->plan->in_step[instr->mark]) return;
    unsigned cost = 1;
    for (uint32_t i = 0; i < instr->num_operands && cost < 100; i++) {
        const ir_value *operand = instr->operands[i];
        if (operand->value_kind <= IR_VALUE_PARAM && p->plan->uniformity.varying[operand->id])
            cost += p->cost[operand->id] ? p->cost[operand->id] : COST_LOADED;
    }
    p->cost[instr->results[0]->id] = (uint8_t)(cost > 100 ? 100 : cost);
}

/* The chunk in which a value is defined; 0: in step. */
static uint32_t home_of(const c_plan *plan, const ir_value *value) {
    return plan->in_step[value->def->mark] ? 0 : plan->chunk[value->def->mark];
}

static void place_result(placing *p, const ir_instr *instr, const ir_value *value) {
    c_plan *plan = p->plan;
    bool varying = plan->uniformity.varying[value->id];
    uint8_t *storage = &plan->storage[value->id];
    if (plan->in_step[instr->mark]) {
        *storage = varying ? STORAGE_CONTEXT : STORAGE_GROUP;
    } else if (plan->hoisted[instr->mark]) {
        *storage = STORAGE_GROUP;
    } else if (!p->escapes[value->id] && !p->needed[value->id]) {
        *storage = STORAGE_ITEM;
    } else if (!varying) {
        *storage = STORAGE_GROUP;
    } else if (instr->op == IR_VAR) {
        *storage = STORAGE_AGAIN;
    } else if (!p->needed[value->id] && p->cost[value->id] && p->cost[value->id] <= COST_MOST) {
        *storage = STORAGE_AGAIN;
        for (uint32_t i = 0; i < instr->num_operands; i++) p->escapes[instr->operands[i]->id] = true;
    } else {
        *storage = STORAGE_CONTEXT;
    }
}

static void note_uses(placing *p, const ir_instr *instr) {
    const c_plan *plan = p->plan;
    bool in_step = plan->in_step[instr->mark];
    const ir_instr *owner = instr->parent->owner;
    bool leads = qn__ir_is_jump(instr) && owner && plan->in_step[owner->mark];
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const ir_value *operand = instr->operands[i];
        if (operand->value_kind > IR_VALUE_PARAM) continue;
        if (in_step && is_sync(instr)) p->needed[operand->id] = true;
        if (in_step || home_of(plan, operand) != plan->chunk[instr->mark]) p->escapes[operand->id] = true;
        /* Uniform values that a jump in step hands over are assigned outside the loops. */
        if (leads && !plan->uniformity.varying[operand->id]) p->escapes[operand->id] = true;
    }
}

/* Users come before definitions, so that an operand knows of all its uses, those of values computed again
   too. */
static void place_values(placing *p) {
    const c_plan *plan = p->plan;
    for (uint32_t n = p->count; n-- > 0;) {
        const ir_instr *instr = p->order[n];
        for (uint32_t i = 0; i < instr->num_results; i++) place_result(p, instr, instr->results[i]);
        for (unsigned r = 0; r < instr->num_regions; r++) {
            const ir_region *region = instr->regions[r];
            for (uint32_t i = 0; i < region->num_params; i++) {
                const ir_value *param = region->params[i];
                bool varying = plan->uniformity.varying[param->id];
                if (plan->in_step[instr->mark])
                    plan->storage[param->id] = varying ? STORAGE_CONTEXT : STORAGE_GROUP;
            }
        }
        note_uses(p, instr);
    }
}

/* ---- private variables ---- */

typedef struct pointer_uses {
    const c_plan *plan;
    uint32_t *chunk; /* by value id: chunk of all uses; 0: none yet, UINT32_MAX: several, or out of sight */
} pointer_uses;

static void visit_pointer(ir_instr *instr, void *user) {
    pointer_uses *p = user;
    bool access = instr->op == IR_LOAD || instr->op == IR_STORE || instr->op == IR_COPY ||
                  (instr->op >= IR_ATOMIC_LOAD && instr->op <= IR_ATOMIC_CAS);
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const ir_value *operand = instr->operands[i];
        if (operand->value_kind != IR_VALUE_RESULT || operand->type.kind != IR_PTR) continue;
        uint32_t *chunk = &p->chunk[operand->id], here = p->plan->chunk[instr->mark];
        bool stored = instr->op == IR_STORE && i == 1;
        bool followed = instr->op == IR_PTR_ADD && p->plan->storage[instr->results[0]->id] == STORAGE_ITEM;
        if ((!access || stored) && !followed && instr->op != IR_PTR_ADD) here = UINT32_MAX;
        if (instr->op == IR_PTR_ADD && !followed) here = UINT32_MAX;
        *chunk = *chunk == 0 || *chunk == here ? here : UINT32_MAX;
    }
}

/* A pointer made by ptr_add whose own uses are out of sight takes its base with it. */
static void follow_pointers(placing *p, uint32_t *chunk) {
    for (uint32_t n = p->count; n-- > 0;) {
        const ir_instr *i = p->order[n];
        if (i->op == IR_PTR_ADD && chunk[i->results[0]->id] == UINT32_MAX)
            chunk[i->operands[0]->id] = UINT32_MAX;
    }
}

/* Private objects used in one chunk only are C variables there, unless a loop in step comes back to them. */
static void place_variables(qn__arena *arena, placing *p) {
    c_plan *plan = p->plan;
    pointer_uses uses = {plan, QN__NEW_ARRAY(arena, uint32_t, (size_t)plan->kernel->num_values + 1)};
    for (uint32_t n = 0; n < p->count; n++) visit_pointer(p->order[n], &uses);
    follow_pointers(p, uses.chunk);
    for (uint32_t n = 0; n < p->count; n++) {
        if (p->order[n]->op != IR_VAR) continue;
        const ir_value *value = p->order[n]->results[0];
        uint32_t chunk = uses.chunk[value->id];
        bool local = chunk != UINT32_MAX && (!chunk || !plan->chunk_loops[chunk]);
        plan->storage[value->id] = local || !plan->sync ? STORAGE_ITEM : STORAGE_AGAIN;
        if (!local || !chunk) continue;
        plan->chunk[p->order[n]->mark] = chunk;
        plan->chunk_ordered[chunk] = true;
    }
}

/* ---- the whole ---- */

typedef struct group_scan {
    bool grouped;
} group_scan;

static void visit_grouped(ir_instr *instr, void *user) {
    const bool of_group = qn__ir_has(instr->op, IR_WHOLE) || instr->op == IR_GROUP_ID;
    const bool of_row = !qn__ir_has(instr->op, IR_ATTR_DIM) || instr->attr.dim == 0;
    if ((of_group && of_row) || instr->op == IR_LOCAL_ID || instr->op == IR_LOCAL)
        ((group_scan *)user)->grouped = true;
}

static bool is_flat(const c_plan *plan) {
    group_scan scan = {.grouped = plan->sync};
    qn__ir_walk(plan->kernel->body, visit_grouped, &scan);
    for (size_t i = 0; i < plan->kernel->args.len; i++) {
        if (plan->kernel->args.data[i].arg_kind == IR_ARG_LOCAL) scan.grouped = true;
    }
    return !scan.grouped;
}

static void count(ir_instr *instr, void *user) {
    uint32_t *most = user;
    if (instr->mark >= *most) *most = instr->mark + 1;
}

c_plan *qn__c_plan(qn__arena *arena, ir_function *kernel) {
    c_plan *plan = QN__NEW(arena, c_plan);
    plan->kernel = kernel;
    plan->uniformity = qn__uniformity_analyse(arena, kernel);
    qn__ir_walk(kernel->body, count, &plan->num_instrs);
    size_t n = (size_t)plan->num_instrs + 2, values = (size_t)kernel->num_values + 1;
    plan->in_step = QN__NEW_ARRAY(arena, bool, n);
    plan->hoisted = QN__NEW_ARRAY(arena, bool, n);
    plan->chunk = QN__NEW_ARRAY(arena, uint32_t, n);
    plan->chunk_loops = QN__NEW_ARRAY(arena, bool, n);
    plan->chunk_ordered = QN__NEW_ARRAY(arena, bool, n);
    plan->storage = QN__NEW_ARRAY(arena, uint8_t, values);
    plan->uses = qn__ir_count_uses(arena, kernel);
    qn__ir_walk(kernel->body, visit_sync, plan);
    if (plan->sync) qn__ir_walk(kernel->body, visit_construct, plan);
    split_region(plan, kernel->body, false);
    hoist_region(plan, kernel->body);
    placing p = {.plan = plan};
    p.cost = QN__NEW_ARRAY(arena, uint8_t, values);
    p.escapes = QN__NEW_ARRAY(arena, bool, values);
    p.needed = QN__NEW_ARRAY(arena, bool, values);
    p.order = QN__NEW_ARRAY(arena, ir_instr *, n);
    qn__ir_walk(kernel->body, visit_cost, &p);
    place_values(&p);
    place_variables(arena, &p);
    plan->flat = is_flat(plan);
    return plan;
}
