/* Code that is interpreted while the C compiler works on it. */
#ifndef QN__CPU_BACKGROUND_H
#define QN__CPU_BACKGROUND_H

#include "backend/cpu/cpu.h"

/* Starts compiling code whose kernels are ready for the interpreter. False: no memory or no more threads. */
bool qn__cpu_background_start(qn__code *code, const qn__code_source *source);
/* Ends it: waits as long again as the compiler has run, at most, then kills it. */
void qn__cpu_background_end(qn__code *code);
/* Before a launch that may take the interpreter long: waits a little for a compiler that is about to be done. */
void qn__cpu_background_grace(qn__code *code);
/* True once the kernels' functions are in their places. NULL: nothing is compiled in the background. */
const atomic_bool *qn__cpu_background_ready(const qn__code *code);

#endif
