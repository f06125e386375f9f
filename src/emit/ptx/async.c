/* Async copies of the PTX target (sm_80 and up): cp.async, which the load and store units finish by themselves, in
   groups. A group is done when those before it are, so an event is the number of its group, counting from 1 in a
   register, and waiting for it is to let that many groups stay open as have come since. An event that copies share
   stands for the last group that joined any, which is as well. What another work-item copied is seen behind the
   barrier that follows a wait.
   Source: "Parallel Thread Execution ISA", cp.async. */
#include "emit/ptx/internal.h"

enum { MOST_OPEN = 3 }; /* groups that a wait leaves open: as many stages ahead as kernels prefetch */

void qn__ptx_async_begin(ptx_emitter *e) {
    e->newest = qn__ptx_op1(e, "mov.b32", PTX_B32, qn__ptx_int(PTX_B32, 0));
    if (e->joins_events) e->joined = qn__ptx_op1(e, "mov.b32", PTX_B32, qn__ptx_int(PTX_B32, 0));
}

/* An address that takes no offset beside a symbol. */
static ptx_place place_of(ptx_emitter *e, const ir_value *pointer) {
    ptx_place place = qn__ptx_place(e, pointer, 0);
    if (place.base.kind != PTX_SYMBOL) return place;
    place.base.bits += (uint64_t)place.offset;
    place.offset = 0;
    return place;
}

/* 16 bytes pass the first cache by: nobody else in the group reads them there. */
static void copy(ptx_emitter *e, const ir_instr *instr) {
    const ptx_place to = place_of(e, instr->operands[0]), from = place_of(e, instr->operands[1]);
    const uint64_t size = instr->attr.size;
    qn__ptx_require(e, 80, 70);
    qn__ptx(e, "cp.async.~.shared.global [$+#], [$+#], #;", size == 16 ? "cg" : "ca", to.base, to.offset,
            from.base, from.offset, (int64_t)size);
}

static bool is_none(const ir_value *event) { return qn__ir_is_const(event) && !event->bits[0]; }

static void commit(ptx_emitter *e, const ir_instr *instr) {
    qn__ptx_require(e, 80, 70);
    qn__ptx(e, "cp.async.commit_group;");
    qn__ptx(e, "add.s32 =, $, 1;", e->newest, e->newest);
    if (!is_none(instr->operands[0])) {
        ptx_operand event = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[0], 0));
        ptx_operand joins = qn__ptx_op2(e, "setp.ne.s32", PTX_PRED, event, qn__ptx_int(PTX_B32, 0));
        qn__ptx(e, "@$ mov.b32 =, $;", joins, e->joined, e->newest);
    }
    qn__ptx_define(e, instr->results[0], 0, qn__ptx_op1(e, "mov.b32", PTX_B32, e->newest));
}

/* Whether no group has been committed between this event and the wait, which stand in one region. */
static bool is_newest(const ir_instr *wait) {
    const ir_value *event = wait->operands[0];
    for (const ir_instr *i = wait->prev; i && !i->num_regions; i = i->prev)
        if (i->op == IR_ASYNC_COMMIT) return event->value_kind == IR_VALUE_RESULT && event->def == i;
    return false;
}

static void wait(ptx_emitter *e, const ir_instr *instr) {
    if (!e->uses_events) return;
    if (is_newest(instr)) {
        qn__ptx(e, "cp.async.wait_group 0;");
        return;
    }
    ptx_operand event = qn__ptx_use(e, instr->operands[0], 0);
    if (e->joins_events) event = qn__ptx_op2(e, "max.u32", PTX_B32, e->joined, event);
    ptx_operand since = qn__ptx_op2(e, "sub.s32", PTX_B32, e->newest, event);
    qn__ptx(e, "cp.async.wait_group #;", (int64_t)MOST_OPEN);
    for (uint32_t open = MOST_OPEN; open-- > 0;) {
        ptx_operand limit = qn__ptx_int(PTX_B32, open);
        ptx_operand fewer = qn__ptx_op2(e, "setp.le.u32", PTX_PRED, since, limit);
        qn__ptx(e, "@$ cp.async.wait_group #;", fewer, (int64_t)open);
    }
}

bool qn__ptx_async(ptx_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_COPY:
        if (!(instr->flags & IR_ASYNC)) return false;
        copy(e, instr);
        return true;
    case IR_ASYNC_COMMIT: commit(e, instr); return true;
    case IR_ASYNC_WAIT: wait(e, instr); return true;
    default: return false;
    }
}
