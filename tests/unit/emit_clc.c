/* The OpenCL C target: what the text of kernels says, and what it asks of the backend. That the text is right is
   shown by the kernel tests on OpenCL devices, that it is OpenCL C by tests/emit/check_clc.sh. */
#include "emit_text.h"

#include <stdio.h>

static qn__emit_result emitted(void **state, const char *ir, qn__target target) {
    qn__arena *arena = *state;
    ir_module *module = ir_parsed(arena, ir);
    const char *broken = qn__ir_verify(arena, module);
    if (broken) fail_msg("%s", broken);
    qn__emit_options options = {.source_name = "test.cl", .target = target};
    qn__emit_result result;
    qn__emitter_clc.emit(arena, module, &options, &result);
    return result;
}

static void a_kernel_is_guarded(void **state) {
    qn__emit_result r = emitted(state,
                                "kernel @k(%0.out: ptr.global buffer restrict, %1.x: i32 value) {\n"
                                "    %2: i64 = global_id [0]\n    %3: i64 = shl %2, i64 2\n"
                                "    %4: ptr.global = ptr_add %0.out, %3\n    store align 4 %4, %1.x\n"
                                "    return\n}\n",
                                (qn__target){0});
    const qn__kernel_info *kernel = &r.info.kernels[0];
    assert_null(r.error);
    assert_string_equal(kernel->symbol, "qn_kernel_k");
    assert_true(kernel->guarded);
    assert_false(kernel->uses_sync);
    assert_true(asks(kernel, QN__IMPLICIT_OVERHANG, 0));
    assert_true(asks(kernel, QN__IMPLICIT_LIMIT, 2));
    assert_true(asks(kernel, QN__IMPLICIT_BUFFER_OFFSET, 0));
    assert_false(asks(kernel, QN__IMPLICIT_BUFFER_OFFSET, 1));
    has(&r, "__kernel void qn_kernel_k(__global uchar *restrict p0, uint p1, struct qn_implicit_k implicit)");
    has(&r, "get_global_id(0)");
    has_not(&r, "cl_khr_fp64");
}

static void a_barrier_takes_the_guard_away(void **state) {
    qn__emit_result r =
        emitted(state, "kernel @k() {\n    barrier local scope work_group\n    return\n}\n", (qn__target){0});
    assert_false(r.info.kernels[0].guarded);
    assert_true(r.info.kernels[0].uses_sync);
    assert_int_equal(r.info.kernels[0].num_implicit, 0);
    has(&r, "barrier(CLK_LOCAL_MEM_FENCE);");
}

/* Of what is large enough for a vector. */
static void local_arrays_begin_where_a_vector_may(void **state) {
    qn__emit_result r =
        emitted(state,
                "kernel @k()\n    local #0 \"one\" size 4 align 4\n"
                "    local #1 \"many\" size 64 align 4\n    local #2 \"far\" size 40 align 32 {\n"
                "    return\n}\n",
                (qn__target){0});
    has(&r, "__local uchar local0[4] __attribute__((aligned(4)));");
    has(&r, "__local uchar local1[64] __attribute__((aligned(16)));");
    has(&r, "__local uchar local2[40] __attribute__((aligned(32)));");
    assert_int_equal(r.info.kernels[0].static_local, 96 + 40);
}

/* A __constant buffer has no limit of size unless it meets the program's own objects. */
static const char two_constants[] =
    "constant #0 \"table\" size 8 align 4 element i32 hex \"01000000 02000000\"\n"
    "kernel @k(%0.out: ptr.global buffer, %1.a: ptr.constant buffer, %2.b: ptr.constant buffer) {\n"
    "    %3: ptr.constant = global #0\n"
    "    %4: i64 = global_id [0]\n    %5: bool = eq %4, i64 0\n"
    "    %6: ptr.constant = select %5, %3, %1.a\n"
    "    %7: i32 = load align 4 %6\n    %8: i32 = load align 4 %2.b\n    %9: i32 = add %7, %8\n"
    "    store align 4 %0.out, %9\n    return\n}\n";

static void constant_buffers(void **state) {
    qn__emit_result r = emitted(state, two_constants, (qn__target){0});
    has(&r, "__constant uint constant0[2]");
    has(&r, "__constant uchar *p1");
    has(&r, "__global const uchar *p2");
}

/* Sums 0, 1, ... up to n; `leave` is what stands in the loop behind its test. */
static const char *counted(const char *leave) {
    static char text[1000];
    snprintf(text, sizeof text,
             "kernel @k(%%0.out: ptr.global buffer, %%1.n: i32 value) {\n"
             "    %%2: i32 = loop @0 (%%3: i32 = i32 0, %%4: i32 = i32 0) {\n"
             "        %%5: bool = ult %%4, %%1.n\n"
             "        if %%5 {\n            yield\n        } else {\n            break @0 %%3\n        }\n"
             "        %%6: i32 = add %%3, %%4\n%s        %%7: i32 = add %%4, i32 1\n"
             "        continue @0 %%6, %%7\n    }\n"
             "    store align 4 %%0.out, %%2\n    return\n}\n",
             leave);
    return text;
}

