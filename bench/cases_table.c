/* The cases as a table. */
#include "cases.h"

#define CASE_ROW(name, check, file, bound) {#name, file, "", name##_make, check##_error, bound},
const bench_case bench_cases[] = {BENCH_CASES(CASE_ROW)};
const size_t bench_num_cases = sizeof bench_cases / sizeof *bench_cases;
