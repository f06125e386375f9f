/* The passes over the IR and their order. Each pass is one file, takes a function after inlining (or the
   module, where it says so) and returns whether it changed anything. */
#ifndef QN__PASS_H
#define QN__PASS_H

#include "ir/ir.h"

/* What a target lacks; the lowerings that remove it run last. */
enum {
    QN__LACKS_CONTRACTION = 1 << 0,   /* no fast fma: do not contract */
    QN__LACKS_F16 = 1 << 1,           /* f16 arithmetic is done in f32 */
    QN__LACKS_LONG_VECTORS = 1 << 2,  /* vectors of 8 and 16 are split */
    QN__WANTS_VECTOR_MEMORY = 1 << 3, /* it lacks cheap scalar accesses: adjacent ones become vectors' */
    QN__LACKS_FAR_JUMPS = 1 << 4, /* a jump leaves one loop at most, and a block not at all but at its end */
    QN__LACKS_COLLECTIVES = 1 << 5, /* those of a work-group are done with sub-groups' and local memory */
    QN__LACKS_SUB_GROUPS = 1 << 6,  /* sub-groups are done with local memory where that is right */
    QN__LACKS_PRINTF = 1 << 7,      /* printf writes records into the buffer of emit/gpu_abi.h */
    QN__LACKS_LINEAR_SUB_GROUPS = 1 << 8, /* a sub-group need not be 32 work-items of consecutive ids */
    QN__WANTS_OFFSETS = 1 << 9,    /* addresses may lie outside their object: constants go into offsets */
    QN__WANTS_NARROW = 1 << 10,    /* 64-bit arithmetic of which 32 bits are used is slower than 32-bit */
    QN__WANTS_END_TESTS = 1 << 11, /* loops that test at their end are better */
    QN__WANTS_UNROLLED = 1 << 12,  /* so are loops that do four turns at once */
    QN__LACKS_UNROLLED_BARRIERS = 1 << 13, /* loops with barriers stay loops */
    QN__LACKS_WIDE = 1 << 14, /* i64 is two words: no vectors of it, and sub-groups do not join it */
    QN__LACKS_I8 = 1 << 15,   /* arithmetic on i8 is done in i32 */
    QN__LACKS_I16 = 1 << 16,
    QN__WANTS_LARGE_UNROLLED = 1 << 17,  /* larger loops, too: its compiler does not unroll them itself */
    QN__WANTS_LARGE_END_TESTS = 1 << 18, /* large loops alone are better with tests at their end */
    QN__WANTS_EVEN_UNROLLED = 1 << 19,   /* four turns at once only where all work-items go round as often */
    QN__LACKS_DENORMAL_COMPARES = 1 << 20, /* comparisons and magnitudes take denormal f32 for zero */
    QN__LACKS_DENORMAL_ROOTS = 1 << 21,    /* so do inverse roots, though they are kept elsewhere */
    QN__LACKS_DIVISION = 1 << 22, /* quotients and roots of f32 may be off by a few units in the last place */
    QN__LACKS_F16_DIVISION = 1 << 23,      /* those of f16 are made in f32 */
    QN__LACKS_DOT4 = 1 << 24,              /* products of four bytes are written out */
    QN__LACKS_ZERO_DIVISORS = 1 << 25,     /* integer division by zero is undefined */
    QN__LACKS_DIVISION_OVERFLOW = 1 << 26, /* so is that of the least number by -1 */
    QN__LACKS_BYTE_SWAPS = 1 << 27, /* its compiler takes shifts that swap the bytes of 16 bits for 0 */
    /* Ways for it to do them, to be tried. */
    QN__WANTS_SWAP_PRODUCTS = 1 << 28,
    QN__WANTS_SWAP_BYTES = 1 << 29,
    QN__LACKS_ACTIVE = 1 << 30 /* reductions and scans over the active ones of a sub-group are loops */
};

typedef struct qn__pass_options {
    int level;               /* 0: only what is needed (inlining, lowerings); 1: cheap; 2: all */
    uint32_t lacks;          /* QN__LACKS_* bits */
    bool fast_math;          /* -cl-fast-relaxed-math */
    bool joins_active_words; /* of QN__LACKS_ACTIVE, reductions of words are one instruction */
    /* Called after each pass that changed something (and once with "lower" before the first); may be NULL. */
    void (*dump)(void *user, const char *pass, const ir_module *module);
    void *user;
    bool *unsupported; /* set where the sentence is of what the target cannot do; may be NULL */
    bool verify;       /* run the verifier after every pass; a failure escapes as an internal error message */
} qn__pass_options;

/* Runs the whole pipeline on a module: afterwards it has kernels only, without calls. Returns NULL, or a
   sentence (recursion, too large, a verifier failure) in the module's arena. */
const char *qn__pass_run(ir_module *module, const qn__pass_options *options);

/* Whether there is a pass of that name. */
bool qn__pass_exists(const char *name);

/* Runs one pass by name, for tests: "mem2reg", "simplify", ... Returns false if there is none. *error is NULL
   or a sentence, as from qn__pass_run. */
bool qn__pass_run_one(ir_module *module, const char *name, const qn__pass_options *options,
                      const char **error);

#endif
