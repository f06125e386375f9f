/* The description of code goes through a cache entry whole, and no damage to it is read past: each fact of
   emit/code_info.def by its row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "runtime/entry.h"

static const char source[] =
    "constant float table[4] = {1, 2, 3, 4};\n"
    "constant float *constant where[2] = {table, table + 1};\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1), vec_type_hint(float4)))\n"
    "void first(global const float4 *restrict x, local int *tmp, local float4 *more, uchar c, global float "
    "*out) {\n"
    "    size_t i = get_local_id(0);\n"
    "    tmp[i] = c;\n"
    "    more[i] = x[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[get_global_id(0)] = more[7 - i].x + tmp[7 - i] + where[i & 1][i & 2];\n"
    "}\n"
    "kernel __attribute__((work_group_size_hint(4, 2, 1))) void second(global int *out) {\n"
    "    out[get_global_id(0)] = (int)get_num_groups(0);\n"
    "    printf(\"%s %d\\n\", \"text\", out[0]);\n"
    "}\n"
    "kernel void third(image2d_t a) {}\n";

typedef struct fixture {
    qn__arena arena;
    jmp_buf escape;
} fixture;

/* ---- comparing by the tables ---- */

static void same_text(const char *a, const char *b) {
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_string_equal(a, b);
}

static void same_implicit(const qn__implicit *a, const qn__implicit *b) {
    assert_memory_equal(a, b, sizeof *a);
}

