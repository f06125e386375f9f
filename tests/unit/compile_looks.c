/* What is in the C for the processor: which loops look whether their launch is cancelled, those that may not end soon; and
   which vectors are kept in registers of the processor; where work-items go in gangs. */
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
    unsigned looks;   /* of the loops; of the work-items, if those end but may take long */
} loops[] = {
    {"for (int i = 0; i < n; i++) o[i] ^= i;", 1},
    {"for (uint i = 0; i < m; i += 16) o[i] ^= i;", 1},
    {"for (ulong i = 0; i < z; i++) o[i] ^= i;", 1},
    {"while (o[0]) o[1]++;", 1},
    {"for (uint i = 0; i < m; i += o[i]) o[1]++;", 1},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) o[i ^ j] ^= k;", 2},
    {"for (int i = 0; i < 1000; i++) o[i] ^= i;", 0},
    /* by sizes of the range */
    {"for (size_t i = get_global_id(0); i < m; i += get_global_size(0)) o[i] ^= i;", 1},
    {"for (size_t i = get_local_id(0); i < m; i += get_local_size(0)) o[i] ^= i;", 1},
    {"for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) o[i] = i;", 0},
    {"for (size_t i = get_local_id(0); i < m; i += get_local_size(0)) { if (o[i]) continue; o[i] = 1; }", 1},
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
            fail_msg("%s: %u looks, and not %u", loops[i].text, looks, loops[i].looks);
        qn__compile_free(&result);
    }
}

/* The sum of n vectors: `registers` of so many bytes hold it, or else its lanes are variables. */
static const struct sums {
    const char *type;
    uint32_t vector_bytes, registers;
} sums[] = {
    {"float4", 0, 16},   {"float8", 0, 32},  {"float16", 0, 0},   {"float16", 32, 0},
    {"float16", 64, 64}, {"double4", 0, 32}, {"double8", 32, 0},  {"double8", 64, 64},
    {"int16", 64, 64},   {"int16", 0, 0},    {"double16", 64, 0}, {"float8", 64, 32},
};

static void vectors_that_fit_are_kept_in_registers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        char source[512], wanted[64];
        qn__compile_result result;
        snprintf(source, sizeof source,
                 "kernel void k(global const %s *a, global %s *o, int n) {\n    %s sum = 0;\n"
                 "    for (int i = 0; i < n; i++) sum = sum * a[i] + a[i + 1];\n    o[0] = sum;\n}\n",
                 sums[i].type, sums[i].type, sums[i].type);
        const qn__compile_request request = {
            .source = source,
            .target = {.kind = QN__TARGET_C, .vector_bytes = sums[i].vector_bytes},
            .level = 2,
            .verify = true};
        if (qn__compile(&request, &result)) fail_msg("%s: %s", sums[i].type, result.log);
        snprintf(wanted, sizeof wanted, "vector_size(%u)", (unsigned)sums[i].registers);
        const bool found = strstr(result.text, sums[i].registers ? wanted : "sum_") != NULL;
        const bool other = !sums[i].registers && strstr(result.text, "} sum");
        if (!found || other || (!sums[i].registers && strstr(result.text, "vector_size(64)")))
            fail_msg("%s with registers of %u bytes:\n%s", sums[i].type, (unsigned)sums[i].vector_bytes,
                     result.text);
        qn__compile_free(&result);
    }
}

/* The same kernel with a work-group of more and of one, whose loops would fill a SIMD width with work-items that are not there. */
static void a_work_item_alone_goes_in_no_gang(void **state) {
    (void)state;
    static const char source[] =
        "kernel __attribute__((reqd_work_group_size(N, 1, 1))) void k(global int *o, global const int *from, "
        "uint m) {\n"
        "    local int found[64];\n"
        "    for (uint i = get_local_id(0); i < 64; i += N) found[i] = 0;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    for (uint i = get_local_id(0); i < m; i += N) atomic_inc(&found[from[i] * 5 & 63]);\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    for (uint i = get_local_id(0); i < 64; i += N) o[i] = found[i];\n"
        "}\n";
    static const char *const options[] = {"-D N=64", "-D N=1"};
    for (int i = 0; i < 2; i++) {
        const qn__compile_request request = {
            .source = source, .options = options[i], .target.kind = QN__TARGET_C, .level = 2, .verify = true};
        qn__compile_result result;
        if (qn__compile(&request, &result)) fail_msg("%s", result.log);
        assert_int_equal(strstr(result.text, "QN_MEMBERS") == NULL, i);
        qn__compile_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_that_may_not_end_look),
                                       cmocka_unit_test(a_work_item_alone_goes_in_no_gang),
                                       cmocka_unit_test(vectors_that_fit_are_kept_in_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
