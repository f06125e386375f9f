/* What random kernels are run with. */
#ifndef RANDOM_LAUNCH_H
#define RANDOM_LAUNCH_H

#include <quern/quern.h>

#include "random_source.h"

enum { RANDOM_WIDTH = 37, RANDOM_HEIGHT = 5, RANDOM_ITEMS = RANDOM_WIDTH * RANDOM_HEIGHT };
enum { RANDOM_OUT_COUNT = RANDOM_ITEMS * RANDOM_OUT_SLOTS };

extern const char random_options[]; /* of the compiler */

/* Groups that do and do not divide the range, in one and two dimensions. */
qn_range random_range(unsigned long long seed);

void random_inputs(int32_t ints[RANDOM_INPUTS], float floats[RANDOM_INPUTS]);

#endif
