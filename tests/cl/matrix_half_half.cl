// Matrix fragments of half, summed in half, which rounds once a product here: the sums are exact.
// kernel: half_cc
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(half_cc, half, half, half, float, 16, 8, 16, COLUMN_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR)
