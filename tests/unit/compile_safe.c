/* What safe kernels check in a launch: nothing, where the range and the arguments bound all accesses. A launch has 64 work-items in
   groups of 16; x and y have 64 elements, l has 16, n and m are 64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "ir/ir.h"

enum { ITEMS = 64, GROUP = 16 };

static const struct body {
    const char *text;
    bool checks;
} bodies[] = {
    {"x[i] = y[i];", false},
    {"x[i + 1] = 1;", true},
    {"for (int k = 0; k < n; k++) x[k] = 1;", false},
    {"for (int k = 0; k <= n; k++) x[k] = 1;", true},
    /* tiles: steps that end where the memory does */
    {"for (uint s = 0; s < m; s += 16) x[s + get_local_id(0)] = 1;", false},
    {"for (uint s = 0; s < m; s += get_local_size(0)) x[s + get_local_id(0)] = 1;", false},
    {"for (int s = 0; s < n; s += 16) for (int k = 0; k < 16; k++) x[s + k] = 1;", false},
    {"for (size_t s = 0; s < m; s += get_local_size(0)) x[s + get_local_id(0)] = 1;", false},
    {"for (int s = 8; s < n; s += 8) x[s + i % 8] = 1;", false},
    {"for (int s = 0; s < n; s += 16) { l[i % 16] = y[s + i % 16]; barrier(1); x[i] ^= l[s % 16]; "
     "barrier(1); }",
     false},
    /* what is known to be aligned */
    {"((global int4 *)x)[i & 15] = (int4)(1);", false},
    {"if (i < 15) ((global int4 *)(x + 4))[i] = (int4)(1);", false},
    {"((global int4 *)(x + (i & 15) * 4))[0] = (int4)(1);", false},
    {"for (int k = 0; k < n / 4; k++) ((global int4 *)x)[k] = (int4)(1);", false},
    {"for (int k = 0; k < n; k += 4) *(global int4 *)(x + k) = (int4)(1);", false},
    {"global int4 *p = (global int4 *)x; for (int k = 0; k < 16; k++) *p++ = (int4)(1);", false},
    {"((local int4 *)l)[i & 3] = (int4)(1);", false},
    {"uchar b[64]; for (int k = 0; k < 64; k++) b[k] = y[k]; x[i] = *(uint *)(b + (i & 60));", false},
    {"if (i < 1) *(global int4 *)(x + i * n) = (int4)(1);", false},
    {"for (uint k = 0; k < 2; k++) *(global int4 *)(x + k * (m / 2)) = (int4)(1);", true},
    {"if (i < 1) *(global int4 *)(x + (n - 1)) = (int4)(1);", true},
    {"if (i < 15) ((global int4 *)(x + 1))[i] = (int4)(1);", true},
    {"if (i < 15) *(global int4 *)(x + i) = (int4)(1);", true},
    {"x[i] = *(global int *)((global char *)y + (i & 63));", true},
    {"uchar b[64]; for (int k = 0; k < 64; k++) b[k] = y[k]; x[i] = *(uint *)(b + (i & 58));", true},
    /* indices of two buffers, and others that stay within some bits */
    {"int b = 0; for (int k = 0; k < n; k++) { l[b * 8 + (i & 7)] = k; if (y[k]) b ^= 1; } x[i] = l[b * 8];",
     false},
    {"uint b = i & 7; for (int k = 0; k < n; k++) { x[b * 8 + 7] = k; b = y[k] ? b ^ 5 : b | 2; }", false},
    {"int b = 0; for (int k = 0; k < n; k++) { l[b * 8 + (i & 7)] = k; if (y[k]) b ^= 2; } x[i] = l[b * 8];",
     true},
    {"uint b = i & 7; for (int k = 0; k < n; k++) { x[b * 8 + 7] = k; b ^= 8; }", true},
    {"uint b = i & 7; for (int k = 0; k < n; k++) { x[b * 8 + 7] = k; b ^= y[k]; }", true},
    {"int b = y[i]; for (int k = 0; k < n; k++) { x[b] = k; b ^= 1; }", true},
    {"int b = i; for (int k = 0; k < n; k++) { x[b & 63] = k; b ^= -1; if (b < 64) x[b] = 1; }", true},
    {"int b = 0; for (int k = 0; k < n; k++) { x[b] = k; if (y[k]) b ^= 1; else if (y[i]) b += 1; }", true},
    /* pointers that move */
    {"global int *p = x; for (int k = 0; k < 4; k++) { if (y[k]) p = x + i; *p = 1; }", false},
    {"global int *p = x, *q = x + 32; for (int k = 0; k < n; k++) { global int *t = p; p = q; q = t; p[i & "
     "31] = 1; }",
     false},
    {"local int *p = l, *q = l + 8; for (int k = 0; k < n; k++) { local int *t = p; p = q; q = t; p[i & 7] = "
     "1; } x[i] = q[i & 7];",
     false},
    {"int a[9]; int *p = a, *q = a + 4; for (int k = 0; k < n; k++) { int *t = p; p = q; q = t; p[k & 3] = "
     "y[i]; } x[i] = q[2];",
     false},
    {"global int *p = y[i] & 1 ? x + 1 : x; p[i & 31] = 1;", false},
    /* what one condition says of two numbers */
    {"int g = get_local_id(0); for (int r = 1; r < 16; r *= 2) if (g >= r) l[g] = l[g - r];", false},
    {"if (i >= n / 2) x[i - n / 2] = 1;", false},
    {"if (n / 2 < i) x[i - n / 2] = 1;", false},
    {"int j = get_local_id(0); x[2 * j - (j & (n - 1))] = 1;", false},
    {"int j = get_local_id(0); x[2 * j - (i & (n - 1))] = 1;", true},
    {"if (i >= n / 2) x[i - n / 2 - 1] = 1;", true},
    {"if (i >= y[0]) x[i - y[0]] = 1;", true},
    {"global int *p = x, *q = x + 32; for (int k = 0; k < n; k++) { global int *t = p; p = q; q = t; p[i & "
     "63] = 1; }",
     true},
    {"global int *p = x, *q = x + 32; for (int k = 0; k < n; k++) { global int *t = p; p = q; q = t + 1; p[i "
     "& 31] = 1; }",
     true},
    {"global int *p = x, *q = (global int *)y; for (int k = 0; k < n; k++) { global int *t = p; p = q; q = "
     "t; p[i] = 1; }",
     true},
    /* and what is read ahead, a step or a part of one */
    {"for (int s = 0; s < n; s += 16) if (s + 16 < n) x[s + 16 + i % 16] = 1;", false},
    {"for (uint s = 0; s < m; s += 16) if (s + 16 < m) x[s + 16 + get_local_id(0)] = 1;", false},
    {"for (int s = 0; s < n; s += 16) if (s + 16 < n) x[s + i % 16 + 16] = 1;", false},
    {"for (int s = 0; s < n; s += 16) if (s + 16 < n) x[s + i % 16 + 17] = 1;", true},
    {"for (int s = 0; s < n; s += 16) if (s + 14 < n) x[s + 14 + (i & 1)] = 1;", false},
    {"for (int s = 0; s < n; s += 16) if (s + 12 < n) x[s + 12 + i % 16] = 1;", true},
    {"for (int s = 0; s < n; s += 12) if (s + 16 < n) x[s + 16 + i % 16] = 1;", true},
    {"for (int s = 0; s < n; s += 16) if (s + 16 <= n) x[s + 16 + i % 16] = 1;", true},
    {"for (int s = 0; s < n; s += 16) if (s + y[s] < n) x[s + y[s] + i % 16] = 1;", true},
    {"for (int s = 0; s < 2147483607; s += 40) if (s + 60 < n) x[s + 60] = 1;", true},
    /* steps that do not */
    {"for (uint s = 0; s < m; s += 12) x[s + get_local_id(0)] = 1;", true},
    {"for (uint s = 1; s < m; s += 16) x[s + get_local_id(0)] = 1;", true},
    {"for (uint s = 0; s < m; s += 16) x[s + get_local_id(0) + 1] = 1;", true},
    {"for (uint s = 0; s <= m; s += 16) x[s + get_local_id(0)] = 1;", true},
    {"for (int s = 0; s < n; s += y[0]) x[s + i % 16] = 1;", true},
    {"for (int s = 0; s < n; s += i & 1 ? 16 : 12) x[s + i % 16] = 1;", true},
    {"for (int s = 0; s < n; s += 16) { if (y[s]) s += 4; x[s + i % 16] = 1; }", true},
    {"for (int s = y[i]; s < n; s += 16) x[s + i % 16] = 1;", true},
};

