/* Packing a function's body into words and back: nothing is lost but names and positions; what cannot be packed is
   refused. */
#include "ir_support.h"

static uint32_t next_table(void *user, uint32_t packed) {
    (void)user;
    return packed + 1;
}

/* The same function again, from its words, and its text. */
static const char *unpacked(qn__arena *arena, const ir_module *module) {
    const ir_function *from = module->functions.data[0];
    ir_packed words = {0};
    assert_true(qn__ir_pack(arena, from, &words));
    ir_module *other = qn__ir_module_new(arena);
    other->globals.data = module->globals.data;
    other->globals.len = module->globals.len;
    ir_function *to = qn__ir_function_new(other, from->name, from->result);
    for (size_t i = 0; i < from->args.len; i++)
        qn__ir_arg_add(to, from->args.data[i].value->type, from->args.data[i].name);
    qn__ir_unpack(to, words.data, &(ir_unpack_globals){next_table, NULL});
    const char *broken = qn__ir_verify(arena, other);
    if (broken) fail_msg("%s", broken);
    return ir_printed(arena, other);
}

static void bodies_come_back(void **state) {
    static const char *const texts[] = {
        "function @f(%0: f32 value, %1: f32x4 value) -> f32 {\n"
        "    %2: f32 = fmul %0, f32 0.5\n"
        "    %3: f32x2 = shuffle [3, undef] %1, %1\n"
        "    %4: f32x4 = insert [2] %1, %2\n"
        "    %5: f32 = extract [1] %3\n"
        "    %6: f32 = fadd fast %5, undef f32\n"
        "    %7: f32x4 = fma %4, %1, f32x4 (1.0, -0.0, 2.0, 3.0)\n"
        "    %8: i32 = f2s round zero %6\n"
        "    %9: i64 = sext %8\n"
        "    %10: f64 = bitcast %9\n"
        "    %11: f32 = fconvert round up %10\n"
        "    return %11\n"
        "}\n",
        "function @g(%0: i32 value) -> i32 {\n"
        "    %1: ptr.private = var size 64 align 8\n"
        "    %2: ptr.private = ptr_add offset -16 %1, i64 8\n"
        "    store align 4 offset 4 %2, %0\n"
        "    %3: i32, %4: i32 = loop @0 unroll full (%5: i32 = i32 0, %6: i32 = %0) {\n"
        "        %7: i32 = block @1 {\n"
        "            %8: bool = slt %5, %6\n"
        "            %9: i32 = if %8 {\n"
        "                break @0 %5, i32 7\n"
        "            } else {\n"
        "                break @1 %6\n"
        "            }\n"
        "            yield %9\n"
        "        }\n"
        "        loop @2 {\n"
        "            continue @0 %7, i32 -1\n"
        "        }\n"
        "        unreachable\n"
        "    }\n"
        "    return %3\n"
        "}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const ir_module *module = ir_parsed(*state, texts[i]);
        assert_string_equal(unpacked(*state, module), texts[i]);
    }
}

static void tables_are_asked_for(void **state) {
    const ir_module *module = ir_parsed(*state, "constant #0 \"a\" size 4 align 4 zero\n"
                                                "constant #1 \"b\" size 4 align 4 zero\n"
                                                "function @f() -> i32 {\n"
                                                "    %0: ptr.constant = global #0\n"
                                                "    %1: i32 = load readonly align 4 %0\n"
                                                "    return %1\n"
                                                "}\n");
    assert_non_null(strstr(unpacked(*state, module), "= global #1"));
}

static void what_cannot_be_packed_is_refused(void **state) {
    static const char *const texts[] = {
        ("function @f() -> i32 {\n    %0: i32 = call @g\n    return %0\n}\n"
         "function @g() -> i32 {\n    return i32 1\n}\n"),
        "function @f() {\n    barrier local scope work_group\n    return\n}\n",
        "function @f() -> i64 {\n    %0: i64 = global_id [0]\n    return %0\n}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ir_packed words = {0};
        assert_false(qn__ir_pack(*state, ir_parsed(*state, texts[i])->functions.data[0], &words));
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_come_back, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(tables_are_asked_for, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_packed_is_refused, ir_setup, ir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
