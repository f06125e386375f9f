/* Addresses that were an index into an array, spelled so again: base[index] for base + (index << 2). Drivers that
   vectorise across work-items find accesses to be side by side only in this form (PoCL 3.1: five times as fast). */
#include "emit/clc/internal.h"

static const ir_type units[] = {{IR_I8, 1, 0},  {IR_I16, 1, 0}, {IR_I32, 1, 0}, {IR_I64, 1, 0},
                                {IR_I32, 4, 0}, {IR_I32, 8, 0}, {IR_I32, 16, 0}};

enum { MOST_STEPS = 4 };

/* base + (index << log) + (index << log) ... + offset, where the shifts do not wrap. */
typedef struct indexed {
    const ir_value *base, *index[MOST_STEPS];
    unsigned steps;
    uint64_t log;
    int64_t offset;
} indexed;

/* Far from the limits of 64 bits: extended, or an id. */
static bool is_small(const ir_value *value) {
    if (value->value_kind != IR_VALUE_RESULT) return false;
    const ir_instr *def = value->def;
    if (def->op == IR_ZEXT || def->op == IR_SEXT) return true;
    return def->op == IR_GLOBAL_ID || def->op == IR_LOCAL_ID || def->op == IR_GROUP_ID;
}

/* One step: NULL, or the shift that gives its bytes. */
static const ir_instr *shift_of(const ir_value *pointer) {
    if (pointer->value_kind != IR_VALUE_RESULT || pointer->def->op != IR_PTR_ADD) return NULL;
    const ir_value *bytes = pointer->def->operands[1];
    if (bytes->value_kind != IR_VALUE_RESULT || bytes->def->op != IR_SHL) return NULL;
    const ir_instr *shift = bytes->def;
    if (!qn__ir_is_const(shift->operands[1])) return NULL;
    return (shift->flags & IR_NSW) || is_small(shift->operands[0]) ? shift : NULL;
}

static bool find(const ir_value *pointer, indexed *out) {
    const ir_instr *shift = shift_of(pointer);
    if (!shift) return false;
    *out = (indexed){.base = pointer, .log = shift->operands[1]->bits[0]};
    if (out->log == 0 || out->log >= QN__COUNT(units)) return false;
    while (shift && shift->operands[1]->bits[0] == out->log && out->steps < MOST_STEPS) {
        out->index[out->steps++] = shift->operands[0];
        out->offset += out->base->def->attr.offset;
        out->base = out->base->def->operands[0];
        shift = shift_of(out->base);
    }
    return out->base->value_kind <= IR_VALUE_ARG;
}

/* The sum of the indices, the first step's first. */
static const char *sum(clc_emitter *e, const indexed *at) {
    const char *text = qn__clc_use(e, at->index[at->steps - 1]);
    if (at->steps == 1) return text;
    for (unsigned i = at->steps - 1; i-- > 0;)
        text = qn__arena_printf(e->arena, "%s + %s", text, qn__clc_use(e, at->index[i]));
    return qn__arena_printf(e->arena, "(%s)", text);
}

static const char *plus(clc_emitter *e, int64_t number) {
    if (!number) return "";
    return qn__arena_printf(e->arena, number < 0 ? " - %lld" : " + %lld",
                            (long long)(number < 0 ? -number : number));
}

const char *qn__clc_index(clc_emitter *e, const ir_instr *access, const char *type, unsigned size,
                          int64_t more) {
    indexed at;
    if (!find(access->operands[0], &at)) return NULL;
    const char *space = qn__clc_space(e, at.base), *base = qn__clc_use(e, at.base);
    const char *index = sum(e, &at);
    int64_t offset = at.offset + access->attr.offset + more, unit = (int64_t)1 << at.log;
    if (size == unit && offset % unit == 0)
        return qn__arena_printf(e->arena, "((%s %s *)%s)[(long)%s%s]", space, type, base, index,
                                plus(e, offset / unit));
    const char *element = qn__clc_type(e, units[at.log]);
    if (offset % unit == 0)
        return qn__arena_printf(e->arena, "*(%s %s *)((%s %s *)%s + (long)%s%s)", space, type, space, element,
                                base, index, plus(e, offset / unit));
    return qn__arena_printf(e->arena, "*(%s %s *)((%s uchar *)((%s %s *)%s + (long)%s)%s)", space, type,
                            space, space, element, base, index, plus(e, offset));
}

/* ---- uses: an access by index uses base and index, and the address perhaps nobody; a low word is the parameter's ---- */

static void visit_access(ir_instr *instr, void *user) {
    clc_emitter *e = user;
    indexed at;
    if (qn__clc_is_low_word(instr)) e->uses[instr->operands[0]->id]--;
    if ((instr->op != IR_LOAD && instr->op != IR_STORE) || !find(instr->operands[0], &at)) return;
    if (instr->op == IR_LOAD && !e->uses[instr->results[0]->id] && !(instr->flags & IR_VOLATILE)) return;
    e->uses[instr->operands[0]->id]--;
    e->uses[at.base->id]++;
    for (unsigned i = 0; i < at.steps; i++) e->uses[at.index[i]->id]++;
}

typedef struct dropping {
    clc_emitter *e;
    bool *dropped; /* by value id */
    bool any;
} dropping;

static void visit_address(ir_instr *instr, void *user) {
    dropping *d = user;
    if (instr->op != IR_PTR_ADD || !shift_of(instr->results[0])) return;
    uint32_t id = instr->results[0]->id, *uses = d->e->uses;
    if (uses[id] || d->dropped[id]) return;
    const ir_value *bytes = instr->operands[1], *index = bytes->def->operands[0];
    d->dropped[id] = d->any = true;
    if (instr->operands[0]->value_kind <= IR_VALUE_ARG) uses[instr->operands[0]->id]--;
    if (--uses[bytes->id] == 0 && index->value_kind <= IR_VALUE_ARG) uses[index->id]--;
}

/* A step's use goes when the next one has gone. */
void qn__clc_count_indexed(clc_emitter *e) {
    qn__ir_walk(e->kernel->body, visit_access, e);
    dropping d = {e, QN__NEW_ARRAY(e->arena, bool, e->kernel->num_values + 1), true};
    while (d.any) {
        d.any = false;
        qn__ir_walk(e->kernel->body, visit_address, &d);
    }
}
