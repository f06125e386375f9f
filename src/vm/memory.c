/* Memory: addresses, loads, stores and copies. A pointer is the host's address, whatever its space;
   private variables lie a work-item after another, so that each has its own at the same distances. Any
   alignment is fine. An access outside of what the pointer leads to ends the kernel (bounds.c). */
#include <string.h>

#include "vm/internal.h"

static unsigned char *address(uint64_t pointer, int64_t offset) {
    return (unsigned char *)(uintptr_t)(pointer + (uint64_t)offset);
}

/* ---- addresses ---- */

static void var(qn__vm_frame *frame, const qn__vm_instr *instr) {
    uint64_t *result = qn__vm_slot(frame, instr->result);
    uint64_t first = (uintptr_t)frame->privates + instr->place, distance = frame->program->private_size;
    for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = first + i * distance;
}

static void local(qn__vm_frame *frame, const qn__vm_instr *instr) {
    uint64_t *result = qn__vm_slot(frame, instr->result);
    uint64_t place = (uintptr_t)frame->local + instr->place;
    for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = place;
}

static void global(qn__vm_frame *frame, const qn__vm_instr *instr) {
    uint64_t *result = qn__vm_slot(frame, instr->result);
    uint64_t place = instr->place;
    for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = place;
}

static void ptr_add(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t *pointer = qn__vm_slot(frame, instr->a), *bytes = qn__vm_slot(frame, instr->b);
    uint64_t *result = qn__vm_slot(frame, instr->result);
    uint64_t offset = (uint64_t)instr->ir->attr.offset;
    for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = pointer[i] + bytes[i] + offset;
}

/* ---- load, store, copy ---- */

/* Most often all are active, and there is one lane: then nothing is asked of each work-item. */
#define ACCESS(WIDTH, TYPE)                                                                                  \
    static void load_##WIDTH(qn__vm_frame *frame, const qn__vm_instr *instr) {                               \
        const uint64_t *pointer = qn__vm_slot(frame, instr->a);                                              \
        TYPE *result = qn__vm_slot(frame, instr->result);                                                    \
        int64_t offset = instr->ir->attr.offset;                                                             \
        if (!qn__vm_may_access(frame, instr, 0, offset, instr->lanes * sizeof(TYPE))) return;                \
        const uint64_t n = frame->items, single = instr->lanes == 1 ? n : 0;                                 \
        if (frame->count == n)                                                                               \
            for (uint64_t i = 0; i < single; i++)                                                            \
                memcpy(&result[i], address(pointer[i], offset), sizeof(TYPE));                               \
        else                                                                                                 \
            for (uint64_t i = 0; i < single; i++)                                                            \
                if (frame->active[i]) memcpy(&result[i], address(pointer[i], offset), sizeof(TYPE));         \
        for (uint64_t i = single; i < n; i++) {                                                              \
            if (!frame->active[i]) continue;                                                                 \
            const unsigned char *from = address(pointer[i], offset);                                         \
            for (unsigned l = 0; l < instr->lanes; l++)                                                      \
                memcpy(&result[l * frame->stride + i], from + l * sizeof(TYPE), sizeof(TYPE));               \
        }                                                                                                    \
    }                                                                                                        \
    static void store_##WIDTH(qn__vm_frame *frame, const qn__vm_instr *instr) {                              \
        const uint64_t *pointer = qn__vm_slot(frame, instr->a);                                              \
        const TYPE *value = qn__vm_slot(frame, instr->b);                                                    \
        int64_t offset = instr->ir->attr.offset;                                                             \
        if (!qn__vm_may_access(frame, instr, 0, offset, instr->lanes * sizeof(TYPE))) return;                \
        const uint64_t n = frame->items, single = instr->lanes == 1 ? n : 0;                                 \
        if (frame->count == n)                                                                               \
            for (uint64_t i = 0; i < single; i++)                                                            \
                memcpy(address(pointer[i], offset), &value[i], sizeof(TYPE));                                \
        else                                                                                                 \
            for (uint64_t i = 0; i < single; i++)                                                            \
                if (frame->active[i]) memcpy(address(pointer[i], offset), &value[i], sizeof(TYPE));          \
        for (uint64_t i = single; i < n; i++) {                                                              \
            if (!frame->active[i]) continue;                                                                 \
            unsigned char *to = address(pointer[i], offset);                                                 \
            for (unsigned l = 0; l < instr->lanes; l++)                                                      \
                memcpy(to + l * sizeof(TYPE), &value[l * frame->stride + i], sizeof(TYPE));                  \
        }                                                                                                    \
    }
ACCESS(8, uint8_t)
ACCESS(16, uint16_t)
ACCESS(32, uint32_t)
ACCESS(64, uint64_t)

static void copy(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t *to = qn__vm_slot(frame, instr->a), *from = qn__vm_slot(frame, instr->b);
    size_t size = (size_t)instr->ir->attr.size;
    if (!qn__vm_may_access(frame, instr, 0, 0, size) || !qn__vm_may_access(frame, instr, 1, 0, size)) return;
    for (uint64_t i = 0, n = frame->items; i < n; i++)
        if (frame->active[i]) memmove(address(to[i], 0), address(from[i], 0), size);
}

/* A copy is done at once: any number but 0 is its event. */
static void commit(qn__vm_frame *frame, const qn__vm_instr *instr) {
    uint32_t *result = qn__vm_slot(frame, instr->result);
    for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = 1;
}

static void nothing(qn__vm_frame *frame, const qn__vm_instr *instr) { (void)frame, (void)instr; }

qn__vm_handler *qn__vm_pick_memory(const ir_instr *instr) {
    static qn__vm_handler *const loads[] = {[1] = load_8, [2] = load_16, [4] = load_32, [8] = load_64};
    static qn__vm_handler *const stores[] = {[1] = store_8, [2] = store_16, [4] = store_32, [8] = store_64};
    switch (instr->op) {
    case IR_VAR: return var;
    case IR_LOCAL: return local;
    case IR_GLOBAL: return global;
    case IR_PTR_ADD: return ptr_add;
    case IR_LOAD: return loads[qn__vm_lane_size(instr->results[0]->type)];
    case IR_STORE: return stores[qn__vm_lane_size(instr->operands[1]->type)];
    case IR_COPY: return copy;
    case IR_ASYNC_COMMIT: return commit;
    case IR_ASYNC_WAIT:
    case IR_PREFETCH: return nothing;
    case IR_PRINTF: return qn__vm_print;
    default: return NULL;
    }
}
