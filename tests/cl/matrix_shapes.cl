// Matrix fragments of shapes that no hardware has, or of several instructions together.
// kernel: flat
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: deep
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: large
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: tallest
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(flat, half, half, float, float, 8, 32, 16, ROW_MAJOR, COLUMN_MAJOR, ROW_MAJOR)
PRODUCT(deep, char, char, int, int, 8, 8, 64, ROW_MAJOR, ROW_MAJOR, ROW_MAJOR)
PRODUCT(large, half, half, float, float, 32, 32, 32, COLUMN_MAJOR, COLUMN_MAJOR, ROW_MAJOR)
PRODUCT(tallest, float, float, float, float, 64, 8, 8, ROW_MAJOR, ROW_MAJOR, COLUMN_MAJOR)
