/* Safe programs: nothing outside of what a kernel was given is touched, whatever the mistake; what is told names the line and the
   variable; right kernels give the same bits. Buffers are parts of larger ones, whose other parts must stay as they were. */
#include "api_support.h"

enum { COUNT = 64, PART = COUNT * 4, MARK = 0x5a5a5a5a };

/* Each line is a kernel of the same parameters, and what the next wait is to say: NULL where it is right. */
typedef struct pattern {
    const char *name, *body, *told;
} pattern;

#define X "of 'x' at byte "
static const pattern patterns[] = {
    {"one_past_the_end", "x[i + 1] = 1;", "writes 4 bytes " X "256 of its 256"},
    {"near_the_end", "if (i < n - 1) x[i + 1] = 1;", NULL},
    {"reads_past_the_end", "x[i] = y[i + 1];", "reads 4 bytes of 'y' at byte 256 of its 256"},
    {"before_the_begin", "x[i - 1] = 1;", "writes 4 bytes " X "-4 of its 256"},
    {"from_one_on", "if (i > 0) x[i - 1] = 1;", NULL},
    {"far_away", "x[i + 100000000] = 1;", "writes 4 bytes " X "4"},
    {"in_another_terabyte", "if (i == 0) x[((long)n << 40)] = 1;",
     "writes 4 bytes " X "281474976710656 of its 256"},
    {"wraps_around_in_int", "if (i == 0) x[n * 67108864 + 33554432 + n] = 1;", "writes 4 bytes " X},
    {"unsigned_below_zero", "if (i == 0) x[(uint)(i - 1)] = 1;",
     "writes 4 bytes " X "17179869180 of its 256"},
    {"size_below_zero", "if (i == 0) x[get_global_id(0) - 5] = 1;", "writes 4 bytes " X "-20 of its 256"},
    {"too_many_work_items", "x[i * 2] = 1;", "writes 4 bytes " X},
    {"fewer_work_items", "if (i < 32) x[i * 2] = 1;", NULL},
    {"index_from_memory", "x[y[i] * 1000] = i;", "writes 4 bytes " X},
    {"index_from_memory_in_range", "x[y[i] & 63] = 1;", NULL},
    {"index_checked_after_use", "int v = x[y[i] * 7]; if (y[i] < 9) x[i] = v;", "reads 4 bytes " X},
    {"index_checked_before_use", "int j = y[i]; if (j >= 0 && j < n) x[j] = 1;", NULL},
    {"index_from_a_byte", "global uchar *b = (global uchar *)y; x[b[i] & 7] = 1;", NULL},
    {"loop_one_too_long", "for (int k = 0; k <= n; k++) x[k] = 1;", "writes 4 bytes " X "256 of its 256"},
    {"loop_of_right_length", "for (int k = 0; k < n; k++) x[k] = 1;", NULL},
    {"loop_down_too_far", "for (int k = n - 1; k >= -1; k--) x[k] = 1;", "writes 4 bytes " X "-4 of its 256"},
    {"loop_down", "for (int k = n - 1; k >= 0; k--) x[k] = 1;", NULL},
    {"loop_by_strides", "for (int k = i; k < n; k += get_global_size(0)) x[k] = 2;", NULL},
    {"loop_until_memory_says", "int k = 0; while (y[k] > 0) k++; x[i] = k;", "reads 4 bytes of 'y'"},
    {"halving", "for (int s = n / 2; s > 0; s >>= 1) if (i < s) x[i + s] = s;", NULL},
    {"halving_from_too_much", "for (int s = n; s > 0; s >>= 1) if (i < s) x[i + s] = s;",
     "writes 4 bytes " X},
    {"pointer_that_walks", "global int *p = x; for (int k = 0; k <= n; k++) *p++ = 1;",
     "writes 4 bytes of 'x'"},
    {"pointer_that_walks_well", "global int *p = x; for (int k = 0; k < n; k++) *p++ = 1;", NULL},
    {"pointer_in_do_while", "global int *p = x; int k = 0; do { *p++ = 1; } while (++k <= n);",
     "writes 4 bytes of 'x' at byte 256 of its 256"},
    {"pointer_in_do_while_well", "global int *p = x; int k = 0; do { *p++ = 1; } while (++k < n);", NULL},
    {"pointer_down_to_another", "global int *p = x + n; do { *--p = 1; } while (p != x);", NULL},
    {"pointer_down_too_far", "global int *p = x + n; do { *--p = 1; } while (p + 1 != x);",
     "writes 4 bytes of 'x' at byte -4 of its 256"},
    {"pointers_that_meet", "global int *p = x, *q = x + n - 1; do { *p++ = 3; *q-- = 3; } while (p < q);",
     NULL},
    {"pointers_that_change_places",
     "global int *p = x, *q = x + 32; int k = 0; do { global int *t = p; p = q; q = t; *p++ = 3; } while "
     "(++k < n);",
     NULL},
    {"pointers_that_change_buffers",
     "global int *p = x, *q = y; int k = 0; do { global int *t = p; p = q; q = t; *p++ = i; } while (++k < 3 "
     "* n);",
     "writes 4 bytes where a pointer leads"},
    {"pointer_moved_by_memory", "global int *p = x; int k = 0; do { p += y[k]; *p = 1; } while (++k < n);",
     "writes 4 bytes of 'x'"},
    {"pointer_into_a_private_array",
     "int a[8]; int *p = a; int k = 0; do { *p++ = y[k]; } while (++k <= n); x[i] = a[i & 7];",
     "writes 4 bytes of 'a' at byte 32"},
    {"pointer_into_a_local_array",
     "local int t[32]; local int *p = t + get_local_id(0); int k = 0; do { *p = k; p += 8; } while (++k < "
     "4); barrier(1); x[i] = "
     "t[i & 31];",
     "writes 4 bytes of 't' at byte 128 of its 128"},
    {"pointer_before_the_begin", "global int *p = x + i - 3; *p = 1;", "writes 4 bytes " X "-"},
    {"one_of_two_pointers", "global int *p = y[i] & 1 ? x : y; p[i + n] = 1;",
     "writes 4 bytes where a pointer leads"},
    {"one_of_two_pointers_inside", "global int *p = y[i] & 1 ? x + 1 : x; p[i & 31] = 1;", NULL},
    {"pointers_in_an_array", "global int *p[3] = {x, x + 8, x + 16}; p[y[i] % 3][n] = 1;", "writes 4 bytes"},
    {"pointer_as_a_number", "global int *p = (global int *)((ulong)x + 4 * (ulong)n); if (i == 0) *p = 1;",
     "writes 4 bytes"},
    {"vector_past_the_end", "vstore4((int4)(1), i, x);", "writes 16 bytes " X},
    {"vector_across_the_end", "if (i == 0) vstore4((int4)(1), 0, x + n - 2);",
     "writes 16 bytes " X "248 of its 256"},
    {"vectors_inside", "if (i < n / 4) vstore4((int4)(i), i, x);", NULL},
    {"threes_across_the_end", "if (i == 0) vstore3((int3)(1), 0, x + n - 2);",
     "writes 12 bytes " X "248 of its 256"},
    {"three_at_the_end", "if (i == 0) vstore3((int3)(1), 0, x + n - 3);", NULL},
    {"wider_by_a_cast", "((global long *)x)[i] = 1;", "writes 8 bytes " X},
    {"bytes_by_a_cast", "((global uchar *)x)[i * 5] = 1;", "writes 1 bytes " X},
    {"bytes_inside", "((global uchar *)x)[i * 4 + 3] = 1;", NULL},
    {"halves_past_the_end", "if (i == 0) vstore_half(1.0f, 2 * n, (global half *)x);",
     "writes 2 bytes " X "256 of its 256"},
    {"structs_by_value", "global pair *p = (global pair *)x; p[i] = p[0];", "writes"},
    {"structs_inside", "global pair *p = (global pair *)x; if (i > 0 && i < n / 2) p[i].b = i;", NULL},
    {"field_of_a_far_struct", "((global pair *)x)[n].b = 1;", "writes 4 bytes " X "516 of its 256"},
    {"atomic_outside", "atomic_add(&x[n + i], 1);", "writes 4 bytes " X},
    {"atomic_inside", "atomic_add(&x[i & 3], 1);", NULL},
    {"compare_and_swap_outside", "atomic_cmpxchg(&x[-1 - i], 0, 1);", "writes 4 bytes " X "-"},
    {"private_array_by_memory", "int a[8]; for (int k = 0; k < 8; k++) a[k] = k; x[i] = a[y[i] * 100 + 8];",
     "reads 4 bytes of 'a' at byte "},
    {"private_array_write",
     "int a[8]; for (int k = 0; k < 8; k++) a[k] = k; a[y[i] - 100] = 7; x[i] = a[i & 7];",
     "writes 4 bytes of 'a' at byte -"},
    {"private_array_inside", "int a[8]; for (int k = 0; k < 8; k++) a[k] = k; x[i] = a[y[i] & 7];", NULL},
    {"private_loop_too_long", "int a[8]; for (int k = 0; k <= n; k++) a[k] = y[k & 63]; x[i] = a[i & 7];",
     "writes 4 bytes of 'a' at byte 32 of its 32"},
    {"local_array_by_memory", "local int t[16]; t[y[i] * 16] = 1; barrier(1); x[i] = t[i & 15];",
     "writes 4 bytes of 't'"},
    {"local_array_inside", "local int t[16]; t[i & 15] = 1; barrier(1); x[i] = t[(i + 1) & 15];", NULL},
    {"local_array_halo",
     "local int t[16]; int me = get_local_id(0); t[me] = 1; barrier(1); x[i] = t[me + 1];",
     "reads 4 bytes of 't' at byte 64 of its 64"},
    {"local_parameter_too_far", "l[get_local_id(0) + 1] = 1; barrier(1); x[i] = l[0];",
     "writes 4 bytes of 'l' at byte 64 of its 64"},
    {"local_parameter", "l[get_local_id(0)] = i; barrier(1); x[i] = l[15 - get_local_id(0)];", NULL},
    {"table_too_far", "x[i] = table[i];", "reads 4 bytes of 'table' at byte "},
    {"table_by_memory", "x[i] = table[y[i] - 50];", "reads 4 bytes of 'table' at byte -"},
    {"table_inside", "x[i] = table[i & 3];", NULL},
    {"program_variable_too_far", "counts[i * 100000] = 1;", "writes 4 bytes"},
    {"program_variable", "counts[i & 3] = i; x[i] = 1;", NULL},
    {"copy_past_the_end",
     "event_t e = async_work_group_copy(l, y + n - 8, 16, 0); wait_group_events(1, &e); x[i] = l[0];",
     "reads"},
    {"copy_inside",
     "event_t e = async_work_group_copy(l, y + n - 16, 16, 0); wait_group_events(1, &e); x[i] = l[3];", NULL},
    {"rows_of_a_matrix", "int r = i / 8, c = i % 8; x[r * 9 + c] = 1;", "writes 4 bytes " X},
    {"rows_inside", "int r = i / 8, c = i % 8; x[r * 8 + c] = 1;", NULL},
    {"neighbours", "x[i] = y[i - 1] + y[i + 1];", "reads 4 bytes of 'y' at byte "},
    {"neighbours_inside", "if (i > 0 && i < n - 1) x[i] = y[i - 1] + y[i + 1];", NULL},
    {"clamped_neighbours", "x[i] = y[max(i - 1, 0)] + y[min(i + 1, n - 1)];", NULL},
    {"in_a_function", "put(x, i + 1);", "writes 4 bytes " X "256 of its 256"},
    {"in_a_switch",
     "switch (i & 3) { case 0: x[i] = 1; break; case 3: x[i + 1] = 2; break; default: x[0] = 3; }",
     "writes 4 bytes " X "256"},
    {"vectors_at_an_odd_place", "if (i < 8) ((global int4 *)(x + 1))[i] = (int4)(1);",
     "writes 16 bytes of 'x', not aligned to 16, at byte "},
    {"vectors_at_an_even_place", "if (i < 8) ((global int4 *)(x + 4))[i] = (int4)(1);", NULL},
    {"vectors_that_need_not_be_aligned", "vstore4((int4)(1), i & 7, x + 1);", NULL},
    {"vectors_where_memory_says", "((global int4 *)(x + (y[i] & 7)))[i & 7] = (int4)(1);",
     "writes 16 bytes of 'x', not aligned to 16, at byte "},
    {"vectors_where_memory_says_well", "((global int4 *)(x + (y[i] & 7) * 4))[i & 7] = (int4)(1);", NULL},
    {"vectors_that_walk",
     "global int4 *p = (global int4 *)x; for (int k = 0; k < n / 4; k++) *p++ = (int4)(1);", NULL},
    {"vectors_that_walk_by_words",
     "global int *p = x; for (int k = 0; k < 8; k++) *(global int4 *)p++ = (int4)(1);",
     "writes 16 bytes of 'x', not aligned to 16, at byte "},
    {"word_at_an_odd_byte", "x[i] = *(global int *)((global char *)y + 1);",
     "reads 4 bytes of 'y', not aligned to 4, at byte 1 of its 256"},
    {"long_at_a_word", "if (i < 32) x[i] = (int)*(global long *)(y + i);",
     "reads 8 bytes of 'y', not aligned to 8, at byte "},
    {"atomic_at_an_odd_byte", "atomic_inc((global int *)((global char *)x + 2));",
     "writes 4 bytes of 'x', not aligned to 4, at byte 2 of its 256"},
    {"exchange_at_an_odd_byte", "atomic_cmpxchg((global int *)((global char *)x + i), 0, 1);",
     "writes 4 bytes of 'x', not aligned to 4, at byte "},
    {"private_bytes_as_words",
     "uchar b[20]; for (int k = 0; k < 20; k++) b[k] = k + n; x[i] = *(int *)(b + (y[i] & 15));",
     "reads 4 bytes of 'b', not aligned to 4, at byte "},
    {"private_bytes_as_words_well",
     "uchar b[20]; for (int k = 0; k < 20; k++) b[k] = k + n; x[i] = *(int *)(b + (y[i] & 12));", NULL},
    {"local_bytes_as_words",
     "local uchar b[20]; b[get_local_id(0)] = 1; barrier(1); x[i] = *(local int *)(b + (y[i] & 15));",
     "reads 4 bytes of 'b', not aligned to 4, at byte "},
    {"local_bytes_as_words_well",
     "local uchar b[20]; b[get_local_id(0)] = 1; barrier(1); x[i] = *(local int *)(b + (y[i] & 12));", NULL},
    {"odd_bytes_of_two_pointers",
     "global int *p = (global int *)((global char *)(y[i] & 1 ? x : y) + 2); p[i & 15] = 1;",
     "writes 4 bytes where a pointer leads, not aligned to 4, at byte "},
    {"copy_from_an_odd_byte",
     "event_t e = async_work_group_copy(l, (global int *)((global char *)y + 2), 8, 0); wait_group_events(1, "
     "&e); x[i] = l[0];",
     "of 'y', not aligned to 4, at byte "},
    {"rows_of_vectors", "if (i < 4) ((global int4 *)(x + (i & 0) * n))[i] = (int4)(1);", NULL},
    {"rows_that_end_unaligned",
     "int m = n - 1; if (i < 1) *(global int4 *)(x + m * (i + 1) - 8) = (int4)(1);",
     "writes 16 bytes of 'x', not aligned to 16, at byte 220 of its 256"},
    {"sum_outside", "int s = 0; for (int k = y[i]; k < 70; k++) s += y[k]; x[i] = s;",
     "reads 4 bytes of 'y' at byte "},
    {"sum_inside", "int s = 0; for (int k = y[i]; k < 64; k++) s += y[k]; x[i] = s;", NULL},
    {"sums_of_sums_inside",
     "int s = 0; for (int k = y[i]; k > 3; k /= 2) { for (int c = 0; c < y[k]; c++) s += y[y[c]]; s ^= k; } "
     "barrier(2); x[i] = s;",
     NULL},
    {"sums_of_sums_outside",
     "int s = 0; for (int k = y[i]; k > 3; k /= 2) for (int c = 0; c < y[k]; c++) s += y[y[c] * 2]; x[i] = "
     "s;",
     "reads 4 bytes of 'y' at byte "},
    {"volatile_too_far", "volatile global int *v = x; v[i + n] = 1;", "writes 4 bytes " X},
};

