/* Slots in pieces, each of which goes over the bus as a whole, in any order: unit/ring_model.c's tests. */
#define AS_C_PIECES      9
#define QN__WHOLE(piece) (*(step(), (volatile uint4 *)(piece)))
#include "ring_model.c"
