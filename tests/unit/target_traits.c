/* The tables of traits and numbers: each has a name and a place of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "target/target.h"

static const char *const names[] = {
#define TRAIT(sense, name, readers, doc) #sense "-" #name,
#include "target/target.def"
};
enum { NUM_TRAITS = sizeof names / sizeof *names };

static unsigned count(const qn__target *target) {
    unsigned set = 0;
#define TRAIT(sense, name, readers, doc) set += target->sense##_##name;
#include "target/target.def"
    return set;
}

static void a_name_is_one_trait(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_TRAITS; i++) {
        const qn__trait trait = qn__trait_by_name(qn__str_of(names[i]));
        qn__target target = {0};
        if (!trait) fail_msg("%s is not found", names[i]);
        qn__set_trait(&target, trait, true);
        assert_int_equal(count(&target), 1);
        assert_true(qn__has_trait(&target, trait));
        for (size_t k = 0; k < i; k++) assert_int_not_equal(trait, qn__trait_by_name(qn__str_of(names[k])));
    }
    assert_int_equal(qn__trait_by_name(qn__str_of("lacks-")), 0);
    assert_int_equal(qn__trait_by_name(qn__str_of("lacks-i64-")), 0);
    assert_int_equal(qn__trait_by_name(qn__str_of("")), 0);
}

static void no_trait_is_never_had(void **state) {
    (void)state;
    qn__target target = {.kind = QN__TARGET_CLC, .lacks_f64 = true};
    assert_false(qn__has_trait(&target, 0));
    qn__set_trait(&target, 0, true);
    assert_int_equal(target.kind, QN__TARGET_CLC);
}

static void traits_and_numbers_are_added(void **state) {
    (void)state;
    qn__target target = {.kind = QN__TARGET_PTX, .arch = 90, .lacks_f64 = true};
    const qn__target more = {
        .kind = QN__TARGET_C, .arch = 70, .private_bytes = 512, .lacks_f64 = true, .tries_glsl_memory = true};
    qn__target_add(&target, &more);
    assert_int_equal(count(&target), 2);
    assert_true(target.lacks_f64 && target.tries_glsl_memory);
    assert_int_equal(target.kind, QN__TARGET_PTX);
    assert_int_equal(target.arch, 90);
    assert_int_equal(target.private_bytes, 512);
}

/* Two targets of which one thing differs have different texts. */
static void the_text_has_it_all(void **state) {
    (void)state;
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    arena.escape = &escape;
    if (setjmp(escape)) fail_msg("out of memory");
    qn__buf text;
    qn__buf_init(&text, &arena);
    qn__target_print(&text, &(qn__target){.kind = QN__TARGET_SPIRV,
                                          .arch = 3,
                                          .sub_group_size = 64,
                                          .private_bytes = 9,
                                          .vector_bytes = 5,
                                          .loop_limit = 7});
    assert_string_equal(text.data, "spirv 3 64 9 5 7");
    qn__target shapes = {.kind = QN__TARGET_SPIRV};
    const qn__unit_shape shape = {QN__UNIT_BF16, QN__UNIT_BF16, QN__UNIT_F32, 16, 8, 32};
    qn__target_add_shape(&shapes, shape);
    qn__target_add_shape(&shapes, shape); /* known already */
    qn__buf_init(&text, &arena);
    qn__target_print(&text, &shapes);
    assert_string_equal(text.data, "spirv 0 0 0 0 0 bf16*bf16+f32:16x8x32");
    for (size_t i = 0; i < NUM_TRAITS; i++) {
        qn__target target = {.kind = QN__TARGET_SPIRV};
        qn__set_trait(&target, qn__trait_by_name(qn__str_of(names[i])), true);
        qn__buf_init(&text, &arena);
        qn__target_print(&text, &target);
        const char *at = strrchr(text.data, ' ') + 1;
        assert_int_equal(qn__trait_by_name(qn__str_of(at)), qn__trait_by_name(qn__str_of(names[i])));
    }
    qn__arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_one_trait),
        cmocka_unit_test(no_trait_is_never_had),
        cmocka_unit_test(traits_and_numbers_are_added),
        cmocka_unit_test(the_text_has_it_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
