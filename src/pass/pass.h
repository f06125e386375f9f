/* The passes over the IR and their order. Each pass is one file, takes a function after inlining (or the
   module, where it says so) and returns whether it changed anything. */
#ifndef QN__PASS_H
#define QN__PASS_H

#include "ir/ir.h"
#include "target/target.h"

typedef struct qn__pass_options {
    int level;         /* 0: only what is needed (inlining, lowerings); 1: cheap; 2: all */
    qn__target target; /* what it lacks, lowerings remove; they run last */
    bool fast_math;    /* -cl-fast-relaxed-math */
    bool safe;         /* kernels whose accesses stay inside (guard.c) */
    uint32_t
        loop_budget; /* of safe kernels: how often a work-item's loops go round at most (loop_budget.c); 0: any number */
    /* Called after each pass that changed something (and once with "lower" before the first); may be NULL. */
    void (*dump)(void *user, const char *pass, const ir_module *module);
    void *user;
    bool *unsupported; /* set where the message is of what the target cannot do; may be NULL */
    bool verify;       /* run the verifier after every pass; a failure escapes as an internal error message */
} qn__pass_options;

/* Runs the whole pipeline on a module: afterwards it has kernels only, without calls. Returns NULL, or a
   message (recursion, too large, a verifier failure) in the module's arena. */
const char *qn__pass_run(ir_module *module, const qn__pass_options *options);

/* Whether there is a pass of that name. */
bool qn__pass_exists(const char *name);

/* Runs one pass by name, for tests: "mem2reg", "simplify", ... Returns false if there is none. *error is NULL
   or a message, as from qn__pass_run. */
bool qn__pass_run_one(ir_module *module, const char *name, const qn__pass_options *options,
                      const char **error);

#endif
