/* The targets: from an optimised kernel to text. Emitters print; what a target lacks has been lowered
   before. */
#ifndef QN__EMIT_H
#define QN__EMIT_H

#include "emit/describe.h"
#include "target/target.h"

typedef struct qn__emit_options {
    const char *source_name; /* for #line; NULL: none */
    bool debug;              /* #line directives and named variables for a debugger */
    qn__target target;
} qn__emit_options;

typedef struct qn__emit_result {
    const char *text; /* the arena's; SPIR-V: the module's words, little-endian */
    size_t size;
    qn__code_info info; /* the arena's */
    const char *error;  /* NULL, or a message that names what the target cannot do, with error_loc */
    ir_loc error_loc;
} qn__emit_result;

/* NVIDIA's GPUs have 512 KB for a work-item, of which ptxas wants some for its own; other drivers tell no limit, and
   crash or compile for minutes where they are given more. */
enum { QN__GPU_PRIVATE = 256 << 10 };

typedef struct qn__emitter {
    qn__target base; /* the traits and numbers of the target on any device */
    void (*complete)(
        qn__target *target); /* sets those that follow from a device's others; NULL: there are none */
    void (*emit)(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                 qn__emit_result *result);
} qn__emitter;

#define TARGET(ID, name, emitter) extern const qn__emitter emitter;
#include "target/target.def"

#endif
