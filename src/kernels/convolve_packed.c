/* A convolution on a processor by padded images and packed weights (kernels/convolve/packed.cl): the sizes of its tiles. */
#include <stdio.h>

#include "kernels/convolve.h"

/* As many sums as registers hold beside what a step loads, as in matmul_packed.c: 32 registers of AVX-512, 16 of others. */
enum { WIDE = 64, WIDE_SUMS = 28, SUMS = 12, MOST_VECTORS = 8, BLOCK = 4, PAD_ROWS = 16 };
/* Multiplications that are worth a kernel of their own: below, what it takes to compile it is never won. */
static const double min_work = 2.5e5;

typedef struct micro {
    uint32_t lanes, rows, vectors;
} micro;

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static uint32_t sum_size(const qn__convolve_problem *p) { return p->type == QN_F64 ? 8 : 4; }

/* Panels of outputs are of about one size; few outputs get more pixels. */
static micro micro_of(const qn_kernels *kernels, const qn__convolve_problem *p) {
    const uint32_t bytes = kernels->info.vector_bytes, sums = bytes >= WIDE ? WIDE_SUMS : SUMS,
                   most = sums / 2;
    const uint32_t outputs = p->numbers.outputs, panels = (uint32_t)divide_up(outputs, most);
    micro m = {bytes / sum_size(p), (uint32_t)divide_up(outputs, panels), 0};
    if (m.lanes < 4) m.lanes = 4; /* vectors of the language have that many */
    m.vectors = sums / m.rows > MOST_VECTORS ? MOST_VECTORS : sums / m.rows;
    return m;
}

/* What a phase of the padded images has along dimension i. */
static uint64_t phase_size(const qn__convolve_problem *p, int i) {
    const qn__convolve_numbers *n = &p->numbers;
    const uint64_t out = i ? n->to_columns : n->to_rows, stride = (uint64_t)n->stride[i];
    return ((out - 1) * stride + (uint64_t)(p->taps[i] - 1) * (uint64_t)n->dilation[i]) / stride + 1;
}

bool qn__convolve_packed_pays(const qn_kernels *kernels, const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const double work =
        (double)n->pixels * n->outputs * n->groups * n->channels * (double)p->taps[0] * (double)p->taps[1];
    return kernels->info.kind == QN_DEVICE_CPU && kernels->info.vector_bytes && work >= min_work;
}

bool qn__convolve_packed_fits(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const double elements = (double)p->images * n->groups * n->channels * (double)n->stride[0] *
                            (double)n->stride[1] * (double)phase_size(p, 0) * (double)phase_size(p, 1);
    return n->channels > 0 && elements < 1e17 && phase_size(p, 1) <= INT32_MAX &&
           (uint64_t)p->taps[0] * p->taps[1] <= 1024 && n->channels <= UINT32_MAX / 1024;
}

void qn__convolve_packed_options(const qn_kernels *kernels, const qn__convolve_problem *p, char *out,
                                 size_t size) {
    const micro m = micro_of(kernels, p);
    snprintf(out, size, " -D MR=%u -D VECTORS=%u -D LANES=%u -D BLOCK=%d -D PAD_ROWS=%d -D NEXT=%s", m.rows,
             m.vectors, m.lanes, BLOCK, PAD_ROWS,
             p->numbers.from[3] * p->numbers.stride[1] == 1 ? "1" : "(h.stride[1]*h.from[3])");
}

void qn__convolve_packed_plan(const qn_kernels *kernels, const qn__convolve_problem *p,
                              qn__convolve_packed *out) {
    const qn__convolve_numbers *n = &p->numbers;
    const micro m = micro_of(kernels, p);
    const uint64_t nr = (uint64_t)m.lanes * m.vectors, taps = (uint64_t)p->taps[0] * p->taps[1],
                   panels = divide_up(n->outputs, m.rows), rows = phase_size(p, 0) * (uint64_t)n->stride[0],
                   columns = phase_size(p, 1) * (uint64_t)n->stride[1],
                   pixels = (n->to_rows - 1) * phase_size(p, 1) + n->to_columns;
    const uint64_t of_weights = divide_up(n->groups * panels * n->channels * taps * m.rows, 16) * 16;
    out->work = (of_weights + p->images * n->groups * n->channels * (rows * columns + nr)) * sum_size(p);
    out->pack = (qn_range){.global = {n->channels * taps, panels * n->groups, 1}};
    out->pad = (qn_range){
        .global = {(uint64_t)n->channels * n->groups, p->images, divide_up(phase_size(p, 0), PAD_ROWS)},
        .local = {1, 1, 1}};
    out->multiply = (qn_range){.global = {panels, divide_up(pixels, nr * BLOCK), p->images * n->groups},
                               .local = {1, 1, 1}};
}
