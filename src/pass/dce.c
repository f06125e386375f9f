/* Dead code: everything is assumed dead until something that matters needs it, so that values that only feed
   each other around a loop go too. What matters: effects, returns, loops that nothing leaves. Unused results
   of constructs and parameters of loops are dropped, and stores to private variables that nothing reads.

       %s, %n = loop (%i = 0, %dead = 0) {            %s = loop (%i = 0) {
         ... break %i, %dead ...               ->       ... break %i ...
         continue %i2, add %dead, 1 }                   continue %i2 }                    (%n has no use)

   C lets us assume that a loop without effects ends, so one with a way out and without needed results is
   removed. */
#include "pass/tools.h"

#define NEEDED (UINT32_C(1) << 31)
#define PASSED (UINT32_C(1) << 30)

/* Jumps by where they go. Constructs are numbered; the number is the instruction's mark. */
typedef struct flow {
    ir_instr *construct;
    QN__VEC(ir_instr *) exits; /* yields and breaks */
    QN__VEC(ir_instr *) continues;
} flow;

typedef struct dead_code {
    qn__pass_context *context;
    qn__arena *arena;
    QN__VEC(flow) flows;
    bool *live;                 /* by id: results and parameters of constructs */
    QN__VEC(ir_value *) values; /* live ones of them, where they come from not looked at yet */
    QN__VEC(ir_instr *) instrs; /* needed, but the walk had passed them; operands not looked at yet */
    QN__VEC(ir_instr *) passed; /* not needed when the walk came by */
    uint32_t num_values;
    ir_instr **stores; /* by id of a variable: the last store to it; earlier ones by `older` */
    qn__map64 older;   /* store -> the store to the same variable before it */
    bool changed;
} dead_code;

static flow *flow_of(dead_code *d, const ir_instr *construct) {
    return &d->flows.data[construct->mark & ~(NEEDED | PASSED)];
}

/* ---- marking ---- */

/* The walk looks at what it has not passed yet when it gets there. */
static void need(dead_code *d, ir_instr *instr) {
    for (; instr && !(instr->mark & NEEDED); instr = instr->parent->owner) {
        instr->mark |= NEEDED;
        if (instr->mark & PASSED) qn__vec_push(d->arena, &d->instrs, instr);
    }
}

/* What a construct gives or a loop carries. */
static void live_in_construct(dead_code *d, ir_value *value) {
    if (d->live[value->id]) return;
    d->live[value->id] = true;
    qn__vec_push(d->arena, &d->values, value);
}

static inline void live(dead_code *d, ir_value *value) {
    ir_instr *def = value->def;
    if (!def) return;
    if (!(def->mark & NEEDED)) need(d, def);
    if (qn__ir_is_construct(def)) live_in_construct(d, value);
}

static ir_value *private_base(ir_value *pointer) {
    while (qn__defined_by(pointer, IR_PTR_ADD)) pointer = pointer->def->operands[0];
    return qn__defined_by(pointer, IR_VAR) ? pointer : NULL;
}

/* A store to a variable waits for a reader of the variable. */
static bool waits(dead_code *d, ir_instr *instr) {
    if ((instr->op != IR_STORE && instr->op != IR_COPY) || (instr->flags & IR_VOLATILE)) return false;
    const ir_value *base = private_base(instr->operands[0]);
    if (!base) return false;
    if (!d->stores) d->stores = QN__NEW_ARRAY(d->arena, ir_instr *, d->num_values);
    qn__map64_set(d->arena, &d->older, (uint64_t)(uintptr_t)instr, d->stores[base->id]);
    d->stores[base->id] = instr;
    return true;
}

static void note_jump(dead_code *d, ir_instr *jump) {
    const ir_instr *target = qn__ir_jump_target(jump);
    if (jump->op == IR_RETURN) need(d, jump);
    if (!target) return;
    flow *f = flow_of(d, target);
    if (jump->op == IR_CONTINUE)
        qn__vec_push(d->arena, &f->continues, jump);
    else
        qn__vec_push(d->arena, &f->exits, jump);
}

static void gather(dead_code *d, ir_region *region);

static void gather_construct(dead_code *d, ir_instr *construct) {
    construct->mark = (uint32_t)d->flows.len;
    qn__vec_push(d->arena, &d->flows, (flow){.construct = construct});
    for (uint32_t r = 0; r < construct->num_regions; r++) gather(d, construct->regions[r]);
    if (construct->op == IR_LOOP && !flow_of(d, construct)->exits.len) need(d, construct);
}

/* The checker tells of one that is outside, used or not. */
static bool is_checked_index(const ir_instr *i) { return i->op == IR_UMIN && (i->flags & IR_WRITTEN); }

/* What matters by itself, and where jumps go. A mark is set before anything inside can need it. */
static void gather(dead_code *d, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        i->mark = 0;
        if (is_checked_index(i)) need(d, i);
        if (qn__effects(i) <= IR_EFFECT_QUERY) continue;
        if (qn__ir_is_construct(i))
            gather_construct(d, i);
        else if (qn__ir_is_jump(i))
            note_jump(d, i);
        else if (!qn__ir_is_removable(i) && !waits(d, i))
            need(d, i);
    }
}

