/* The text form: what is printed parses back to the same text, everything that the structs hold is in it, and
   broken text gets a message with its place. */
#include <stdio.h>

#include "ir_support.h"

/* In the printer's own spelling, so that it must come back byte for byte. It has every op at least once. */
static const char everything[] =
    "file #0 \"a.cl\"\n"
    "file #1 \"dir/b \\\"quoted\\\".h\"\n"
    "constant #0 \"table\" size 8 align 4 element i32 hex\n"
    "    \"01000000 fffefdfc\"\n"
    "constant #1 \".format0\" size 7 align 1 format text \"x=%d\\n\\\\\\00\"\n"
    "constant #2 \"pointers\" size 16 align 8 zero\n"
    "    at 0 #0 4\n"
    "    at 8 #2 -8\n"
    "\n"
    "function @helper(%0.a: f32 value, %1: i32x4 value) -> f32 const !1:2:1 {\n"
    "    return %0.a\n"
    "}\n"
    "\n"
    "kernel @everything(%0.out: ptr.global buffer const restrict volatile no_write no_read signed element "
    "i32 size 8 "
    "align 8 pointee 4 type \"int*\",\n"
    "       %1.n: i32 value size 4 align 4 name \"n with space\",\n"
    "       %2.s: ptr.param struct,\n"
    "       %3.tile: ptr.local local) reqd (64, 1, 1) hint (8, 8, 0) sub_group 32 vec_type_hint \"float4\" "
    "!3:4\n"
    "    local #0 \"scratch\" size 1024 align 16\n"
    "    local #1 size 4 align 4 {\n"
    "    %4.x: ptr.private = var \"x\" size 64 align 4 debug signed i32x2 [4] [2] !5:6\n"
    "    %5: ptr.private = var size 4 align 4\n"
    "    %6: ptr.local = local #0\n"
    "    %7: ptr.constant = global #0\n"
    "    %8: i64 = global_id [0]\n"
    "    %9: i32 = work_dim\n"
    "    %10: i32 = add nsw nuw %9, i32 -5 !7:8:1\n"
    "    %11: f32 = fadd contract fast f32 1.5, f32 0.1\n"
    "    %12: f32x4 = splat %11\n"
    "    %13: f32 = extract [3] %12\n"
    "    %14: f32x4 = insert [2] %12, %13\n"
    "    %15: f32x2 = shuffle [0, undef] %12, %14\n"
    "    %16: f32 = extract_dynamic %12, i64 1\n"
    "    %17: f32x2 = vector %16, %13\n"
    "    %18: f32 = select bool true, %16, undef f32\n"
    "    %19: i32 = f2s round zero %18\n"
    "    %20: i32 = f2u %18\n"
    "    %21: f16 = fconvert round down %18\n"
    "    %22: i32 = bitcast %18\n"
    "    %23: i64 = ptr2int %0.out\n"
    "    %24: ptr.global = int2ptr %23\n"
    "    %25: ptr.global = ptr_add nsw offset -16 %24, %8\n"
    "    %26: i32 = load volatile readonly align 4 offset 8 %25\n"
    "    store align 4 %25, %26\n"
    "    copy size 16 align 8 %25, %2.s\n"
    "    %27: i32 = atomic_load order acquire scope device align 4 %25\n"
    "    atomic_store order release scope all_devices align 4 %25, %27\n"
    "    %28: i32 = atomic_rmw combine smax order acq_rel scope work_group align 4 %25, %27\n"
    "    %29: i32 = atomic_cas order seq_cst fail relaxed scope work_item align 4 offset 4 %25, %27, %28\n"
    "    fence local global order acq_rel scope sub_group\n"
    "    prefetch size 64 offset 128 %25\n"
    "    barrier local scope work_group !9:1\n"
    "    %30: bool = group_all scope work_group bool false\n"
    "    %31: i32 = group_scan exclusive combine add scope sub_group %29\n"
    "    %32: i32 = group_broadcast scope work_group %31, i32 0\n"
    "    %33: i32 = sub_group_shuffle %32, i32 1\n"
    "    %34: i32x4 = sub_group_ballot %30\n"
    "    %35: i32 = printf #1 %33, f64 0x1.921fb54442d18p+1\n"
    "    %36: f32 = call @helper %11, i32x4 (1, 2, 3, -4)\n"
    "    %37.sum: f32 = loop @0 unroll 4 (%38.i: i32 = i32 0, %39.acc: f32 = f32 0.0) !10:5 {\n"
    "        %40: bool = slt %38.i, %1.n\n"
    "        if %40 {\n"
    "            yield\n"
    "        } else {\n"
    "            break @0 %39.acc\n"
    "        }\n"
    "        %41: i32 = block @1 {\n"
    "            %42: bool = eq %38.i, i32 7\n"
    "            %43: i32 = if %42 {\n"
    "                break @1 i32 2\n"
    "            } else {\n"
    "                yield i32 1\n"
    "            }\n"
    "            yield %43\n"
    "        }\n"
    "        %44: i32 = add %38.i, %41\n"
    "        continue @0 %44, %39.acc\n"
    "    }\n"
    "    loop @2 unroll full {\n"
    "        loop @3 unroll none {\n"
    "            break @2\n"
    "        }\n"
    "        unreachable\n"
    "    }\n"
    "    copy async size 16 align 16 %6, %25\n"
    "    %45: i32 = async_commit i32 0\n"
    "    async_wait %45\n"
    "    return\n"
    "}\n";

