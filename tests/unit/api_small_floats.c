/* Conversions of bf16, e4m3 and e5m2 on the device under test, against small_float_reference.h: every number of each format to
   float, and to the other formats; to each format from floats and doubles around all its numbers and the middles between
   them, from halves and integers, in every rounding mode, saturating and not. With --all every float (half an hour). */
#include "api_support.h"

#include <float.h>

#include "small_float_reference.h"

/* ---- what is converted ---- */

typedef enum source_type {
    FROM_FLOAT,
    FROM_DOUBLE,
    FROM_HALF,
    FROM_CHAR,
    FROM_USHORT,
    FROM_INT,
    FROM_UINT,
    FROM_LONG,
    FROM_ULONG,
    FROM_BF16, /* the formats, in their order */
    FROM_E4M3,
    FROM_E5M2,
    NUM_SOURCES
} source_type;

static const struct source_row {
    const char *name;
    unsigned size;
} sources[] = {{"float", 4}, {"double", 8}, {"half", 2},  {"char", 1},    {"ushort", 2},  {"int", 4},
               {"uint", 4},  {"long", 8},   {"ulong", 8}, {"qn_bf16", 2}, {"qn_e4m3", 1}, {"qn_e5m2", 1}};

static long double half_value(unsigned bits) {
    static const small_format half = {"half", 16, 10, 15, 0x7bff, 0x7c00, 0x7e00};
    return small_value(&half, bits);
}

static long double value_of(source_type type, const unsigned char *at) {
    uint64_t bits = 0;
    float single;
    double full;
    memcpy(&bits, at, sources[type].size);
    switch (type) {
    case FROM_FLOAT: memcpy(&single, at, sizeof single); return (long double)single;
    case FROM_DOUBLE: memcpy(&full, at, sizeof full); return (long double)full;
    case FROM_HALF: return half_value((unsigned)bits);
    case FROM_CHAR: return (int8_t)bits;
    case FROM_INT: return (int32_t)bits;
    case FROM_LONG: return (int64_t)bits;
    case FROM_USHORT:
    case FROM_UINT:
    case FROM_ULONG: return bits;
    default: return small_value(&small_formats[type - FROM_BF16], (unsigned)bits);
    }
}

/* ---- the values ---- */

typedef struct values {
    unsigned char *data;
    size_t count, capacity;
    source_type type;
    uint64_t seed;
} values;

static void add(values *v, uint64_t bits) {
    if (v->count == v->capacity) {
        v->capacity = v->capacity ? 2 * v->capacity : 1024;
        v->data = realloc(v->data, v->capacity * 8);
        assert_non_null(v->data);
    }
    memcpy(v->data + v->count++ * sources[v->type].size, &bits, sources[v->type].size);
}

static void add_float(values *v, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    add(v, bits);
}

static void add_double(values *v, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    add(v, bits);
}

static uint64_t next_random(values *v) { /* xorshift64* */
    v->seed ^= v->seed >> 12;
    v->seed ^= v->seed << 25;
    v->seed ^= v->seed >> 27;
    return v->seed * UINT64_C(0x2545F4914F6CDD1D);
}

/* A number and its neighbours, of both signs. */
static void add_around(values *v, double x) {
    for (int negative = 0; negative < 2; negative++, x = -x) {
        if (v->type == FROM_FLOAT) {
            const float single = (float)x;
            add_float(v, single);
            add_float(v, nextafterf(single, INFINITY));
            add_float(v, nextafterf(single, -INFINITY));
        } else {
            add_double(v, x);
            add_double(v, nextafter(x, (double)INFINITY));
            add_double(v, nextafter(x, -(double)INFINITY));
        }
    }
}

/* The numbers of the format and the middles between them; of bf16 some of them. */
static void add_borders(values *v, const small_format *f) {
    for (unsigned code = 0; code <= f->largest; code++) {
        const bool is_chosen = f->bits == 8 || code < 300 || code + 300 > f->largest || code % 61 == 0;
        if (!is_chosen) continue;
        const double low = (double)small_size(f, code), high = (double)small_size(f, code + 1);
        add_around(v, low);
        add_around(v, low / 2 + high / 2);
    }
    add_around(v, (double)FLT_MAX);
    add_around(v, (double)INFINITY);
}

