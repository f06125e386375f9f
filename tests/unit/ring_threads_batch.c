/* Two work-groups whose work-items take a message each, all of them threads of the host: unit/ring_threads.c's tests. */
#define AS_C_GROUPS   2
#define AS_C_BATCH    3
#define AS_C_PER_ITEM 1
#include "ring_threads.c"