static const char before[] = "typedef struct { int a, b; } pair;\n"
                             "constant int table[4] = {3, 1, 4, 1};\n"
                             "global int counts[4];\n"
                             "void put(global int *p, int k) { p[k] = k; }\n";
static const char head[] = "(global int *x, global int *y, local int *l, int n) { int i = get_global_id(0); ";

static char *source_of(size_t first, size_t count) {
    char *text = test_malloc(64 << 10);
    size_t length = (size_t)sprintf(text, "%s", before);
    for (size_t i = first; i < first + count; i++)
        length += (size_t)sprintf(text + length, "kernel void %s%s%s }\n", patterns[i].name, head,
                                  patterns[i].body);
    return text;
}

/* Buffers that lie between others' bytes. */
typedef struct world {
    qn_context *context;
    qn_device *device;
    qn_buffer *whole, *x, *y;
} world;

static qn_buffer *view(const world *w, uint64_t offset) {
    qn_buffer *part;
    assert_ok(w->context, qn_buffer_view(w->whole, offset, PART, &part));
    return part;
}

/* Parts: marks, x, marks, y, marks; views begin at multiples of 256 bytes. */
static world make_world(void) {
    world w = {.context = make_context(NULL)};
    w.device = get_device(w.context, test_device());
    w.whole = make_buffer(w.device, 5 * PART, NULL);
    w.x = view(&w, PART);
    w.y = view(&w, 3 * PART);
    return w;
}