/* A few bits, one more where the rounding is decided, and what is far below it. */
static void add_integers(values *v) {
    const unsigned width = 8 * sources[v->type].size;
    for (unsigned n = 0; n < 8000; n++) {
        const uint64_t random = next_random(v), top = random & 0x3ff;
        const unsigned shift = (unsigned)(random >> 10) % width, low = (unsigned)(random >> 16) % 4;
        const uint64_t below = low == 0 ? 0 : low == 1 ? 1u : low == 2 ? UINT64_MAX : random >> 20;
        add(v, (top << shift) + (low == 3 ? below % ((UINT64_C(1) << shift) | 1) : below));
    }
}

static values make_values(source_type type, const small_format *to) {
    values v = {.type = type, .seed = 88172645463325252u};
    switch (type) {
    case FROM_FLOAT:
        for (int n = 0; n < 30000; n++) add(&v, next_random(&v) >> 32);
        for (uint32_t n = 0; n < 8; n++)
            add(&v, 0x7f7ffffe + n + (n & 1 ? 0x80000000u : 0)); /* infinity, NaN */
        add_borders(&v, to);
        break;
    case FROM_DOUBLE:
        for (int n = 0; n < 10000; n++) add(&v, next_random(&v));
        add_borders(&v, to);
        break;
    case FROM_CHAR:
    case FROM_E4M3:
    case FROM_E5M2:
        for (unsigned n = 0; n < 256; n++) add(&v, n);
        break;
    case FROM_HALF:
    case FROM_USHORT:
    case FROM_BF16:
        for (unsigned n = 0; n < 1 << 16; n++) add(&v, n);
        break;
    default: add_integers(&v); break;
    }
    return v;
}

/* ---- the kernels ---- */

typedef struct variant {
    const char *suffix;
    small_rounding rounding;
    bool saturates;
} variant;

static const variant variants[] = {{"", TO_EVEN, false},        {"_rte", TO_EVEN, false},
                                   {"_rtz", TO_ZERO, false},    {"_rtp", UP, false},
                                   {"_rtn", DOWN, false},       {"_sat", TO_EVEN, true},
                                   {"_sat_rte", TO_EVEN, true}, {"_sat_rtz", TO_ZERO, true},
                                   {"_sat_rtp", UP, true},      {"_sat_rtn", DOWN, true}};
enum { NUM_VARIANTS = sizeof variants / sizeof *variants, NUM_PLAIN = 5 };

static unsigned variants_of(const small_format *to) { return to->bits == 8 ? NUM_VARIANTS : NUM_PLAIN; }

/* Each variant's results stand together. */
static char *append_kernel(char *at, source_type from, const small_format *to) {
    at += sprintf(at,
                  "kernel void from_%s(global const %s *in, global qn_%s *out, uint n) {\n"
                  "    size_t i = get_global_id(0);\n    %s x = in[i];\n",
                  sources[from].name, sources[from].name, to->name, sources[from].name);
    for (unsigned k = 0; k < variants_of(to); k++)
        at += sprintf(at, "    out[i + %u * n] = convert_qn_%s%s(x);\n", k, to->name, variants[k].suffix);
    return at + sprintf(at, "}\n");
}

/* ---- running ---- */

typedef struct bench {
    qn_context *context;
    qn_device *device;
    bool has_f64, flushes; /* flushes: denormal floats may count as zero (OpenCL C 7.5.3) */
} bench;

static bench bench_open(void) {
    bench b = {.context = make_context(&(qn_context_desc){.disable_cache = true, .cpu_compile_first = true})};
    b.device = get_device(b.context, test_device());
    qn_device_info info;
    assert_ok(b.context, qn_device_get_info(b.device, &info));
    b.has_f64 = info.capabilities & QN_CAN_F64;
    b.flushes = !(info.capabilities & QN_CAN_F32_DENORMALS);
    return b;
}

