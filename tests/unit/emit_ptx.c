/* The PTX target: what the text of kernels says, and what it asks of the backend. That the text is right is shown by
   the kernel tests on CUDA devices, that it is PTX by tests/emit/check_ptx.py. */
#include <stdio.h>

#include "emit_text.h"

static qn__emit_result emitted(void **state, uint32_t arch, const char *ir) {
    qn__arena *arena = *state;
    ir_module *module = ir_parsed(arena, ir);
    const char *broken = qn__ir_verify(arena, module);
    if (broken) fail_msg("%s", broken);
    qn__emit_options options = {.source_name = "test.cl", .target.arch = arch};
    qn__emit_result result;
    qn__emitter_ptx.emit(arena, module, &options, &result);
    if (result.error) fail_msg("%s", result.error);
    return result;
}

/* out[id] = value of type t, at `align`. */
#define STORE(type, align)                                                                                   \
    "kernel @k(%0.out: ptr.global buffer, %1.x: " type " value) {\n"                                         \
    "    store align " align " %0.out, %1.x\n    return\n}\n"

static void a_kernel_is_guarded_and_asks_for_little(void **state) {
    qn__emit_result r =
        emitted(state, 0,
                "kernel @k(%0.out: ptr.global buffer size 8 align 8, %1.x: i32 value size 4 align 4) {\n"
                "    %2: i64 = global_id [0]\n    %3: i64 = shl %2, i64 2\n"
                "    %4: ptr.global = ptr_add %0.out, %3\n    store align 4 %4, %1.x\n"
                "    return\n}\n");
    const qn__kernel_info *kernel = &r.info.kernels[0];
    assert_string_equal(kernel->symbol, "k");
    assert_true(kernel->guarded);
    assert_false(kernel->uses_sync);
    assert_true(asks(kernel, QN__IMPLICIT_OVERHANG, 0));
    assert_true(asks(kernel, QN__IMPLICIT_GLOBAL_BASE, 0));
    assert_false(asks(kernel, QN__IMPLICIT_GROUP_BASE, 0));
    has(&r, ".version 5.0\n.target sm_60\n");
    has(&r, "mad.wide.u32");
    for (uint32_t i = 0; i < kernel->num_implicit; i++) {
        assert_int_equal(kernel->implicit[i].offset % kernel->implicit[i].size, 0);
        assert_true(kernel->implicit[i].offset >= 12);
        assert_true(kernel->implicit[i].offset + kernel->implicit[i].size <= kernel->params_size);
    }
}

static void a_barrier_takes_the_guard_away(void **state) {
    qn__emit_result r = emitted(
        state, 0, "kernel @k() reqd (64, 1, 1) {\n    barrier local scope work_group\n    return\n}\n");
    assert_false(r.info.kernels[0].guarded);
    assert_true(r.info.kernels[0].uses_sync);
    assert_int_equal(r.info.kernels[0].params_size, 0);
    has(&r, "bar.sync 0;");
    has(&r, ".maxntid 64, 1, 1");
    r = emitted(state, 0, "kernel @k() reqd (64, 1, 1) {\n    return\n}\n");
    assert_true(r.info.kernels[0].guarded);
    has(&r, ".reqntid 64, 1, 1");
}

/* A constant of 32 bits that is extended has zeros above them in operations on 64. */
static void extended_constants_are_not_negative(void **state) {
    qn__emit_result r = emitted(state, 0,
                                "kernel @k(%0.out: ptr.global buffer size 8 align 8) {\n"
                                "    %1: i64 = zext i32 4294967266\n    %2: i64 = lshr %1, i64 32\n"
                                "    store align 8 %0.out, %2\n    return\n}\n");
    has(&r, ", 4294967266, 32;");
}

/* A pointer to local memory, which is a register and bytes to add, is chosen as a whole. */
static void chosen_local_pointers_have_their_bytes(void **state) {
    qn__emit_result r =
        emitted(state, 80,
                "kernel @k(%0.l: ptr.local local, %1.n: i32 value) {\n"
                "    %2: bool = ne i32 0, %1.n\n    %3: i64 = sext %1.n\n"
                "    %4: ptr.local = ptr_add %0.l, %3\n    %5: ptr.local = ptr_add %4, i64 -4\n"
                "    %6: ptr.local = select %2, %5, %0.l\n"
                "    store align 4 %6, i32 7\n    return\n}\n");
    has(&r, ", -4;\n\tselp.b32 ");
}

