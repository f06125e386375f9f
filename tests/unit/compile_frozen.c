/* Library functions that are embedded as IR: a call of one brings the finished function, without helpers and without
   a text that is parsed; other types still come from the texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
        cmocka_unit_test(float_functions_are_whole),
        cmocka_unit_test(other_types_come_from_the_texts),
        cmocka_unit_test(tables_are_there_once),
        cmocka_unit_test(the_index_is_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
