/* What the lowerings for GPUs put in the place of printf, far jumps, collectives, sub-groups and arithmetic means the
   same: kernels are run by the VM as they are and after the passes, and what they leave in memory and what they
   print must not differ. Every kernel is `k(global int *out, int n)`, run by ITEMS work-items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/common/common.h"
#include "compile.h"
#include "pass/pass.h"
#include "vm/vm.h"

enum { ITEMS = 256, WORDS = 8 * ITEMS, TEXT = 1 << 17, PRINT = 1 << 16 };

typedef struct outcome {
    int32_t words[WORDS];
    char text[TEXT];
    size_t length;
} outcome;

typedef struct setting {
    const char *source;
    qn__target lacks;
    uint32_t local, sub_group; /* sizes; 0: 16 and 8 */
    uint32_t print_capacity;   /* 0: PRINT */
    int level, n;
    const char *refused; /* part of the message of a pass that gives up */
} setting;

/* ---- running ---- */

static void take_text(void *user, const char *text, size_t length) {
    outcome *o = user;
    if (length > TEXT - o->length) length = TEXT - o->length;
    memcpy(o->text + o->length, text, length);
    o->length += length;
}

static void take_log(void *user, qn_log_level level, const char *message) {
    (void)level;
    (void)user, (void)message;
}

static qn__services services_of(outcome *o) {
    return (qn__services){.print = take_text, .print_user = o, .log = take_log};
}

static const char *host_string(void *user, uint64_t word) {
    (void)user;
    return (const char *)(uintptr_t)word;
}

static int32_t print_now(void *user, const char *format, const unsigned char *values, uint64_t size) {
    qn__services services = services_of(user);
    return qn__print_call(&services, format, values, size, host_string, NULL);
}

static void run(const setting *s, ir_function *kernel, const qn__compile_result *compiled, outcome *o) {
    const uint32_t local_size = s->local ? s->local : 16, groups = ITEMS / local_size;
    static _Alignas(QN__CPU_ALIGN) unsigned char local[1 << 16];
    static _Alignas(8) uint32_t buffer[2 + PRINT / 4];
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    if (setjmp(escape)) fail_msg("out of memory");
    arena.escape = &escape;
    const char *error = NULL;
    qn__vm_program *program = qn__vm_prepare(&arena, kernel, s->sub_group ? s->sub_group : 8, &error);
    if (!program) fail_msg("%s", error);
    memset(o, 0, sizeof *o);
    memset(buffer, 0xa5, sizeof buffer);
    for (int i = 0; i < WORDS; i++) o->words[i] = i * 7;
    buffer[0] = s->print_capacity ? s->print_capacity : PRINT;
    buffer[1] = 0;
    const struct {
        void *out;
        int32_t n;
        void *print;
    } args = {o->words, s->n, buffer};
    const qn_cpu_services host = {o, print_now};
    const qn_cpu_launch launch = {.work_dim = 1,
                                  .args = (const unsigned char *)&args,
                                  .services = &host,
                                  .global_size = {ITEMS, 1, 1},
                                  .local_size = {local_size, 1, 1},
                                  .num_groups = {groups, 1, 1}};
    const uint64_t scratch_size = qn__vm_scratch_size(program, local_size);
    unsigned char *scratch =
        aligned_alloc(QN__CPU_ALIGN, (size_t)(scratch_size / QN__CPU_ALIGN + 1) * QN__CPU_ALIGN);
    error = qn__vm_run(program, &launch, 0, groups, 0, 0, local, scratch, 10000000);
    free(scratch);
    qn__arena_free(&arena);
    if (error) fail_msg("%s\n%s", error, s->source);
    qn__services services = services_of(o);
    qn__code_info info = {.strings = compiled->info.strings, .num_strings = compiled->info.num_strings};
    if (kernel->args.len > 2)
        qn__print_records(&services, &info, (const unsigned char *)buffer, sizeof buffer);
}

/* ---- comparing ---- */

static void compile(const setting *s, qn__compile_result *result) {
    const qn__compile_request request = {.source = s->source,
                                         .target.kind = QN__TARGET_IR,
                                         .level = s->level,
                                         .verify = true,
                                         .no_files = true};
    if (qn__compile(&request, result)) fail_msg("%s\n%s", result->log, s->source);
}

