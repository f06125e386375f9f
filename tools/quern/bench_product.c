/* Operands of a matrix product, and the check of its result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* ---- elements ---- */

static const bench_type types[] = {{"f32", QN_F32, QN_F32, false, false, true, 23, 0x1p-24, 0},
                                   {"bf16", QN_BF16, QN_BF16, false, false, true, 7, 0x1p-24, 0x1p-8},
                                   {"f16", QN_F16, QN_F16, false, false, true, 10, 0x1p-24, 0x1p-11},
                                   {"tf32", QN_F32, QN_F32, true, false, false, 10, 0x1p-24, 0},
                                   {"e4m3", QN_E4M3, QN_BF16, false, true, false, 4, 0x1p-14, 0x1p-8},
                                   {"e5m2", QN_E5M2, QN_BF16, false, true, false, 3, 0x1p-14, 0x1p-8},
                                   {"i8", QN_I8, QN_I32, false, true, false, 7, 0, 0},
                                   {"f64", QN_F64, QN_F64, false, false, false, 23, 0x1p-52, 0}};
enum { NUM_TYPES = sizeof types / sizeof *types };

const bench_type *bench_type_at(uint32_t index) { return index < NUM_TYPES ? &types[index] : NULL; }

const bench_type *bench_type_named(const char *name) {
    for (int i = 0; i < NUM_TYPES; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

/* The small floats, by the bits of their exponent and fraction. */
typedef struct small_float {
    int exponent, fraction;
} small_float;

static small_float small_float_of(qn_element type) {
    switch (type) {
    case QN_F16: return (small_float){5, 10};
    case QN_E4M3: return (small_float){4, 3};
    case QN_E5M2: return (small_float){5, 2};
    default: return (small_float){8, 7};
    }
}

/* Of a value that it has, which is no subnormal. */
static uint32_t small_bits(small_float f, double value) {
    int exponent;
    const double mantissa = ldexp(frexp(fabs(value), &exponent), f.fraction + 1);
    const int bias = (1 << (f.exponent - 1)) - 1, sign = (value < 0) << (f.exponent + f.fraction);
    if (value == 0) return 0;
    return (uint32_t)(sign | (exponent - 1 + bias) << f.fraction | ((int)mantissa - (1 << f.fraction)));
}

/* Of those with infinities, as IEEE 754 has them. */
static double small_value(small_float f, uint32_t bits) {
    const int most = (1 << f.exponent) - 1, exponent = (int)(bits >> f.fraction) & most, bias = most / 2;
    const int fraction = (int)bits & ((1 << f.fraction) - 1);
    if (exponent == most) return fraction ? (double)NAN : (double)INFINITY;
    const int mantissa = exponent ? fraction | 1 << f.fraction : fraction;
    const double size = ldexp(mantissa, (exponent ? exponent : 1) - bias - f.fraction);
    return bits >> (f.exponent + f.fraction) & 1 ? -size : size;
}

static void encode(qn_element type, double value, unsigned char *to) {
    const float single = (float)value;
    const int8_t whole = (int8_t)value;
    if (type == QN_F64) memcpy(to, &value, sizeof value);
    if (type == QN_F32) memcpy(to, &single, sizeof single);
    if (type == QN_I8) memcpy(to, &whole, sizeof whole);
    if (type == QN_F64 || type == QN_F32 || type == QN_I8) return;
    const uint32_t bits = small_bits(small_float_of(type), value);
    for (uint32_t i = 0; i < qn_element_size(type); i++) to[i] = (unsigned char)(bits >> 8 * i);
}

/* Of a result's types. */
static double decode(qn_element type, const unsigned char *from) {
    double value;
    float single;
    int32_t whole;
    uint16_t half;
    switch (type) {
    case QN_F64: memcpy(&value, from, sizeof value); return value;
    case QN_F32: memcpy(&single, from, sizeof single); return (double)single;
    case QN_I32: memcpy(&whole, from, sizeof whole); return whole;
    default: memcpy(&half, from, sizeof half); return small_value(small_float_of(type), half);
    }
}

/* ---- operands ---- */

/* Its values, and in *bytes, from malloc, the same as elements. Integers are all that bytes hold. */
static float *make_operand(const bench_type *type, size_t count, uint32_t seed, unsigned char **bytes) {
    const float parts = ldexpf(1, type->bits), step = type->from == QN_I8 ? 1 : 1 / parts;
    const size_t size = qn_element_size(type->from);
    float *values = bench_random(count, seed);
    *bytes = tool_alloc(count * size);
    for (size_t i = 0; i < count; i++) {
        values[i] = floorf(values[i] * parts) * step;
        encode(type->from, (double)values[i], *bytes + i * size);
    }
    return values;
}

static int create_copies(const bench_device *d, bench_product *p, unsigned char *const bytes[3]) {
    const uint64_t from = qn_element_size(p->type->from), to = qn_element_size(p->type->to),
                   sizes[3] = {p->m * p->k * from, p->k * p->n * from, p->m * p->n * to};
    const uint32_t copies = bench_copies_needed(d, sizes[0] + sizes[1] + sizes[2]);
    int result = TOOL_OK;
    for (int i = 0; i < 3 && !result; i++)
        result = bench_copies_create(d, sizes[i], bytes[i], copies, &p->on_device[i]);
    return result;
}

int bench_product_create(const bench_device *d, const uint64_t shape[3], const bench_type *type,
                         bench_product *p) {
    const uint64_t m = shape[0], n = shape[1], k = shape[2], most = UINT64_MAX / sizeof(float) / 1024;
    unsigned char *bytes[3] = {NULL};
    *p = (bench_product){.m = m, .n = n, .k = k, .type = type};
    if (m > most / k || k > most / n || m > most / n)
        return tool_fail(TOOL_USAGE, "matrices for %llu x %llu x %llu are too large", (unsigned long long)m,
                         (unsigned long long)n, (unsigned long long)k);
    bench_progress(d, "operands");
    p->a = make_operand(type, m * k, 1, &bytes[0]);
    p->b = make_operand(type, k * n, 2, &bytes[1]);
    const int result = create_copies(d, p, bytes);
    free(bytes[0]);
    free(bytes[1]);
    return result;
}

void bench_product_free(bench_product *p) {
    free(p->a);
    free(p->b);
    free(p->expected);
    for (int i = 0; i < 3; i++) bench_copies_free(&p->on_device[i]);
}

/* ---- the check ---- */

/* Elements that are looked at: all of them, or rather many: the corners, and others that are spread by a golden section. */
enum { CORNERS = 4, MOST_OTHERS = 2048 };

static uint32_t num_checked(const bench_product *p) {
    const uint64_t count = p->m * p->n;
    return CORNERS + (count < MOST_OTHERS ? (uint32_t)count : MOST_OTHERS);
}

static uint64_t checked_at(const bench_product *p, uint32_t i) {
    const uint64_t count = p->m * p->n, corners[CORNERS] = {0, p->n - 1, (p->m - 1) * p->n, count - 1};
    if (i < CORNERS) return corners[i];
    if (count <= MOST_OTHERS) return i - CORNERS;
    return (uint64_t)(fmod((i - CORNERS) * 0.6180339887498949, 1) * (double)count);
}

static bench_expected expected_at(const bench_product *p, uint64_t at) {
    const bool is_turned = p->type->is_turned;
    const float *a = p->a + at / p->n * p->k, *b = p->b + at % p->n * (is_turned ? p->k : 1);
    const uint64_t step = is_turned ? 1 : p->n;
    double sum = 0, magnitude = 0;
    for (uint64_t i = 0; i < p->k; i++) {
        const double product = (double)a[i] * (double)b[i * step];
        sum += product;
        magnitude += fabs(product);
    }
    return (bench_expected){sum, magnitude};
}

/* Of one element. Sums of k products that were each rounded wander off by about the root of k roundings. */
static double element_error(const bench_product *p, const bench_expected *e, double value) {
    const double wander = 4 * p->type->summing * sqrt((double)p->k) * e->magnitude;
    const double error = fabs(value - e->sum) / (wander + p->type->rounding * fabs(e->sum));
    return error >= 0 ? error : value == e->sum ? 0 : INFINITY; /* else NaN */
}

double bench_product_error(bench_product *p, const void *c) {
    const uint32_t count = num_checked(p);
    const size_t size = qn_element_size(p->type->to);
    const unsigned char *bytes = c;
    double worst = 0;
    if (!p->expected) {
        p->expected = tool_alloc(count * sizeof *p->expected);
        for (uint32_t i = 0; i < count; i++) p->expected[i] = expected_at(p, checked_at(p, i));
    }
    for (uint32_t i = 0; i < count; i++)
        worst = fmax(worst,
                     element_error(p, &p->expected[i], decode(p->type->to, bytes + checked_at(p, i) * size)));
    return worst;
}

int bench_product_check(const bench_device *d, bench_product *p, uint32_t runs, const char *what) {
    const bench_copies *copies = &p->on_device[2];
    const uint32_t used = runs < copies->count ? runs : copies->count, last = used - 1;
    const uint64_t size = qn_buffer_size(copies->views[0]);
    const uint8_t ones = 0xff;
    void *c = tool_alloc(size);
    double worst = 0;
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < (last ? 2 : 1) && !status; i++) {
        status = qn_stream_read(d->stream, copies->views[i ? last : 0], 0, c, size);
        if (!status) status = qn_stream_wait(d->stream, QN_FOREVER);
        if (!status) worst = fmax(worst, bench_product_error(p, c));
    }
    free(c);
    if (!status)
        status = qn_stream_fill(d->stream, copies->buffer, 0, qn_buffer_size(copies->buffer), &ones, 1);
    if (!status) status = qn_stream_wait(d->stream, QN_FOREVER);
    if (status) return tool_fail_status(d->context, status);
    if (worst <= 1) return TOOL_OK;
    return tool_fail(
        TOOL_DIFFERENT,
        "%s: %s: the product of %llu x %llu x %llu is wrong, by %.3g times what rounding explains",
        d->info.name, what, (unsigned long long)p->m, (unsigned long long)p->n, (unsigned long long)p->k,
        worst);
}