static void fill(const world *w) {
    int32_t data[5 * COUNT];
    for (int i = 0; i < 5 * COUNT; i++) data[i] = MARK;
    for (int i = 0; i < COUNT; i++) data[COUNT + i] = -1 - i, data[3 * COUNT + i] = i * 37 % 61 + 1;
    assert_ok(w->context, qn_buffer_write(w->whole, 0, data, sizeof data));
}

static qn_program *compile(const world *w, const char *text, bool safe, int level) {
    qn_program *program;
    const qn_program_desc desc = {
        .source = text, .path = "p.cl", .options = "-cl-std=CL2.0", .safe = safe, .opt_level = level};
    assert_ok(w->context, qn_program_create(w->device, &desc, &program));
    assert_ok(w->context, qn_program_wait(program, QN_FOREVER));
    return program;
}

static qn_status run(const world *w, qn_program *program, const pattern *p, int32_t *after) {
    qn_kernel *kernel = make_kernel(program, w->context, p->name);
    qn_range range = {.global = {COUNT}, .local = {16}};
    fill(w);
    assert_ok(w->context,
              qn_launch(NULL, kernel, &range, QN_ARGS(w->x, w->y, qn_arg_local(16 * 4), (int)COUNT)));
    const qn_status status = qn_device_wait(w->device, QN_FOREVER);
    char said[512];
    snprintf(said, sizeof said, "%s", status ? qn_error_message(w->context) : "");
    assert_ok(w->context, qn_buffer_read(w->whole, 0, after, 5 * PART));
    for (int i = 0; i < 5 * COUNT; i++)
        if ((i / COUNT) % 2 == 0 && after[i] != MARK) fail_msg("%s: word %d outside was changed", p->name, i);
    if (!p->told != !status) fail_msg("%s: %s %s", p->name, qn_status_name(status), said);
    if (p->told && (status != QN_ERROR_KERNEL_FAILED || !strstr(said, p->told) || !strstr(said, p->name) ||
                    !strstr(said, "p.cl:")))
        fail_msg("%s: %s %s", p->name, qn_status_name(status), said);
    qn_kernel_destroy(kernel);
    return status;
}