/* A choice between a number and a constant is one instruction where that keeps a NaN; a reciprocal of what is
   bounded so needs no test for tiny and huge divisors. */
#define DIVIDED(numerator, addend)                                                                           \
    "kernel @k(%0.out: ptr.global buffer, %1.x: f32 value, %2.n: f32 value) {\n"                             \
    "    %3: f32 = fabs %1.x\n    %4: bool = flt f32 10.0, %3\n    %5: f32 = select %4, f32 10.0, %3\n"      \
    "    %6: f32 = fadd %5, " addend "\n    %7: f32 = fdiv " numerator ", %6\n"                              \
    "    store align 4 %0.out, %7\n    return\n}\n"
static void bounded_divisors_are_divided_by_in_short(void **state) {
    qn__emit_result r = emitted(state, 80, DIVIDED("f32 1.0", "f32 4.0"));
    has(&r, "min.NaN.f32");
    has(&r, "rcp.approx.ftz.f32");
    has_not(&r, "div.rn.f32");
    r = emitted(state, 75, DIVIDED("f32 1.0", "f32 4.0"));
    has(&r, "selp.b32");
    has(&r, "rcp.approx.ftz.f32");
    r = emitted(state, 80,
                "kernel @k(%0.out: ptr.global buffer, %1.x: f32 value) {\n"
                "    %2: f32 = fabs %1.x\n    %3: bool = flt f32 10.0, %2\n"
                "    %4: f32 = select %3, f32 10.0, %2\n    store align 4 %0.out, %4\n    return\n}\n");
    has(&r, "and.b32"); /* the bits of a NaN are stored */
    has(&r, "selp.b32");
    static const char *const others[] = {DIVIDED("%2.n", "f32 4.0"), DIVIDED("f32 1.0", "f32 0.0"),
                                         DIVIDED("f32 1.0", "f32 -4.0"), DIVIDED("f32 1.0", "%2.n"),
                                         DIVIDED("f32 1.0", "f32 0x1p-120")};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        r = emitted(state, 80, others[i]);
        has(&r, "div.rn.f32");
    }
}

static void bytes_become_floats_by_way_of_16_bits(void **state) {
    qn__emit_result r = emitted(state, 0,
                                "kernel @k(%0.out: ptr.global buffer) {\n"
                                "    %1: i8x4 = load align 4 %0.out\n    %2: f32x4 = u2f %1\n"
                                "    store align 16 %0.out, %2\n    return\n}\n");
    has(&r, "cvt.rn.f32.u16");
    has_not(&r, "cvt.rn.f32.u32");
}

static void products_of_extended_numbers_are_wide(void **state) {
    qn__emit_result r = emitted(state, 0,
                                "kernel @k(%0.out: ptr.global buffer, %1: i32 value, %2: i32 value) {\n"
                                "    %3: i64 = sext %1\n    %4: i64 = sext %2\n    %5: i64 = mul %3, %4\n"
                                "    store align 8 %0.out, %5\n    return\n}\n");
    has(&r, "mul.wide.s32");
    has_not(&r, "mul.lo.s64");
}

/* for (size_t reach = 1; reach < LIMIT; reach *= 2) */
#define DOUBLING(limit, factor)                                                                              \
    "kernel @k(%0.out: ptr.global buffer, %1.n: i64 value) {\n    %2: i64 = local_size [0]\n"                \
    "    loop @0 unroll none (%3: i64 = i64 1) {\n        store align 8 %0.out, %3\n"                        \
    "        %4: i64 = shl %3, i64 " factor "\n        %5: bool = ult %4, " limit "\n"                       \
    "        if %5 {\n            yield\n        } else {\n            break @0\n        }\n"                \
    "        continue @0 %4\n    }\n    return\n}\n"
static void counters_with_a_near_limit_have_32_bits(void **state) {
    qn__emit_result r = emitted(state, 0, DOUBLING("%2", "1"));
    has(&r, "shl.b32");
    has(&r, "setp.lt.u32");
    has(&r, "cvt.u64.u32");
    has_not(&r, "shl.b64");
    r = emitted(state, 0, DOUBLING("%1.n", "1"));
    has(&r, "shl.b64");
    r = emitted(state, 0, DOUBLING("%2", "24"));
    has(&r, "shl.b64");
}

