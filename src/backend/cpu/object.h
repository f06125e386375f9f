/* Where a program's kernels come from: the C compiler, the cache's file, or the IR for the interpreter. */
#ifndef QN__CPU_OBJECT_H
#define QN__CPU_OBJECT_H

#include "backend/cpu/cpu.h"

/* From text to functions. `stop` ends it early; it may be NULL. */
qn_status qn__cpu_compile_text(qn__gpu *gpu, qn__code *code, const qn__code_source *source,
                               const atomic_bool *stop, char *why);
/* QN_ERROR_IO: the file is missing or damaged. */
qn_status qn__cpu_load_binary(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why);
/* The module's kernels are interpreted. */
qn_status qn__cpu_interpret(qn__code *code, const struct ir_module *module, const qn__code_source *source,
                            char *why);

#endif
