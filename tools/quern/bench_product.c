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

/* Its values, and in *bytes, from malloc, the same as elements. Integers are all that bytes hold. Of types with few values each one is
   encoded once. */
static float *make_operand(const bench_type *type, size_t count, uint32_t seed, unsigned char **bytes) {
    enum { FEW = 11 };
    const bool is_few = type->bits <= FEW;
    const float parts = ldexpf(1, type->bits), step = type->from == QN_I8 ? 1 : 1 / parts;
    const size_t size = qn_element_size(type->from), num_codes = is_few ? (size_t)2 << type->bits : 0;
    float *values = bench_random(count, seed);
    unsigned char *codes = tool_alloc(num_codes * size);
    *bytes = tool_alloc(count * size);
    for (size_t i = 0; i < num_codes; i++)
        encode(type->from, (double)(((float)i - parts) * step), codes + i * size);
    for (size_t i = 0; i < count; i++) {
        const float whole = floorf(values[i] * parts);
        values[i] = whole * step;
        if (is_few)
            memcpy(*bytes + i * size, codes + (size_t)(whole + parts) * size, size);
        else
            encode(type->from, (double)values[i], *bytes + i * size);
    }
    free(codes);
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

/* Elements that are looked at: all of them, or where some rows and some columns meet, the first and the last of both and others that
   are spread by a golden section. */
typedef struct sample {
    uint32_t rows, columns;
} sample;

static sample sample_of(const bench_product *p) {
    enum { MOST = 2048, SIDE = 45 };
    uint64_t rows = p->m < SIDE ? p->m : SIDE;
    const uint64_t columns = p->n < MOST / rows ? p->n : MOST / rows;
    rows = p->m < MOST / columns ? p->m : MOST / columns;
    return (sample){(uint32_t)rows, (uint32_t)columns};
}

/* Number `i` of so many of `count`. */
static uint64_t spread(uint32_t i, uint32_t chosen, uint64_t count) {
    if (chosen == count || i == 0) return i;
    return i == 1 ? count - 1 : (uint64_t)(fmod(i * 0.6180339887498949, 1) * (double)count);
}

static bench_expected expect(const float *row, const float *column, uint64_t k) {
    double sum = 0, magnitude = 0;
    for (uint64_t i = 0; i < k; i++) {
        const double product = (double)row[i] * (double)column[i];
        sum += product;
        magnitude += fabs(product);
    }
    return (bench_expected){sum, magnitude};
}

/* Row by row of the sample. */
static bench_expected *expect_all(const bench_product *p, sample s) {
    bench_expected *expected = tool_alloc((size_t)s.rows * s.columns * sizeof *expected);
    float *column = tool_alloc(p->k * sizeof *column);
    const bool is_turned = p->type->is_turned;
    for (uint32_t c = 0; c < s.columns; c++) {
        const float *b = p->b + spread(c, s.columns, p->n) * (is_turned ? p->k : 1);
        for (uint64_t i = 0; i < p->k; i++) column[i] = b[i * (is_turned ? 1 : p->n)];
        for (uint32_t r = 0; r < s.rows; r++)
            expected[r * s.columns + c] = expect(p->a + spread(r, s.rows, p->m) * p->k, column, p->k);
    }
    free(column);
    return expected;
}

/* Of one element. Sums of k products that were each rounded wander off by about the root of k roundings. */
static double element_error(const bench_product *p, const bench_expected *e, double value) {
    const double wander = 4 * p->type->summing * sqrt((double)p->k) * e->magnitude;
    const double error = fabs(value - e->sum) / (wander + p->type->rounding * fabs(e->sum));
    return error >= 0 ? error : value == e->sum ? 0 : INFINITY; /* else NaN */
}

double bench_product_error(bench_product *p, const void *c) {
    const sample s = sample_of(p);
    const size_t size = qn_element_size(p->type->to);
    double worst = 0;
    if (!p->expected) p->expected = expect_all(p, s);
    for (uint32_t i = 0; i < s.rows * s.columns; i++) {
        const uint64_t row = spread(i / s.columns, s.rows, p->m),
                       column = spread(i % s.columns, s.columns, p->n);
        const unsigned char *at = (const unsigned char *)c + (row * p->n + column) * size;
        worst = fmax(worst, element_error(p, &p->expected[i], decode(p->type->to, at)));
    }
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