/* An id that only 32-bit code looks at is computed in 32 bits, its address with one widening product. */
static void low_halves_are_computed_alone(void **state) {
    qn__emit_result r =
        emitted(state, 0,
                "kernel @k(%0.out: ptr.global buffer) {\n"
                "    %1: i64 = local_id [0]\n    %2: i64 = group_id [0]\n    %3: i64 = add %1, %2\n"
                "    %4: i32 = trunc %3\n    %5: i64 = sext %4\n    %6: i64 = shl nsw %5, i64 2\n"
                "    %7: ptr.global = ptr_add %0.out, %6\n    store align 4 offset 8 %7, %4\n"
                "    return\n}\n");
    has(&r, "mul.wide.s32");
    has_not(&r, "cvt.u64.u32 %d0");
    has(&r, "+8], ");
}

static void vectors_move_in_large_pieces(void **state) {
    qn__emit_result r = emitted(state, 0, STORE("f32x4", "16"));
    has(&r, "st.global.v4.b32 [");
    r = emitted(state, 0, STORE("f32x4", "8"));
    has(&r, "st.global.v2.b32 [");
    r = emitted(state, 0, STORE("f32x4", "4"));
    has_not(&r, "st.global.v");
    r = emitted(state, 0, STORE("i8x16", "16"));
    has(&r, "st.global.v4.b32 [");
    r = emitted(state, 0, STORE("f32x3", "16"));
    has(&r, "st.global.v2.b32 [");
    has_not(&r, "+12]");
    r = emitted(state, 0, STORE("i32", "1"));
    has(&r, "st.global.b8 [");
    has(&r, "+3], ");
}

static void read_only_memory_is_read_through_its_cache(void **state) {
    qn__emit_result r =
        emitted(state, 0,
                "kernel @k(%0.in: ptr.global buffer const, %1.out: ptr.global buffer) {\n"
                "    %2: f32x4 = load readonly align 16 %0.in\n    %3: f32x4 = load align 16 %1.out\n"
                "    %4: f32x4 = fadd %2, %3\n    store align 16 %1.out, %4\n    return\n}\n");
    has(&r, "ld.global.nc.v4.b32");
    has(&r, "ld.global.v4.b32");
    has(&r, "add.rn.f32");
}

#define ATOMIC(order)                                                                                        \
    "kernel @k(%0.p: ptr.global buffer, %1.x: i32 value) {\n"                                                \
    "    %2: i32 = atomic_rmw combine add order " order " scope device align 4 %0.p, %1.x\n    return\n}\n"

static void atomics(void **state) {
    qn__emit_result r = emitted(state, 0, ATOMIC("relaxed"));
    has(&r, "red.global.add.u32 [");
    has_not(&r, "membar");
    r = emitted(state, 0, ATOMIC("acq_rel"));
    has(&r, "membar.gl;");
    has(&r, ".target sm_60");
    r = emitted(state, 90, ATOMIC("acq_rel"));
    has(&r, "atom.acq_rel.gpu.global.add.u32");
    has(&r, ".version 6.0\n.target sm_70\n");
}

#define WITH_ALL_DEVICES                                                                                     \
    "kernel @k(%0.p: ptr.global buffer) {\n"                                                                 \
    "    %1: i32 = atomic_load order acquire scope all_devices align 4 %0.p\n"                               \
    "    atomic_store order release scope all_devices align 4 offset 4 %0.p, %1\n"                           \
    "    fence global order acq_rel scope all_devices\n"                                                     \
    "    %2: i32 = atomic_rmw combine add order relaxed scope all_devices align 4 %0.p, %1\n    return\n}\n"

/* The scope of the host and of other devices is the system's. */
static void atomics_with_all_devices(void **state) {
    qn__emit_result r = emitted(state, 60, WITH_ALL_DEVICES);
    has(&r, "ld.volatile.global.b32");
    has(&r, "membar.sys;\n\tst.volatile.global.b32");
    has(&r, "red.sys.global.add.u32");
    has_not(&r, "membar.gl");
    r = emitted(state, 90, WITH_ALL_DEVICES);
    has(&r, "ld.acquire.sys.global.b32");
    has(&r, "st.release.sys.global.b32");
    has(&r, "fence.acq_rel.sys;");
    has(&r, "red.sys.global.add.u32");
    has_not(&r, ".gpu.");
}

