/* Sync points of the C target: barriers, group collectives, sub-group operations. They run in step, between
   the item loops of the chunks around them, over the arrays of their operands. Barriers need no code of their
   own: the split of the loops is the barrier. Sub-groups are consecutive linear ids; the last one may be
   smaller. */
#include "emit/c/internal.h"

/* ---- identities ---- */

/* The start of a reduction: joining it with x gives exactly x. `shown`: what an exclusive scan gives the
   first work-item, by the OpenCL specification. */
static const char *identity(c_emitter *e, ir_combine combine, ir_kind kind, bool shown) {
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__c_number(&text, kind, qn__ir_combine_identity(combine, kind, !shown));
    return text.data;
}

/* ---- pieces ---- */

static bool in_array(const c_emitter *e, const ir_value *value) {
    return value->value_kind <= IR_VALUE_PARAM && e->plan->storage[value->id] == STORAGE_CONTEXT;
}

/* The value of work-item `index`. */
static const char *of_item(c_emitter *e, const ir_value *value, unsigned lane, const char *index) {
    if (!in_array(e, value)) return qn__c_use(e, value, lane);
    return qn__arena_printf(e->arena, "%s[%s]", qn__c_context(e, value, lane), index);
}

static void open_group(c_emitter *e, bool sub_group) {
    if (sub_group) {
        unsigned size = e->sub_group_size;
        qn__c_open(e, "for (i32 first = 0; first < items; first += %u) {", size);
        qn__c_line(e, "const i32 last = first + %u < items ? first + %u : items;", size, size);
    } else {
        qn__c_open(e, "{");
        qn__c_line(e, "const i32 first = 0, last = items;");
    }
}

static void open_members(c_emitter *e) {
    const char *test = e->plan->masked ? " if (pend[i] == 0) {" : " {";
    qn__c_open(e, "for (i32 i = first; i < last; ++i)%s", test);
}

/* Gives all members of the group the value of an expression. */
static void give_all(c_emitter *e, const ir_value *result, unsigned lane, const char *expression) {
    if (in_array(e, result)) {
        open_members(e);
        qn__c_line(e, "%s[i] = %s;", qn__c_context(e, result, lane), expression);
        qn__c_close(e, "}");
    } else {
        qn__c_line(e, "%s = %s;", qn__c_use(e, result, lane), expression);
    }
}

/* ---- the operations ---- */

static void vote(c_emitter *e, const ir_instr *instr) {
    bool all = instr->op == IR_GROUP_ALL;
    qn__c_line(e, "b1 vote = %d;", all);
    open_members(e);
    qn__c_line(e, "vote %s= %s;", all ? "&" : "|", of_item(e, instr->operands[0], 0, "i"));
    qn__c_close(e, "}");
    give_all(e, instr->results[0], 0, "vote");
}

static void reduce(c_emitter *e, const ir_instr *instr) {
    ir_kind kind = (ir_kind)instr->results[0]->type.kind;
    ir_combine combine = (ir_combine)instr->attr.combine;
    qn__c_line(e, "%s sum = %s;", qn__c_scalar(kind), identity(e, combine, kind, false));
    open_members(e);
    qn__c_line(e, "sum = %s;",
               qn__c_combine(e, combine, kind, "sum", of_item(e, instr->operands[0], 0, "i")));
    qn__c_close(e, "}");
    give_all(e, instr->results[0], 0, "sum");
}

static void scan(c_emitter *e, const ir_instr *instr) {
    ir_kind kind = (ir_kind)instr->results[0]->type.kind;
    ir_combine combine = (ir_combine)instr->attr.combine;
    bool exclusive = (instr->flags & IR_EXCLUSIVE) != 0;
    const char *own = of_item(e, instr->operands[0], 0, "i");
    const char *result = qn__c_context(e, instr->results[0], 0);
    qn__c_line(e, "%s sum = %s;", qn__c_scalar(kind), identity(e, combine, kind, false));
    if (exclusive) qn__c_line(e, "%s before = %s;", qn__c_scalar(kind), identity(e, combine, kind, true));
    open_members(e);
    qn__c_line(e, "sum = %s;", qn__c_combine(e, combine, kind, "sum", own));
    qn__c_line(e, "%s[i] = %s;", result, exclusive ? "before" : "sum");
    if (exclusive) qn__c_line(e, "before = sum;");
    qn__c_close(e, "}");
}

/* A work-group broadcast: the index is the same for all that take part; any of them tells it. */
static void broadcast(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0], *index = instr->operands[1];
    const char *at = qn__c_use(e, index, 0);
    if (in_array(e, index)) {
        qn__c_line(e, "i32 from = 0;");
        open_members(e);
        qn__c_line(e, "from = (i32)%s;", of_item(e, index, 0, "i"));
        qn__c_close(e, "}");
        at = "from";
    }
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        const char *value = of_item(e, instr->operands[0], lane, at);
        give_all(e, result, lane, qn__arena_printf(e->arena, "(u32)%s < (u32)items ? %s : 0", at, value));
    }
}

/* Shuffles, and broadcasts within sub-groups: out of range gives the work-item's own value. */
static void shuffle(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0], *value = instr->operands[0];
    open_members(e);
    qn__c_line(e, "const i32 wanted = (i32)%s;", of_item(e, instr->operands[1], 0, "i"));
    qn__c_line(e, "const i32 from = (u32)wanted < (u32)(last - first) ? first + wanted : i;");
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        const char *to = qn__c_context(e, result, lane);
        qn__c_line(e, "%s[i] = %s;", to, of_item(e, value, lane, "from"));
    }
    qn__c_close(e, "}");
}

static void ballot(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    qn__c_line(e, "u32 bits[4] = {0, 0, 0, 0};");
    open_members(e);
    qn__c_line(e, "bits[(i - first) / 32 & 3] |= (u32)%s << ((i - first) & 31);",
               of_item(e, instr->operands[0], 0, "i"));
    qn__c_close(e, "}");
    for (unsigned lane = 0; lane < result->type.lanes; lane++)
        give_all(e, result, lane, qn__arena_printf(e->arena, "(i32)bits[%u]", lane));
}

void qn__c_sync(c_emitter *e, ir_instr *instr) {
    qn__c_locate(e, instr->loc);
    if (instr->op == IR_BARRIER) {
        qn__c_line(e, "/* barrier */");
        return;
    }
    if (instr->num_results == 0 || e->plan->uses[instr->results[0]->id] == 0) return;
    if (!in_array(e, instr->results[0])) qn__c_declare(e, instr->results[0]);
    const bool sub_group = qn__ir_is_of_sub_group(instr);
    open_group(e, sub_group);
    switch (instr->op) {
    case IR_GROUP_ALL:
    case IR_GROUP_ANY: vote(e, instr); break;
    case IR_GROUP_REDUCE: reduce(e, instr); break;
    case IR_GROUP_SCAN: scan(e, instr); break;
    case IR_GROUP_BROADCAST:
        if (!sub_group) {
            broadcast(e, instr);
            break;
        }
        /* fallthrough */
    case IR_SUB_GROUP_SHUFFLE: shuffle(e, instr); break;
    case IR_SUB_GROUP_BALLOT: ballot(e, instr); break;
    default: qn__c_refuse(e, instr); break;
    }
    qn__c_close(e, "}");
}
