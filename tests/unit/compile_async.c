/* Async copies in PTX: which devices are given cp.async, in what pieces, and how far a wait waits. That the kernels
   compute the same is shown by tests/cl/builtin_async_*.cl on CUDA devices. */
#include "compile.h"
#include "emit_text.h"

static qn__emit_result emitted(void **state, const char *ir) {
    qn__arena *arena = *state;
    ir_module *module = ir_parsed(arena, ir);
    const char *broken = qn__ir_verify(arena, module);
    if (broken) fail_msg("%s", broken);
    qn__emit_options options = {.source_name = "test.cl", .target.arch = 80};
    qn__emit_result result;
    qn__emitter_ptx.emit(arena, module, &options, &result);
    if (result.error) fail_msg("%s", result.error);
    return result;
}

/* From a buffer to a local variable behind one of 4 bytes. */
#define KERNEL(body)                                                                                         \
    "kernel @k(%in: ptr.global buffer size 8 align 8, %n: i32 value size 4 align 4)\n"                       \
    "    local #0 size 4 align 4\n    local #1 size 64 align 4 {\n"                                          \
    "    %to: ptr.local = local #1\n" body "    return\n}\n"

static void copies_are_numbered_groups(void **state) {
    qn__emit_result r = emitted(state, KERNEL("    %from: ptr.global = ptr_add offset 32 %in, i64 0\n"
                                              "    copy async size 16 align 16 %to, %from\n"
                                              "    copy async size 4 align 4 %to, %from\n"
                                              "    %e: i32 = async_commit i32 0\n    async_wait %e\n"));
    has(&r, "cp.async.cg.shared.global [%r1+16], [%d0+32], 16;\n");
    has(&r, "cp.async.ca.shared.global [%r1+16], [%d0+32], 4;\n");
    has(&r, "cp.async.commit_group;\n");
    has(&r, "cp.async.wait_group 0;\n");
    has_not(&r, "wait_group 1;");
    has_not(&r, "ld.global");
    has(&r, ".version 7.0\n.target sm_80\n");
    assert_int_equal(r.info.kernels[0].static_local, 80); /* aligned to the largest piece */
}

static void a_wait_lets_later_copies_go_on(void **state) {
    static const char text[] = KERNEL("    copy async size 8 align 8 %to, %in\n"
                                      "    %a: i32 = async_commit i32 0\n    %b: i32 = async_commit i32 0\n"
                                      "    async_wait %a\n    async_wait %b\n");
    qn__emit_result r = emitted(state, text);
    has(&r, "cp.async.wait_group 3;\n");
    has(&r, " cp.async.wait_group 1;\n");
    has(&r, " cp.async.wait_group 0;\n");
    has_not(&r, "max.u32");
}

static void an_event_that_is_shared_stands_for_all_its_copies(void **state) {
    static const char text[] = KERNEL("    %a: i32 = async_commit i32 0\n    %b: i32 = async_commit %a\n"
                                      "    async_wait %a\n");
    qn__emit_result r = emitted(state, text);
    has(&r, "max.u32");
}

static const char *compiled(qn__compile_result *result, const char *source, const char *options,
                            uint32_t arch) {
    qn__compile_request request = {.source = source,
                                   .options = options,
                                   .target.kind = QN__TARGET_PTX,
                                   .target.arch = arch,
                                   .level = 2,
                                   .verify = true};
    qn__compile(&request, result);
    if (result->status) fail_msg("%s", result->log);
    return result->text;
}

static bool uses_async(const char *source, const char *options, uint32_t arch) {
    qn__compile_result result;
    const bool found = strstr(compiled(&result, source, options, arch), "cp.async") != NULL;
    if (!found) assert_non_null(strstr(result.text, ".target sm_60"));
    qn__compile_free(&result);
    return found;
}

#define IN                                                                                                   \
    "kernel void k(global const float *in, global float *out) {\n    local float tile[64];\n"                \
    "    event_t e = async_work_group_copy(tile, in, 64, 0);\n    wait_group_events(1, &e);\n"               \
    "    out[get_local_id(0)] = tile[63 - get_local_id(0)];\n}\n"
#define OUT                                                                                                  \
    "kernel void k(global const float *in, global float *out) {\n    local float tile[64];\n"                \
    "    tile[63 - get_local_id(0)] = in[get_local_id(0)];\n    barrier(CLK_LOCAL_MEM_FENCE);\n"             \
    "    event_t e = async_work_group_copy(out, tile, 64, 0);\n    wait_group_events(1, &e);\n}\n"

static void devices_from_sm_80_copy_by_themselves(void **state) {
    (void)state;
    assert_true(uses_async(IN, NULL, 80));
    assert_true(uses_async(IN, NULL, 90));
    assert_true(uses_async(IN, NULL, 100));
    assert_false(uses_async(IN, NULL, 75));
    assert_false(uses_async(IN, NULL, 0));
    assert_false(uses_async(OUT, NULL, 75));
    assert_false(uses_async(IN, "-qn-tune=plain-copies", 90));
}

static void copies_out_of_local_memory_are_stores(void **state) {
    (void)state;
    qn__compile_result result;
    const char *text = compiled(&result, OUT, NULL, 90);
    assert_non_null(strstr(text, "st.global"));
    assert_null(strstr(text, "cp.async.ca"));
    assert_null(strstr(text, "cp.async.cg"));
    qn__compile_free(&result);
}

static void both_sizes_of_pieces_are_there(void **state) {
    (void)state;
    qn__compile_result result;
    const char *text = compiled(&result, IN, NULL, 90);
    assert_non_null(strstr(text, "cp.async.cg.shared.global"));
    assert_non_null(strstr(text, "cp.async.ca.shared.global"));
    assert_null(strstr(text, "st.shared"));
    qn__compile_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies_are_numbered_groups, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_wait_lets_later_copies_go_on, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(an_event_that_is_shared_stands_for_all_its_copies, ir_setup,
                                        ir_teardown),
        cmocka_unit_test(devices_from_sm_80_copy_by_themselves),
        cmocka_unit_test(copies_out_of_local_memory_are_stores),
        cmocka_unit_test(both_sizes_of_pieces_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