static inline void live_operands(dead_code *d, const ir_instr *instr) {
    for (uint32_t o = 0; o < instr->num_operands; o++) live(d, instr->operands[o]);
}

static bool is_plain(const ir_instr *instr) {
    return !instr->num_regions && !qn__ir_is_jump(instr) && instr->op != IR_VAR;
}

/* A needed construct needs the jumps that decide how it is left, wherever they hang. */
static void visit_needed(dead_code *d, ir_instr *instr) {
    if (qn__ir_is_construct(instr)) {
        const flow *f = flow_of(d, instr);
        if (instr->op == IR_IF) live(d, instr->operands[0]);
        for (size_t n = 0; n < f->exits.len; n++) need(d, f->exits.data[n]);
        for (size_t n = 0; n < f->continues.len; n++) need(d, f->continues.data[n]);
    } else if (instr->op == IR_VAR) {
        ir_instr *store = d->stores ? d->stores[instr->results[0]->id] : NULL;
        for (; store; store = qn__map64_get(&d->older, (uint64_t)(uintptr_t)store)) need(d, store);
    } else if (!qn__ir_is_jump(instr) || instr->op == IR_RETURN) {
        live_operands(d, instr);
    }
}

/* A result or parameter of a construct. */
static void visit_live(dead_code *d, ir_value *value) {
    const flow *f = flow_of(d, value->def);
    if (value->value_kind == IR_VALUE_PARAM) {
        live(d, value->def->operands[value->index]);
        for (size_t n = 0; n < f->continues.len; n++) live(d, f->continues.data[n]->operands[value->index]);
    } else {
        for (size_t n = 0; n < f->exits.len; n++) live(d, f->exits.data[n]->operands[value->index]);
    }
}

/* From the end to the start: uses stand behind what they use, but for those of the next iteration of a loop, which are
   left to the lists. What a construct gives is known before its regions are walked. */
static void walk_back(dead_code *d, ir_region *region) {
    for (ir_instr *i = region->last; i; i = i->prev) {
        if (i->num_regions)
            while (d->values.len) visit_live(d, qn__vec_pop(&d->values));
        const bool needed = i->mark & NEEDED;
        i->mark |= PASSED;
        if (!needed && !qn__ir_is_jump(i)) qn__vec_push(d->arena, &d->passed, i);
        if (is_plain(i)) {
            if (needed) live_operands(d, i);
            continue;
        }
        if (needed) visit_needed(d, i);
        for (uint32_t r = i->num_regions; r-- > 0;) walk_back(d, i->regions[r]);
    }
}

/* ---- sweeping ---- */

static bool *keep_flags(dead_code *d, ir_value *const *values, uint32_t count) {
    bool *keep = QN__NEW_ARRAY(d->arena, bool, count + 1u), all = true;
    for (uint32_t i = 0; i < count; i++) {
        keep[i] = d->live[values[i]->id];
        all = all && keep[i];
    }
    return all ? NULL : keep;
}

static void shrink_construct(dead_code *d, ir_instr *construct) {
    const flow *f = flow_of(d, construct);
    const bool *keep = keep_flags(d, construct->results, construct->num_results);
    if (keep) {
        d->changed = true;
        for (size_t n = 0; n < f->exits.len; n++) qn__operands_keep(f->exits.data[n], keep);
        qn__results_keep(construct, keep);
    }
    if (construct->op != IR_LOOP) return;
    keep = keep_flags(d, construct->regions[0]->params, construct->regions[0]->num_params);
    if (!keep) return;
    d->changed = true;
    for (size_t n = 0; n < f->continues.len; n++) qn__operands_keep(f->continues.data[n], keep);
    qn__operands_keep(construct, keep);
    qn__params_keep(construct->regions[0], keep);
}

/* Inner constructs come behind those around them, and are shrunk first. */
static void sweep(dead_code *d) {
    for (size_t n = d->flows.len; n-- > 0;) {
        ir_instr *construct = d->flows.data[n].construct;
        if (construct->mark & NEEDED) shrink_construct(d, construct);
    }
    for (size_t n = 0; n < d->passed.len; n++) {
        if (d->passed.data[n]->mark & NEEDED) continue;
        qn__ir_unlink(d->passed.data[n]);
        d->changed = true;
    }
}

bool qn__pass_dce(qn__pass_context *context) {
    ir_function *function = context->function;
    dead_code d = {.context = context, .arena = context->scratch, .num_values = function->num_values};
    d.live = QN__NEW_ARRAY(d.arena, bool, function->num_values + 1u);
    gather(&d, function->body);
    walk_back(&d, function->body);
    while (d.values.len || d.instrs.len) {
        if (d.instrs.len)
            visit_needed(&d, qn__vec_pop(&d.instrs));
        else
            visit_live(&d, qn__vec_pop(&d.values));
    }
    sweep(&d);
    return d.changed;
}