/* Compiled once more: the passes change what they get. */
static void lower(const setting *s, qn__compile_result *result) {
    jmp_buf escape;
    bool unsupported = false;
    compile(s, result);
    if (setjmp(escape)) fail_msg("out of memory");
    result->arena.escape = &escape;
    const qn__pass_options options = {
        .level = s->level, .target = s->lacks, .verify = true, .unsupported = &unsupported};
    const char *error = qn__pass_run((ir_module *)result->module, &options);
    if (!s->refused && error) fail_msg("%s\n%s", error, s->source);
    if (!s->refused) return;
    if (!error || !strstr(error, s->refused)) fail_msg("%s\n%s", error ? error : "no error", s->source);
    assert_true(unsupported);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static size_t sorted_lines(outcome *o, char **lines) {
    size_t count = 0;
    char *rest = NULL;
    for (char *line = strtok_r(o->text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_text);
    return count;
}

/* Lines of different work-items come in any order. */
static void compare_text(const setting *s, outcome *wanted, outcome *got) {
    static char *a[TEXT], *b[TEXT];
    const size_t count = sorted_lines(wanted, a);
    if (sorted_lines(got, b) != count) fail_msg("not as many lines\n%s", s->source);
    for (size_t i = 0; i < count; i++)
        if (strcmp(a[i], b[i]))
            fail_msg("printed: %s\nwanted: %s\n(level %d)\n%s", b[i], a[i], s->level, s->source);
}

/* The first kernel. */
static ir_function *kernel_of(const qn__compile_result *result) {
    return qn__ir_function_find((ir_module *)result->module, qn__str_of(result->info.kernels[0].name));
}

static void same(const setting *s) {
    static outcome wanted, got;
    qn__compile_result plain, lowered;
    compile(s, &plain);
    lower(s, &lowered);
    if (!s->refused) {
        run(s, kernel_of(&plain), &plain, &wanted);
        run(s, kernel_of(&lowered), &lowered, &got);
        for (int i = 0; i < WORDS; i++)
            if (wanted.words[i] != got.words[i])
                fail_msg("word %d is %d, wanted %d (level %d)\n%s", i, got.words[i], wanted.words[i],
                         s->level, s->source);
        compare_text(s, &wanted, &got);
    }
    qn__compile_free(&plain);
    qn__compile_free(&lowered);
}

static void same_at_all_levels(setting s) {
    for (s.level = 0; s.level <= 2; s.level++) same(&s);
}

/* ---- printf ---- */

static void printf_writes_records(void **state) {
    (void)state;
    static const char *const sources[] = {
        "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
        "  out[i] = printf(\"%d %u %x %c|%5.2f|%ld\\n\", i, n, i * n, 'a' + i % 26, i / 3.0f, 1L << i); }",
        "kernel void k(global int *out, int n) { char4 c = (char4)(1, -2, 3, n); half2 *h; short3 s = 7;\n"
        "  printf(\"%v4hhd %v3hd %v2d|%v4f\\n\", c, s, (int2)(n, 2), (float4)(n, 1, 2, 3)); }",
        "kernel void k(global int *out, int n) { double d = n / 7.0; long l = -5; char c = 9;\n"
        "  printf(\"%g %hhd %ld %%%d\\n\", d, c, l, 4); printf(\"nothing\\n\"); printf(\"%v2lf\\n\", "
        "(double2)(d, 2)); }",
        /* every kind of float: as_float of many patterns, converted by integer operations */
        "kernel void k(global int *out, int n) { uint i = get_global_id(0);\n"
        "  printf(\"%a %a %a\\n\", as_float(i * 0x04000001u), as_float(1u << i % 32), as_float(0x7f800000u + "
        "i));\n"
        "  printf(\"%a %a\\n\", as_float((i << 31) | (i >> 1)), as_float(0x80000000u | (i << 17))); }",
        "constant char name[] = \"table\"; kernel void k(global int *out, int n) { int i = "
        "get_global_id(0);\n"
        "  printf(\"%s %s %s|%8s|%.2s\\n\", \"one\", i % 2 ? \"odd\" : \"even\", name + 1, name, name + i % "
        "5); }",
        "constant char a[] = \"first\", b[] = \"second\";\n"
        "kernel void k(global int *out, int n) { constant char *s = a;\n"
        "  for (int i = 0; i < get_global_id(0) % 4; i++) s = s == a ? b + i : a; printf(\"%s\\n\", s); }",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        same_at_all_levels((setting){.source = sources[i], .lacks = {.lacks_printf = true}, .n = -3});
}

/* Those that fit are whole; the others give -1 and leave no trace. */
static void a_full_buffer_keeps_what_fits(void **state) {
    (void)state;
    static outcome got;
    setting s = {
        .source =
            "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
            "  out[i] = printf(\"%d;\", i); out[i + 256] = i % 2 ? printf(\"%d %d %d;\", i, i, i) : 1; }",
        .lacks = {.lacks_printf = true},
        .print_capacity = 16 * 40 + 8};
    for (s.level = 0; s.level <= 2; s.level++) {
        qn__compile_result lowered;
        lower(&s, &lowered);
        run(&s, kernel_of(&lowered), &lowered, &got);
        int printed = 0;
        size_t semicolons = 0;
        for (int i = 0; i < 512; i++) printed += got.words[i] == 0;
        for (size_t i = 0; i < got.length; i++) semicolons += got.text[i] == ';';
        assert_int_equal(printed, semicolons);
        assert_in_range(printed, 26, 40);
        qn__compile_free(&lowered);
    }
}

static void a_string_in_private_memory_is_refused(void **state) {
    (void)state;
    same_at_all_levels((setting){.source = "kernel void k(global int *out, int n) { char s[4] = {65, 0};\n"
                                           "  printf(\"%s\", s); }",
                                 .lacks = {.lacks_printf = true},
                                 .refused = "(kernel.cl:2)"});
}

/* ---- jumps ---- */

static void far_jumps_lead_where_they_did(void **state) {
    (void)state;
    static const char *const sources[] = {
        /* continue and return within a switch, falling through */
        "kernel void k(global int *out, int n) { int i = get_global_id(0), s = 0;\n"
        "  for (int j = 0; j < 9; j++) { switch ((i + j) % 6) { case 0: continue; case 1: s += 3; case 2: s "
        "^= j;\n"
        "    break; case 3: if (s > 20) return; case 5: s *= 2; break; default: s--; } s += 100; }\n"
        "  out[i] = s; }",
        /* goto out of three loops, and back */
        "kernel void k(global int *out, int n) { int i = get_global_id(0), s = 0, turns = 0;\n"
        "again: for (int a = 0; a < 5; a++) for (int b = 0; b < 5; b++) for (int c = 0; c < 5; c++) {\n"
        "    if (a * b * c == i % 13) goto done; if ((s += b ^ c) % 11 == i) goto odd; }\n"
        "odd: s += 1000; if (turns++ < 3) goto again;\n"
        "done: out[i] = s; }",
        /* loops in a switch in a loop, early return of a helper within all of it */
        "int f(int i, int n) { for (int j = 0; j < 4; j++) switch (i & 3) { case 0: for (int k = 0; k < i; "
        "k++) {\n"
        "    if (k * j == 12) return k; if (k == n + j) break; } case 1: i += j; continue;\n"
        "    case 2: while (1) { if (i++ > 30) return i; if (i % 7 == 0) break; } } return -i; }\n"
        "kernel void k(global int *out, int n) { int i = get_global_id(0); out[i] = f(i, n) + f(i + n, 2); }",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        same_at_all_levels((setting){.source = sources[i], .lacks = {.lacks_far_jumps = true}, .n = 5});
}

/* ---- collectives ---- */

/* Floats are small whole numbers, whose sums are exact in any order. */
static const char *const collectives[] = {
    "kernel void k(global int *out, int n) { int i = get_global_id(0), x = i * n % 17 - 5;\n"
    "  out[i] = work_group_reduce_add(x); out[i + 256] = work_group_scan_inclusive_add(x);\n"
    "  out[i + 512] = work_group_scan_exclusive_add(x); out[i + 768] = work_group_reduce_min(x ^ 3);\n"
    "  out[i + 1024] = work_group_scan_exclusive_max(x); out[i + 1280] = "
    "work_group_scan_exclusive_min((uint)x); }",
    "kernel void k(global int *out, int n) { int i = get_global_id(0), l = get_local_id(0);\n"
    "  out[i] = work_group_all(i != n) + 2 * work_group_all(i >= 0) + 4 * work_group_any(i == n) + 8 * "
    "work_group_any(n < 0);\n"
    "  for (int j = 0; j < 3; j++) { out[i + 256] += work_group_broadcast(i * j, (n + j) % "
    "get_local_size(0));\n"
    "    if (work_group_any(l == j)) out[i + 512] += work_group_reduce_max(l ^ j); }\n"
    "  float4 v = work_group_broadcast((float4)(i, n, l, 1), 1); out[i + 768] = v.x + 3 * v.y + 5 * v.z + "
    "v.w; }",
    "kernel void k(global int *out, int n) { int i = get_global_id(0), l = get_local_id(0); float f = (i * "
    "7) % 31 - 9;\n"
    "  out[i] = work_group_reduce_add(f); out[i + 256] = work_group_scan_exclusive_add(f);\n"
    "  out[i + 512] = work_group_scan_inclusive_max(f); float m = work_group_scan_exclusive_min(f);\n"
    "  out[i + 768] = isinf(m) ? 99 : m; double d = f; out[i + 1024] = work_group_scan_inclusive_add(d);\n"
    "  long w = work_group_scan_exclusive_add((long)i << 33); out[i + 1280] = w >> 30; }",
    "kernel void k(global int *out, int n) { int i = get_global_id(0); float z = -0.0f;\n"
    "  out[i] = as_int(work_group_reduce_add(z)); out[i + 256] = as_int(work_group_scan_inclusive_add(z));\n"
    "  out[i + 512] = as_int(work_group_reduce_min(i % 3 ? NAN : 4.0f)); }",
};

static const char *const sub_groups[] = {
    "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
    "  out[i] = get_sub_group_size(); out[i + 256] = get_sub_group_id(); out[i + 512] = "
    "get_sub_group_local_id();\n"
    "  out[i + 768] = get_num_sub_groups(); out[i + 1024] = get_max_sub_group_size(); }",
    "kernel void k(global int *out, int n) { int i = get_global_id(0), x = i * n % 17 - 5;\n"
    "  out[i] = sub_group_reduce_add(x); out[i + 256] = sub_group_scan_inclusive_add(x);\n"
    "  out[i + 512] = sub_group_scan_exclusive_max(x); out[i + 768] = sub_group_all(x < 9) + 2 * "
    "sub_group_any(x == 4);\n"
    "  for (int j = 1; j < 4; j++) { out[i + 1024] += sub_group_broadcast(x, j); "
    "sub_group_barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  double d = i; out[i + 1280] = sub_group_scan_exclusive_add(d); }",
    "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable\n"
    "kernel void k(global int *out, int n) { int i = get_global_id(0), x = i * n % 17 - 5, l = "
    "get_sub_group_local_id();\n"
    "  int size = get_sub_group_size(); out[i] = sub_group_shuffle(x, size - 1 - l);\n"
    "  uint4 b = sub_group_ballot(x > 3); out[i + 256] = b.x + b.y; out[i + 512] = sub_group_shuffle_xor(x, "
    "size & 1 ? 0 : 1); }",
};

static void collectives_give_the_same(void **state) {
    (void)state;
    static const uint32_t sizes[] = {256, 64, 16, 128, 1, 0};
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        for (const uint32_t *size = sizes; *size; size++) {
            if (i == 1 && *size < 2) continue;
            setting s = {.source = collectives[i],
                         .lacks = {.lacks_collectives = true},
                         .n = 5,
                         .local = *size,
                         .sub_group = 32};
            same_at_all_levels(s);
            s.lacks.lacks_linear_sub_groups = true;
            s.sub_group = 8;
            same_at_all_levels(s);
        }
}

static void sub_groups_in_local_memory(void **state) {
    (void)state;
    static const uint32_t sizes[] = {256, 64, 16, 4, 128, 0};
    for (size_t i = 0; i < sizeof sub_groups / sizeof *sub_groups; i++)
        for (const uint32_t *size = sizes; *size; size++)
            same_at_all_levels((setting){.source = sub_groups[i],
                                         .lacks = {.lacks_sub_groups = true},
                                         .n = 5,
                                         .local = *size,
                                         .sub_group = 32});
}

static const char *const wide[] = {
    "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
    "  long4 a = convert_long4((int4)(i, n, -i, 7)) * (1L << 30) + n, b = a.wzyx ^ (long4)(i); long3 c = "
    "b.xyz;\n"
    "  ulong16 d = (ulong16)(as_ulong4(a), as_ulong4(b), as_ulong4(a - b), as_ulong4(a & b)); c.y += d.s7;\n"
    "  for (int j = 0; j < n; j++) { a = select(a, b, a < b); d.lo = rotate(d.hi, d.lo); c = j & 1 ? c + 1 : "
    "-c; }\n"
    "  out[i] = a.x >> 3 ^ a.w; out[i + 256] = (d.s0 + d.s9 + d.sf) >> 17; out[i + 512] = c.x + c.y * c.z;\n"
    "  out[i + 768] = any(a > b) + 2 * all(a == b); int8 t = as_int8(b); out[i + 1024] = t.s1 ^ t.s6;\n"
    "  out[i + 1280] = ((long *)&d)[i & 15]; double4 f = convert_double4(a); out[i + 1536] = f.y; }",
    "kernel void k(global int *out, int n) { int i = get_global_id(0); long2 v[4];\n"
    "  for (int j = 0; j < 4; j++) v[j] = (long2)(i * j, n - j) << 31;\n"
    "  vstore4(vload4(0, (long *)(v + n % 3)), i & 63, (global long *)out); out[i + 1024] = v[i & 3][i >> 2 "
    "& 1] >> 20;\n"
    "  local long3 l[16]; int me = get_local_id(0); l[me] = (long3)(i, n, me) * 0x123456789L; barrier(1);\n"
    "  out[i + 512] = (l[me ^ 1] - l[0]).z >> 8; out[i + 768] = mul_hi(v[1], v[2]).y + clz(v[3]).x; }",
    "kernel void k(global int *out, int n) { int i = get_global_id(0); long x = (long)(i * n % 17 - 5) << 33 "
    "| i;\n"
    "  out[i] = sub_group_reduce_add(x) >> 30; out[i + 256] = sub_group_scan_inclusive_max(x) >> 32;\n"
    "  out[i + 512] = sub_group_scan_exclusive_add(x) >> 31; out[i + 768] = sub_group_reduce_min((ulong)x) "
    ">> 7;\n"
    "  out[i + 1024] = sub_group_scan_exclusive_min(x) >> 40; out[i + 1280] = sub_group_broadcast(x, n) >> "
    "5;\n"
    "  out[i + 1536] = work_group_scan_inclusive_add(x) >> 22; }",
};

/* Every operation, on numbers of all sizes, by amounts that are known and not; what is only used in part, too. */
static const char *const wide_scalars[] = {
    "kernel void k(global int *out, int n) { uint i = get_global_id(0); long a = (long)(i * 2654435761u) << "
    "(i & 63),\n"
    "  b = ((long)(i * 40503u ^ 0x5a5a) << (i >> 3 & 31)) - n; ulong c = a ^ b >> 7, d = rotate(c, (ulong)i) "
    "| 1; ulong s[7];\n"
    "  s[0] = (a + b) ^ (a - b) * 3; s[1] = a * b + c * 0x123456789abcdUL; s[2] = c / d ^ d / (c | 1) << 9;\n"
    "  s[3] = (a / (b | 1)) + a % (b | 1) + c % d; s[4] = mul_hi(a, b) ^ mul_hi(c, d); s[5] = min(a, b) + "
    "max(c, d);\n"
    "  s[6] = clz(c) + ctz(a) * 100 + popcount(b) * 10000; for (int j = 0; j < 7; j++) out[i + 256 * j] = "
    "s[j] ^ s[j] >> 32; }",
    "kernel void k(global int *out, int n) { uint i = get_global_id(0); long a = (long)(i * 2654435761u) << "
    "(i & 63), b = ~a "
    "* n;\n"
    "  ulong c = b, h = a >> n ^ b << i ^ c >> (i + 33), g = a >> 40 ^ c >> 32 ^ b << 17 ^ c << 50 ^ a >> "
    "5;\n"
    "  out[i] = h ^ h >> 32; out[i + 256] = g ^ g >> 32; out[i + 512] = (a < b) + 2 * (a <= b) + 4 * (c < a) "
    "+ 8 * (c == a) "
    "+ 16 * (a != b);\n"
    "  long e = (int)i - 100, f = n; out[i + 768] = (e < f) + 2 * (e <= -5) + 4 * (min(e, f) == f) + 8 * "
    "(max(e, 7L) > 20) "
    "+ 16 * ((long)i < (long)(uint)n) + 32 * (e >= 1L << 40);\n"
    "  ulong r = rotate(c, 13UL) ^ rotate(c, 45UL) & ~c | 0xff00ff00ff00UL; out[i + 1024] = r ^ r >> 32;\n"
    "  long t = i & 1 ? a : b; for (int j = 0; j < n; j++) t = t * 5 + j; out[i + 1280] = (int)t + (char)(t "
    ">> 8) + (t & 1);\n"
    "  long w[5] = {a, b, n, 7, i}; out[i + 1536] = w[(a ^ b) & 3] >> 5 ^ (long)((float)w[n] + (double)b) ^ "
    "((global int *)(out + (b & 255)) > out + 17); }",
    "kernel void k(global int *out, int n) { size_t i = get_global_id(0), l = get_local_id(0), m = "
    "get_global_size(0);\n"
    "  long x = -n; global int *p = out + (i * 3 + x * 2 - l + 40) % m; out[i + 1024] = p[n] - p[-x] + p[i & "
    "7 ? 0 : l];\n"
    "  out[i + 512] = (i < m - 1) + 2 * (i + x > 7) + (int)(i * m * m >> 11); int a[9] = {1, 2, 3}; a[(i + "
    "x) % 9] = n;\n"
    "  out[i + 768] = a[(i * 5 - x) % 9] + (p - out) + ((ulong)p == (ulong)out) + (p < out + l); }",
    /* counters that stay below 2^32, and such that do not */
    "kernel void k(global int *out, int n) { size_t i = get_global_id(0), size = get_local_size(0); uint s = "
    "0;\n"
    "  for (size_t j = get_local_id(0); j < 1000; j += size) s = s * 31 + (uint)j; out[i] = s;\n"
    "  for (size_t r = 1; r < size; r <<= 1) s ^= (uint)(r >> 1) + n; out[i + 256] = s;\n"
    "  for (size_t j = 0x7ffffff0; j < 0x80000000; j += 0x7fffffff) s += (uint)(j >> 3); out[i + 512] = s;\n"
    "  ulong t = 0; for (size_t j = 0xfffffff0u; j < 0x100000010; j += n) t += j << 8;\n"
    "  for (size_t j = 0xfffffff0u; j < 0xffffffffu; j += 4) t ^= j; out[i + 768] = t ^ t >> 32;\n"
    "  for (size_t j = 5; j < size; j += j & 1 ? 3 : 0x100000000) s += (uint)j; out[i + 1024] = s; }",
};

static void wide_integers_are_words(void **state) {
    (void)state;
    static const qn__target lacks[] = {{.lacks_i64 = true},
                                       {.lacks_i64_bits = true},
                                       {.lacks_i64_bits = true, .wants_words = true},
                                       {.lacks_i64 = true, .wants_narrow = true, .wants_offsets = true}};
    for (size_t i = 0; i < sizeof wide_scalars / sizeof *wide_scalars; i++)
        for (size_t k = 0; k < sizeof lacks / sizeof *lacks; k++)
            same_at_all_levels((setting){.source = wide_scalars[i], .lacks = lacks[k], .n = 3});
}

static void wide_integers_are_scalars(void **state) {
    (void)state;
    static const uint32_t groups[] = {8, 4, 16};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
            for (int with_vectors = 0; with_vectors < 2; with_vectors++)
                same_at_all_levels((setting){.source = wide[i],
                                             .lacks = {.lacks_i64 = true,
                                                       .wants_vector_memory = true,
                                                       .lacks_long_vectors = !with_vectors,
                                                       .lacks_collectives = !with_vectors,
                                                       .lacks_linear_sub_groups = !with_vectors},
                                             .n = 3,
                                             .local = 16,
                                             .sub_group = groups[g]});
}

static const char *const narrow[] = {
    "#define TRY(T, S, at) { S a = i * 37 - n, b = (i * n ^ 0x5a) | 1; T ua = a, ub = b; S c = 0; T uc = 0;"
    "  c += a + b; c ^= a * b - (a << (i & 15)); c += (S)(a / b) ^ (S)(a % b); c ^= a >> (b & 7); c += ~a;"
    "  c ^= max(a, b) - min(a, (S)3); c += clz(a) ^ popcount(b); c ^= mul_hi(a, b); c += rotate(a, b) ^ "
    "hadd(a, b);"
    "  uc = ua / ub ^ ua % ub; uc += mul_hi(ua, ub) ^ (ua >> (ub & 3)); uc ^= add_sat(ua, ub) + sub_sat(a, "
    "b);"
    "  uc += ctz(ua) ^ max(ua, ub) ^ rotate(ua, (T)(n + i)); c += (a < b) + 2 * (a <= b) + 4 * (ua < ub) + 8 "
    "* (a == b);"
    "  for (int j = 0; j < n; j++) { c = c * 3 + (S)j; uc = j & 1 ? (T)c : uc / 3; }"
    "  out[i + at] = c ^ uc << 8 ^ (int)((float)a + (float)ua); }\n"
    "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
    "  TRY(uchar, char, 0) TRY(ushort, short, 256) out[i + 512] = convert_char_sat(i * 7 - 90) + "
    "convert_ushort((float)i);\n"
    "}",
    "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
    "  char4 a = (char4)(i, n, -i, 7) * (char)3, b = a.wzyx; uchar8 c = as_uchar8((int2)(i * 99, n * 77)); "
    "char p[9] = {1, 2};\n"
    "  short3 s = convert_short3(a.xyz) << 5; s.y = c.s6; p[i & 7] = b.y; a = select(a, b, a < b);\n"
    "  out[i] = as_int(a + b); out[i + 256] = as_int2(c + (uchar8)(c.hi, c.lo)).y; out[i + 512] = s.x * s.z "
    "+ p[n & 7];\n"
    "  out[i + 768] = as_int((short2)(s.y, p[2])); out[i + 1024] = as_ushort2(i * 65599).s1 / 3; local uchar "
    "l[16];\n"
    "  l[get_local_id(0)] = c.s3; barrier(1); out[i + 1280] = l[15 - get_local_id(0)] - l[n];\n"
    "  vstore3(a.xyz, i, (global char *)(out + 1536)); }",
};

static void narrow_integers_are_words(void **state) {
    (void)state;
    static const qn__target lacks[] = {
        {.lacks_i8 = true},
        {.lacks_i16 = true},
        {.lacks_i8 = true, .lacks_i16 = true},
        {.lacks_i8 = true, .lacks_i16 = true, .lacks_long_vectors = true, .lacks_i64 = true}};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        for (size_t k = 0; k < sizeof lacks / sizeof *lacks; k++)
            same_at_all_levels((setting){.source = narrow[i], .lacks = lacks[k], .n = 3});
}

/* Divisors of zero and -1, dividends of the least number; what is known not to be zero. */
static const char divisions[] =
    "kernel void k(global int *out, int n) { int i = get_global_id(0); int a = i & 64 ? INT_MIN : i * 77 - "
    "999;\n"
    "  int b = (i & 7) - 2, c = b | 1; out[i] = a / b + a % b; out[i + 256] = (uint)a / (uint)(i & 3);\n"
    "  out[i + 512] = (uint)a % (uint)(i & 3) + a / c + a % (n - 2); char4 d = (char4)(a >> 24, i, -128, "
    "n);\n"
    "  char4 e = (char4)(b, i & 1, -1, 0); out[i + 768] = as_int(d / e); out[i + 1024] = as_int(d % e);\n"
    "  long2 f = (long2)(a, LONG_MIN) / (long2)(b, b); out[i + 1280] = (int)(f.x ^ f.y >> 5);\n"
    "  out[i + 1536] = (ulong)a / (ulong)(i & 1) >> 3; }";

static void integers_are_divided_by_zero(void **state) {
    (void)state;
    static const qn__target lacks[] = {{.lacks_zero_divisors = true},
                                       {.lacks_division_overflow = true},
                                       {.lacks_zero_divisors = true, .lacks_division_overflow = true},
                                       {.lacks_zero_divisors = true, .lacks_i64 = true, .lacks_i8 = true}};
    for (size_t k = 0; k < sizeof lacks / sizeof *lacks; k++)
        same_at_all_levels((setting){.source = divisions, .lacks = lacks[k], .n = 2});
}

/* By constants: dividends next to the divisor's multiples, at both ends, and any. In the place of T, U and D the types and the divisor. */
static const char by_constant[] =
    "kernel void k(global int *out, int n) { int i = get_global_id(0); T h = 0;\n"
    "  for (int j = 0; j < 8; j++) {\n"
    "    U a = (U)(i * 8 + j) * (U)0x9e3779b97f4a7c15ul; if (j & 1) a = (U)(a >> n) * (U)(D) + (U)(i % 3 - "
    "1);\n"
    "    if (j == 2) a = (U)(i % 5 - 2); if (j == 4) a = ((U)1 << (sizeof(U) * 8 - 1)) + (U)(i % 5 - 2);\n"
    "    h = h * 31 + (T)(a / (U)(D)); h = h * 31 + (T)(a % (U)(D));\n"
    "    h = h * 31 + (T)a / (T)(D); h = h * 31 + (T)a % (T)(D);\n"
    "    T b = (T)(a >> 1); h = h * 31 + b / (T)(D); h = h * 31 + b % (T)(D); }\n"
    "  out[i] = (int)h; out[i + 256] = (int)((U)h >> (sizeof(U) * 8 - 32)); }";

static void by(const char *type, const char *divisor) {
    char source[2048];
    snprintf(source, sizeof source, "#define T %s\n#define U u%s\n#define D %s\n%s", type, type, divisor,
             by_constant);
    for (int level = 1; level <= 2; level++)
        same(
            &(setting){.source = source, .lacks = {.lacks_constant_division = true}, .n = 7, .level = level});
}

static void integers_are_divided_by_constants(void **state) {
    (void)state;
    static const char *const words[] = {"1",          "2",          "3",          "5",          "6",
                                        "7",          "9",          "10",         "11",         "12",
                                        "14",         "25",         "28",         "64",         "100",
                                        "125",        "641",        "1000",       "65535",      "65537",
                                        "6700417",    "0x7fffffff", "0x80000000", "0x80000001", "0xaaaaaaab",
                                        "0xfffffffe", "0xffffffff", "-3",         "-7",         "-1000"};
    static const char *const longs[] = {"3ul",
                                        "7ul",
                                        "10ul",
                                        "12ul",
                                        "28ul",
                                        "1000000007ul",
                                        "274177ul",
                                        "0xfffffffful",
                                        "0x100000001ul",
                                        "0x7ffffffffffffffful",
                                        "0x8000000000000000ul",
                                        "0x8000000000000001ul",
                                        "0xcccccccccccccccdul",
                                        "0xfffffffffffffffeul",
                                        "0xfffffffffffffffful",
                                        "-3l",
                                        "-10l"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) by("int", words[i]);
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) by("long", longs[i]);
    uint32_t random = 12345;
    for (int i = 0; i < 40; i++) {
        char divisor[24];
        random = random * 1664525 + 1013904223;
        snprintf(divisor, sizeof divisor, "%uu", (unsigned)(random >> random % 31));
        by("int", divisor);
    }
}

/* Byte swaps as people write them, and what looks like one. */
static const char swaps[] =
    "kernel void k(global int *out, int n) { int i = get_global_id(0); ushort v = i * 40503, w = v ^ n; "
    "short s = v;\n"
    "  out[i] = (ushort)(v << 8 | v >> 8); out[i + 256] = v << 8 | w >> 8; uint u = i * 2654435761u;\n"
    "  out[i + 512] = (short)(s << 8 | (s >> 8 & 0xff)) + (ushort)((u & 0xff) << 8 | (u & 0xff00) >> 8);\n"
    "  out[i + 768] = (short)(s << 8 | s >> 8); out[i + 1024] = (u << 8 | u >> 8) ^ (ushort)(u << 8 | v >> "
    "8);\n"
    "  ushort4 x = (ushort4)(v, w, i, u); x = (x << (ushort4)8) + (x >> (ushort4)8); x ^= rotate(x, "
    "(ushort4)8);\n"
    "  out[i + 1280] = as_int2(x).x; out[i + 1536] = as_int2(x).y; }";

static void bytes_are_swapped(void **state) {
    (void)state;
    same_at_all_levels((setting){.source = swaps, .lacks = {.lacks_byte_swaps = true}, .n = 3});
}

/* Differences of 64 bits that stop at 0, in what chooses them and as a loop's bound. */
static const char differences[] =
    "kernel void k(global int *out, int n) { int i = get_global_id(0); ulong a = i * 0x9e3779b97f4a7c15ul >> "
    "(i & 63), b = a * n;\n"
    "  ulong low = max(a, 3072ul) - 3072ul, d = a > b ? a - b : 0, s = sub_sat(b, a), e = 0; if (a > 3) e = "
    "a - 3;\n"
    "  out[i] = (int)(low ^ low >> 32); out[i + 256] = (int)(d ^ d >> 32); out[i + 512] = (int)(s ^ s >> "
    "32);\n"
    "  out[i + 768] = (int)(e ^ e >> 32); ulong2 v = (ulong2)(a, b); v = max(v, (ulong2)9) - (ulong2)9;\n"
    "  out[i + 1024] = (int)(v.x ^ v.x >> 32 ^ v.y ^ v.y >> 32);\n"
    "  for (ulong j = i; j < (ulong)(70 * n); j += 64) out[i + 1280] += j;\n"
    "  for (long j = i - 9; j < 5 * n; j++) out[i + 1536] += j; }";

static void differences_stop_at_0(void **state) {
    (void)state;
    static const qn__target lacks[] = {{.lacks_long_differences = true},
                                       {.lacks_long_differences = true, .wants_unrolled = true}};
    for (size_t k = 0; k < sizeof lacks / sizeof *lacks; k++)
        for (int n = 0; n < 4; n++)
            same_at_all_levels((setting){.source = differences, .lacks = lacks[k], .n = n});
}

/* Sums in memory: alone, beside another store that comes last, to places that are the same for some, left early. */
static const char sums[] =
    "kernel void k(global int *out, int n) { int i = get_global_id(0); global int *o = out + i, *p = o + (i "
    "& 1 ? "
    "0 : 256);\n"
    "  for (int j = 0; j < n + 5; j++) o[512] += i * j + o[512] / 3;\n"
    "  for (int j = 0; j < n; j++) { o[0] += j; *p = o[0] ^ i; }\n"
    "  for (int j = 0; j < 9; j++) { *p += j; o[0] += *p; }\n"
    "  for (int j = 0; j < i; j++) { o[768] += j; if (o[768] > 50) break; o[1024] = o[768]; o[768] += 3; } }";

static void sums_in_memory_go_around(void **state) {
    (void)state;
    static const qn__target wants[] = {{.wants_end_tests = true},
                                       {.wants_end_tests = true, .wants_unrolled = true},
                                       {.wants_end_tests = true, .lacks_i64_bits = true}};
    for (size_t k = 0; k < sizeof wants / sizeof *wants; k++)
        for (int n = 0; n < 4; n++) same_at_all_levels((setting){.source = sums, .lacks = wants[k], .n = n});
}

/* Bits of floats: every pair of those in the table, and random ones; what is no number is 0 in the result. */
#define PATTERNS                                                                                             \
    "constant uint special[16] = {0, 0x80000000u, 1, 0x80000001u, 0x007fffff, 0x00800000, 0x3f800000, "      \
    "0xc0400000u, 0x3f7fffff, 0x71000000, 0x7e812345, 0x7f7fffff, 0x7f800000, 0xff800000u, 0x7fc00000, "     \
    "0x0d123456};\n"                                                                                         \
    "float number(uint k, int n) { return as_float(n ? k * 2654435761u + n : special[k & 15]); }\n"          \
    "int bits(float x) { return isnan(x) ? 0 : as_int(x); }\n"                                               \
    "kernel void k(global int *out, int n) { int i = get_global_id(0); float a = number(i, n), b = "         \
    "number(n ? i * 7 + 1 : i >> 4, n);\n"

static const char *const floats[] = {
    PATTERNS
    "  out[i] = bits(a / b); out[i + 256] = bits(1 / b); out[i + 512] = bits(sqrt(a));\n"
    "  float4 q = (float4)(a, b, 1, 3) / (float4)(b, a, a, b); out[i + 768] = bits(q.x) ^ bits(q.y);\n"
    "  out[i + 1024] = bits(q.z) ^ bits(q.w); out[i + 1280] = bits(a / 3) ^ bits(b / 0x1p70f);\n"
    "  out[i + 1536] = bits(1 / (1 + fabs(fmin(a, 4)))) ^ bits(0x1p80f / a); }",
    PATTERNS
    "  out[i] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * (a >= b);\n"
    "  out[i + 256] = (a < 0) + 2 * (a <= 0) + 4 * (a == 0) + 8 * (a != 0) + 16 * (0 < a) + 32 * (0 <= "
    "a);\n"
    "  out[i + 512] = (a < 1) + 2 * (a == 0x1p-130f) + 4 * (0x1p-149f <= a) + 8 * (a == a);\n"
    "  out[i + 768] = bits(fabs(a)); out[i + 1024] = bits(a + 0.0f); int4 c = (float4)(a, b, 0, a) < "
    "(float4)(b, 0, a, 3);\n"
    "  out[i + 1280] = c.x + 2 * c.y + 4 * c.z + 8 * c.w; }",
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" PATTERNS
    "  float c = number(i ^ n * 5, n); out[i] = bits(fma(a, b, c)); out[i + 256] = bits(fma(a, b, -a * b));\n"
    "  double x = as_double((long)as_int(a) << 32 | as_int(b)), y = as_double((long)as_int(b) << 32 | i);\n"
    "  double2 f = fma((double2)(x, y), (double2)(y, c), (double2)(-x * y, x));\n"
    "  out[i + 512] = isnan(f.x) ? 0 : as_long(f.x) ^ as_long(f.x) >> 32;\n"
    "  out[i + 768] = isnan(f.y) ? 0 : as_long(f.y) ^ as_long(f.y) >> 32;\n"
    "  out[i + 1024] = as_long(fma(x * 0x1p-500, 0x1p-500, 0x1p-1060 * i)) >> n;\n"
    "  half h = fma(as_half((ushort)(i * 257 + 1)), as_half((ushort)0xfc00), as_half((ushort)(n << 14)));\n"
    "  out[i + 1280] = isnan(h) ? 0 : as_ushort(h); }",
};

static void floats_keep_their_values(void **state) {
    (void)state;
    const qn__target lacks = {.lacks_exact_fma = true,
                              .lacks_division = true,
                              .lacks_f16_division = true,
                              .lacks_denormal_compares = true,
                              .has_denormals = true};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        for (int n = 0; n < 4; n++)
            same_at_all_levels((setting){.source = floats[i], .lacks = lacks, .n = n});
}

/* Of numbers that are not denormal, with what is in the result taken for zero: near ties, near the ends of the range. */
static void fused_sums_keep_their_values_without_doubles(void **state) {
    (void)state;
    static const char source[] = PATTERNS
        "  float d = number(i ^ n * 5, n), e = -a * b; int j = i * 40503 + n;\n"
        "#define ORDINARY(x) (fabs(x) < 0x1p-126f ? copysign(0.0f, x) : x)\n"
        "  a = ORDINARY(a); b = ORDINARY(b); d = ORDINARY(d); e = ORDINARY(e);\n"
        "  float near = as_float(as_int(e) + (j & 7) - 4), far = as_float(as_int(e) + ((j & 63) - 32 << "
        "23));\n"
        "  near = ORDINARY(near); far = ORDINARY(far);\n"
        "#define FUSED(a, b, c) (bits(ORDINARY(fma(a, b, c))))\n"
        "  out[i] = FUSED(a, b, d); out[i + 256] = FUSED(a, b, e); out[i + 512] = FUSED(a, b, near);\n"
        "  out[i + 768] = FUSED(a, b, far);\n"
        "  float p = 1 + (j & 15) * 0x1p-23f, q = 1 + (j >> 4 & 15) * 0x1p-23f;\n"
        "  out[i + 1024] = FUSED(p, q, 0x1p-24f) ^ FUSED(p, 0.5f, as_float(j & 0x807fffff));\n"
        "  a = ORDINARY((a * 0x1p-60f)); b = ORDINARY((b * 0x1p-60f)); d = ORDINARY((d * 0x1p-90f));\n"
        "  out[i + 1280] = FUSED(a, b, d); }";
    const qn__target lacks = {.lacks_exact_fma = true, .lacks_f64 = true, .lacks_f32_denormals = true};
    for (int n = 0; n < 40; n++) same_at_all_levels((setting){.source = source, .lacks = lacks, .n = n});
}

static void sub_groups_where_work_items_part_are_refused(void **state) {
    (void)state;
    static const char *const sources[] = {
        "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
        "  if (i > n) out[i] =\n sub_group_reduce_add(i); }",
        "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
        "  if (i > n) return;\n  out[i] = sub_group_any(i == 7); }",
        "kernel void k(global int *out, int n) { int i = get_global_id(0);\n"
        "  for (int j = 0; j < i; j++)\n out[i] += sub_group_broadcast(i, 0); }",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        same_at_all_levels(
            (setting){.source = sources[i], .lacks = {.lacks_sub_groups = true}, .refused = "(kernel.cl:3)"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printf_writes_records),
        cmocka_unit_test(a_full_buffer_keeps_what_fits),
        cmocka_unit_test(far_jumps_lead_where_they_did),
        cmocka_unit_test(collectives_give_the_same),
        cmocka_unit_test(sub_groups_in_local_memory),
        cmocka_unit_test(wide_integers_are_scalars),
        cmocka_unit_test(wide_integers_are_words),
        cmocka_unit_test(narrow_integers_are_words),
        cmocka_unit_test(integers_are_divided_by_zero),
        cmocka_unit_test(integers_are_divided_by_constants),
        cmocka_unit_test(bytes_are_swapped),
        cmocka_unit_test(differences_stop_at_0),
        cmocka_unit_test(sums_in_memory_go_around),
        cmocka_unit_test(floats_keep_their_values),
        cmocka_unit_test(fused_sums_keep_their_values_without_doubles),
        cmocka_unit_test(sub_groups_where_work_items_part_are_refused),
        cmocka_unit_test(a_string_in_private_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