enum { AT_ONCE = 24 };

/* PoCL takes its time: a part of them there. */
static size_t all_patterns(void) {
    return testing("opencl") ? AT_ONCE / 2 : sizeof patterns / sizeof *patterns;
}

static void try_all(int level) {
    world w = make_world();
    for (size_t first = 0; first < all_patterns(); first += AT_ONCE) {
        const size_t left = all_patterns() - first, count = left < AT_ONCE ? left : AT_ONCE;
        char *text = source_of(first, count);
        qn_program *safe = compile(&w, text, true, level), *plain = compile(&w, text, false, level);
        for (size_t i = first; i < first + count; i++) {
            int32_t after[5 * COUNT], wanted[5 * COUNT];
            run(&w, safe, &patterns[i], after);
            if (patterns[i].told) continue;
            run(&w, plain, &patterns[i], wanted);
            if (memcmp(after, wanted, sizeof after))
                fail_msg("%s gives other results when it is safe", patterns[i].name);
        }
        qn_program_destroy(safe);
        qn_program_destroy(plain);
        test_free(text);
    }
    qn_context_destroy(w.context);
}

static void mistakes_stay_inside(void **state) {
    (void)state;
    try_all(0);
}

static void mistakes_stay_inside_without_optimising(void **state) {
    (void)state;
    if (testing("opencl")) skip(); /* PoCL takes its time */
    try_all(-1);
}