static bool is_denormal(long double x) { return x != 0 && fabsl(x) < 0x1p-126L; }

/* A double is a float on its way, which may be zero by then, or not seen to be exact. */
static bool is_denormal_on_the_way(const bench *b, source_type from, long double x) {
    return b->flushes && from == FROM_DOUBLE && is_denormal(x);
}

static unsigned check_results(const bench *b, const values *v, const small_format *to, unsigned k,
                              const unsigned char *out) {
    const variant *how = &variants[k];
    const unsigned size = to->bits / 8;
    unsigned failures = 0, guess = 0;
    for (size_t i = 0; i < v->count && failures < 5; i++) {
        const long double x = value_of(v->type, v->data + i * sources[v->type].size);
        const unsigned want = small_of(to, x, how->rounding, how->saturates, &guess);
        unsigned got = 0;
        memcpy(&got, out + i * size, size);
        if (got == want || is_denormal_on_the_way(b, v->type, x)) continue;
        print_error("convert_qn_%s%s of %s %La: %#x, not %#x\n", to->name, how->suffix, sources[v->type].name,
                    x, got, want);
        failures++;
    }
    return failures;
}

static unsigned check_kernel(const bench *b, qn_program *program, const values *v, const small_format *to) {
    char name[64];
    snprintf(name, sizeof name, "from_%s", sources[v->type].name);
    const size_t each = v->count * (to->bits / 8), total = variants_of(to) * each;
    qn_kernel *kernel = make_kernel(program, b->context, name);
    qn_buffer *in = make_buffer(b->device, v->count * sources[v->type].size, v->data);
    qn_buffer *out = make_buffer(b->device, total, NULL);
    unsigned char *results = malloc(total);
    assert_non_null(results);
    assert_ok(b->context, qn_launch(NULL, kernel, QN_RANGE(v->count), QN_ARGS(in, out, (uint32_t)v->count)));
    assert_ok(b->context, qn_buffer_read(out, 0, results, total));
    unsigned failures = 0;
    for (unsigned k = 0; k < variants_of(to); k++) failures += check_results(b, v, to, k, results + k * each);
    free(results);
    qn_buffer_destroy(out);
    qn_buffer_destroy(in);
    qn_kernel_destroy(kernel);
    return failures;
}

/* A conversion to the type itself changes nothing, NaN neither. */
static bool is_tried(const bench *b, source_type from, const small_format *to) {
    return (from != FROM_DOUBLE || b->has_f64) && from != FROM_BF16 + (source_type)(to - small_formats);
}

static void check_format(const small_format *to) {
    static char source[1 << 15];
    char *at = source;
    bench b = bench_open();
    unsigned failures = 0;
    for (int from = 0; from < NUM_SOURCES; from++)
        if (is_tried(&b, (source_type)from, to)) at = append_kernel(at, (source_type)from, to);
    qn_program *program = make_program(b.device, source);
    for (int from = 0; from < NUM_SOURCES; from++) {
        if (!is_tried(&b, (source_type)from, to)) continue;
        values v = make_values((source_type)from, to);
        failures += check_kernel(&b, program, &v, to);
        free(v.data);
    }
    qn_context_destroy(b.context);
    assert_int_equal(failures, 0);
}

static void numbers_become_bf16(void **state) {
    (void)state;
    check_format(&small_formats[SMALL_BF16]);
}

static void numbers_become_e4m3(void **state) {
    (void)state;
    check_format(&small_formats[SMALL_E4M3]);
}

static void numbers_become_e5m2(void **state) {
    (void)state;
    check_format(&small_formats[SMALL_E5M2]);
}

/* ---- the other way ---- */

