/* What a kernel is sure to access, as a function of its range and arguments: written by a pass (pass/reach.c), kept with what
   is known of the kernel, evaluated for a launch (src/reach.c). Words of 32 bits:
       signature of the ops (a file may be read by another build, which then knows nothing), number of nodes, of accesses
       nodes     expressions of integers without memory, each of four words: op | kind << 8 | kind of operand 0 << 16,
                 and operands by number of an earlier node
       accesses  parameter, node of the first byte's distance from the buffer's begin (an i64; 0 where it is not known, for
                 the buffer has that many bytes at least), bytes, number of conditions, then a word each: node * 2 + the
                 value that it must have
   An access is done by each work-item for which all of its conditions hold. */
#ifndef QN__REACH_H
#define QN__REACH_H

#include "ir/ir.h"

enum {
    QN__REACH_CONST = 255, /* operands: low and high word */
    QN__REACH_ARG = 254,   /* parameter, byte in it, bytes */
    QN__REACH_NODE = 4,    /* words of a node */
    QN__REACH_MOST = 512   /* nodes, and accesses */
};
_Static_assert((int)IR_OP_COUNT <= (int)QN__REACH_ARG, "these are no ops");
/* Queries have their dimension as the first operand. */

/* The op can be a node: on scalar integers, without effects. */
static inline bool qn__reach_is_node(unsigned op) {
    const ir_op_info *info = &qn__ir_ops[op];
    const bool is_number = info->rule == RULE_INT || info->rule == RULE_LOGIC || info->rule == RULE_COMPARE;
    return (is_number && info->foldable) || op == IR_SELECT || op == IR_TRUNC || op == IR_ZEXT ||
           op == IR_SEXT;
}

static inline bool qn__reach_is_query(unsigned op) {
    switch (op) {
    case IR_GLOBAL_ID:
    case IR_LOCAL_ID:
    case IR_GROUP_ID:
    case IR_GLOBAL_SIZE:
    case IR_LOCAL_SIZE:
    case IR_ENQUEUED_LOCAL_SIZE:
    case IR_NUM_GROUPS:
    case IR_GLOBAL_OFFSET:
    case IR_WORK_DIM: return true;
    default: return false;
    }
}

#endif
