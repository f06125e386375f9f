/* Control flow of gangs: loops over gangs of a group, and masks through constructs.
   Where all members of a gang go the same way, constructs are plain C. Where they may diverge, a region has a
   mask of its own; a jump takes its members out of every mask up to its target, and out of the loops it
   leaves. After a construct that held such a jump the rest of the region runs only if somebody is left, so
   that what is done once for the gang (a load from an address that all share) is done only where a member
   wants it. */
#include "emit/c/gang.h"

static void gang_region(c_emitter *e, ir_instr *first);

/* ---- loops over gangs ---- */

static void push_mask(c_emitter *e, const char *name, const char *full, const ir_instr *construct) {
    c_mask mask = {name, full, NULL, construct, false};
    qn__vec_push(e->arena, &e->gang->masks, mask);
}

void qn__c_gang_open(c_emitter *e) {
    struct c_gang_state *gang = QN__NEW(e->arena, struct c_gang_state);
    size_t values = (size_t)e->plan->kernel->num_values + 1;
    gang->lane_texts = QN__NEW_ARRAY(e->arena, const char *, values);
    gang->guards = QN__NEW_ARRAY(e->arena, const char *, values);
    e->gangs = true;
    qn__c_line(e, "for (i32 id2 = 0; id2 < count2; ++id2)");
    /* Down a column of gangs, not along a row: what depends on x only stays in the cache for the next row. */
    qn__c_line(e, "for (i32 id0 = 0; id0 < count0; id0 += QN_W)");
    qn__c_open(e, "for (i32 id1 = 0; id1 < count1; ++id1) {");
    if (!e->plan->flat) qn__c_line(e, "const i32 item = (id2 * count1 + id1) * count0 + id0;");
    qn__c_line(e, "vi32 m0 = qn_index < count0 - id0;");
    if (e->plan->masked) {
        qn__c_line(e, "QN_MEMBERS if (m0[l] && pend[item + l] != 0) m0[l] = 0;");
        qn__c_line(e, "if (!qn_any(m0)) continue;");
        qn__c_line(e, "const b1 full = qn_all(m0);");
    } else {
        qn__c_line(e, "const b1 full = count0 - id0 >= QN_W;");
    }
    e->per_item = true;
    e->next_used = false;
    e->flow.inner_loop = NULL;
    e->epoch++;
    e->gang = gang;
    push_mask(e, "m0", "full", NULL);
}

void qn__c_gang_close(c_emitter *e) {
    e->gang = NULL;
    if (e->next_used) qn__c_write_label(&e->text, "next", e->epoch);
    qn__c_close(e, "}");
    e->per_item = false;
}

/* ---- values that cross constructs ---- */

static bool diverges(const c_emitter *e, const ir_instr *construct) {
    return e->gang_plan->row.varying_branch[construct->mark];
}

static void set_lane(c_emitter *e, const ir_value *target, const ir_value *value, const char *copy,
                     unsigned lane, bool masked) {
    if (qn__c_shape(e, target) != SHAPE_GANG) {
        qn__c_line(e, "%s = %s;", qn__c_use(e, target, lane), copy ? copy : qn__c_use(e, value, lane));
    } else if (qn__c_is_vector(target->type)) {
        qn__c_gang_set(e, target, copy ? copy : qn__c_gang_use(e, value, lane), lane, masked);
    } else {
        if (masked) {
            qn__c_open(e, "QN_MEMBERS if (%s[l]) {", qn__c_mask(e)->name);
        } else {
            qn__c_open(e, "QN_MEMBERS {");
        }
        e->gang->in_lane = true;
        const char *text = copy ? qn__arena_printf(e->arena, "%s[l]", copy) : qn__c_use(e, value, lane);
        qn__c_gang_define_lane(e, target, lane, text);
        e->gang->in_lane = false;
        qn__c_close(e, "}");
    }
}

/* A copy of a value before targets change. */
static const char *copied(c_emitter *e, const ir_value *target, const ir_value *value, unsigned index,
                          unsigned lane) {
    const char *name = qn__arena_printf(e->arena, "next%u_%u", index, lane);
    const char *type = qn__c_scalar((ir_kind)target->type.kind);
    if (qn__c_shape(e, target) != SHAPE_GANG) {
        qn__c_line(e, "%s %s = %s;", type, name, qn__c_use(e, value, lane));
    } else if (qn__c_is_vector(target->type)) {
        bool is_float = target->type.kind == IR_F32 || target->type.kind == IR_F16;
        qn__c_line(e, "%s %s = %s;", is_float ? "vf32" : "vi32", name, qn__c_gang_use(e, value, lane));
    } else {
        qn__c_line(e, "%s %s[QN_W];", type, name);
        e->gang->in_lane = true;
        qn__c_line(e, "QN_MEMBERS %s[l] = %s;", name, qn__c_use(e, value, lane));
        e->gang->in_lane = false;
    }
    return name;
}

