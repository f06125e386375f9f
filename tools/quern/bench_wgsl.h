/* Twins of kernel files in WGSL (texts/ *.wgsl), and what their launches are given: the numbers among the arguments as a struct, a uniform
   variable at binding 0 where there are any, the buffers from binding 1 on; in front of the text the constants local_x and local_y,
   of the work-group, and `words`, of a __local argument. */
#ifndef BENCH_WGSL_H
#define BENCH_WGSL_H

#include "bench_code.h"

enum { BENCH_WGSL_NUMBERS = 4 * BENCH_MAX_ARGS };

/* The step's kernel for its work-groups, which are made explicit; from malloc. NULL: it has no twin. */
char *bench_wgsl_text(bench_workload_step *step);
/* The bytes of the struct. */
uint32_t bench_wgsl_numbers(const bench_workload_step *step, unsigned char to[BENCH_WGSL_NUMBERS]);

#endif
