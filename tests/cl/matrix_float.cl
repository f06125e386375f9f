// Matrix fragments of float, which a device may take as tf32: these numbers fit.
// kernel: float_rr
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: float_cr
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(float_rr, float, float, float, float, 16, 16, 8, ROW_MAJOR, ROW_MAJOR, ROW_MAJOR)
PRODUCT(float_cr, float, float, float, float, 16, 8, 16, COLUMN_MAJOR, COLUMN_MAJOR, ROW_MAJOR)