static void visit(ir_instr *instr, void *user) { *(unsigned *)user += instr->op == IR_ATOMIC_RMW; }

/* In the form of the kernel that is launched where the limits hold. */
static unsigned count_checks(const ir_module *module) {
    unsigned count = 0;
    for (size_t i = 0; i < module->functions.len; i++) {
        const ir_function *function = module->functions.data[i];
        if (function->is_kernel && !function->is_checked) qn__ir_walk(function->body, visit, &count);
    }
    return count;
}

static bool limits_hold(const qn__compile_result *result, uint32_t n) {
    const qn__kernel_info *kernel = &result->info.kernels[0];
    const uint64_t extents[16] = {ITEMS * 4, ITEMS * 4, GROUP * 4};
    const uint32_t sizes[] = {n, ITEMS};
    unsigned char args[256] = {0};
    const qn__reach_range range = {.global = {ITEMS, 1, 1}, .local = {GROUP, 1, 1}};
    for (uint32_t k = 0; k < 2; k++) memcpy(args + kernel->params[3 + k].offset, &sizes[k], sizeof sizes[k]);
    return !kernel->checked || qn__stays_inside(kernel, args, extents, &range);
}

static void compile_for(unsigned target, const char *body, qn__compile_result *result) {
    char source[512];
    snprintf(source, sizeof source,
             "kernel void k(global int *x, global const int *y, local int *l, int n, uint m) {\n"
             "    int i = get_global_id(0);\n    %s\n}\n",
             body);
    const qn__compile_request request = {
        .source = source, .target.kind = (uint8_t)target, .level = 2, .safe = true, .verify = true};
    if (qn__compile(&request, result)) fail_msg("%s: %s", body, result->log);
}

