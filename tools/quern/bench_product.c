/* Operands of a matrix product, and the check of its result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* ---- elements ---- */

/* What these types have exactly of the numbers in [-1, 1): whole parts of 1/2^bits. */
static const struct {
    qn_element type;
    int bits;
    double rounding; /* of a result */
} elements[] = {{QN_F32, 23, 0}, {QN_BF16, 7, 0x1p-8}, {QN_F16, 10, 0x1p-11}};
enum { NUM_ELEMENTS = sizeof elements / sizeof *elements };

static int row_of(qn_element type) {
    int row = 0;
    while (row + 1 < NUM_ELEMENTS && elements[row].type != type) row++;
    return row;
}

static uint16_t half_of(float value) {
    int exponent;
    const double mantissa = frexp(fabs((double)value), &exponent);
    const int sign = value < 0 ? 0x8000 : 0;
    return (uint16_t)(value == 0 ? sign : sign | (exponent + 14) << 10 | (int)(mantissa * 2048 - 1024));
}

static void encode(qn_element type, float value, unsigned char *to) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t half = type == QN_F16 ? half_of(value) : (uint16_t)(bits >> 16);
    if (type == QN_F32)
        memcpy(to, &bits, sizeof bits);
    else
        memcpy(to, &half, sizeof half);
}

static double decode(qn_element type, const unsigned char *from) {
    uint32_t bits = 0;
    uint16_t half;
    float value;
    memcpy(&half, from, sizeof half);
    if (type == QN_F32)
        memcpy(&bits, from, sizeof bits);
    else
        bits = (uint32_t)half << 16;
    memcpy(&value, &bits, sizeof value);
    if (type != QN_F16) return (double)value;
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 31) return mantissa ? (double)NAN : (double)INFINITY;
    const double size = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return half >> 15 ? -size : size;
}

/* ---- operands ---- */

/* Its values, and in *bytes, from malloc, the same as elements. */
static float *make_operand(qn_element type, size_t count, uint32_t seed, unsigned char **bytes) {
    const float step = ldexpf(1, -elements[row_of(type)].bits);
    const size_t size = qn_element_size(type);
    float *values = bench_random(count, seed);
    *bytes = tool_alloc(count * size);
    for (size_t i = 0; i < count; i++) {
        values[i] = floorf(values[i] / step) * step;
        encode(type, values[i], *bytes + i * size);
    }
    return values;
}

static int create_copies(const bench_device *d, bench_product *p, unsigned char *const bytes[3]) {
    const uint64_t size = qn_element_size(p->type),
                   sizes[3] = {p->m * p->k * size, p->k * p->n * size, p->m * p->n * size};
    const uint32_t copies = bench_copies_needed(d, sizes[0] + sizes[1] + sizes[2]);
    int result = TOOL_OK;
    for (int i = 0; i < 3 && !result; i++)
        result = bench_copies_create(d, sizes[i], bytes[i], copies, &p->on_device[i]);
    return result;
}

int bench_product_create(const bench_device *d, const uint64_t shape[3], qn_element type, bench_product *p) {
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
    for (int i = 0; i < 3; i++) bench_copies_free(&p->on_device[i]);
}

/* ---- the check ---- */

/* Of one element. Sums of k products that were each rounded wander off by about the root of k roundings. */
static double element_error(const bench_product *p, uint64_t row, uint64_t column, double value) {
    double sum = 0, magnitude = 0;
    for (uint64_t i = 0; i < p->k; i++) {
        const double product = (double)p->a[row * p->k + i] * (double)p->b[i * p->n + column];
        sum += product;
        magnitude += fabs(product);
    }
    const double wander = 4 * 0x1p-24 * sqrt((double)p->k) * magnitude;
    const double error = fabs(value - sum) / (wander + elements[row_of(p->type)].rounding * fabs(sum));
    return error >= 0 ? error : value == sum ? 0 : INFINITY; /* else NaN */
}

/* All of them, or rather many: the corners, and others that are spread by a golden section. */
double bench_product_error(const bench_product *p, const void *c) {
    enum { MOST = 2048 };
    const uint64_t count = p->m * p->n, picked = count < MOST ? count : MOST;
    const uint64_t corners[4] = {0, p->n - 1, (p->m - 1) * p->n, count - 1};
    const size_t size = qn_element_size(p->type);
    const unsigned char *bytes = c;
    double worst = 0, place = 0;
    for (uint64_t i = 0; i < picked + 4; i++) {
        const uint64_t number = i - 4;
        const uint64_t at = i < 4 ? corners[i] : picked == count ? number : (uint64_t)(place * (double)count);
        if (i >= 4) place = fmod(place + 0.6180339887498949, 1);
        worst = fmax(worst, element_error(p, at / p->n, at % p->n, decode(p->type, bytes + at * size)));
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
