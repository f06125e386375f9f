/* A work-group whose work-items handle a message together, from slots in pieces: unit/ring_threads.c's tests. */
#define AS_C_GROUPS   1
#define AS_C_ITEMS    3
#define AS_C_BATCH    0
#define AS_C_PER_ITEM 0
#define AS_C_PIECES   9
#include "ring_threads.c"