/* Each fault is told once, by the first wait behind it, and counts all of them. */
static void faults_are_told_once(void **state) {
    (void)state;
    world w = make_world();
    qn_program *program =
        compile(&w, "kernel void f(global int *x, int n) { x[get_global_id(0) + n] = n; }\n", true, 0);
    qn_kernel *kernel = make_kernel(program, w.context, "f");
    int32_t word;
    fill(&w);
    assert_ok(w.context, qn_launch(NULL, kernel, QN_RANGE(COUNT), QN_ARGS(w.x, 60)));
    assert_fails(w.context, qn_buffer_read(w.x, 0, &word, sizeof word), QN_ERROR_KERNEL_FAILED,
                 "(60 accesses outside in all)");
    assert_ok(w.context, qn_device_wait(w.device, QN_FOREVER));
    assert_ok(w.context, qn_launch(NULL, kernel, QN_RANGE(COUNT), QN_ARGS(w.x, 0)));
    assert_ok(w.context, qn_device_wait(w.device, QN_FOREVER));
    assert_ok(w.context, qn_buffer_read(w.x, 0, &word, sizeof word));
    assert_int_equal(word, 0);
    assert_ok(w.context, qn_launch(NULL, kernel, QN_RANGE(COUNT), QN_ARGS(w.x, -1)));
    assert_fails(w.context, qn_stream_wait(qn_device_stream(w.device), QN_FOREVER), QN_ERROR_KERNEL_FAILED,
                 "p.cl:1: kernel 'f' writes 4 bytes of 'x' at byte -4 of its 256");
    qn_context_destroy(w.context);
}

