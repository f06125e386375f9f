/* What the pass guard.c and its analysis limits.c share: kernels whose accesses stay within what they were given. */
#ifndef QN__PASS_GUARD_H
#define QN__PASS_GUARD_H

#include "pass/tools.h"

/* A piece of memory that a kernel was given or has. */
typedef struct qn__memory {
    const ir_value *root; /* the pointer to its begin; NULL: there is none, or it is not known */
    const char *name;     /* in the source, or NULL */
    int32_t param;        /* its size is this parameter's, told at launch; -1: it is `size` */
    uint64_t size;        /* bytes */
    uint32_t object;      /* without a root: the constant object that it is */
} qn__memory;

/* What the pointer itself is the begin of, if anything. */
qn__memory qn__memory_at(const ir_function *kernel, const ir_value *pointer);
/* The same of what the pointer is so many bytes behind. */
qn__memory qn__memory_of(const ir_function *kernel, const ir_value *pointer);

/* One of at most two places that an instruction reads or writes. */
typedef struct qn__access {
    ir_value *pointer;
    int64_t offset; /* on top of it */
    uint64_t size;  /* bytes; 0: `rows` say */
    bool writes;
    uint32_t align; /* of its address, as the instruction relies on it: at most QN__BEGIN_ALIGN */
} qn__access;
enum { QN__MOST_ACCESSES = 2 };
unsigned qn__accesses_of(const ir_instr *instr, qn__access accesses[QN__MOST_ACCESSES]);

/* Where an access may lie. Of an instruction's accesses the first has its mark's low bits, the second those above. */
enum {
    QN__MAY_LEAVE,  /* its memory, for all that is known */
    QN__IS_LIMITED, /* it lies within where the limits hold */
    QN__IS_INSIDE,  /* it lies within */
    QN__LIMIT_BITS = 2
};
static inline unsigned qn__limit_of(const ir_instr *instr, unsigned access) {
    return instr->mark >> (access * QN__LIMIT_BITS) & ((1 << QN__LIMIT_BITS) - 1);
}

typedef struct qn__limits {
    const uint32_t *words; /* as ir/limits.h says; NULL: nothing is limited */
    uint32_t count;
    bool has_multiples; /* the arguments are among them */
} qn__limits;

/* What a safe kernel notes where it would do what it may not. */
typedef struct qn__fault {
    ir_value *faults;    /* the parameter that leads to qn__faults (util/faults.h) */
    ir_value *site;      /* i32: the check's number */
    ir_value *at, *size; /* i64 */
} qn__fault;
/* The text of a check, "FILE:LINE: kernel 'NAME' WHAT"; gives its number. */
uint32_t qn__add_site(ir_module *module, ir_loc loc, const char *kernel, const char *what);
/* Counts the fault; the first one tells where it was. */
void qn__note_fault(ir_builder *builder, const qn__fault *fault);

/* index_pointers.c: pointers that constructs carry become places behind the begin of their memory, where that is known. */
void qn__index_pointers(qn__pass_context *context, ir_function *kernel);

/* loop_budget.c: loops of the kernel end where a work-item's have gone round as often as the options allow. */
void qn__budget_loops(qn__pass_context *context, ir_function *kernel, ir_value *faults);

/* quiet_loops.c: of a loop that only reads, the form that notes nothing: it sets the variable where something is outside. */
typedef struct qn__quiet_loop {
    const ir_instr *loop;
    ir_value *seen;
} qn__quiet_loop;
typedef QN__VEC(qn__quiet_loop) qn__quiet_loops;
/* Adds those of the kernel's loops that have accesses whose marks are below `least`. */
void qn__split_loops(qn__arena *scratch, ir_function *kernel, unsigned least, qn__quiet_loops *found);

/* Sets the marks of the kernel's instructions that access memory. The words are `arena`'s. `multiples`: by argument, whether it
   is to be limited to multiples of QN__MULTIPLE; may be NULL. */
qn__limits qn__find_limits(qn__arena *arena, qn__arena *scratch, ir_function *kernel, const bool *multiples);

#endif
