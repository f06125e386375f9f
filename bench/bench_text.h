/* Files of bench/kernels (OpenCL C, a header for NVRTC, SPIR-V of the GLSL twins), built into the benchmarks by
   cmake/bench.cmake. */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stddef.h>

/* The file by its name, without its folder, with a zero behind it; *size (may be NULL) gets its bytes. NULL: there is
   none, as the GLSL twins where glslangValidator was missing at build time. */
const char *bench_text(const char *name, size_t *size);

#endif
