/* What the files of `quern bench rings` share. */
#ifndef QUERN_BENCH_RINGS_H
#define QUERN_BENCH_RINGS_H

#include "bench.h"

/* Rows with the quantiles of what was measured, which are sorted; of another than quern also as a part of quern's row. */
void bench_rings_print(bench_device *d, const char *what, const char *by, double *times, size_t count);
/* The same calls of a bare loop; nothing on a device that cannot keep a kernel. */
int bench_rings_bare(bench_device *d, const char *what, uint32_t words);
/* What a hop between two rings of the device takes. */
int bench_rings_hops(bench_device *d);
/* A stream of messages that are work, beside a launch and a wait for each; a kernel beside an idle ring. */
int bench_rings_work(bench_device *d);
/* Full load by several threads for --seconds; every message is checked, and the memory. */
int bench_rings_soak(bench_device *d);

#endif
