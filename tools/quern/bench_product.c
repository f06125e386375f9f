/* Operands of a matrix product, and the check of its result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

int bench_product_create(const bench_device *d, const uint64_t shape[3], bench_product *p) {
    const uint64_t m = shape[0], n = shape[1], k = shape[2], most = UINT64_MAX / sizeof(float) / 1024;
    *p = (bench_product){.m = m, .n = n, .k = k};
    if (m > most / k || k > most / n || m > most / n)
        return tool_fail(TOOL_USAGE, "matrices for %llu x %llu x %llu are too large", (unsigned long long)m,
                         (unsigned long long)n, (unsigned long long)k);
    const uint64_t sizes[3] = {m * k * sizeof(float), k * n * sizeof(float), m * n * sizeof(float)};
    const uint32_t copies = bench_copies_needed(d, sizes[0] + sizes[1] + sizes[2]);
    bench_progress(d, "operands");
    p->a = bench_random(m * k, 1);
    p->b = bench_random(k * n, 2);
    int result = bench_copies_create(d, sizes[0], p->a, copies, &p->on_device[0]);
    if (!result) result = bench_copies_create(d, sizes[1], p->b, copies, &p->on_device[1]);
    if (!result) result = bench_copies_create(d, sizes[2], NULL, copies, &p->on_device[2]);
    return result;
}

void bench_product_free(bench_product *p) {
    free(p->a);
    free(p->b);
    for (int i = 0; i < 3; i++) bench_copies_free(&p->on_device[i]);
}

/* Of one element. Sums of k products that were each rounded wander off by about the root of k roundings. */
static double element_error(const bench_product *p, uint64_t row, uint64_t column, float value) {
    double sum = 0, magnitude = 0;
    for (uint64_t i = 0; i < p->k; i++) {
        const double product = (double)p->a[row * p->k + i] * (double)p->b[i * p->n + column];
        sum += product;
        magnitude += fabs(product);
    }
    const double error = fabs((double)value - sum) / (4 * 0x1p-24 * sqrt((double)p->k) * magnitude);
    return error >= 0 ? error : INFINITY; /* NaN */
}

/* All of them, or rather many: the corners, and others that are spread by a golden section. */
double bench_product_error(const bench_product *p, const float *c) {
    enum { MOST = 2048 };
    const uint64_t count = p->m * p->n, picked = count < MOST ? count : MOST;
    const uint64_t corners[4] = {0, p->n - 1, (p->m - 1) * p->n, count - 1};
    double worst = 0, place = 0;
    for (int i = 0; i < 4; i++)
        worst = fmax(worst, element_error(p, corners[i] / p->n, corners[i] % p->n, c[corners[i]]));
    for (uint64_t i = 0; i < picked; i++) {
        const uint64_t at = picked == count ? i : (uint64_t)(place * (double)count);
        place = fmod(place + 0.6180339887498949, 1);
        worst = fmax(worst, element_error(p, at / p->n, at % p->n, c[at]));
    }
    return worst;
}

int bench_product_check(const bench_device *d, bench_product *p, uint32_t runs, const char *what) {
    const bench_copies *copies = &p->on_device[2];
    const uint32_t used = runs < copies->count ? runs : copies->count, last = used - 1;
    const uint64_t size = p->m * p->n * sizeof(float);
    const uint8_t ones = 0xff;
    float *c = tool_alloc(size);
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