static void compile(const char *body, qn__compile_result *result) { compile_for(QN__TARGET_C, body, result); }

static void what_is_bounded_is_not_checked(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        qn__compile_result result;
        compile(bodies[i].text, &result);
        const bool checks = count_checks(result.module) > 0 || !limits_hold(&result, ITEMS);
        if (checks != bodies[i].checks)
            fail_msg("%s: %s", bodies[i].text, bodies[i].checks ? "has no check" : "is checked");
        qn__compile_free(&result);
    }
}

/* Only what depends on memory is checked, however far it may reach. */
static void indices_from_memory_are_checked_alone(void **state) {
    (void)state;
    static const char *const texts[] = {
        "x[i] = x[((global const uint *)y)[i]];", "x[i] = x[y[i]];",
        "int s = 0; for (uint k = y[i]; k < (uint)y[63 - i]; k++) s += y[k]; x[i] = s;"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        qn__compile_result result;
        compile(texts[i], &result);
        const unsigned count = count_checks(result.module);
        if (count != 1) fail_msg("%s: %u checks", texts[i], count);
        if (!limits_hold(&result, ITEMS)) fail_msg("%s: all is checked", texts[i]);
        qn__compile_free(&result);
    }
}

/* Rows that vectors are read of are as long as vectors, or the form that checks all is launched. */
static void rows_are_whole_vectors(void **state) {
    (void)state;
    qn__compile_result result;
    compile("if (i < 1) x[0] = ((global const int4 *)(y + i * n))->x;", &result);
    assert_int_equal(count_checks(result.module), 0);
    for (uint32_t n = 0; n <= ITEMS; n++) assert_int_equal(limits_hold(&result, n), n % 4 == 0);
    qn__compile_free(&result);
}

/* Those that hold an atomic, and those that do not. */
typedef struct loops {
    unsigned quiet, noting;
} loops;

static void count_loop(ir_instr *instr, void *user) {
    loops *found = user;
    unsigned notes = 0;
    if (instr->op != IR_LOOP) return;
    qn__ir_walk(instr->regions[0], visit, &notes);
    *(notes ? &found->noting : &found->quiet) += 1;
}

