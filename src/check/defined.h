/* Undefined bits, between the files that know of them. */
#ifndef QN__CHECK_DEFINED_H
#define QN__CHECK_DEFINED_H

#include "check/internal.h"

/* The undefined bits of a slot, laid out as its values are; they count where the slot is dirty. */
static inline void *qn__check_bits(const qn__vm_frame *frame, uint32_t slot) {
    return qn__check_state(frame)->value_shadow + slot * frame->stride;
}

/* Whether operand k has a bit set, perhaps. */
bool qn__check_is_dirty(const qn__vm_frame *frame, const qn__vm_instr *instr, uint32_t k);

/* A pure op or collective, and what it hands on; the values that a jump or loop hands over. */
void qn__check_hand_on(qn__vm_frame *frame, const qn__vm_instr *instr);
void qn__check_hand_shuffle_on(qn__vm_frame *frame, const qn__vm_instr *instr);
void qn__check_hand_copies(qn__vm_frame *frame, const qn__vm_instr *instr);

/* bits.c: the bits of the result from those of the operands, of which some are dirty. */
void qn__check_hand_bits_on(qn__vm_frame *frame, const qn__vm_instr *instr);

#endif