static unsigned check_floats(const bench *b, const small_format *f, qn_program *program) {
    char name[64];
    const size_t count = (size_t)1 << f->bits;
    const values codes = make_values(FROM_BF16 + (source_type)(f - small_formats), f);
    snprintf(name, sizeof name, "to_float_%s", f->name);
    qn_kernel *kernel = make_kernel(program, b->context, name);
    qn_buffer *in = make_buffer(b->device, count * f->bits / 8, codes.data);
    qn_buffer *out = make_buffer(b->device, count * sizeof(float), NULL);
    float *results = malloc(count * sizeof *results);
    assert_non_null(results);
    assert_ok(b->context, qn_launch(NULL, kernel, QN_RANGE(count), QN_ARGS(in, out)));
    assert_ok(b->context, qn_buffer_read(out, 0, results, count * sizeof *results));
    unsigned failures = 0;
    for (unsigned code = 0; code < count && failures < 5; code++) {
        const long double want = small_value(f, code);
        const float got = results[code];
        const bool is_same = (long double)got == want && !signbit(got) == !signbit(want);
        if (is_same || (isnan(got) && isnan(want)) || (b->flushes && is_denormal(want) && got == 0)) continue;
        print_error("%s %#x: %a, not %La\n", f->name, code, (double)got, want);
        failures++;
    }
    free(results);
    free(codes.data);
    return failures;
}

static void all_numbers_become_floats(void **state) {
    static char source[4096];
    char *at = source;
    (void)state;
    bench b = bench_open();
    for (const small_format *f = small_formats; f < small_formats + NUM_SMALL_FORMATS; f++)
        at += sprintf(at,
                      "kernel void to_float_%s(global const qn_%s *in, global float *out) {\n"
                      "    out[get_global_id(0)] = in[get_global_id(0)];\n}\n",
                      f->name, f->name);
    qn_program *program = make_program(b.device, source);
    unsigned failures = 0;
    for (const small_format *f = small_formats; f < small_formats + NUM_SMALL_FORMATS; f++)
        failures += check_floats(&b, f, program);
    qn_context_destroy(b.context);
    assert_int_equal(failures, 0);
}

/* ---- from the host ---- */

static const char host_source[] =
    "typedef struct { qn_e5m2 a; qn_bf16x3 b[2]; qn_e4m3 c; } item;\n"
    "kernel void k(qn_bf16 a, qn_e4m3 b, qn_e5m2x2 c, item d, global qn_bf16x4 *e, global float *out) {\n"
    "    vstore4((float4)(a, b, c.x, c.y), 0, out);\n"
    "    vstore4((float4)(d.a, d.b[1].z, d.c, e[1].w), 1, out);\n}\n";

static void parameters_are_told(void **state) {
    static const struct {
        qn_type type;
        uint32_t lanes, size;
        const char *name;
    } wanted[] = {{QN_TYPE_BF16, 1, 2, "qn_bf16"},
                  {QN_TYPE_E4M3, 1, 1, "qn_e4m3"},
                  {QN_TYPE_E5M2, 2, 2, "qn_e5m2x2"},
                  {QN_TYPE_BYTES, 1, 32, "item"},
                  {QN_TYPE_BF16, 4, 8, "qn_bf16x4*"}};
    static const qn_field_info fields[] = {
        {"a", QN_TYPE_E5M2, 1, 0, 1}, {"b", QN_TYPE_BF16, 3, 8, 2}, {"c", QN_TYPE_E4M3, 1, 24, 1}};
    (void)state;
    fixture f = make_fixture(test_device(), host_source, "k");
    for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        qn_param_info param;
        assert_ok(f.context, qn_kernel_get_param(f.kernel, i, &param));
        assert_int_equal(param.type, wanted[i].type);
        assert_int_equal(param.lanes, wanted[i].lanes);
        assert_int_equal(param.size, wanted[i].size);
        assert_string_equal(param.type_name, wanted[i].name);
    }
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        qn_field_info field;
        assert_ok(f.context, qn_kernel_get_field(f.kernel, 3, i, &field));
        assert_string_equal(field.name, fields[i].name);
        assert_int_equal(field.type, fields[i].type);
        assert_int_equal(field.lanes, fields[i].lanes);
        assert_int_equal(field.offset, fields[i].offset);
        assert_int_equal(field.count, fields[i].count);
    }
    qn_context_destroy(f.context);
}