static void a_counted_loop_has_its_condition(void **state) {
    qn__emit_result r = emitted(state, counted(""), (qn__target){0});
    has(&r, "while ((v5 < v1)) {");
    has_not(&r, "for (;;)");
    has(&r, "    v3 = v4;");
    r = emitted(state,
                counted("        %8: bool = ult %6, i32 9\n        if %8 {\n            break @0 %6\n"
                        "        } else {\n            yield\n        }\n"),
                (qn__target){0});
    has(&r, "for (;;)"); /* left with another result elsewhere */
    has_not(&r, "#pragma unroll");
    r = emitted(state, counted(""), (qn__target){.tries_unroll_hints = true});
    has(&r, "#pragma unroll 4\n    while (");
    r = emitted(state, counted(""), (qn__target){.tries_loop_hints = true});
    has(&r, "#pragma unroll 1\n    while (");
}

static void doubles_are_refused(void **state) {
    static const char kernel[] = "kernel @k(%0.out: ptr.global buffer, %1.x: f64 value) {\n"
                                 "    store align 8 %0.out, %1.x\n    return\n}\n";
    qn__emit_result r = emitted(state, kernel, (qn__target){0});
    assert_null(r.error);
    has(&r, "cl_khr_fp64 : enable");
    r = emitted(state, kernel, (qn__target){.lacks_f64 = true});
    assert_string_equal(r.error, "the device has no double precision");
}

/* An integer is unsigned, so that it wraps; only what may not overflow is signed. */
static void integers_wrap(void **state) {
    qn__emit_result r = emitted(state,
                                "kernel @k(%0.out: ptr.global buffer, %1.x: i32 value) {\n"
                                "    %2: i32 = add %1.x, i32 1\n    %3: i32 = add nsw %2, i32 2\n"
                                "    %4: i32 = sdiv %3, %1.x\n    store align 4 %0.out, %4\n    return\n}\n",
                                (qn__target){0});
    has(&r, "(uint)(v1 + 1u)");
    has(&r, "(uint)((int)v3 + (int)2u)");
    has(&r, "(uint)((int)v5 / (int)v1)");
}

/* 1 / (min(|x|, 10) + 4), and 1 / x of any x. */
static void a_reciprocal_in_range_needs_no_test(void **state) {
    qn__emit_result r = emitted(state,
                                "kernel @k(%0.out: ptr.global buffer, %1.x: f32 value) {\n"
                                "    %2: f32 = fabs %1.x\n    %3: bool = flt f32 10.0, %2\n"
                                "    %4: f32 = select %3, f32 10.0, %2\n    %5: f32 = fadd %4, f32 4.0\n"
                                "    %6: f32 = fdiv f32 1.0, %5\n    %7: f32 = fdiv f32 1.0, %1.x\n"
                                "    %8: f32 = fadd %6, %7\n    store align 4 %0.out, %8\n    return\n}\n",
                                (qn__target){0});
    has(&r, " = qn_reciprocal(v");
    has(&r, " = (1.0f / v1);");
    has(&r, "asm(\"rcp.approx.ftz.f32 %0, %1;\"");
    has(&r, "#define qn_reciprocal(d) (1.0f / (d))");
}

/* What the language does anyway is not asked for. */
static void integers_become_floats(void **state) {
    qn__emit_result r = emitted(state,
                                "kernel @k(%0.out: ptr.global buffer, %1.x: i32 value) {\n"
                                "    %2: f32 = s2f %1.x\n    %3: f32 = u2f round zero %1.x\n"
                                "    %4: f32 = fadd %2, %3\n    store align 4 %0.out, %4\n    return\n}\n",
                                (qn__target){0});
    has(&r, "float v2 = (float)(int)v1;");
    has(&r, "float v3 = convert_float_rtz(v1);");
}

/* A NaN of 64 bits, or converted to 64 bits, is kept from NVIDIA's driver; of 32 bits it does as the language says. */
static void what_is_no_number_becomes_zero(void **state) {
    qn__emit_result r = emitted(state,
                                "kernel @k(%0.out: ptr.global buffer, %1.x: f64 value, %2.y: f32 value) {\n"
                                "    %3: i32 = f2s round up %1.x\n    %4: i64 = f2u round down %2.y\n"
                                "    %5: i32 = f2s round zero %2.y\n    store align 4 %0.out, %3\n"
                                "    store align 8 %0.out, %4\n    store align 4 %0.out, %5\n    return\n}\n",
                                (qn__target){0});
    has(&r, "convert_int_sat_rtp(v1 == v1 ? v1 : (double)(0))");
    has(&r, "convert_ulong_sat_rtn(v2 == v2 ? v2 : (float)(0))");
    has(&r, "convert_int_sat_rtz(v2)");
}

