/* Ops that move data without looking at it: choice, vectors and bit casts. They care for the size of an
   element only, not for its type. */
#include <string.h>

#include "vm/internal.h"

/* Address of one lane's array. */
static unsigned char *lane(const qn__vm_frame *frame, uint32_t slot, unsigned size, unsigned index) {
    return (unsigned char *)qn__vm_slot(frame, slot) + (uint64_t)index * size * frame->stride;
}

static void copy_lane(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned to, uint32_t from_slot,
                      unsigned from) {
    memcpy(lane(frame, instr->result, instr->size, to), lane(frame, from_slot, instr->size, from),
           frame->items * instr->size);
}

static void vector(qn__vm_frame *frame, const qn__vm_instr *instr) {
    for (unsigned l = 0; l < instr->lanes; l++) copy_lane(frame, instr, l, instr->operands[l], 0);
}

static void splat(qn__vm_frame *frame, const qn__vm_instr *instr) {
    for (unsigned l = 0; l < instr->lanes; l++) copy_lane(frame, instr, l, instr->a, 0);
}

static void extract(qn__vm_frame *frame, const qn__vm_instr *instr) {
    copy_lane(frame, instr, 0, instr->a, instr->ir->attr.lanes[0]);
}

static void extract_dynamic(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const ir_value *vector = instr->ir->operands[0];
    unsigned index_size = qn__vm_lane_size(instr->ir->operands[1]->type);
    unsigned lanes = vector->type.lanes, mask = lanes == 3 ? 3 : lanes - 1;
    const void *a = qn__vm_slot(frame, instr->a), *index = qn__vm_slot(frame, instr->b);
    void *result = qn__vm_slot(frame, instr->result);
    for (uint64_t i = 0, n = frame->items; i < n; i++) {
        uint64_t l = qn__vm_get(index, index_size, i) & mask;
        qn__vm_set(result, instr->size, i, l < lanes ? qn__vm_get(a, instr->size, l * frame->stride + i) : 0);
    }
}

static void insert(qn__vm_frame *frame, const qn__vm_instr *instr) {
    for (unsigned l = 0; l < instr->lanes; l++) {
        bool replaced = l == instr->ir->attr.lanes[0];
        copy_lane(frame, instr, l, replaced ? instr->b : instr->a, replaced ? 0 : l);
    }
}

static void shuffle(qn__vm_frame *frame, const qn__vm_instr *instr) {
    unsigned first = instr->ir->operands[0]->type.lanes;
    for (unsigned l = 0; l < instr->lanes; l++) {
        unsigned from = instr->ir->attr.lanes[l];
        if (from == 255)
            memset(lane(frame, instr->result, instr->size, l), 0, frame->items * instr->size);
        else if (from < first)
            copy_lane(frame, instr, l, instr->a, from);
        else
            copy_lane(frame, instr, l, instr->b, from - first);
    }
}

#define SELECT(NAME, TYPE)                                                                                   \
    static void NAME(qn__vm_frame *frame, const qn__vm_instr *instr) {                                       \
        const uint8_t *condition = qn__vm_slot(frame, instr->a);                                             \
        bool per_lane = instr->ir->operands[0]->type.lanes > 1;                                              \
        for (unsigned l = 0; l < instr->lanes; l++) {                                                        \
            const uint8_t *choice = condition + (per_lane ? l * frame->stride : 0);                          \
            const TYPE *b = (const TYPE *)qn__vm_slot(frame, instr->b) + l * frame->stride;                  \
            const TYPE *c = (const TYPE *)qn__vm_slot(frame, instr->c) + l * frame->stride;                  \
            TYPE *result = (TYPE *)qn__vm_slot(frame, instr->result) + l * frame->stride;                    \
            for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = choice[i] & 1 ? b[i] : c[i];      \
        }                                                                                                    \
    }
SELECT(select_8, uint8_t)
SELECT(select_16, uint16_t)
SELECT(select_32, uint32_t)
SELECT(select_64, uint64_t)

/* Gathers a work-item's lanes as they lie in memory, lane 0 lowest, and cuts them anew. */
static void bitcast(qn__vm_frame *frame, const qn__vm_instr *instr) {
    ir_type from = instr->ir->operands[0]->type;
    unsigned from_size = qn__vm_lane_size(from), to_size = instr->size;
    const unsigned char *a = qn__vm_slot(frame, instr->a);
    unsigned char *result = qn__vm_slot(frame, instr->result);
    if (from_size == to_size) {
        memcpy(result, a, qn__vm_extent(frame, instr->lanes) * to_size);
        return;
    }
    for (uint64_t i = 0, n = frame->items; i < n; i++) {
        unsigned char image[128] = {0};
        for (unsigned l = 0; l < from.lanes; l++)
            memcpy(image + l * from_size, a + (l * frame->stride + i) * from_size, from_size);
        for (unsigned l = 0; l < instr->lanes; l++)
            memcpy(result + (l * frame->stride + i) * to_size, image + l * to_size, to_size);
    }
}

qn__vm_handler *qn__vm_pick_data(const ir_instr *instr) {
    switch (instr->op) {
    case IR_VECTOR: return vector;
    case IR_SPLAT: return splat;
    case IR_EXTRACT: return extract;
    case IR_EXTRACT_DYNAMIC: return extract_dynamic;
    case IR_INSERT: return insert;
    case IR_SHUFFLE: return shuffle;
    case IR_BITCAST: return bitcast;
    case IR_SELECT:
        switch (qn__vm_lane_size(instr->results[0]->type)) {
        case 1: return select_8;
        case 2: return select_16;
        case 4: return select_32;
        default: return select_64;
        }
    default: return NULL;
    }
}
