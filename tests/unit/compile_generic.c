/* Generic pointers that the compiler sees to be of one address space cost nothing: the text is that of pointers that name it,
   in variables, structures, arrays and parameters. Those that it does not see so become numbers, and only those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"

static const char source[] =
    "#ifdef NAMED\n#define G global\n#define L local\n#define P private\n#else\n#define G\n#define "
    "L\n#define P\n#endif\n"
    "struct view { G float *data; int n; };\n"
    "float first(struct view v, int i) { return i < v.n ? v.data[i] : 0; }\n"
    "void fill(L float *to, G const float *from, int n) {\n"
    "    for (int i = get_local_id(0); i < n; i += get_local_size(0)) to[i] = from[i];\n}\n"
    "float total(L const float *p, L const float *end) { float s = 0; while (p != end) s += *p++; return s; "
    "}\n"
    "void add(P float4 *v, float x) { v->x += x; (*v).w = x; }\n"
    "kernel void k(global float *x, local float *l, global float *out, int n) {\n"
    "    struct view v = {x, n};\n"
    "    G float *rows[2] = {x, x + n};\n"
    "    float4 sum = 0;\n"
    "    fill(l, v.data, n);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    add(&sum, total(l, l + n));\n"
    "    G float *q = n > 3 ? rows[0] : rows[1];\n"
    "    q += 2;\n"
    "#ifdef MIXED\n    q = n > 4 ? q : l;\n#endif\n"
    "    out[get_global_id(0)] = sum.x + sum.w + first(v, n) + *q;\n}\n";

static void compile(const char *options, qn__target_kind target, int level, qn__compile_result *result) {
    const qn__compile_request request = {.source = source,
                                         .name = "test.cl",
                                         .options = options,
                                         .target.kind = target,
                                         .level = level,
                                         .verify = true};
    if (qn__compile(&request, result) != QN__COMPILE_OK) fail_msg("%s: %s", options, result->log);
}

static void one_address_space_costs_nothing(void **state) {
    (void)state;
    static const qn__target_kind targets[] = {QN__TARGET_PTX, QN__TARGET_SPIRV};
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        for (int level = 1; level <= 2; level++) {
            qn__compile_result open, named;
            compile("-cl-std=CL3.0", targets[t], level, &open);
            compile("-cl-std=CL3.0 -D NAMED", targets[t], level, &named);
            assert_int_equal(open.text_size, named.text_size);
            assert_memory_equal(open.text, named.text, named.text_size);
            qn__compile_free(&open);
            qn__compile_free(&named);
        }
    }
}

static size_t count(const char *text, const char *word) {
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) found++;
    return found;
}

/* Its own access is doubled; no other is. */
static void two_are_a_choice(void **state) {
    (void)state;
    qn__compile_result one, two;
    compile("-cl-std=CL3.0", QN__TARGET_PTX, 1, &one);
    compile("-cl-std=CL3.0 -D MIXED", QN__TARGET_PTX, 1, &two);
    assert_int_equal(count(two.text, "ld.global"), count(one.text, "ld.global"));
    assert_int_equal(count(two.text, "ld.shared"), count(one.text, "ld.shared") + 1);
    assert_int_equal(count(two.text, "st."), count(one.text, "st."));
    qn__compile_free(&one);
    qn__compile_free(&two);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_address_space_costs_nothing),
                                       cmocka_unit_test(two_are_a_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
