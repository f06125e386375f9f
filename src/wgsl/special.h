/* Variants of built-in functions that are lowered by hand. */
#ifndef QN__WGSL_SPECIAL_H
#define QN__WGSL_SPECIAL_H

/* Beside ir_combine. */
enum { ATOMIC_LOAD = 64, ATOMIC_STORE, ATOMIC_COMPARE };

/* Families of 32, with an ir_combine or a number in them; the votes' is an ir_op behind IR_GROUP_ALL. */
enum {
    SUB_GROUP_FAMILY = 32,
    SUB_GROUP_REDUCE = 0,
    SUB_GROUP_SCAN = SUB_GROUP_FAMILY,
    SUB_GROUP_EXCLUSIVE = SUB_GROUP_FAMILY * 2,
    SUB_GROUP_BALLOT = SUB_GROUP_FAMILY * 3,
    SUB_GROUP_ELECT,
    SUB_GROUP_BROADCAST,
    SUB_GROUP_FIRST,
    SUB_GROUP_SHUFFLE = SUB_GROUP_FAMILY * 4, /* + 1 xor, 2 up, 3 down */
    SUB_GROUP_QUAD = SUB_GROUP_FAMILY * 5,    /* 0 broadcast; 1, 2, 3 swap: the bits of the id that change */
    SUB_GROUP_VOTE = SUB_GROUP_FAMILY * 6     /* + the op */
};

#endif