typedef struct receiving {
    c_emitter *e;
    bool masked;
} receiving;

static unsigned num_pieces(void *user, const ir_value *target) {
    (void)user;
    return target->type.lanes;
}

static const char *keep(void *user, const ir_value *target, const ir_value *value, unsigned index,
                        unsigned piece) {
    const receiving *r = user;
    return copied(r->e, target, value, index, piece);
}

static void set(void *user, const ir_value *target, const ir_value *value, const char *copy, unsigned piece) {
    const receiving *r = user;
    set_lane(r->e, target, value, copy, piece, r->masked);
}

static void assign(c_emitter *e, ir_value *const *targets, ir_value *const *values, uint32_t count,
                   bool masked) {
    static const qn__c_dialect dialect = {.num_pieces = num_pieces, .keep = keep, .set = set};
    receiving r = {e, masked};
    qn__c_hand_over(&e->text, e->arena, &dialect, &r, targets, values, count);
}

/* ---- jumps ---- */

/* Takes the members of the current mask out of all masks inside `target`, and out of the loops on the way. */
static void take_out(c_emitter *e, const ir_instr *target, bool leaves_target) {
    struct c_gang_state *gang = e->gang;
    const char *gone = qn__arena_printf(e->arena, "gone%u", gang->next++);
    qn__c_line(e, "const vi32 %s = %s;", gone, qn__c_mask(e)->name);
    for (size_t i = gang->masks.len; i-- > 0;) {
        c_mask *mask = &gang->masks.data[i];
        bool inside = !target;
        for (const ir_instr *at = mask->construct; at && !inside; at = at->parent->owner)
            inside = at == target;
        if (!inside) break;
        qn__c_line(e, "%s &= ~%s;", mask->name, gone);
        mask->full = NULL;
        mask->reduced = true;
        if (mask->live && (mask->construct != target || leaves_target))
            qn__c_line(e, "%s &= ~%s;", mask->live, gone);
    }
}

static void hand_over(c_emitter *e, const ir_instr *jump) {
    const ir_receivers to = qn__ir_receivers(jump);
    for (uint32_t i = 0; i < to.count; i++) {
        const ir_value *value = jump->operands[i];
        if (value->value_kind == IR_VALUE_UNDEF) continue;
        if (e->plan->storage[to.values[i]->id] == STORAGE_CONTEXT) {
            qn__c_gang_keep(e, to.values[i], value);
        } else if (jump->parent->owner && !e->plan->in_step[jump->parent->owner->mark]) {
            for (unsigned lane = 0; lane < value->type.lanes; lane++)
                qn__c_line(e, "%s = %s;", qn__c_use(e, to.values[i], lane), qn__c_use(e, value, lane));
        }
    }
}

static void pend(c_emitter *e, const ir_instr *jump) {
    int to = -1;
    if (jump->op != IR_RETURN)
        to = qn__c_pend(qn__ir_jump_target(jump), jump->op == IR_BREAK ? PEND_BREAK : PEND_CONTINUE);
    qn__c_line(e, "QN_MEMBERS if (%s[l]) pend[item + l] = %d;", qn__c_mask(e)->name, to);
}

static void gang_jump(c_emitter *e, const ir_instr *jump) {
    const ir_receivers to = qn__ir_receivers(jump);
    const ir_instr *owner = jump->parent->owner;
    const ir_instr *target = qn__ir_jump_target(jump);
    if (jump->op == IR_UNREACHABLE) return;
    if (jump->op == IR_RETURN) {
        if (e->plan->masked) pend(e, jump);
        if (owner) take_out(e, NULL, true);
    } else if (e->plan->in_step[target->mark]) {
        hand_over(e, jump);
        pend(e, jump);
        take_out(e, NULL, true);
    } else if (!diverges(e, target)) {
        assign(e, to.values, jump->operands, to.count, false);
        qn__c_jump(&e->flow, jump);
    } else {
        assign(e, to.values, jump->operands, to.count, true);
        bool at_end = owner == target && !(jump->op == IR_BREAK && target->op == IR_LOOP);
        if (jump->op != IR_YIELD && !at_end) take_out(e, target, jump->op == IR_BREAK);
    }
}

/* ---- constructs ---- */

static void write_region(void *user, ir_region *region) { gang_region(user, region->first); }

static const char *condition(void *user, const ir_value *value) { return qn__c_use(user, value, 0); }

static const qn__c_dialect plain = {.condition = condition, .region = write_region};