/* Of a size of which 32 bits are used, those alone are read. */
static void sizes_are_read_by_words(void **state) {
    qn__emit_result r =
        emitted(state,
                "kernel @k(%0.out: ptr.global buffer) {\n"
                "    %1: i64 = global_size [0]\n    %2: i32 = trunc %1\n"
                "    %3: i64 = num_groups [1]\n    store align 8 %0.out, %3\n"
                "    %4: ptr.global = ptr_add %0.out, i64 8\n    store align 4 %4, %2\n    return\n}\n",
                (qn__target){0});
    has(&r, "uint2 global_size0;");
    has(&r, "uint v2 = implicit.global_size0.s0;");
    has(&r, "ulong v3 = as_ulong(implicit.num_groups1);");
    has(&r, "ulong buffer_offset0;");
    has_not(&r, "as_ulong(implicit.global_size0)");
}

/* What is known not to wrap may be extended first, which makes an offset of it. */
static void a_sum_is_extended_first(void **state) {
    static const char kernel[] = "kernel @k(%%0.out: ptr.global buffer, %%1.i: i32 value) {\n"
                                 "    %%2: i32 = add %s%%1.i, i32 3\n    %%3: i64 = zext %%2\n"
                                 "    store align 8 %%0.out, %%3\n    return\n}\n";
    char text[sizeof kernel + 8];
    snprintf(text, sizeof text, kernel, "nuw ");
    qn__emit_result r = emitted(state, text, (qn__target){0});
    has(&r, "(ulong)((ulong)v1 + (ulong)3u)");
    snprintf(text, sizeof text, kernel, "");
    r = emitted(state, text, (qn__target){0});
    has(&r, "(ulong)v3;");
}

/* What was loaded before a quotient or a root is there when it begins. */
static void loads_stay_before_branches(void **state) {
    static const char kernel[] =
        "kernel @k(%%0.a: ptr.global buffer, %%1.x: f32 value) {\n"
        "    %%2: f32 = load align 4 %%0.a\n    %%3: i64 = load align 8 offset 8 %%0.a\n"
        "    %%4: f32x4 = load align 16 offset 16 %%0.a\n"
        "    %%5: f32 = %s\n    %%6: f32 = load align 4 offset 4 %%0.a\n"
        "    %%7: f32 = fsqrt %%6\n    store align 4 offset 32 %%0.a, %%5\n"
        "    store align 8 offset 40 %%0.a, %%3\n    store align 4 offset 36 %%0.a, %%7\n"
        "    store align 4 offset 48 %%0.a, %%2\n    return\n}\n";
    static const struct {
        const char *op;
        bool branches;
    } rows[] = {
        {"fdiv %1.x, %2", true}, {"fsqrt %2", true}, {"fdiv fast %1.x, %2", false}, {"fmul %1.x, %2", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[sizeof kernel + 40];
        snprintf(text, sizeof text, kernel, rows[i].op);
        qn__emit_result r = emitted(state, text, (qn__target){0});
        if (rows[i].branches) {
            has(&r, "#ifdef __NV_CL_C_VERSION\n    asm(\"\" : \"+f\"(v2), \"+l\"(v3));\n    #endif\n    "
                    "float v5");
        } else {
            has(&r, "asm(\"\" : \"+f\"(v2), \"+l\"(v3), \"+f\"(v6));\n    #endif\n    float v7");
        }
    }
}

/* NVIDIA's mem_fence is not enough beyond the work-group. */
static void fences_reach_as_far_as_their_scope(void **state) {
    qn__emit_result r = emitted(state,
                                "kernel @k() {\n    fence global order acq_rel scope work_group\n"
                                "    fence global order acq_rel scope device\n"
                                "    fence global order acq_rel scope all_devices\n    return\n}\n",
                                (qn__target){0});
    has(&r, "#define qn_fence() asm volatile(\"membar.gl;\" ::: \"memory\")\n");
    has(&r, "#define qn_fence_all() asm volatile(\"membar.sys;\" ::: \"memory\")\n");
    has(&r,
        "    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n    qn_fence();\n    qn_fence_all();\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_is_guarded, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_barrier_takes_the_guard_away, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(local_arrays_begin_where_a_vector_may, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(constant_buffers, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_counted_loop_has_its_condition, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_reciprocal_in_range_needs_no_test, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(sizes_are_read_by_words, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_sum_is_extended_first, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(integers_become_floats, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_number_becomes_zero, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(doubles_are_refused, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(loads_stay_before_branches, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(integers_wrap, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(fences_reach_as_far_as_their_scope, ir_setup, ir_teardown),
    };
    return cmocka_run_group_tests_name("emit.clc", tests, NULL, NULL);
}
