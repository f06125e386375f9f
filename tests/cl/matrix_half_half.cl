// Matrix fragments of half, summed in half, which rounds once a product here: the sums are exact.
// kernel: half_cc
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: half_chosen
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(half_cc, half, half, half, float, 16, 8, 16, COLUMN_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR)

// The layout is any constant expression.
#define CHOSEN(i, j, rows, columns)   COLUMN_MAJOR(i, j, rows, columns)
#define LAYOUT_CHOSEN                 (sizeof(half) == 2 ? qn_column_major : qn_row_major)
#define STRIDE_CHOSEN(rows, columns)  (rows)
PRODUCT(half_chosen, half, half, half, float, 16, 8, 16, CHOSEN, CHOSEN, CHOSEN)