/* Each loop that only reads has a form without notes on GPUs, whose loads are then under way together. Some do four iterations at
   once there, and the rest behind them. */
static void loops_that_only_read_note_nothing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_quiet;
    } cases[] = {
        {"int s = 0; for (int k = 0; k < n; k++) s += x[y[k]]; x[i] = s;", true},
        {"int s = 0; for (uint k = y[i]; k < (uint)y[63 - i]; k++) s += y[k]; x[i] = s;", true},
        {"int s = 0; for (int k = y[i]; x[k] > s; k = y[k]) for (int c = k; c < y[k]; c++) s += y[c]; x[i] = "
         "s;",
         true},
        {"for (int k = 0; k < n; k++) x[y[k]] = 1;", false},
        {"int s = 0; for (int k = 0; k < n; k++) s += *(volatile global int *)(x + y[k]); x[i] = s;", false},
        {"for (int k = 0; k < n; k++) if (x[y[k]] > 3) return; x[i] = 1;", false},
        {"int s = 0; for (int k = 0; k < n; k++) { s += x[y[k]]; barrier(1); } x[i] = s;", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn__compile_result result;
        loops found = {0, 0};
        compile_for(QN__TARGET_PTX, cases[i].text, &result);
        for (size_t f = 0; f < result.module->functions.len; f++)
            if (!result.module->functions.data[f]->is_checked)
                qn__ir_walk(result.module->functions.data[f]->body, count_loop, &found);
        if (!found.noting || !found.quiet != !cases[i].is_quiet)
            fail_msg("%s: %u quiet loops, %u that note", cases[i].text, found.quiet, found.noting);
        qn__compile_free(&result);
        loops elsewhere = {0, 0};
        compile(cases[i].text, &result);
        qn__ir_walk(result.module->functions.data[0]->body, count_loop, &elsewhere);
        if (elsewhere.quiet || !elsewhere.noting)
            fail_msg("%s: has a quiet form on processors", cases[i].text);
        qn__compile_free(&result);
    }
}

static void note_variable(ir_instr *i, void *user) { *(bool *)user |= i->op == IR_VAR; }

/* Functions with checks, which a pass adds, go through all that comes behind it, and nothing else does: each of several kernels
   knows what it reaches, and none keeps in memory what its loops note. */
static void several_kernels_are_alike(void **state) {
    (void)state;
    enum { KERNELS = 8 };
    char source[4096] = "";
    for (int k = 0; k < KERNELS; k++)
        snprintf(source + strlen(source), sizeof source - strlen(source),
                 "kernel void k%d(global float *y, global const float *x, global const uint *r) {\n"
                 "    uint i = get_global_id(0); float s = 0;\n"
                 "    for (uint k = r[i]; k < r[i + 1]; k++) s += x[k];\n    y[i] = s;\n}\n",
                 k);
    const qn__compile_request request = {
        .source = source, .target.kind = QN__TARGET_PTX, .level = 2, .safe = true, .verify = true};
    qn__compile_result result;
    if (qn__compile(&request, &result)) fail_msg("%s", result.log);
    assert_int_equal(result.info.num_kernels, 2 * KERNELS); /* each with one that checks */
    const qn__kernel_info *first = &result.info.kernels[0];
    assert_true(first->num_reach > 0);
    for (int k = 1; k < 2 * KERNELS; k++) {
        assert_int_equal(result.info.kernels[k].num_reach, first->num_reach);
        assert_memory_equal(result.info.kernels[k].reach, first->reach,
                            first->num_reach * sizeof *first->reach);
    }
    for (size_t f = 0; f < result.module->functions.len; f++) {
        bool has_variables = false;
        qn__ir_walk(result.module->functions.data[f]->body, note_variable, &has_variables);
        if (has_variables) fail_msg("%s has variables", result.module->functions.data[f]->name);
    }
    qn__compile_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_bounded_is_not_checked),
        cmocka_unit_test(indices_from_memory_are_checked_alone),
        cmocka_unit_test(rows_are_whole_vectors),
        cmocka_unit_test(loops_that_only_read_note_nothing),
        cmocka_unit_test(several_kernels_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
