// #include by -I, in quotes and in angle brackets, with a guard, and through a macro.
// options: -I tests/cl/include
// kernel: run
// arg: buf:int:3
// expect: 10, 15, 111
#include "twice.h"
#include <twice.h>
#define ROWS "rows.h"
kernel void run(global int *out) {
    out[0] = TWICE(5);
    out[1] = thrice(5);
    int sum = 0;
#define ROW(n) sum += n;
#include ROWS
    out[2] = sum;
}
