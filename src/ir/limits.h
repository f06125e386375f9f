/* Where a kernel's accesses may lie at most, as a function of its range and arguments: written by a pass (pass/limits.c), kept
   with what is known of the kernel, evaluated for a launch. A value is known as an interval that holds it in every work-item
   and iteration, as a signed number. Words of 32 bits:
       signature of the ops (a file may be read by another build, for which nothing holds), number of nodes, of limits
       nodes   QN__LIMIT_WORDS each: op | kind << 8 | kind of operand 0 << 16, and operands by number of an earlier node
       limits  QN__LIMIT_WORDS each: qn__limit_kind and what it tells */
#ifndef QN__LIMITS_H
#define QN__LIMITS_H

#include "ir/ir.h"

enum {
    QN__LIMIT_WORDS = 4, /* of a node and of a limit */
    QN__LIMIT_NODES = 2048,
    QN__LIMITS_MOST = 512
};

/* Nodes beside the integer ops and queries of ir/reach.h. */
enum {
    QN__SPAN_CONST = 255,  /* low and high word */
    QN__SPAN_ARG = 254,    /* parameter, byte in it, bytes */
    QN__SPAN_ANY = 253,    /* any value of the kind */
    QN__SPAN_JOIN = 252,   /* in a or in b */
    QN__SPAN_BOTH = 251,   /* in a and in b */
    QN__SPAN_BELOW = 250,  /* of a what is less than some of b */
    QN__SPAN_UP_TO = 249,  /* of a what is not more than some of b */
    QN__SPAN_ABOVE = 248,  /* of a what is more than some of b */
    QN__SPAN_FROM = 247,   /* of a what is not less than some of b */
    QN__SPAN_UBELOW = 246, /* the four again for the numbers as unsigned */
    QN__SPAN_UUP_TO = 245,
    QN__SPAN_UABOVE = 244,
    QN__SPAN_UFROM = 243,
    QN__SPAN_RISING = 242,  /* a, and whatever is more */
    QN__SPAN_FALLING = 241, /* a, and whatever is less */
    QN__SPAN_STEPS = 240,   /* of a what is a multiple of c behind b, where these are one number each */
    QN__SPAN_REST = 239,    /* a less b, which is not more than a */
    QN__SPAN_LEAST = 239
};
_Static_assert((int)IR_OP_COUNT <= (int)QN__SPAN_LEAST, "these are no ops");

typedef enum qn__limit_kind {
    QN__LIMIT_PARAM, /* node, parameter, bytes: so many bytes from there on lie in the parameter's memory */
    QN__LIMIT_SIZE,  /* node, low and high word: not negative, and at most that */
    QN__LIMIT_NOT_BELOW, /* node, node: nothing of the first is less than all of the second */
    QN__LIMIT_NOT_ABOVE
} qn__limit_kind;

typedef struct qn__span {
    int64_t low, high; /* none where low > high: no work-item comes by */
} qn__span;

/* What a launch knows; all NULL: nothing, as when a kernel is compiled. */
typedef struct qn__limits_launch {
    const uint64_t *global, *offset; /* one a dimension */
    const uint32_t *local;
    const unsigned char *args;               /* the argument block */
    const uint32_t *arg_offsets, *arg_sizes; /* by parameter, uint32_t at a stride */
    size_t arg_stride;                       /* bytes */
    uint32_t num_args;
    bool all_one;            /* instead of args and extents: each number is 1, and memory has 2 GB */
    const uint64_t *extents; /* bytes of memory by parameter */
} qn__limits_launch;

/* The intervals of the first `count` nodes. */
void qn__limits_evaluate(const uint32_t *nodes, uint32_t count, const qn__limits_launch *launch,
                         qn__span *spans);
/* Whether a limit holds where the nodes lie in those intervals. */
bool qn__limit_holds(const uint32_t *limit, const qn__span *spans, const qn__limits_launch *launch);
/* Whether all of the words say holds for the launch; not where there are none, or they are broken. */
bool qn__limits_hold(const uint32_t *words, uint32_t count, const qn__limits_launch *launch);

#endif
