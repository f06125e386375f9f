/* The door to the compiler: reflection, headers, statuses, budgets, and that no allocation failure leaks or
   crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "emit/emit.h"

static void test_reflection(void **state) {
    (void)state;
    qn__compile_request request = {.source = "typedef struct { float4 a; int b; } P;\n"
                                             "__attribute__((reqd_work_group_size(8, 4, 1)))\n"
                                             "kernel void f(global const float4 *restrict in, char c, float3 "
                                             "v, local uint *l, P p, constant long *t) "
                                             "{ l[0] = c; }\n"
                                             "kernel void g(void) {}\n"};
    qn__compile_result result;
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_OK);
    assert_string_equal(result.log, "");
    assert_int_equal(result.info.num_kernels, 2);
    const qn__kernel_info *f = &result.info.kernels[0];
    assert_string_equal(f->name, "f");
    assert_int_equal(f->reqd_local[0] * 100 + f->reqd_local[1] * 10 + f->reqd_local[2], 841);
    assert_int_equal(f->num_params, 6);
    static const struct {
        const char *name;
        qn__param_kind kind;
        unsigned offset, size, lanes, lane_size;
        bool is_float, is_constant, is_written;
    } expected[] = {
        {"in", QN__PARAM_BUFFER, 0, 8, 4, 4, true, false, false},
        {"c", QN__PARAM_VALUE, 8, 1, 1, 1, false, false, false},
        {"v", QN__PARAM_VALUE, 16, 16, 3, 4, true, false, false},
        {"l", QN__PARAM_LOCAL, 32, 8, 1, 4, false, false, true},
        {"p", QN__PARAM_STRUCT, 48, 32, 1, 0, false, false, false},
        {"t", QN__PARAM_BUFFER, 80, 8, 1, 8, false, true, false},
    };
    for (unsigned i = 0; i < 6; i++) {
        const qn__param_info *param = &f->params[i];
        assert_string_equal(param->name, expected[i].name);
        assert_int_equal(param->kind, expected[i].kind);
        assert_int_equal(param->offset, expected[i].offset);
        assert_int_equal(param->size, expected[i].size);
        assert_int_equal(param->lanes, expected[i].lanes);
        assert_int_equal(param->lane_size, expected[i].lane_size);
        assert_int_equal(param->is_float, expected[i].is_float);
        assert_int_equal(param->is_constant, expected[i].is_constant);
        assert_int_equal(param->is_written, expected[i].is_written);
    }
    assert_int_equal(f->args_size, 88);
    assert_true(f->params[0].is_const && f->params[0].is_restrict);
    assert_int_equal(f->params[0].pointee_size, 16);
    assert_true(f->params[1].is_signed && !f->params[3].is_signed);
    qn__compile_free(&result);
}

static void test_headers(void **state) {
    (void)state;
    static const qn__compile_header headers[] = {{"my/defs.h", "#define TWO 2\n", 14}};
    qn__compile_request request = {
        .source = "#include \"my/defs.h\"\nkernel void k(global int *a) { *a = TWO + N; }",
        .options = "-D N=3",
        .headers = headers,
        .num_headers = 1,
        .no_files = true,
        .dump = "",
        .level = 2};
    qn__compile_result result;
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_OK);
    assert_non_null(strstr(result.dump, "i32 5"));
    assert_int_equal(result.num_dependencies, 0);
    qn__compile_free(&result);
    request.num_headers = 0;
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_SOURCE_ERROR);
    assert_non_null(strstr(result.log, "my/defs.h"));
    qn__compile_free(&result);
}

static void test_statuses(void **state) {
    (void)state;
    qn__compile_result result;
    qn__compile_request request = {.source = "kernel void k(global int *a) { *a = b; }", .name = "bad.cl"};
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_SOURCE_ERROR);
    assert_non_null(strstr(result.log, "bad.cl:1:37: error:"));
    qn__compile_free(&result);
    request =
        (qn__compile_request){.source = "kernel void k(global int *a) { *a = 1; }", .options = "-cl-std=CL9"};
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_BAD_OPTION);
    qn__compile_free(&result);
    request =
        (qn__compile_request){.source = "kernel void k(global int *a) { *a = 1; }", .memory_budget = 4096};
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_TOO_LARGE);
    assert_true(*result.log);
    qn__compile_free(&result);
    request = (qn__compile_request){.source = "", .target.kind = QN__TARGET_C};
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_OK);
    assert_int_equal(result.info.num_kernels, 0);
    qn__compile_free(&result);
}

static unsigned count_of(const char *text, const char *part) {
    unsigned count = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) count++;
    return count;
}

/* In OpenCL C for GPUs a loop up to the local size does four turns at once, and then what is left one by one. */
static void test_opencl_loops(void **state) {
    (void)state;
    const struct {
        bool wants;
        unsigned copies;
    } expected[] = {{true, 5}, {false, 1}};
    qn__compile_request request = {.source =
                                       "kernel void k(global float *a, local float *b, float x) {\n"
                                       "    for (uint j = 0; j < get_local_size(0); j++) x = x * x + b[j];\n"
                                       "    a[get_global_id(0)] = x;\n"
                                       "}\n",
                                   .target.kind = QN__TARGET_CLC,
                                   .level = 2};
    for (unsigned i = 0; i < 2; i++) {
        qn__compile_result result;
        request.target.wants_unrolled = expected[i].wants;
        assert_int_equal(qn__compile(&request, &result), QN__COMPILE_OK);
        assert_int_equal(count_of(result.text, "fma("), expected[i].copies);
        qn__compile_free(&result);
    }
}