/* As for half: rounded to nearest even, refused where it is too large, or an integer that is not exact. */
static void numbers_are_passed(void **state) {
    const uint8_t pair[2] = {0x3e, 0xfb}, item[32] = {[0] = 0x40, [20] = 0x20, [21] = 0x41, [24] = 0x7e};
    const uint16_t many[8] = {[7] = 0xbf80};
    float out[8] = {0};
    (void)state;
    fixture f = make_fixture(test_device(), host_source, "k");
    qn_context *context = f.context;
    qn_buffer *in = make_buffer(f.device, sizeof many, many), *to = make_buffer(f.device, sizeof out, NULL);
#define CALL(a, b)                                                                                           \
    qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(a, b, QN_BYTES(pair), QN_BYTES(item), in, to))
    assert_ok(context, CALL(1.00390625f, -7)); /* between 1 and 1.0078125 */
    assert_ok(context, qn_buffer_read(to, 0, out, sizeof out));
    static const float wanted[8] = {1, -7, 1.5f, -57344, 2, 10, 448, -1};
    for (int i = 0; i < 8; i++)
        if (out[i] != wanted[i]) fail_msg("%d: %g, not %g", i, (double)out[i], (double)wanted[i]);
    assert_fails(context, CALL(3.4e38, 1), QN_ERROR_KERNEL_ARGUMENT, "'qn_bf16 a': the number does not fit");
    assert_fails(context, CALL(257, 1), QN_ERROR_KERNEL_ARGUMENT, "'qn_bf16 a': the number does not fit");
    assert_fails(context, CALL(1, 449.0f), QN_ERROR_KERNEL_ARGUMENT, "'qn_e4m3 b': the number does not fit");
    assert_fails(context, CALL(1, INFINITY), QN_ERROR_KERNEL_ARGUMENT,
                 "'qn_e4m3 b': the number does not fit");
    assert_ok(context, CALL(INFINITY, NAN));
    assert_ok(context, qn_buffer_read(to, 0, out, sizeof out));
    assert_true(isinf(out[0]) && isnan(out[1]));
#undef CALL
    qn_context_destroy(context);
}

/* ---- every float ---- */

static unsigned check_all(const small_format *to) {
    enum { PIECE = 1 << 22 };
    static char source[1 << 12];
    const bench b = bench_open();
    values v = {.type = FROM_FLOAT, .count = PIECE, .data = malloc((size_t)PIECE * sizeof(float))};
    assert_non_null(v.data);
    append_kernel(source, FROM_FLOAT, to);
    qn_program *program = make_program(b.device, source);
    unsigned failures = 0;
    for (uint64_t first = 0; first < UINT64_C(1) << 32 && !failures; first += PIECE) {
        for (uint32_t i = 0; i < PIECE; i++) {
            const uint32_t bits = (uint32_t)first + i;
            memcpy(v.data + i * sizeof bits, &bits, sizeof bits);
        }
        failures += check_kernel(&b, program, &v, to);
    }
    printf("%s: %s\n", to->name, failures ? "failed" : "all floats are right");
    free(v.data);
    qn_context_destroy(b.context);
    return failures;
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_told),       cmocka_unit_test(numbers_are_passed),
        cmocka_unit_test(all_numbers_become_floats), cmocka_unit_test(numbers_become_bf16),
        cmocka_unit_test(numbers_become_e4m3),       cmocka_unit_test(numbers_become_e5m2)};
    if (argc > 1 && !strcmp(argv[1], "--all")) {
        unsigned failures = 0;
        for (const small_format *f = small_formats; f < small_formats + NUM_SMALL_FORMATS; f++)
            failures += check_all(f);
        return failures != 0;
    }
    return run_device_tests(tests);
}
