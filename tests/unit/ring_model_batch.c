/* A work-group that looks at the next messages beside its answers: unit/ring_model.c's tests. */
#define AS_C_BATCH    1
#define AS_C_PER_ITEM 1
#include "ring_model.c"
