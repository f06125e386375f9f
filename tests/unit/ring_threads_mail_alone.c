/* Between one work-group and one, whose work-items handle a message together, credits are not counted: unit/ring_threads_mail.c's test. */
#define AS_C_GROUPS 1
#define AS_C_ITEMS  2
#include "ring_threads_mail.c"
