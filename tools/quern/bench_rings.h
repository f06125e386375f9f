/* What the files of `quern bench rings` share. */
#ifndef QUERN_BENCH_RINGS_H
#define QUERN_BENCH_RINGS_H

#include "bench.h"

/* What a hop between two rings of the device takes. */
int bench_rings_hops(bench_device *d);
/* Full load by several threads for --seconds; every message is checked, and the memory. */
int bench_rings_soak(bench_device *d);

#endif
