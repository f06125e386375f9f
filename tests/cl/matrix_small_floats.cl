// Matrix fragments of qn_bf16, qn_e4m3 and qn_e5m2, summed in float: the numbers are exact in each.
// kernel: bf16
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: e4m3
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: mixed
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(bf16, qn_bf16, qn_bf16, float, float, 16, 16, 16, ROW_MAJOR, ROW_MAJOR, ROW_MAJOR)
PRODUCT(e4m3, qn_e4m3, qn_e4m3, float, float, 16, 16, 32, ROW_MAJOR, COLUMN_MAJOR, ROW_MAJOR)
PRODUCT(mixed, qn_e5m2, qn_e4m3, float, float, 16, 8, 32, COLUMN_MAJOR, ROW_MAJOR, COLUMN_MAJOR)
