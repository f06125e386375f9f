/* The targets: from an optimised kernel to text. Emitters print; what a target lacks has been lowered
   before. */
#ifndef QN__EMIT_H
#define QN__EMIT_H

#include "ir/ir.h"

typedef struct qn__emit_options {
    const char *source_name; /* for #line; NULL: none */
    bool debug;              /* #line directives and named variables for a debugger */
    uint32_t sub_group_size; /* work-items in a full sub-group on the CPU device; 0: 32 */
} qn__emit_options;

/* What the backend must provide to run a kernel, found while emitting. */
typedef struct qn__emit_kernel {
    const char *name;          /* of the OpenCL kernel */
    const char *symbol;        /* of the emitted function */
    uint64_t static_local;     /* bytes of __local variables; __local pointer arguments come on top */
    uint64_t scratch_per_item; /* bytes of context arrays per work-item of a group */
    uint64_t scratch_fixed;    /* bytes on top of that per group */
    bool uses_sync;            /* barrier or collective: a work-group is run as one */
    bool uses_printf;
} qn__emit_kernel;

typedef struct qn__emit_result {
    const char *text; /* the arena's */
    size_t size;
    QN__VEC(qn__emit_kernel) kernels;
    const char *error; /* NULL, or a sentence that names what the target cannot do, with error_loc */
    ir_loc error_loc;
} qn__emit_result;

/* C11 for the host compiler. The ABI is src/emit/cpu_abi.h. */
void qn__emit_c(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                qn__emit_result *result);

#endif
