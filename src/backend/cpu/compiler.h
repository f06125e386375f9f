/* The host's C compiler: C text to a shared object, within a limit of time and memory. */
#ifndef QN__CPU_COMPILER_H
#define QN__CPU_COMPILER_H

#include "backend/cpu/cpu.h"
#include "util/folder.h"

typedef enum qn__cc_result {
    QN__CC_DONE,
    QN__CC_FAILED,  /* `why` tells */
    QN__CC_TOO_MUCH /* at no level is the text compiled within the limits: it has to be interpreted */
} qn__cc_result;

#define QN__CC_SOURCE "kernel.c"
#define QN__CC_OBJECT "kernel.so"

/* Makes QN__CC_OBJECT in the work folder. Each step down to a cheaper level is logged. Where `stop`, which may be NULL,
   becomes true, the compiler is killed: QN__CC_FAILED. */
qn__cc_result qn__cc_compile(qn__gpu *gpu, const qn__work_folder *work, const qn__code_source *source,
                             const atomic_bool *stop, char *why);

#endif
