/* Third chapter: matrix multiplication as a ladder of kernels (kernels/matmul), beside a plain C loop. Each rung is
   verified against a reference in double precision. */
#include "tour.h"

#include <math.h>
#include <quern/kernels.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct matrices {
    uint32_t n;
    float *a, *b, *c;
    double *reference, *bound; /* bound: the same with absolute values, for the scale of the error */
    qn_buffer *on_a, *on_b, *on_c;
    qn_buffer *on_short_a, *on_short_b; /* A and B as bf16, for the last rung */
} matrices;

/* What bf16 has exactly, so that all rungs are given the same: from -1 up to 1 in steps of 1/64. */
static float next_element(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 25) * 0x1p-6f - 1.0f;
}

/* The upper halves of floats. */
static bool make_short(tour *t, const float *from, size_t count, qn_buffer **buffer) {
    uint16_t *to = malloc(count * sizeof *to);
    for (size_t i = 0; to && i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &from[i], sizeof bits);
        to[i] = (uint16_t)(bits >> 16);
    }
    const bool good = to && tour_buffer(t, count * sizeof *to, to, buffer);
    free(to);
    return good;
}

static bool make_matrices(tour *t, matrices *m) {
    size_t count = (size_t)m->n * m->n;
    m->a = malloc(count * sizeof(float));
    m->b = malloc(count * sizeof(float));
    m->c = malloc(count * sizeof(float));
    m->reference = calloc(count, sizeof(double));
    m->bound = calloc(count, sizeof(double));
    if (!m->a || !m->b || !m->c || !m->reference || !m->bound) {
        fprintf(stderr, "out of memory\n");
        return false;
    }
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        m->a[i] = next_element(&state);
        m->b[i] = next_element(&state);
    }
    for (size_t row = 0; row < m->n; row++)
        for (size_t i = 0; i < m->n; i++)
            for (size_t column = 0; column < m->n; column++) {
                double product = (double)m->a[row * m->n + i] * m->b[i * m->n + column];
                m->reference[row * m->n + column] += product;
                m->bound[row * m->n + column] += fabs(product);
            }
    return tour_buffer(t, count * 4, m->a, &m->on_a) && tour_buffer(t, count * 4, m->b, &m->on_b) &&
           tour_buffer(t, count * 4, NULL, &m->on_c) && make_short(t, m->a, count, &m->on_short_a) &&
           make_short(t, m->b, count, &m->on_short_b);
}

static void free_matrices(matrices *m) {
    free(m->a);
    free(m->b);
    free(m->c);
    free(m->reference);
    free(m->bound);
    qn_buffer_destroy(m->on_a);
    qn_buffer_destroy(m->on_b);
    qn_buffer_destroy(m->on_c);
    qn_buffer_destroy(m->on_short_a);
    qn_buffer_destroy(m->on_short_b);
}

/* What one writes first in C. */
static void plain_loop(const matrices *m) {
    for (size_t row = 0; row < m->n; row++)
        for (size_t column = 0; column < m->n; column++) {
            float sum = 0;
            for (size_t i = 0; i < m->n; i++) sum += m->a[row * m->n + i] * m->b[i * m->n + column];
            m->c[row * m->n + column] = sum;
        }
}

/* The usual bound of a sum of n products: n roundings of the sum of their sizes. */
static bool verify(const matrices *m, double *worst) {
    *worst = 0;
    for (size_t i = 0; i < (size_t)m->n * m->n; i++) {
        double error = fabs(m->c[i] - m->reference[i]) / (m->bound[i] + 1e-30);
        if (!(error <= *worst)) *worst = error;
    }
    return *worst <= m->n * 0x1p-24;
}

static bool report(const matrices *m, const char *name, const char *what, double seconds) {
    double worst, operations = 2.0 * m->n * m->n * m->n;
    bool right = verify(m, &worst);
    printf("  %8.2f GFLOP/s  %-17s %-33s error %.1e %s\n", operations / seconds * 1e-9, name, what, worst,
           right ? "ok" : "WRONG");
    return right;
}

static bool climb(tour *t, matrices *m, const qn_rung *r) {
    qn_kernel *kernel = NULL;
    const char *name = r->file + strlen("matmul/");
    if (!tour_kernel(t, r->file, "matmul", &kernel)) return false;
    const bool is_short = r->type == QN_BF16;
    qn_buffer *a = is_short ? m->on_short_a : m->on_a, *b = is_short ? m->on_short_b : m->on_b;
    double best = INFINITY, until = tour_seconds() + (t->quick ? 0 : 0.5);
    bool good = true;
    for (int i = 0; good && (i < 3 || tour_seconds() < until); i++) {
        double begin = tour_seconds();
        good = tour_good(t, qn_launch(NULL, kernel, &r->range, QN_ARGS(m->n, m->n, m->n, a, b, m->on_c)),
                         name) &&
               tour_wait(t);
        best = fmin(best, tour_seconds() - begin);
    }
    good = good && tour_good(t, qn_buffer_read(m->on_c, 0, m->c, (uint64_t)m->n * m->n * 4), "reading") &&
           report(m, name, r->adds, best);
    qn_kernel_destroy(kernel);
    return good;
}

static bool is_emulated(const tour *t) {
    qn_device_info info;
    return qn_device_get_info(t->device, &info) == QN_OK && (info.capabilities & QN_CAN_EMULATE);
}

bool tour_matmul(tour *t) {
    matrices m = {.n = t->quick ? 128 : 512};
    printf("\nMatrix multiplication, %ux%u floats\n", m.n, m.n);
    bool good = make_matrices(t, &m);
    if (good) {
        double begin = tour_seconds();
        plain_loop(&m);
        good = report(&m, "plain C", "three loops, one thread", tour_seconds() - begin);
    }
    qn_rung rung;
    for (uint32_t i = 0; good && qn_matmul_rung(i, m.n, m.n, &rung); i++)
        if (rung.type == QN_BF16 && is_emulated(t)) /* its compiler takes minutes */
            printf("  (%s is for devices, not for what emulates one)\n", rung.file + strlen("matmul/"));
        else
            good = climb(t, &m, &rung);
    free_matrices(&m);
    return good;
}