/* Variables of fixed size are declared, with the arguments behind them in dynamic memory. */
static void local_memory(void **state) {
    qn__emit_result r = emitted(state, 0,
                                "kernel @k(%0.p: ptr.local local, %1.out: ptr.global buffer)\n"
                                "    local #0 \"a\" size 200 align 16 {\n"
                                "    %2: ptr.local = local #0\n    %3: f32 = load align 4 offset 4 %2\n"
                                "    store align 4 %0.p, %3\n    return\n}\n");
    has(&r, ".shared .align 128 .b8 locals[200];");
    has(&r, "ld.shared.b32 %r");
    has(&r, ", locals;");
    has(&r, "+4];");
    has(&r, ".extern .shared .align 128 .b8 qn_dynamic[];");
    has(&r, ", -256;");
    assert_int_equal(r.info.kernels[0].static_local, 200);
    r = emitted(state, 0,
                "kernel @k(%0.out: ptr.global buffer)\n    local #0 \"a\" size 50000 align 4 {\n"
                "    %1: ptr.local = local #0\n    %2: f32 = load align 4 %1\n    store align 4 %0.out, %2\n"
                "    return\n}\n");
    has_not(&r, "locals[");
    has(&r, ", qn_dynamic;");
}

/* Private and __local memory begin at 0, which is null. */
static void objects_that_are_compared_with_null(void **state) {
    static const char text[] =
        "kernel @k(%0.out: ptr.global buffer, %1.i: i64 value)\n"
        "    local #0 \"l\" size 8 align 4 {\n"
        "    %2: ptr.private = var \"own\" size 8 align 4\n    %3: ptr.local = local #0\n"
        "    %4: ptr.private = ptr_add %2, %1.i\n    %5: ptr.local = ptr_add %3, %1.i\n"
        "    store align 4 %4, i32 1\n    store align 4 %5, i32 1\n"
        "    %6: bool = eq %4, ptr.private 0x0\n    %7: bool = eq %5, ptr.local 0x0\n"
        "    %8: bool = and %6, %7\n    %9: i32 = zext %8\n    store align 4 %0.out, %9\n"
        "    return\n}\n";
    qn__emit_result r = emitted(state, 0, text);
    has(&r, ".b8 depot[24];");
    has(&r, ".b8 locals[24];");
    assert_int_equal(r.info.kernels[0].static_local, 24);
}

/* A reduction over a sub-group: a tree of shuffles, or one instruction where the device has it. */
static void sub_groups(void **state) {
    static const char ir[] = "kernel @k(%0.out: ptr.global buffer, %1.x: i32 value) {\n"
                             "    %2: i32 = group_reduce combine add scope sub_group %1.x\n"
                             "    store align 4 %0.out, %2\n    return\n}\n";
    qn__emit_result r = emitted(state, 0, ir);
    has(&r, "shfl.sync.down.b32");
    has(&r, ".version 6.0\n.target sm_60\n");
    assert_false(r.info.kernels[0].guarded);
    r = emitted(state, 80, ir);
    has(&r, "redux.sync.add.s32");
    has(&r, ".version 7.0\n.target sm_80\n");
}

/* Where no work-group is smaller than what is required, all lanes are members, and sizes are numbers. */
static void whole_sub_groups(void **state) {
    static const char body[] = "    %2: i32 = group_reduce combine add scope sub_group %1.x\n"
                               "    %3: i32 = sub_group_shuffle %2, i32 3\n"
                               "    %4: i32 = sub_group_id\n    %5: i32 = add %3, %4\n"
                               "    store align 4 %0.out, %5\n    return\n}\n";
    static const char head[] = "kernel @k(%0.out: ptr.global buffer, %1.x: i32 value)";
    char text[1024];
    snprintf(text, sizeof text, "%s reqd (64, 1, 1) {\n%s", head, body);
    qn__emit_result r = emitted(state, 0, text);
    has(&r, "ntid");
    snprintf(text, sizeof text, "%s reqd (64, 1, 1) uniform {\n%s", head, body);
    r = emitted(state, 0, text);
    has(&r, ".reqntid 64, 1, 1");
    has_not(&r, ".maxnreg");
    has(&r, ", 3, 31, -1;");
    assert_null(strstr(r.text, "%ntid"));
    assert_null(strstr(r.text, "%tid.y"));
    snprintf(text, sizeof text, "%s reqd (48, 1, 1) uniform registers 40 {\n%s", head, body);
    r = emitted(state, 0, text);
    has(&r, ".maxnreg 40");
    assert_null(strstr(r.text, ", -1;"));
}