static void everything_comes_back(void **state) {
    ir_module *module = ir_parsed(*state, everything);
    assert_null(qn__ir_verify(*state, module));
    assert_string_equal(ir_printed(*state, module), everything);
}

static void structs_are_filled(void **state) {
    ir_module *module = ir_parsed(*state, everything);
    const ir_function *f = qn__ir_function_find(module, QN__STR("everything"));
    assert_true(f->is_kernel);
    assert_int_equal(f->reqd_local[0], 64);
    assert_int_equal(f->hint_local[1], 8);
    assert_int_equal(f->required_sub_group_size, 32);
    const ir_arg *out = &f->args.data[0];
    assert_int_equal(out->arg_kind, IR_ARG_BUFFER);
    assert_int_equal(out->flags, 31);
    assert_true(out->is_signed);
    assert_int_equal(out->pointee_size, 4);
    assert_string_equal(out->name, "out");
    assert_string_equal(f->args.data[1].name, "n with space");
    const ir_var *x = f->body->first->attr.var;
    assert_string_equal(x->name, "x");
    assert_int_equal(x->debug.lengths[1], 2);
    assert_int_equal(f->body->first->loc.column, 6);
    assert_int_equal(module->globals.data[0].data[7], 0xfc);
    assert_int_equal(module->globals.data[2].relocations.data[1].addend, -8);
    assert_true(module->globals.data[1].is_format);
}

