/* Library functions that are embedded as IR: a call of one brings the finished function, without helpers and without
   a text that is parsed; other types still come from the texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "front/frozen.h"

/* The IR that the passes start from. */
static void lowered(qn__compile_result *result, const char *source) {
    const qn__compile_request request = {
        .source = source, .target.kind = QN__TARGET_IR, .dump = "lower", .verify = true};
    if (qn__compile(&request, result)) fail_msg("%s", result->log);
}

static void float_functions_are_whole(void **state) {
    (void)state;
    qn__compile_result result;
    lowered(&result, "kernel void k(global float4 *p, global int *q, int n) {"
                     "    p[0] = sin(p[1]) + normalize(p[2]) + pown(p[3], (int4)(n));"
                     "    q[0] = clamp(q[1], 0, n); }");
    assert_non_null(strstr(result.dump, "@sin("));
    assert_non_null(strstr(result.dump, "@normalize("));
    assert_null(strstr(result.dump, "@reduce_f32("));
    assert_null(strstr(result.dump, "<library>"));
    qn__compile_free(&result);
}

/* What overflows in them is part of what they give: a compiler behind may not take it for granted that nothing does. */
static void integers_wrap(void **state) {
    (void)state;
    static const char *const types[] = {"int", "int4", "long", "short2"};
    static const char *const ops[] = {" neg nsw ", " add nsw ", " sub nsw ", " mul nsw "};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char source[600];
        qn__compile_result result;
        snprintf(source, sizeof source,
                 "#define T %s\n#define as_T(x) CAT(as_, T)(x)\n#define CAT(a, b) CAT_(a, b)\n#define "
                 "CAT_(a, b) a##b\nkernel void k(global T *p, T a, T b, T c) {\n"
                 "    p[0] = as_T(abs(a)); p[1] = as_T(abs_diff(a, b)); p[2] = add_sat(a, b);\n"
                 "    p[3] = sub_sat(a, b); p[4] = mad_hi(a, b, c); p[5] = mad_sat(a, b, c);\n%s}\n",
                 types[i], i < 2 ? "p[6] = mul24(a, b); p[7] = mad24(a, b, c);\n" : "");
        lowered(&result, source);
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (strstr(result.dump, ops[k])) fail_msg("%s:%.100s", types[i], strstr(result.dump, ops[k]));
        qn__compile_free(&result);
    }
}

static void other_types_come_from_the_texts(void **state) {
    (void)state;
    qn__compile_result result;
    lowered(&result, "kernel void k(global double *p, global short *q) {"
                     "    p[0] = sin(p[1]); q[0] = clamp(q[1], (short)0, q[2]); }");
    assert_non_null(strstr(result.dump, "@reduce_f64("));
    assert_non_null(strstr(result.dump, "@clamp("));
    qn__compile_free(&result);
}

static void tables_are_there_once(void **state) {
    (void)state;
    qn__compile_result result;
    lowered(&result, "kernel void k(global float *p) { p[0] = sin(p[1]) + cos(p[2]) + tan(p[3]); }");
    const char *table = strstr(result.dump, "\"two_over_pi_short\"");
    assert_non_null(table);
    assert_null(strstr(table + 1, "\"two_over_pi_short"));
    qn__compile_free(&result);
}

static void the_index_is_in_order(void **state) {
    (void)state;
    const front_frozen_library *library = &qn__frozen_library;
    assert_true(library->num_functions > 100);
    for (uint32_t i = 1; i < library->num_functions; i++) {
        const front_frozen *a = &library->functions[i - 1], *b = &library->functions[i];
        assert_true(a->entry < b->entry ||
                    (a->entry == b->entry &&
                     (a->element < b->element || (a->element == b->element && a->lanes < b->lanes))));
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_functions_are_whole),       cmocka_unit_test(integers_wrap),
        cmocka_unit_test(other_types_come_from_the_texts), cmocka_unit_test(tables_are_there_once),
        cmocka_unit_test(the_index_is_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