/* The larger of two, or a NaN where one is, as OpenCL C can say it: the sum is a NaN then. */
static void extremes_that_keep_nans(void **state) {
    static const char body[] = "kernel @k(%%0.out: ptr.global buffer, %%1.x: f32 value, %%2.y: f32 value) {\n"
                               "    %%3: bool = fne %%1, %%1\n    %%4: bool = fne %%2, %%2\n"
                               "    %%5: bool = or %%4, %%3\n    %%6: f32 = fadd %%1, %%%d\n"
                               "    %%7: f32 = %s %%2, %%1\n    %%8: f32 = select %%5, %%6, %%7\n"
                               "    store align 4 %%0.out, %%8\n    return\n}\n";
    char text[1024];
    snprintf(text, sizeof text, body, 2, "fmax");
    qn__emit_result r = emitted(state, 80, text);
    has(&r, "max.NaN.f32");
    has_not(&r, "selp");
    r = emitted(state, 75, text);
    has_not(&r, "max.NaN.f32");
    snprintf(text, sizeof text, body, 2, "fmin");
    r = emitted(state, 90, text);
    has(&r, "min.NaN.f32");
    snprintf(text, sizeof text, body, 1, "fmax"); /* another sum */
    r = emitted(state, 90, text);
    has_not(&r, "max.NaN.f32");
}

/* Where some of the sub-group may be elsewhere, those that come by are the members. */
static void active_work_items(void **state) {
    static const char ir[] = "kernel @k(%0.out: ptr.global buffer, %1.x: i32 value) {\n"
                             "    %2: i32 = group_reduce active combine add scope sub_group %1.x\n"
                             "    %3: i32 = sub_group_shuffle active %2, i32 3\n"
                             "    store align 4 %0.out, %3\n    return\n}\n";
    qn__emit_result r = emitted(state, 80, ir);
    has(&r, "activemask.b32");
    has(&r, "redux.sync.add.s32");
    has(&r, "shfl.sync.idx.b32");
    has_not(&r, "shl.b32");
}

/* Products of bytes, each combination of signs. */
static void byte_products(void **state) {
    static const char ir[] = "kernel @k(%0.out: ptr.global buffer, %1.x: i32 value) {\n"
                             "    %2: i32 = udot4 %1.x, %1.x, i32 7\n"
                             "    %3: i32 = sdot4 %2, %1.x, %2\n"
                             "    %4: i32 = sudot4 %3, i32 9, %2\n"
                             "    store align 4 %0.out, %4\n    return\n}\n";
    qn__emit_result r = emitted(state, 61, ir);
    has(&r, "dp4a.u32.u32");
    has(&r, "dp4a.s32.s32");
    has(&r, "dp4a.s32.u32");
    has(&r, ".version 5.0\n.target sm_61\n");
}

/* More parameters than every device takes need a newer ISA; a struct argument of `size` bytes. */
#define STRUCT(size)                                                                                         \
    "kernel @k(%0.s: ptr.param struct size " size " align 4, %1.out: ptr.global buffer size 8 align 8) {\n"  \
    "    %2: i32 = load align 4 %0.s\n    store align 4 %1.out, %2\n    return\n}\n"
