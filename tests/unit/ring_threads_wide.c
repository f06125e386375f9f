/* As unit/ring_threads_together.c, with messages of more pieces than one work-item looks at: all look for them. */
#define AS_C_GROUPS     1
#define AS_C_ITEMS      3
#define AS_C_BATCH      0
#define AS_C_PER_ITEM   0
#define AS_C_PIECES     9
#define AS_C_FEW_PIECES 6
#include "ring_threads.c"
