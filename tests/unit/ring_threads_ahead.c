/* One work-group that copies several messages at a time, between threads of the host: unit/ring_threads.c's tests. */
#define AS_C_GROUPS 1
#define AS_C_AHEAD  8
#include "ring_threads.c"