#define SAME_NUMBER(type, name) assert_true(a->name == b->name);
#define SAME_TEXT(type, name)   same_text(a->name, b->name);
#define SAME_SIZES(type, name)  assert_memory_equal(a->name, b->name, sizeof a->name);
#define SAME_BYTES(type, name)                                                                               \
    assert_int_equal(a->name##_size, b->name##_size);                                                        \
    if (a->name##_size) assert_memory_equal(a->name, b->name, a->name##_size);
#define SAME_EACH(name, compare)                                                                             \
    assert_int_equal(a->num_##name, b->num_##name);                                                          \
    for (uint32_t i = 0; i < a->num_##name; i++) compare;
#define SAME_WORDS(type, name) SAME_EACH(name, assert_int_equal(a->name[i], b->name[i]))
#define SAME_TEXTS(type, name) SAME_EACH(name, same_text(a->name[i], b->name[i]))
#define SAME_LIST(type, name)  SAME_EACH(name, same_##type(&a->name[i], &b->name[i]))

static void same_param_info(const qn__param_info *a, const qn__param_info *b) {
#define PARAM_FACT(shape, type, name, doc) SAME_##shape(type, name)
#include "emit/code_info.def"
}

static void same_kernel_info(const qn__kernel_info *a, const qn__kernel_info *b) {
#define KERNEL_FACT(shape, type, name, doc) SAME_##shape(type, name)
#include "emit/code_info.def"
}

static void same_refusal(const qn__refusal *a, const qn__refusal *b) {
#define REFUSAL_FACT(shape, type, name, doc) SAME_##shape(type, name)
#include "emit/code_info.def"
}

static void same_code_info(const qn__code_info *a, const qn__code_info *b) {
#define CODE_FACT(shape, type, name, doc) SAME_##shape(type, name)
#include "emit/code_info.def"
}

/* ---- the tests ---- */

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    qn__arena_init(&f->arena, NULL, 0);
    f->arena.escape = &f->escape;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    qn__arena_free(&f->arena);
    free(f);
    return 0;
}

static void keep_facts(fixture *f, qn__target_kind target) {
    qn__compile_result result;
    const qn__compile_request request = {
        .source = source, .target.kind = target, .level = 2, .no_files = true};
    if (qn__compile(&request, &result)) fail_msg("%s", result.log);
    assert_int_equal(result.info.num_kernels, 2);
    assert_int_equal(result.info.num_refused, 1);
    assert_true(result.info.kernels[1].uses_printf || target == QN__TARGET_IR);
    assert_true(target != QN__TARGET_SPIRV || (result.info.constants_size && result.info.num_relocations));
    const uint32_t units = target == QN__TARGET_SPIRV ? 2 : target == QN__TARGET_WGSL;
    assert_int_equal(result.info.kernels[0].num_local_units, units);
    if (setjmp(f->escape)) fail_msg("out of memory");
    qn__buf out;
    qn__buf_init(&out, &f->arena);
    qn__put_code_info(&out, &result.info);
    qn__reader reader = {out.data, out.data + out.len, false};
    qn__code_info read = {0};
    qn__get_code_info(&reader, &f->arena, NULL, &read);
    assert_false(reader.failed);
    assert_ptr_equal(reader.at, reader.end);
    same_code_info(&result.info, &read);
    qn__compile_free(&result);
}

/* What was written by a library with fewer facts: those that it lacks are 0. A fact of a later one is refused. */
static void facts_are_found_by_name(void **state) {
    fixture *f = *state;
    qn__compile_result result;
    const qn__compile_request request = {
        .source = source, .target.kind = QN__TARGET_PTX, .level = 2, .no_files = true};
    if (qn__compile(&request, &result)) fail_msg("%s", result.log);
    if (setjmp(f->escape)) fail_msg("out of memory");
    qn__buf names, out;
    qn__buf_init(&names, &f->arena);
    qn__buf_init(&out, &f->arena);
    qn__put_facts(&names);
    qn__put_code_info(&out, &result.info);
    qn__facts facts;
    qn__code_info read = {0};
    qn__reader reader = {names.data, names.data + names.len, false};
    qn__get_facts(&reader, &facts);
    assert_true(!reader.failed && reader.at == reader.end);
    reader = (qn__reader){out.data, out.data + out.len, false};
    qn__get_code_info(&reader, &f->arena, &facts, &read);
    assert_true(!reader.failed && reader.at == reader.end);
    same_code_info(&result.info, &read);
    assert_true(read.num_strings > 0); /* the last of all */
    facts.num[QN__FACT_TABLES - 1]--;
    reader = (qn__reader){out.data, out.data + out.len, false};
    qn__get_code_info(&reader, &f->arena, &facts, &read);
    assert_true(!reader.failed && read.num_strings == 0 && read.strings == NULL);
    assert_int_equal(read.num_kernels, result.info.num_kernels);
    for (size_t at = 8; at + 1 < names.len; at++) {
        if (names.data[at] != 's' || names.data[at + 1] != 'i') continue; /* size, is_float, ... */
        names.data[at] = 'z';
        reader = (qn__reader){names.data, names.data + names.len, false};
        qn__get_facts(&reader, &facts);
        assert_true(reader.failed);
        names.data[at] = 's';
    }
    qn__compile_free(&result);
}

static void every_fact_is_kept(void **state) {
    for (int target = 0; target < QN__TARGET_COUNT; target++) keep_facts(*state, (qn__target_kind)target);
}

static void read_damaged(const char *cut, size_t at, const char *changed, size_t size) {
    qn__arena scratch;
    jmp_buf escape;
    qn__arena_init(&scratch, NULL, 1 << 20);
    scratch.escape = &escape;
    if (setjmp(escape)) fail_msg("a wrong count at %zu took the memory", at);
    qn__reader reader = {cut, cut + at, false};
    qn__code_info read = {0};
    qn__get_code_info(&reader, &scratch, NULL, &read);
    assert_true(reader.failed);
    reader = (qn__reader){changed, changed + size, false};
    qn__get_code_info(&reader, &scratch, NULL, &read);
    qn__arena_free(&scratch);
}

static void damage(const qn__buf *written) {
    for (size_t at = 0; at < written->len; at++) {
        char *cut = malloc(at + 1), *changed = malloc(written->len);
        assert_true(cut && changed);
        memcpy(cut, written->data, at);
        memcpy(changed, written->data, written->len);
        changed[at] ^= (char)0x81;
        read_damaged(cut, at, changed, written->len);
        free(cut);
        free(changed);
    }
}

/* Cut off at any byte, and with any one wrong: a sanitizer would see what is read outside. */
static void damage_is_not_read_past(void **state) {
    fixture *f = *state;
    qn__compile_result result;
    const qn__compile_request request = {
        .source = source, .target.kind = QN__TARGET_SPIRV, .level = 2, .no_files = true};
    if (qn__compile(&request, &result)) fail_msg("%s", result.log);
    if (setjmp(f->escape)) fail_msg("out of memory");
    qn__buf out;
    qn__buf_init(&out, &f->arena);
    qn__put_code_info(&out, &result.info);
    damage(&out);
    qn__compile_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_fact_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_not_read_past, setup, teardown),
        cmocka_unit_test_setup_teardown(facts_are_found_by_name, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
