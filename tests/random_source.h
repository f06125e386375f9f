/* Random kernels as OpenCL C text, the same for the same seed. Every program is defined: no overflow of
   signed numbers, no division by zero, no race, no barrier that some work-items miss. What the standard
   leaves open (signs and payloads of NaN, the sign of zero from fmin) is made the same before it can show.
   After Csmith (Yang et al., "Finding and Understanding Bugs in C Compilers") and CLsmith (Lidbury et al.,
   "Many-Core Compiler Fuzzing"). */
#ifndef RANDOM_SOURCE_H
#define RANDOM_SOURCE_H

#include <stddef.h>
#include <stdint.h>

enum {
    RANDOM_F64 = 1 << 0,
    RANDOM_SUB_GROUPS = 1 << 1,
    RANDOM_RETURN_BEFORE_BARRIER = 1 << 2, /* work-items may return before others meet */
    RANDOM_GENERIC = 1 << 3,               /* in some: generic pointers to private, local and global memory */
    RANDOM_WILD = 1 << 4,                  /* indices out of range: only safe programs are defined */
    RANDOM_EVERYTHING = RANDOM_F64 | RANDOM_SUB_GROUPS | RANDOM_RETURN_BEFORE_BARRIER | RANDOM_GENERIC
};

/* Work-items write OUT_SLOTS uints each at `out`, by linear id. `ints` and `floats` have RANDOM_INPUTS
   values. Work-groups have at most RANDOM_GROUP work-items. */
enum { RANDOM_OUT_SLOTS = 4, RANDOM_INPUTS = 64, RANDOM_GROUP = 64 };

/* What comes before all kernels of a program. */
extern const char random_prelude[];

/* Appends kernel `name` (global uint *out, global const int *ints, global const float *floats, int n) to
   `text`, which has room for `size` bytes. Returns the length, or 0 where the room is too small.
   `statements`: about how many. */
size_t random_kernel(char *text, size_t size, const char *name, uint64_t seed, unsigned statements,
                     unsigned features, const uint32_t *required);

#endif