/* A graph's launch is looked at when it is recorded, and when it is given other arguments. */
static void graphs_are_safe(void **state) {
    (void)state;
    world w = make_world();
    qn_program *program =
        compile(&w, "kernel void f(global int *x, int n) { x[get_global_id(0) + n] = n; }\n", true, 0);
    qn_kernel *kernel = make_kernel(program, w.context, "f");
    qn_stream *stream;
    qn_graph *graph;
    assert_ok(w.context, qn_stream_create(w.device, &stream));
    fill(&w);
    assert_ok(w.context, qn_graph_begin(stream));
    assert_ok(w.context, qn_launch(stream, kernel, QN_RANGE(COUNT), QN_ARGS(w.x, 0)));
    assert_ok(w.context, qn_graph_end(stream, &graph));
    assert_ok(w.context, qn_graph_launch(stream, graph));
    assert_ok(w.context, qn_stream_wait(stream, QN_FOREVER));
    assert_ok(w.context, qn_graph_set_launch(graph, 0, QN_RANGE(COUNT), QN_ARGS(w.x, 2)));
    assert_ok(w.context, qn_graph_launch(stream, graph));
    for (int again = 0; again < 2; again++) {
        assert_fails(w.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_KERNEL_FAILED, "'x' at byte");
        assert_ok(w.context, qn_graph_launch(stream, graph));
    }
    assert_fails(w.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_KERNEL_FAILED, "'x' at byte");
    assert_ok(w.context, qn_graph_set_launch(graph, 0, QN_RANGE(COUNT), QN_ARGS(w.x, 0)));
    assert_ok(w.context, qn_graph_launch(stream, graph));
    assert_ok(w.context, qn_stream_wait(stream, QN_FOREVER));
    qn_context_destroy(w.context);
}

static void null_buffers_have_no_bytes(void **state) {
    (void)state;
    world w = make_world();
    qn_program *program =
        compile(&w,
                "kernel void f(global int *x, global int *y, int n) { int i = get_global_id(0); if (n > 3) "
                "x[i] = y ? y[i] : n; if (n > 9) y[i] = 1; }\n",
                true, 0);
    qn_kernel *kernel = make_kernel(program, w.context, "f");
    assert_ok(w.context, qn_launch(NULL, kernel, QN_RANGE(COUNT), QN_ARGS(w.x, qn_arg_null(), 5)));
    assert_ok(w.context, qn_device_wait(w.device, QN_FOREVER));
    qn_context_destroy(w.context);
}

static void what_cannot_be_checked_is_refused(void **state) {
    (void)state;
    world w = make_world();
    qn_program *program;
    const qn_program_desc hidden = {
        .source = "kernel void f(global ulong *x) { global int *p = (global int *)x[0]; *p = 1; }\n",
        .path = "h.cl",
        .safe = true};
    assert_fails(w.context, qn_program_create(w.device, &hidden, &program), QN_ERROR_UNSUPPORTED,
                 "safe: the kernel hides where the pointer of this access is from (h.cl:1)");
    qn_context_destroy(w.context);
}

static void kernels_are_those_of_the_source(void **state) {
    (void)state;
    world w = make_world();
    qn_program *program = compile(&w, "kernel void f(global int *x, int n) { x[n] = n; }\n", true, 0);
    qn_kernel *kernel = make_kernel(program, w.context, NULL);
    qn_kernel_info info;
    assert_int_equal(qn_program_kernel_count(program), 1);
    assert_null(qn_program_kernel_name(program, 1));
    assert_ok(w.context, qn_kernel_get_info(kernel, &info));
    assert_int_equal(info.num_params, 2);
    qn_context_destroy(w.context);
}

/* ---- loops ---- */

enum { BUDGET = 1000 };

