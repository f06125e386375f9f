// Matrix fragments of char and uchar, of one kind and mixed, summed in int.
// kernel: char_char
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: uchar_char
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: uchar_uchar
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(char_char, char, char, int, int, 16, 16, 32, ROW_MAJOR, COLUMN_MAJOR, ROW_MAJOR)
PRODUCT(uchar_char, uchar, char, int, int, 16, 8, 32, COLUMN_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR)
PRODUCT(uchar_uchar, uchar, uchar, int, int, 32, 8, 16, COLUMN_MAJOR, ROW_MAJOR, ROW_MAJOR)