/* Constants: text in, text as the printer spells it. */
static void constants_are_exact(void **state) {
    static const char *const rows[][2] = {
        {"i8 255", "i8 -1"},
        {"i32 0x80000000", "i32 -2147483648"},
        {"i64 -9223372036854775808", "i64 -9223372036854775808"},
        {"i64 18446744073709551615", "i64 -1"},
        {"bool true", "bool true"},
        {"boolx2 (true, false)", "boolx2 (true, false)"},
        {"i32x3 (4, 4, 4)", "i32x3 4"},
        {"ptr.global 0x10", "ptr.global 0x10"},
        {"f32 1.0", "f32 1.0"},
        {"f32 -0.0", "f32 -0.0"},
        {"f32 1e-3", "f32 0.001"},
        {"f32 0x1p-149", "f32 0x1p-149"},
        {"f32 0x1.fffffep+127", "f32 0x1.fffffep+127"},
        {"f32 inf", "f32 inf"},
        {"f32 -inf", "f32 -inf"},
        {"f32 nan", "f32 nan"},
        {"f32 bits 0x7f800001", "f32 bits 0x7f800001"},
        {"f32 bits 0x3f800000", "f32 1.0"},
        {"f16 65504.0", "f16 65504.0"},
        {"f16 0x1p-24", "f16 0.00000006"},
        {"f64 0x1p-1074", "f64 0x1p-1074"},
        {"f64 0x1.fffffffffffffp+1023", "f64 0x1.fffffffffffffp+1023"},
        {"f64 3.14159", "f64 3.14159"},
        {"f64x2 (0.5, -2.25)", "f64x2 (0.5, -2.25)"},
        {"undef f32x16", "undef f32x16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *type = rows[i][0] + (strncmp(rows[i][0], "undef ", 6) == 0 ? 6 : 0);
        const char *frame = "function @f() -> %.*s {\n    return %s\n}\n";
        int len = (int)strcspn(type, " ");
        const char *in = qn__arena_printf(*state, frame, len, type, rows[i][0]);
        const char *out = qn__arena_printf(*state, frame, len, type, rows[i][1]);
        ir_module *module = ir_parsed(*state, in);
        assert_null(qn__ir_verify(*state, module));
        assert_string_equal(ir_printed(*state, module), out);
    }
}

/* Hand-written text may name values as it likes; numbers are given when printing. */
static void names_stand_for_numbers(void **state) {
    ir_module *module = ir_parsed(*state, "; a comment\n"
                                          "function @f(%a: i32, %7.b: i32) -> i32 {\n"
                                          "    %sum: i32 = add %a, %7 ; another\n"
                                          "    return %sum\n"
                                          "}\n");
    assert_string_equal(ir_printed(*state, module), "function @f(%0.a: i32 value, %1.b: i32 value) -> i32 {\n"
                                                    "    %2.sum: i32 = add %0.a, %1.b\n"
                                                    "    return %2.sum\n"
                                                    "}\n");
}

static void broken_text_is_explained(void **state) {
    static const char *const rows[][2] = {
        {"nonsense", "1:1: expected file, constant, kernel or function"},
        {"kernel @f() {", "1:14: expected an instruction"},
        {"kernel @f() { return", "1:21:"},
        {"kernel f", "1:8: expected a @name"},
        {"kernel @f() {\n  frobnicate\n}", "2:3: unknown op 'frobnicate'"},
        {"kernel @f() {\n  return %3\n}", "2:10: %3 is not defined before its use"},
        {"kernel @f(%0: i32, %0: i32) { return }", "1:20: %0 is defined twice"},
        {"kernel @f() { return }\nkernel @f() { return }", "2:8: function @f is defined twice"},
        {"kernel @f() { call @g\n return }", "1:20: no function @g"},
        {"kernel @f() { break @4\n }", "1:21: no construct @4 around this jump"},
        {"kernel @f() { break\n }", "expected the @label to jump to"},
        {"kernel @f() { if bool true { yield }\n return }", "expected else"},
        {"kernel @f() { return i8 256 }", "does not fit in 8 bits"},
        {"kernel @f() { return i32x5 1 }", "unexpected 'i32x5' in 'return'"},
        {"kernel @f() { return f32 1e40 }", "not exact enough"},
        {"kernel @f() { return f32 1.2.3 }", "expected a number"},
        {"kernel @f() { return f32 0x }", "expected a number"},
        {"kernel @f() { return i32 99999999999999999999 }", "is too large"},
        {"kernel @f() { return return }", "unexpected 'return' in 'return'"},
        {"file #1 \"a\"", "1:6: expected #0 here"},
        {"constant #0 \"a\" size 3 align 1 hex \"00\"", "object of 3 bytes has data for 1"},
        {"constant #0 \"a\" size 1 align 1 hex \"0\"", "pairs of hex digits"},
        {"constant #0 \"a\" size 99999999999 align 1 zero", "object is too large"},
        {"file #0 \"abc", "string without an end"},
        {"file #0 \"\\q\"", "wrong escape"},
        {"kernel @f() \x01", "unexpected character 0x01"},
        {"kernel @f() { %0: i32 = }", "expected an instruction"},
        {"kernel @f() { %0 = work_dim }", "expected ':'"},
        {"kernel @f() { %0: void = work_dim }", "expected a type"},
        {"kernel @f() { fence order sometimes }", "expected a memory order"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *error = NULL;
        assert_null(qn__ir_parse(*state, rows[i][0], strlen(rows[i][0]), &error));
        if (!strstr(error, rows[i][1])) fail_msg("got \"%s\" for: %s", error, rows[i][0]);
    }
}

static void nesting_has_a_bound(void **state) {
    qn__buf text;
    qn__buf_init(&text, *state);
    qn__buf_puts(&text, "kernel @f() {");
    for (int i = 0; i < 100000; i++) qn__buf_puts(&text, "block @0 {");
    const char *error = NULL;
    assert_null(qn__ir_parse(*state, text.data, text.len, &error));
    assert_non_null(strstr(error, "nested too deep"));
}

/* Every prefix of a good text either parses or is refused; none may crash. */
static void prefixes_are_survived(void **state) {
    for (size_t len = 0; len < sizeof everything; len++) {
        const char *error = NULL;
        char *prefix = qn__arena_copy(*state, everything, len ? len : 1);
        ir_module *module = qn__ir_parse(*state, prefix, len, &error);
        assert_true(module != NULL || error != NULL);
        if (module) ir_printed(*state, module);
    }
}

/* The example on the page about the IR is in the printer's own spelling. */
static void the_documented_example_is_true(void **state) {
    FILE *file = fopen("docs/ir.md", "rb");
    if (!file) skip();
    char *page = qn__arena_alloc(*state, 1 << 16);
    size_t len = fread(page, 1, (1 << 16) - 1, file);
    fclose(file);
    page[len] = 0;
    char *start = strstr(page, "```\n");
    char *end = start ? strstr(start, "\n```\n") : NULL;
    assert_non_null(end);
    end[1] = 0;
    ir_module *module = ir_parsed(*state, start + 4);
    assert_null(qn__ir_verify(*state, module));
    assert_string_equal(ir_printed(*state, module), start + 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_comes_back, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(structs_are_filled, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(constants_are_exact, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(names_stand_for_numbers, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(broken_text_is_explained, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(nesting_has_a_bound, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(the_documented_example_is_true, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(prefixes_are_survived, ir_setup, ir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
