/* What work-items tell each other through local memory: the shared part of lower_collectives and
   lower_sub_groups. One scratch array for each kernel holds a value of 4 or 8 bytes for each work-item, at the
   place of its linear id; one more in 32 keeps work-items that walk through 32 each off the same bank. */
#ifndef QN__PASS_GROUP_H
#define QN__PASS_GROUP_H

#include "pass/tools.h"

enum { QN__MOST_ITEMS = 1024, QN__CHUNK = 32 };

typedef struct qn__group {
    qn__pass_context *context;
    ir_function *function;
    ir_builder b;
    qn__rewrite rewrite;
    ir_value *scratch, *linear, *items; /* address; i32: linear local id, and their number */
    uint32_t unit;                      /* bytes of a value in scratch */
    unsigned loops;                     /* around the current place */
    bool used;                          /* scratch may still be read by others */
} qn__group;

/* Makes the scratch array and the ids at the start of the function. */
void qn__group_begin(qn__group *group, qn__pass_context *context, bool wide);

ir_value *qn__group_word(qn__group *group, int64_t value);
ir_value *qn__group_op(qn__group *group, ir_op op, ir_value *a, ir_value *b);
ir_value *qn__group_with(qn__group *group, ir_op op, ir_value *a, int64_t b); /* b: a constant of a's type */
ir_value *qn__group_smaller(qn__group *group, ir_value *a, ir_value *b);      /* unsigned */

/* Waits for the others before scratch is written (where they may still read), and before it is read. */
void qn__group_before_writes(qn__group *group);
void qn__group_before_reads(qn__group *group);
/* A value at the place `index`: an i32 expression. Narrow numbers and bools take a word. */
void qn__group_store(qn__group *group, ir_value *index, ir_value *value);
ir_value *qn__group_load(qn__group *group, ir_value *index, ir_type type);
ir_value *qn__group_place(qn__group *group, ir_value *id); /* of a work-item's value */
/* if (condition) { what the caller builds up to qn__group_leave } */
ir_builder qn__group_enter(qn__group *group, ir_value *condition);
void qn__group_leave(qn__group *group, ir_builder outside);

/* The values of the work-items first..end-1 joined in order; there is at least one. With `keep`, each is replaced
   by what is joined so far. */
ir_value *qn__group_fold(qn__group *group, ir_combine combine, ir_type type, ir_value *first, ir_value *end,
                         bool keep);
/* if (condition) a(user) else b(user). */
typedef ir_value *qn__group_value(void *user);
ir_value *qn__group_choose(qn__group *group, ir_value *condition, ir_type type, qn__group_value *a,
                           qn__group_value *b, void *user);
/* What an exclusive scan gives the first, or (`exact`) what joins with any x to exactly x. */
ir_value *qn__group_identity(qn__group *group, ir_combine combine, ir_kind kind, bool exact);

/* Whether it is a sub-group's scan that the device does not do by itself. */
static inline bool qn__group_lacks_scan(const qn__target *target, const ir_instr *i) {
    const unsigned combine = i->attr.combine;
    return target->lacks_sub_group_scans && i->op == IR_GROUP_SCAN && combine != IR_COMBINE_ADD &&
           combine != IR_COMBINE_FADD && combine != IR_COMBINE_MUL && combine != IR_COMBINE_FMUL;
}

#endif