static void large_parameters(void **state) {
    qn__emit_result r = emitted(state, 0, STRUCT("3900"));
    has(&r, ".version 5.0\n.target sm_60\n");
    r = emitted(state, 0, STRUCT("5000"));
    has(&r, ".version 8.1\n.target sm_70\n");
    r = emitted(state, 90, STRUCT("30600"));
    has(&r, ".version 8.1\n.target sm_70\n");
    static const struct {
        const char *ir;
        uint32_t arch, lacks;
        const char *part;
    } refused[] = {{STRUCT("5000"), 60, 0, "takes 4096"},
                   {STRUCT("5000"), 90, true, "takes 4096"},
                   {STRUCT("33000"), 0, 0, "takes 30720"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const qn__emit_options options = {
            .target = {.arch = refused[i].arch, .lacks_large_params = refused[i].lacks}};
        qn__emitter_ptx.emit(*state, ir_parsed(*state, refused[i].ir), &options, &r);
        assert_non_null(r.error);
        if (!strstr(r.error, refused[i].part)) fail_msg("%s", r.error);
    }
}

static void values_that_change_places_in_a_loop(void **state) {
    qn__emit_result r =
        emitted(state, 0,
                "kernel @k(%0.out: ptr.global buffer, %1.n: i32 value size 4 align 4) {\n"
                "    %2: i32 = loop @0 unroll none (%3: i32 = i32 0, %4: i32 = i32 1, %5: i32 = i32 2) {\n"
                "        %6: bool = slt %3, %1.n\n"
                "        if %6 {\n            yield\n        } else {\n            break @0 %4\n        }\n"
                "        %7: i32 = add %3, i32 1\n        continue @0 %7, %5, %4\n    }\n"
                "    store align 4 %0.out, %2\n    return\n}\n");
    has(&r, ".pragma \"nounroll\";");
    has(&r, "bra L");
}

/* Two at once; what comes from memory and goes there stays in words. */
static void small_floats(void **state) {
    static const char bf16[] = "kernel @k(%0.out: ptr.global buffer, %1.x: ptr.global buffer) {\n"
                               "    %2: i16x4 = load align 8 %1.x\n    %3: f32x4 = bf16_to_f32 %2\n"
                               "    %4: f32x4 = fmul %3, f32x4 3.0\n    %5: i16x4 = f32_to_bf16 %4\n"
                               "    store align 8 %0.out, %5\n    return\n}\n";
    static const char f8[] =
        "kernel @k(%0.out: ptr.global buffer, %1.x: ptr.global buffer) {\n"
        "    %2: i8x4 = load align 4 %1.x\n    %3: f32x4 = e5m2_to_f32 %2\n"
        "    %4: i8x4 = f32_to_e4m3_sat %3\n    store align 4 %0.out, %4\n    return\n}\n";
    qn__emit_result r = emitted(state, 80, bf16);
    has(&r, ".version 7.0\n.target sm_80\n");
    has(&r, "cvt.rn.bf16x2.f32 ");
    has(&r, "and.b32 ");
    has(&r, "st.global.v2.b32 ");
    has_not(&r, "prmt");
    r = emitted(state, 89, f8);
    has(&r, ".version 8.1\n.target sm_89\n");
    r = emitted(state, 90, f8);
    has(&r, ".version 7.8\n.target sm_90\n");
    has(&r, "cvt.rn.f16x2.e5m2x2 ");
    has(&r, "cvt.rn.satfinite.e4m3x2.f32 ");
    has(&r, "ld.global.b32 ");
    has(&r, "st.global.b32 ");
    r = emitted(state, 90,
                "kernel @k(%0.out: ptr.global buffer, %1.x: f32 value size 4 align 4) {\n"
                "    %2: i16 = f32_to_bf16 round zero %1.x\n    store align 2 %0.out, %2\n    return\n}\n");
    has(&r, "cvt.rz.bf16x2.f32 ");
}

/* Instructions that take numbers as they are take scalars; a vector's are in registers. */
static void natives(void **state) {
    char text[512];
    snprintf(text, sizeof text,
             "kernel @k(%%0.out: ptr.global buffer)\n    local #0 \"a\" size 512 align 128 {\n"
             "    %%1: ptr.local = local #0\n    native #%d %%1, i32x4 (0, 1, 2, 3)\n    native #%d i32 1\n"
             "    native #%d %%0.out, f32x4 (0, 0, 0, 0)\n    return\n}\n",
             IR_NATIVE_STORE_8X8X4, IR_NATIVE_QUAD_WAIT, IR_NATIVE_ADD4);
    qn__emit_result r = emitted(state, 90, text);
    has(&r, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r");
    has_not(&r, "{0, ");
    has(&r, "wgmma.wait_group.sync.aligned 1;");
    has(&r, "red.relaxed.gpu.global.add.v4.f32 [%d");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(extremes_that_keep_nans, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(natives, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_kernel_is_guarded_and_asks_for_little, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_barrier_takes_the_guard_away, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(extended_constants_are_not_negative, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(bounded_divisors_are_divided_by_in_short, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(bytes_become_floats_by_way_of_16_bits, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(products_of_extended_numbers_are_wide, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(chosen_local_pointers_have_their_bytes, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(counters_with_a_near_limit_have_32_bits, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(low_halves_are_computed_alone, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(vectors_move_in_large_pieces, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(read_only_memory_is_read_through_its_cache, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(atomics, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(atomics_with_all_devices, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(local_memory, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(objects_that_are_compared_with_null, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(sub_groups, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(whole_sub_groups, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(active_work_items, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(byte_products, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(large_parameters, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(small_floats, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(values_that_change_places_in_a_loop, ir_setup, ir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
