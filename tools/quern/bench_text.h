/* Files that are built into a program by cmake/bench_text.cmake: bench/peers into the tool; bench/kernels (OpenCL C, a header
   for NVRTC, SPIR-V of the GLSL twins) into the benchmarks beside it. */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stddef.h>

/* The file by its name, without its folder, with a zero behind it; *size (may be NULL) gets its bytes. NULL: there is
   none, as the GLSL twins where glslangValidator was missing at build time. */
const char *bench_text(const char *name, size_t *size);

#endif