static void gang_if(c_emitter *e, ir_instr *instr) {
    if (!diverges(e, instr)) {
        qn__c_if(&e->text, &plain, e, instr);
        return;
    }
    const char *condition = qn__c_gang_use(e, instr->operands[0], 0), *outer = qn__c_mask(e)->name;
    for (int i = 0; i < 2; i++) {
        if (qn__c_is_empty(&plain, e, instr->regions[i])) continue;
        const char *name = qn__arena_printf(e->arena, "m%u_%d", instr->mark, i);
        qn__c_line(e, "vi32 %s = %s & %s%s;", name, outer, i ? "~" : "", condition);
        qn__c_open(e, "if (qn_any(%s)) {", name);
        push_mask(e, name, NULL, instr);
        gang_region(e, instr->regions[i]->first);
        (void)qn__vec_pop(&e->gang->masks);
        qn__c_close(e, "}");
    }
}

static void start_params(c_emitter *e, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    for (uint32_t i = 0; i < body->num_params; i++) {
        const ir_value *param = body->params[i];
        qn__c_gang_declare(e, param);
        for (unsigned lane = 0; lane < param->type.lanes; lane++)
            set_lane(e, param, loop->operands[i], NULL, lane, false);
    }
}

static void gang_loop(c_emitter *e, ir_instr *instr) {
    start_params(e, instr);
    bool masked = diverges(e, instr);
    const char *live = qn__arena_printf(e->arena, "live%u", instr->mark);
    const char *name = qn__arena_printf(e->arena, "m%u", instr->mark);
    if (masked) qn__c_line(e, "vi32 %s = %s;", live, qn__c_mask(e)->name);
    const ir_instr *outer = qn__c_open_loop(&e->flow, instr, "for (;;) {");
    qn__c_look(e, instr);
    if (masked) {
        qn__c_line(e, "vi32 %s = %s;", name, live);
        push_mask(e, name, NULL, instr);
        qn__c_mask(e)->live = live;
    }
    gang_region(e, instr->regions[0]->first);
    if (masked) (void)qn__vec_pop(&e->gang->masks);
    qn__c_repeat_label(&e->flow, instr);
    if (masked) qn__c_line(e, "if (!qn_any(%s)) break;", live);
    qn__c_close_loop(&e->flow, outer);
}

static void gang_block(c_emitter *e, ir_instr *instr) {
    bool masked = diverges(e, instr);
    qn__c_open(e, "{");
    if (masked) {
        const char *name = qn__arena_printf(e->arena, "m%u", instr->mark);
        qn__c_line(e, "vi32 %s = %s;", name, qn__c_mask(e)->name);
        push_mask(e, name, qn__c_mask(e)->full, instr);
    }
    gang_region(e, instr->regions[0]->first);
    if (masked) (void)qn__vec_pop(&e->gang->masks);
    qn__c_close(e, "}");
}

static void gang_construct(c_emitter *e, ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_results; i++) {
        const ir_value *result = instr->results[i];
        bool group = e->plan->storage[result->id] == STORAGE_GROUP;
        if (!group) qn__c_gang_declare(e, result);
    }
    if (instr->op == IR_IF) {
        gang_if(e, instr);
    } else if (instr->op == IR_LOOP) {
        gang_loop(e, instr);
    } else {
        gang_block(e, instr);
    }
    qn__c_leave_label(&e->flow, instr);
    for (uint32_t i = 0; i < instr->num_results; i++) {
        if (e->plan->storage[instr->results[i]->id] == STORAGE_CONTEXT)
            qn__c_gang_keep(e, instr->results[i], instr->results[i]);
    }
}

/* A region, or a chunk: from `first` to the next that is in step. */
static void gang_region(c_emitter *e, ir_instr *first) {
    unsigned opened = 0;
    for (ir_instr *i = first; i && !e->plan->in_step[i->mark]; i = i->next) {
        if (qn__ir_is_construct(i)) {
            bool before = qn__c_mask(e)->reduced;
            qn__c_mask(e)->reduced = false;
            gang_construct(e, i);
            bool lost = qn__c_mask(e)->reduced;
            qn__c_mask(e)->reduced = lost || before;
            if (lost && i->next) {
                qn__c_open(e, "if (qn_any(%s)) {", qn__c_mask(e)->name);
                opened++;
            }
        } else if (qn__ir_is_jump(i)) {
            bool chunk_end =
                i->parent == first->parent && (!i->parent->owner || e->plan->in_step[i->parent->owner->mark]);
            if (chunk_end && e->plan->sync) {
                hand_over(e, i);
            } else {
                gang_jump(e, i);
            }
        } else if (!e->plan->hoisted[i->mark]) {
            qn__c_gang_instr(e, i);
        }
    }
    while (opened--) qn__c_close(e, "}");
}

void qn__c_gang_body(c_emitter *e, ir_instr *first) { gang_region(e, first); }
