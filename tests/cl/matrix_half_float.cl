// Matrix fragments of half, summed in float: each layout of a, b and the accumulator.
// kernel: half_rr
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: half_rc
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: half_cr
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: half_cc
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(half_rr, half, half, float, float, 16, 16, 16, ROW_MAJOR, ROW_MAJOR, ROW_MAJOR)
PRODUCT(half_rc, half, half, float, float, 16, 16, 16, ROW_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR)
PRODUCT(half_cr, half, half, float, float, 16, 16, 16, COLUMN_MAJOR, ROW_MAJOR, COLUMN_MAJOR)
PRODUCT(half_cc, half, half, float, float, 16, 16, 16, COLUMN_MAJOR, COLUMN_MAJOR, ROW_MAJOR)
