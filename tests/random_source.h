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

/* What comes before all kernels of a program; and behind that, where kernels tell of a fault. */
extern const char random_prelude[], random_evidence_prelude[];

/* Faults that are planted in a kernel, one at a time. */
typedef enum random_fault {
    RANDOM_NO_BARRIER, /* between accesses to local memory */
    RANDOM_FAR_INDEX,  /* of an array or buffer: one more than it should be */
    RANDOM_NO_VALUE,   /* at the declaration of a private variable, or for local memory */
    RANDOM_NO_ATOMIC,  /* a plain sum in its place */
    RANDOM_FAULTS
} random_fault;

/* EVIDENCE: the kernel is right, and tells whether the fault could show in it. It has one more argument,
   global uint *evidence, of 1 + the number of work-items rows of LOG words. Of FAR_INDEX word 0 is set where the index is too far. Of
   the others than NO_VALUE each work-item's row has its accesses to local memory: their number, then of each the barriers passed << 16 |
   random_access << 8 | the word's number. Word 1 is set where a row is too short. Of NO_VALUE the macro GARBAGE is what stands in memory. */
typedef enum random_form { RANDOM_FAULT, RANDOM_EVIDENCE } random_form;
typedef enum random_access { RANDOM_READ, RANDOM_WRITE, RANDOM_ATOMIC } random_access;

typedef struct random_plant {
    random_fault fault;
    random_form form;
    unsigned at;     /* which of the places that could have it */
    unsigned places; /* set: how many there are */
} random_plant;

/* Appends kernel `name` (global uint *out, global const int *ints, global const float *floats, int n) to
   `text`, which has room for `size` bytes. Returns the length, or 0 where the room is too small.
   `statements`: about how many. The plant changes nothing else; NULL: there is none. */
size_t random_kernel(char *text, size_t size, const char *name, uint64_t seed, unsigned statements,
                     unsigned features, const uint32_t *required, random_plant *plant);

#endif
