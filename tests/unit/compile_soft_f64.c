/* Doubles made of integers: who does not ask for them is told how to, who does gets a module without doubles, and what cannot be
   made of integers is refused with the line. That they are right is shown by unit.front_soft, by tests/cl and by
   op_kernels (tests/README.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"

#define K "kernel void k("

static qn__compile_status compile(const char *source, const char *options, qn__target target, int level,
                                  qn__compile_result *result) {
    const qn__compile_request request = {.source = source,
                                         .name = "k.cl",
                                         .options = options,
                                         .target = target,
                                         .level = level,
                                         .verify = true};
    return qn__compile(&request, result);
}

static const qn__target wgsl = {.kind = QN__TARGET_WGSL};

static void test_refusal_names_the_option(void **state) {
    (void)state;
    qn__compile_result result;
    assert_int_equal(compile(K "global double *o) { o[0] += 1; }", NULL, wgsl, 2, &result),
                     QN__COMPILE_SOURCE_ERROR);
    assert_non_null(strstr(result.log, "k.cl:1:"));
    assert_non_null(strstr(result.log, "no double precision"));
    assert_non_null(strstr(result.log, "-qn-soft-f64"));
    qn__compile_free(&result);
}

/* Names of the program's own that are those of the library's functions do not matter. */
static void test_doubles_are_integers(void **state) {
    static const char source[] =
        "double f64_add(double a, double b) { return a * b; }\n"
        "constant double table[] = {1.5, -2.5};\n" K
        "global double2 *o, global const float *x, global const long *n, global half *h, double by) {\n"
        "    size_t i = get_global_id(0); double2 a = (double2)(x[i], n[i]);\n"
        "    for (int k = 0; k < 3; k++) a = fma(a, by, table[k & 1]) / f64_add(a.x, sqrt(fabs(a.y)));\n"
        "    h[i] = (half)a.x; o[i] = a.x < a.y ? -a : floor(a) + convert_int_rte(a.y) + fmin(a.x, 2.0);\n"
        "    if (isnan(a.x)) printf(\"%f %v2lf\\n\", a.x, a); }";
    const qn__target targets[] = {wgsl,
                                  {.kind = QN__TARGET_SPIRV, .lacks_f64 = true},
                                  {.kind = QN__TARGET_SPIRV, .lacks_f64 = true, .lacks_i64 = true},
                                  {.kind = QN__TARGET_CLC, .lacks_f64 = true}};
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (int level = 0; level < 3; level++) {
            qn__compile_result result;
            const qn__compile_status status = compile(source, "-qn-soft-f64", targets[i], level, &result);
            if (status) fail_msg("target %zu, level %d: %s", i, level, result.log);
            qn__compile_free(&result);
        }
}

static void test_where_doubles_are_they_stay(void **state) {
    static const char source[] = K "global double *o) { o[0] += 1; }";
    const qn__target c = {.kind = QN__TARGET_C};
    qn__compile_result plain, asked;
    (void)state;
    assert_int_equal(compile(source, NULL, c, 2, &plain), QN__COMPILE_OK);
    assert_int_equal(compile(source, "-qn-soft-f64", c, 2, &asked), QN__COMPILE_OK);
    assert_int_equal(plain.text_size, asked.text_size);
    assert_memory_equal(plain.text, asked.text, plain.text_size);
    qn__compile_free(&plain);
    qn__compile_free(&asked);
}

static void test_the_rest_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *source, *log;
    } rows[] = {
        {K "global double *o) {\n o[0] = work_group_reduce_add(o[0]); }", "reductions and scans of double"},
        {K "global double *o, long n) {\n o[0] = convert_double_rtz(n); }", "to the nearest only"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn__compile_result result;
        assert_int_equal(compile(rows[i].source, "-cl-std=CL3.0 -qn-soft-f64", wgsl, 2, &result),
                         QN__COMPILE_UNSUPPORTED);
        if (!strstr(result.log, rows[i].log)) fail_msg("'%s' is not in: %s", rows[i].log, result.log);
        assert_non_null(strstr(result.log, "(k.cl:2)"));
        qn__compile_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusal_names_the_option), cmocka_unit_test(test_doubles_are_integers),
        cmocka_unit_test(test_where_doubles_are_they_stay), cmocka_unit_test(test_the_rest_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
