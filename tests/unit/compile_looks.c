/* Which loops of the C for the processor look whether their launch is cancelled: those that may not end soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"

static const struct loops {
    const char *text; /* in a kernel of the parameters below */
    unsigned looks;
} loops[] = {
    {"for (int i = 0; i < n; i++) o[i] ^= i;", 0},
    {"for (uint i = 0; i < m; i += 16) o[i] ^= i;", 0},
    {"for (ulong i = 0; i < z; i++) o[i] ^= i;", 1},
    {"while (o[0]) o[1]++;", 1},
    {"for (uint i = 0; i < m; i += o[i]) o[1]++;", 1},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) o[i ^ j] ^= k;", 2},
    /* by sizes of the range */
    {"for (size_t i = get_global_id(0); i < m; i += get_global_size(0)) o[i] ^= i;", 0},
    {"for (size_t i = get_local_id(0); i < m; i += get_local_size(0)) o[i] ^= i;", 0},
    {"for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) o[i] = i;", 0},
    {"for (size_t i = get_local_id(0); i < m; i += get_local_size(0)) { if (o[i]) continue; o[i] = 1; }", 0},
    /* that may wrap, or stand still, or that run to what changes */
    {"for (uint i = get_local_id(0); i < m; i += get_local_size(0)) o[i] ^= i;", 1},
    {"for (uint i = get_local_id(0); i < 0x90000000u; i += get_local_size(0)) o[i] ^= i;", 1},
    {"for (uint i = get_global_id(0); i < 256; i += get_global_size(0)) o[i] = i;", 1},
    {"for (size_t i = get_global_id(0); i < z; i += get_global_size(0)) o[i] ^= i;", 1},
    {"for (size_t i = 0; i < m; i += get_local_id(0)) o[i] ^= i;", 1},
    {"for (size_t i = 0; i < (uint)o[1]; i += get_local_size(0)) o[i] ^= i;", 1},
    {"for (size_t i = 0; i < m; i += get_local_size(0)) if (o[i]) i = 0;", 1},
};

static unsigned count_looks(const char *text) {
    unsigned looks = 0;
    while ((text = strstr(text, "if (QN_CANCELLED) return;"))) looks++, text++;
    return looks;
}

static void loops_that_may_not_end_look(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        char source[512];
        qn__compile_result result;
        snprintf(source, sizeof source,
                 "kernel void k(global volatile int *o, int n, uint m, ulong z) {\n    %s\n}\n",
                 loops[i].text);
        const qn__compile_request request = {
            .source = source, .target.kind = QN__TARGET_C, .level = 2, .verify = true};
        if (qn__compile(&request, &result)) fail_msg("%s: %s", loops[i].text, result.log);
        const unsigned looks = count_looks(result.text);
        if (looks != loops[i].looks)
            fail_msg("%s: %u loops look, and not %u", loops[i].text, looks, loops[i].looks);
        qn__compile_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_that_may_not_end_look)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
