/* Atomics, with the host's own: other threads may run other work-groups at the same time. All are
   sequentially consistent, which is as strong as any order the kernel may have asked for. */
#include <stdatomic.h>

#include "vm/internal.h"

#define ADDRESS(TYPE, i) ((_Atomic TYPE *)(uintptr_t)(pointer[i] + offset))

#define ATOMICS(WIDTH, TYPE)                                                                                 \
    static void load_##WIDTH(qn__vm_frame *frame, const qn__vm_instr *instr) {                               \
        const uint64_t *pointer = qn__vm_slot(frame, instr->a);                                              \
        TYPE *result = qn__vm_slot(frame, instr->result);                                                    \
        uint64_t offset = (uint64_t)instr->ir->attr.offset;                                                  \
        if (!qn__vm_may_access(frame, instr, 0, (int64_t)offset, sizeof(TYPE))) return;                      \
        for (uint64_t i = 0; i < frame->items; i++)                                                          \
            if (frame->active[i]) result[i] = atomic_load(ADDRESS(TYPE, i));                                 \
    }                                                                                                        \
    static void store_##WIDTH(qn__vm_frame *frame, const qn__vm_instr *instr) {                              \
        const uint64_t *pointer = qn__vm_slot(frame, instr->a);                                              \
        const TYPE *value = qn__vm_slot(frame, instr->b);                                                    \
        uint64_t offset = (uint64_t)instr->ir->attr.offset;                                                  \
        if (!qn__vm_may_access(frame, instr, 0, (int64_t)offset, sizeof(TYPE))) return;                      \
        for (uint64_t i = 0; i < frame->items; i++)                                                          \
            if (frame->active[i]) atomic_store(ADDRESS(TYPE, i), value[i]);                                  \
    }                                                                                                        \
    static void rmw_##WIDTH(qn__vm_frame *frame, const qn__vm_instr *instr) {                                \
        const uint64_t *pointer = qn__vm_slot(frame, instr->a);                                              \
        const TYPE *value = qn__vm_slot(frame, instr->b);                                                    \
        TYPE *result = qn__vm_slot(frame, instr->result);                                                    \
        uint64_t offset = (uint64_t)instr->ir->attr.offset;                                                  \
        if (!qn__vm_may_access(frame, instr, 0, (int64_t)offset, sizeof(TYPE))) return;                      \
        ir_combine combine = instr->ir->attr.combine;                                                        \
        ir_kind kind = instr->ir->operands[1]->type.kind;                                                    \
        for (uint64_t i = 0; i < frame->items; i++) {                                                        \
            if (!frame->active[i]) continue;                                                                 \
            TYPE operand = value[i], old = atomic_load(ADDRESS(TYPE, i));                                    \
            while (!atomic_compare_exchange_weak(ADDRESS(TYPE, i), &old,                                     \
                                                 (TYPE)qn__vm_combine(combine, kind, old, operand))) {       \
            }                                                                                                \
            result[i] = old;                                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    static void cas_##WIDTH(qn__vm_frame *frame, const qn__vm_instr *instr) {                                \
        const uint64_t *pointer = qn__vm_slot(frame, instr->a);                                              \
        const TYPE *expected = qn__vm_slot(frame, instr->b), *desired = qn__vm_slot(frame, instr->c);        \
        TYPE *result = qn__vm_slot(frame, instr->result);                                                    \
        uint64_t offset = (uint64_t)instr->ir->attr.offset;                                                  \
        if (!qn__vm_may_access(frame, instr, 0, (int64_t)offset, sizeof(TYPE))) return;                      \
        for (uint64_t i = 0; i < frame->items; i++) {                                                        \
            if (!frame->active[i]) continue;                                                                 \
            TYPE old = expected[i];                                                                          \
            atomic_compare_exchange_strong(ADDRESS(TYPE, i), &old, desired[i]);                              \
            result[i] = old;                                                                                 \
        }                                                                                                    \
    }
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

static void fence(qn__vm_frame *frame, const qn__vm_instr *instr) {
    (void)frame, (void)instr;
    atomic_thread_fence(memory_order_seq_cst);
}

qn__vm_handler *qn__vm_pick_atomic(const ir_instr *instr) {
    if (instr->op == IR_FENCE || instr->op == IR_BARRIER) return fence;
    if (instr->op < IR_ATOMIC_LOAD || instr->op > IR_ATOMIC_CAS) return NULL;
    ir_type type = instr->op == IR_ATOMIC_LOAD ? instr->results[0]->type : instr->operands[1]->type;
    bool wide = qn__ir_bits(type) == 64;
    if (type.lanes != 1 || (!wide && qn__ir_bits(type) != 32)) return NULL;
    switch (instr->op) {
    case IR_ATOMIC_LOAD: return wide ? load_64 : load_32;
    case IR_ATOMIC_STORE: return wide ? store_64 : store_32;
    case IR_ATOMIC_RMW: return wide ? rmw_64 : rmw_32;
    default: return wide ? cas_64 : cas_32;
    }
}