/* Kernels of the same parameters, and what is told; NULL: the loops end by themselves, with n in x. */
static const pattern loops[] = {
    {"for_ever", "while (n > 0) x[i] ^= 1;", "p.cl:2: kernel 'for_ever' has a loop that goes on when"},
    {"until_memory_says", "while (y[i] > 0) x[i] += y[i];", "kernel 'until_memory_says'"},
    {"never_there", "for (uint k = 1; k != 0; k += 2) x[i] += k;", "kernel 'never_there'"},
    {"too_long", "int s = 0; for (int k = 0; k < n * 16; k++) s += y[k & 63]; x[i] = s;",
     "kernel 'too_long'"},
    {"too_many_in_all",
     "int s = 0; for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) s += y[j]; x[i] = s;",
     "kernel 'too_many_in_all'"},
    {"one_after_the_other",
     "for (int j = 0; j < n * 12; j++) x[i] = j; for (int k = 0; k < n * 12; k++) x[i] = k; x[i] = n;",
     "kernel 'one_after_the_other'"},
    {"some_for_ever", "while (i & 1) x[i]++;", "kernel 'some_for_ever'"},
    {"at_their_end", "int k = 0; do { if (k & 1) continue; x[i] = k; } while (++k); x[i] = 0;",
     "kernel 'at_their_end'"},
    {"with_a_pointer", "global int *p = x + i; while (*p != 77) p = p == x ? x + 1 : x; *p = 3;",
     "kernel 'with_a_pointer'"},
    {"constantly_many", "int s = 0; for (int k = 0; k < 2000000000; k += 1) s = s * 3 + k; x[i] = s;",
     "kernel 'constantly_many'"},
    {"nested_constants",
     "int s = 0; for (int a = 0; a < 2000; a++) for (int b = 0; b < 1000; b++) s = s * 3 ^ y[(a + b) & 63]; "
     "x[i] = s;",
     "kernel 'nested_constants'"},
    {"without_end", "for (uint k = 3; k >= 0; k--) x[k & 31] = i;", "kernel 'without_end'"},
    {"some_without_end", "if (i & 1) for (;;) x[i]++; x[i] = 3;", "kernel 'some_without_end'"},
    {"without_end_in_another", "for (int k = 0; k < n; k++) if (i & 1) while (true) x[i] += k; x[i] = 1;",
     "kernel 'without_end_in_another'"},
    {"with_a_barrier", "while (n) { l[get_local_id(0)] = i; barrier(1); x[i] = l[0]; barrier(1); }",
     "kernel 'with_a_barrier'"},
    {"beside_a_barrier",
     "for (int k = 0; k < i * 100; k++) x[i] = k; for (int k = 0; k < 20; k++) { l[get_local_id(0)] = k; "
     "barrier(1); "
     "x[i] = l[0]; barrier(1); }",
     "kernel 'beside_a_barrier'"},
    {"short_enough", "int s = 0; for (int k = 0; k < n; k++) s++; x[i] = s;", NULL},
    {"just_short_enough", "int s = 0; for (int k = 0; k < 1000; k += n >> 6) s = k; x[i] = s > 0 ? n : 0;",
     NULL},
    {"many_but_constant",
     "int s = 0; for (int k = 0; k < n / 8; k++) for (int j = 0; j < 300; j++) s ^= y[(k + j) & 63]; x[i] = "
     "n | (s & 0);",
     NULL},
    {"steps_of_a_ladder",
     "l[get_local_id(0)] = n; for (int s = 8; s > 0; s >>= 1) { barrier(1); if (get_local_id(0) < s) "
     "l[get_local_id(0)] = l[get_local_id(0) + s]; } barrier(1); x[i] = l[0];",
     NULL},
};
enum { NUM_LOOPS = sizeof loops / sizeof *loops };

static char *loops_source(void) {
    char *text = test_malloc(64 << 10);
    size_t length = (size_t)sprintf(text, "// from line 2 on\n");
    for (size_t i = 0; i < NUM_LOOPS; i++)
        length +=
            (size_t)sprintf(text + length, "kernel void %s%s%s }\n", loops[i].name, head, loops[i].body);
    return text;
}

static void run_loop(const world *w, qn_program *program, const pattern *p) {
    qn_kernel *kernel = make_kernel(program, w->context, p->name);
    qn_range range = {.global = {COUNT}, .local = {16}};
    int32_t after[COUNT];
    fill(w);
    assert_ok(w->context,
              qn_launch(NULL, kernel, &range, QN_ARGS(w->x, w->y, qn_arg_local(16 * 4), (int)COUNT)));
    const qn_status status = qn_device_wait(w->device, QN_FOREVER);
    const char *said = status ? qn_error_message(w->context) : "";
    if (status != (p->told ? QN_ERROR_KERNEL_FAILED : QN_OK) || (p->told && !strstr(said, p->told)))
        fail_msg("%s: %s %s", p->name, qn_status_name(status), said);
    assert_ok(w->context, qn_buffer_read(w->x, 0, after, sizeof after));
    for (int i = 0; i < COUNT && !p->told; i++)
        if (after[i] != COUNT) fail_msg("%s: %d is %d", p->name, i, after[i]);
    qn_kernel_destroy(kernel);
}

static void loops_end_at(int level) {
    world w = make_world();
    char *text = loops_source();
    qn_program *program;
    const qn_program_desc desc = {
        .source = text, .path = "p.cl", .safe = true, .loop_budget = BUDGET, .opt_level = level};
    assert_ok(w.context, qn_program_create(w.device, &desc, &program));
    assert_ok(w.context, qn_program_wait(program, QN_FOREVER));
    for (size_t i = 0; i < NUM_LOOPS; i++)
        if (level >= 0 || strcmp(loops[i].name, "many_but_constant") != 0) run_loop(&w, program, &loops[i]);
    test_free(text);
    qn_context_destroy(w.context);
}

static void loops_end(void **state) {
    (void)state;
    loops_end_at(0);
}

static void loops_end_without_optimising(void **state) {
    (void)state;
    if (testing("opencl")) skip(); /* PoCL takes its time */
    loops_end_at(-1);
}

