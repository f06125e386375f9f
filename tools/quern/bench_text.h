/* The files of tools/quern/texts, which cmake/bench_text.cmake builds into the tool: kernels of quern bench code in OpenCL C, what makes
   CUDA of them, and what nvcc makes of CUB. */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stddef.h>

/* The file by its name, without its folder, with a zero behind it; *size (may be NULL) gets its bytes. NULL: there is none. */
const char *bench_text(const char *name, size_t *size);

#endif
