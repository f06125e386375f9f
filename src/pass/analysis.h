/* What passes and targets ask about a function and its values: each analysis is a file, and changes nothing but marks.
   Emitters see this header and no other of the passes. */
#ifndef QN__PASS_ANALYSIS_H
#define QN__PASS_ANALYSIS_H

#include "ir/ir.h"

/* ---- uniformity.c ---- */

/* Uniformity: for each value id whether it is the same for all work-items of a work-group, and for each
   construct whether all work-items of the group that reach it take the same way. */
typedef struct qn__uniformity {
    bool *varying;        /* by value id */
    bool *varying_branch; /* by instruction mark as set by the analysis (see uniformity.c) */
} qn__uniformity;

qn__uniformity qn__uniformity_analyse(qn__arena *arena, ir_function *kernel);
/* The same among work-items that differ in x only; values in `forced` (by id; may be NULL) vary in any
   case. */
qn__uniformity qn__uniformity_analyse_row(qn__arena *arena, ir_function *kernel, const bool *forced);
/* The same among the work-items of one sub-group. */
qn__uniformity qn__uniformity_analyse_sub_group(qn__arena *arena, ir_function *kernel);
bool qn__uniformity_is_varying_branch(const qn__uniformity *u, const ir_instr *construct);

/* ---- alignment.c ---- */

enum { QN__BEGIN_ALIGN = 16 }; /* of buffers, of their views and of local arguments */

enum { QN__MULTIPLE = 4 }; /* what row lengths are of where rows are read by vectors */

/* By value id: how many low bits of an integer or an address are known to be zero, where the arguments that `multiples` says are
   multiples of QN__MULTIPLE; it may be NULL. */
const uint8_t *qn__find_zeros(qn__arena *arena, const ir_function *kernel, const bool *multiples);

/* ---- bounds.c ---- */

/* Whether an f32 (each lane of a vector) is NaN or known to be neither tiny nor huge: from 2^-100 to 2^100, or the
   negative of that. A short way to its reciprocal then needs no test. */
bool qn__is_moderate(const ir_value *value);

/* ---- demand.c ---- */

enum {                   /* of a value of 64 bits, by what uses it */
       QN__WANT_LOW = 1, /* its low half by itself */
       QN__WANT_ALL = 2
};

typedef struct qn__demand qn__demand;

/* What is so of a target. */
typedef struct qn__demand_rules {
    uint32_t near;    /* spaces (1 << ir_space) whose addresses have 32 bits */
    bool whole_jumps; /* what jumps and loops hand over is wanted whole */
    /* Whether it computes the low half of that result by itself; else all of it is wanted. NULL: always. */
    bool (*has_low)(const ir_instr *instr);
    /* Offered each instruction that has operands of 64 bits: true where it says itself what is wanted of them, by
       qn__want. May be NULL. */
    bool (*own)(qn__demand *demand, const ir_instr *instr);
} qn__demand_rules;

struct qn__demand {
    const qn__demand_rules *rules;
    uint8_t *wanted; /* by value id */
    bool again; /* all is wanted of a loop's parameter, and was not when the jump that gives it was visited */
};

/* QN__WANT_* by value id. */
const uint8_t *qn__find_demand(qn__arena *arena, const ir_function *kernel, const qn__demand_rules *rules);
/* Notes it for a value of 64 bits. */
void qn__want(qn__demand *demand, const ir_value *value, unsigned what);
/* Whether the low bits of the result, any number of them, are made of as many of the operands. The number by which is
   shifted is a constant then. */
bool qn__is_made_of_low(const ir_instr *instr);

/* ---- linear.c ---- */

typedef enum qn__term_kind {
    QN__TERM_SIGNED,   /* the value is its low 32 bits, sign-extended */
    QN__TERM_UNSIGNED, /* zero-extended */
    QN__TERM_WIDE
} qn__term_kind;

typedef struct qn__term {
    const ir_value *value; /* i64, or the i32 that it extends */
    int64_t scale;
    qn__term_kind kind;
} qn__term;

enum { QN__MAX_TERMS = 6 };

/* A constant and values times constants, modulo 2^64; or modulo 2^32 of low words. */
typedef struct qn__sum {
    qn__term terms[QN__MAX_TERMS];
    unsigned count;
    int64_t constant;
} qn__sum;

/* Adds value * scale; `low`: only the low words count, and all terms are signed. */
void qn__linear(const ir_value *value, int64_t scale, bool low, qn__sum *sum);
/* All bits that are set in any of the numbers of which an IR_PTR_ADD's offset is a sum. */
uint64_t qn__offset_bits(const ir_instr *instr);
/* What an i64 is of its low word. */
qn__term_kind qn__narrow_kind(const ir_value *value);

/* ---- i64.c ---- */

typedef struct qn__i64_use {
    bool wanted;            /* by loads, stores, arguments or divisions */
    const ir_instr *needed; /* the first that cannot be done by words, or NULL */
} qn__i64_use;

/* Of a module's kernels: what they compute in i64 but addresses and sizes. */
qn__i64_use qn__find_i64_use(const ir_module *module);

/* ---- range.c ---- */

/* Whether the top bit of an integer is known to be clear, in every lane. */
bool qn__is_non_negative(const ir_value *value);

/* ---- points_to.c ---- */

/* Sets of pointers that may point to the same object. A node is a value's id, what goes through memory and integers in a
   space, or one of the caller's own. */
typedef struct qn__points_to {
    uint32_t *parent; /* by node */
    uint32_t num_values, count;
} qn__points_to;

/* Of the kernel's pointers into `spaces` (bits: 1 << ir_space), with `more` nodes for the caller. `compares`: what is
   compared is of one set, too. */
qn__points_to qn__points_to_find(qn__arena *arena, const ir_function *kernel, uint32_t spaces, uint32_t more,
                                 bool compares);
uint32_t qn__points_to_root(const qn__points_to *sets, uint32_t node);
void qn__points_to_join(const qn__points_to *sets, uint32_t a, uint32_t b);
static inline uint32_t qn__points_to_escaped(const qn__points_to *sets, ir_space space) {
    return sets->num_values + space;
}
static inline uint32_t qn__points_to_own(const qn__points_to *sets, uint32_t index) {
    return sets->num_values + IR_SPACE_COUNT + index;
}

/* ---- read_only.c ---- */

/* By value id: pointers to where nobody writes while the kernel runs, made of `const restrict` arguments. NULL: there
   are none. */
const bool *qn__find_read_only(qn__arena *arena, const ir_function *kernel);

#endif