/* Loops of an uncounted header go on; each of their iterations begins the budget anew. By another way to it, it is like any text. */
static void loops_of_a_library_are_not_counted(void **state) {
    (void)state;
    static const char header[] = "#ifndef ROUNDS\n"
                                 "#define ROUNDS rounds\n"
                                 "#endif\n"
                                 "static int add_some(int x, int n);\n"
                                 "static int ROUNDS(int x, int n) {\n"
                                 "    for (int i = 0; i < 100; i++) x = add_some(x ^ i, n);\n"
                                 "    for (int i = 0; i < 3 * n; i++) x = x * 3 + (x >> 2);\n"
                                 "    return x;\n"
                                 "}\n";
    static const char *const texts[] = {
        "#include \"lib/rounds.h\"\n"
        "static int add_some(int x, int n) { for (int i = 0; i < n; i++) x = x * 5 + (x >> 1); return x; }\n"
        "kernel void f(global int *x, int n) { x[0] = rounds(x[0], n); }\n",
        "#include \"lib/rounds.h\"\n"
        "#define ROUNDS mine\n"
        "#include \"./lib/rounds.h\"\n"
        "static int add_some(int x, int n) { for (int i = 0; i < n; i++) x = x * 5 + (x >> 1); return x; }\n"
        "kernel void f(global int *x, int n) { x[0] = mine(x[0], n); }\n"};
    const qn_header headers[] = {{"lib/rounds.h", header}};
    for (int t = 0; t < 2; t++)
        for (int n = BUDGET - 5; n < BUDGET + 10; n += 10) {
            world w = make_world();
            qn_program *program;
            const qn_program_desc desc = {.source = texts[t],
                                          .safe = true,
                                          .loop_budget = BUDGET,
                                          .headers = headers,
                                          .num_headers = 1,
                                          .num_uncounted_headers = 1};
            assert_ok(w.context, qn_program_create(w.device, &desc, &program));
            qn_kernel *kernel = make_kernel(program, w.context, "f");
            assert_ok(w.context, qn_launch(NULL, kernel, &(qn_range){.global = {1}}, QN_ARGS(w.x, n)));
            const qn_status status = qn_device_wait(w.device, QN_FOREVER);
            assert_int_equal(status, t == 0 && n < BUDGET ? QN_OK : QN_ERROR_KERNEL_FAILED);
            qn_context_destroy(w.context);
        }
    world w = make_world();
    qn_program *program;
    const qn_program_desc desc = {.source = texts[0], .num_uncounted_headers = 1};
    assert_fails(w.context, qn_program_create(w.device, &desc, &program), QN_ERROR_ARGUMENT,
                 "num_uncounted_headers is 1, and num_headers 0");
    qn_context_destroy(w.context);
}

/* Where the driver ends loops itself, without a word, the budget is what it lets them have at most. */
static void budgets_are_below_the_drivers(void **state) {
    (void)state;
    world w = make_world();
    qn_device_info info;
    qn_program *program;
    assert_ok(w.context, qn_device_get_info(w.device, &info));
    const uint32_t more = info.loop_limit ? (uint32_t)info.loop_limit + 1000 : 100000;
    const qn_program_desc desc = {
        .source = "kernel void f(global int *x, int n) { for (int i = 0; n; i++) x[0] = x[0] * 3 + i; }\n",
        .safe = true,
        .loop_budget = more};
    assert_ok(w.context, qn_program_create(w.device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, w.context, "f");
    assert_ok(w.context, qn_launch(NULL, kernel, &(qn_range){.global = {1}}, QN_ARGS(w.x, 1)));
    assert_fails(w.context, qn_device_wait(w.device, QN_FOREVER), QN_ERROR_KERNEL_FAILED, "gone round");
    qn_context_destroy(w.context);
}

static void budgets_are_for_safe_programs(void **state) {
    (void)state;
    world w = make_world();
    qn_program *program;
    const qn_program_desc desc = {.source = "kernel void f(global int *x) { x[0] = 1; }\n", .loop_budget = 7};
    assert_fails(w.context, qn_program_create(w.device, &desc, &program), QN_ERROR_ARGUMENT,
                 "loop_budget 7 is for safe programs: set safe as well");
    qn_context_destroy(w.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_stay_inside),
        cmocka_unit_test(mistakes_stay_inside_without_optimising),
        cmocka_unit_test(faults_are_told_once),
        cmocka_unit_test(graphs_are_safe),
        cmocka_unit_test(null_buffers_have_no_bytes),
        cmocka_unit_test(what_cannot_be_checked_is_refused),
        cmocka_unit_test(loops_end),
        cmocka_unit_test(loops_end_without_optimising),
        cmocka_unit_test(loops_of_a_library_are_not_counted),
        cmocka_unit_test(budgets_are_below_the_drivers),
        cmocka_unit_test(budgets_are_for_safe_programs),
        cmocka_unit_test(kernels_are_those_of_the_source),
    };
    return run_device_tests(tests);
}