static void test_dump(void **state) {
    (void)state;
    qn__compile_request request = {
        .source = "kernel void k(global int *a) { int x = 1; *a = x; }", .dump = "lower", .level = 2};
    qn__compile_result result;
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_OK);
    assert_non_null(strstr(result.dump, "var"));
    qn__compile_free(&result);
    request.dump = "all";
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_OK);
    assert_non_null(strstr(result.dump, "; after lower"));
    assert_non_null(strstr(result.dump, "; after mem2reg"));
    qn__compile_free(&result);
}

/* ---- allocation failures ---- */

typedef struct countdown {
    long left, live;
} countdown;

static void *count_allocate(void *user, size_t size) {
    countdown *c = user;
    if (c->left-- <= 0) return NULL;
    c->live++;
    return malloc(size);
}

static void *count_reallocate(void *user, void *memory, size_t size) {
    countdown *c = user;
    if (c->left-- <= 0) return NULL;
    c->live += !memory;
    return realloc(memory, size);
}

static void count_release(void *user, void *memory) {
    countdown *c = user;
    c->live -= memory != NULL;
    free(memory);
}

static void test_allocation_failures(void **state) {
    (void)state;
    for (long n = 0;; n++) {
        countdown c = {.left = n};
        qn__allocator allocator = {count_allocate, count_reallocate, count_release, &c};
        qn__compile_request request = {
            .allocator = &allocator,
            .source =
                "float f(float x) { for (int i = 0; i < 9; i++) x = sin(x) * pow(x, 2.0f); return x; }\n"
                "kernel void k(global float *a) { local float t[8]; int i = get_local_id(0); t[i & 7] = "
                "f(a[i]);\n"
                "barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[7 - (i & 7)]; }",
            .level = 2,
            .target.kind = QN__TARGET_C};
        qn__compile_result result;
        qn__compile_status status = qn__compile(&request, &result);
        assert_true(status == QN__COMPILE_OK || status == QN__COMPILE_OUT_OF_MEMORY);
        qn__compile_free(&result);
        assert_int_equal(c.live, 0);
        if (status == QN__COMPILE_OK) break;
    }
}

/* What passes make values of takes no memory. */
static void test_private_memory(void **state) {
    (void)state;
    for (int kind = QN__TARGET_IR; kind < QN__TARGET_COUNT; kind++)
        for (uint32_t has = 239; has <= 240; has++) {
            const qn__compile_request request = {
                .source = "kernel void k(global int *out, int n) { int i = get_global_id(0), a[60], b[2];\n"
                          "  for (int j = 0; j < n; j++) a[j] = i + j;\n"
                          "  b[0] = i; b[1] = 7;\n"
                          "  out[i] = a[(n + i) % 60] + b[0] * b[1]; }",
                .target = {.kind = (qn__target_kind)kind, .sub_group_size = 32, .private_bytes = has},
                .level = 2};
            qn__compile_result result;
            const qn__compile_status status = qn__compile(&request, &result);
            assert_int_equal(status, has < 240 ? QN__COMPILE_UNSUPPORTED : QN__COMPILE_OK);
            if (status && !strstr(result.log, "the private variables of kernel 'k' take 240 bytes; a "
                                              "work-item on this device has 239 (kernel.cl:1)"))
                fail_msg("%s", result.log);
            qn__compile_free(&result);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reflection),    cmocka_unit_test(test_headers),
        cmocka_unit_test(test_statuses),      cmocka_unit_test(test_dump),
        cmocka_unit_test(test_opencl_loops),  cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_private_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
