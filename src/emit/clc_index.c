/* Addresses that were an index into an array, spelled so again: base[index] for base + (index << 2). Drivers that
   vectorise across work-items find accesses to be side by side only in this form (PoCL 3.1: five times as fast). */
#include "emit/clc_internal.h"

static const ir_type units[] = {{IR_I8, 1, 0},  {IR_I16, 1, 0}, {IR_I32, 1, 0}, {IR_I64, 1, 0},
                                {IR_I32, 4, 0}, {IR_I32, 8, 0}, {IR_I32, 16, 0}};

/* base + (index << log) + offset, where the shift does not wrap. */
typedef struct indexed {
    const ir_value *base, *index;
    uint64_t log;
    int64_t offset;
} indexed;

static bool find(const ir_value *pointer, indexed *out) {
    if (pointer->value_kind != IR_VALUE_RESULT || pointer->def->op != IR_PTR_ADD) return false;
    const ir_instr *add = pointer->def;
    const ir_value *bytes = add->operands[1];
    if (bytes->value_kind != IR_VALUE_RESULT || bytes->def->op != IR_SHL) return false;
    const ir_instr *shift = bytes->def;
    if (!(shift->flags & IR_NSW) || !qn__ir_is_const(shift->operands[1])) return false;
    *out = (indexed){add->operands[0], shift->operands[0], shift->operands[1]->bits[0], add->attr.offset};
    return out->log > 0 && out->log < QN__COUNT(units) && out->base->value_kind <= IR_VALUE_ARG;
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
    const char *index = qn__clc_use(e, at.index);
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

/* ---- uses: an access by index uses base and index, and the address perhaps nobody ---- */

static void visit_access(ir_instr *instr, void *user) {
    clc_emitter *e = user;
    indexed at;
    if ((instr->op != IR_LOAD && instr->op != IR_STORE) || !find(instr->operands[0], &at)) return;
    if (instr->op == IR_LOAD && !e->uses[instr->results[0]->id] && !(instr->flags & IR_VOLATILE)) return;
    e->uses[instr->operands[0]->id]--;
    e->uses[at.base->id]++;
    e->uses[at.index->id]++;
}

static void visit_address(ir_instr *instr, void *user) {
    clc_emitter *e = user;
    indexed at;
    if (instr->op != IR_PTR_ADD || e->uses[instr->results[0]->id] || !find(instr->results[0], &at)) return;
    const ir_value *bytes = instr->operands[1];
    e->uses[at.base->id]--;
    if (--e->uses[bytes->id] == 0) e->uses[at.index->id]--;
}

void qn__clc_count_indexed(clc_emitter *e) {
    qn__ir_walk(e->kernel->body, visit_access, e);
    qn__ir_walk(e->kernel->body, visit_address, e);
}
