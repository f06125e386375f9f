/* A work-group that takes several messages at a time, which its first work-item handles in turn: unit/ring_threads.c's tests. */
#define AS_C_GROUPS   1
#define AS_C_BATCH    4
#define AS_C_PER_ITEM 0
#include "ring_threads.c"
