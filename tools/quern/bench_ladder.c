/* quern bench matmul --ladder: the kernels of kernels/matmul from the simplest to the tuned one, beside what the device can
   do and what a loop in C does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static double flops_of(const bench_product *p) { return 2.0 * (double)p->m * (double)p->n * (double)p->k; }

/* ---- the loop in C ---- */

static void multiply_row(const bench_product *p, uint64_t row, float *c) {
    for (uint64_t column = 0; column < p->n; column++) {
        float sum = 0;
        for (uint64_t i = 0; i < p->k; i++) sum += p->a[row * p->k + i] * p->b[i * p->n + column];
        c[column] = sum;
    }
}

/* As many rows as the time allows; which changes nothing about the rate. */
static int measure_scalar(const bench_device *d, const bench_product *p, double *rate) {
    bench_product row = {.m = 1, .n = p->n, .k = p->k, .type = p->type, .a = p->a, .b = p->b};
    float *c = tool_alloc(p->n * sizeof *c);
    uint64_t rows = 0;
    bench_progress(d, "loop in C");
    const int64_t begin = bench_now();
    do multiply_row(p, rows++ % p->m, c);
    while ((double)(bench_now() - begin) < d->options->seconds * 1e9);
    *rate = 2.0 * (double)rows * (double)p->n * (double)p->k / (double)(bench_now() - begin) * 1e9;
    multiply_row(p, 0, c);
    const double error = bench_product_error(&row, c);
    free(c);
    free(row.expected);
    return error <= 1 ? TOOL_OK : tool_fail(TOOL_DIFFERENT, "the loop in C is wrong");
}

/* ---- rungs ---- */

typedef struct rung_task {
    const bench_device *d;
    const bench_product *product;
    qn_program *program;
    qn_kernel *kernel;
    qn_range range;
} rung_task;

static qn_status run_rung(void *user, uint32_t first, uint32_t count) {
    const rung_task *t = user;
    const bench_product *p = t->product;
    const uint32_t m = (uint32_t)p->m, n = (uint32_t)p->n, k = (uint32_t)p->k;
    qn_status status = QN_OK;
    for (uint32_t i = first; i < first + count && !status; i++) {
        qn_buffer *operands[3];
        for (int o = 0; o < 3; o++) operands[o] = p->on_device[o].views[i % p->on_device[o].count];
        status = qn_launch(t->d->stream, t->kernel, &t->range,
                           QN_ARGS(m, n, k, operands[0], operands[1], operands[2]));
    }
    return status;
}

static int rung_kernel(rung_task *t, const qn_rung *rung) {
    qn_program_desc desc = {0};
    if (!qn_kernels_source(rung->file, &desc))
        return tool_fail(TOOL_RUN_FAILED, "the library has no %s", rung->file);
    qn_status status = qn_program_create(t->d->device, &desc, &t->program);
    if (!status) status = qn_kernel_create(t->program, "matmul", &t->kernel);
    if (!status) status = qn_program_wait(t->program, QN_FOREVER);
    t->range = rung->range;
    return status ? tool_fail_status(t->d->context, status) : TOOL_OK;
}

static int measure_rung(bench_device *d, bench_product *p, const qn_rung *rung, bench_time *time) {
    rung_task t = {.d = d, .product = p};
    const bench_task task = {.run = run_rung, .user = &t};
    bench_progress(d, rung->file);
    int result = rung_kernel(&t, rung);
    if (!result) result = bench_measure(d, &task, time);
    if (!result) result = bench_product_check(d, p, time->runs, rung->file);
    qn_kernel_destroy(t.kernel);
    qn_program_destroy(t.program);
    bench_progress(d, NULL);
    return result;
}

/* ---- the table ---- */

static void print_head(const bench_ladder *l) {
    printf("matmul, the ladder, on %s: %s\n"
           "%llu x %llu x %llu, 32-bit floats. This run's peak of multiply-adds: %.1f GFLOP/s; copying: %.1f "
           "GB/s; a loop in C: %.2f GFLOP/s.\n",
           l->device, l->description, (unsigned long long)l->shape[0], (unsigned long long)l->shape[1],
           (unsigned long long)l->shape[2], l->peak * 1e-9, l->bandwidth * 1e-9, l->scalar * 1e-9);
    if (l->units_peak) printf("Matrix units, of bf16: %.1f GFLOP/s.\n", l->units_peak * 1e-9);
    printf("\n"
           "  rung                                  GFLOP/s   spread   of peak  to the one before   to the "
           "loop\n");
}

static void print_rung(const bench_ladder *l, const bench_result *result) {
    const uint32_t at = l->count - 1;
    const double rate = l->rungs[at].rate;
    printf("  %2u  %-32s %10.*f  %5.1f %%  %6.1f %%", at + 1, l->rungs[at].adds, rate < 1e9 ? 4 : 1,
           rate * 1e-9, bench_spread(result) * 100, rate / l->rungs[at].peak * 100);
    if (at)
        printf(" %17.2fx", rate / l->rungs[at - 1].rate);
    else
        printf(" %18s", "");
    printf(" %12.1fx\n", rate / l->scalar);
    fflush(stdout);
}

static void add_rung(bench_device *d, bench_ladder *l, const qn_rung *rung, double flops,
                     const bench_time *time) {
    const double reads = 1.0 / rung->reuse[0] + 1.0 / rung->reuse[1]; /* elements for one multiply-add */
    char what[112];
    snprintf(what, sizeof what, "%llux%llux%llu %s, rung %u: %s", (unsigned long long)l->shape[0],
             (unsigned long long)l->shape[1], (unsigned long long)l->shape[2], qn_element_name(rung->type),
             l->count + 1, rung->adds);
    bench_result *result = bench_report_row(d, "matmul", what, "quern", "FLOP/s");
    bench_rate(result, flops, time);
    result->is_drawn = true;
    l->rungs[l->count].adds = rung->adds;
    l->rungs[l->count].rate = result->value;
    l->rungs[l->count].peak = rung->type == QN_BF16 && l->units_peak ? l->units_peak : l->peak;
    l->rungs[l->count++].intensity = 2.0 / (reads * qn_element_size(rung->type));
    print_rung(l, result);
}

/* What rungs are given of which A and B are no 32-bit floats; C is. */
static const bench_type narrow = {"bf16", QN_BF16, QN_F32, false, false, false, 7, 0x1p-24, 0};

static int measure_rungs(bench_device *d, bench_product *p, bench_ladder *l) {
    qn_rung rung;
    bench_product of_bf16 = {0};
    uint32_t rungs = 0;
    int result = TOOL_OK;
    while (qn_matmul_rung(rungs, (uint32_t)p->m, (uint32_t)p->n, &rung)) rungs++;
    bench_steps(d, rungs);
    while (l->count < BENCH_MAX_RUNGS && !result &&
           qn_matmul_rung(l->count, (uint32_t)p->m, (uint32_t)p->n, &rung)) {
        bench_time time;
        const bool is_narrow = rung.type == QN_BF16;
        if (is_narrow && !of_bf16.m) result = bench_product_create(d, l->shape, &narrow, &of_bf16);
        if (!result) result = measure_rung(d, is_narrow ? &of_bf16 : p, &rung, &time);
        if (!result) add_rung(d, l, &rung, flops_of(p), &time);
        bench_step(d);
    }
    bench_product_free(&of_bf16);
    if (!result) putchar('\n');
    return result;
}

int bench_ladder_run(bench_device *d) {
    const uint64_t side = bench_is_gpu(d) ? 4096 : 512, *asked = d->options->shapes[0];
    bench_ladder l = {.shape = {side, side, side}};
    bench_product p = {0};
    if (asked[0]) memcpy(l.shape, asked, sizeof l.shape);
    for (int i = 0; i < 3; i++)
        if (l.shape[i] > UINT32_MAX) return tool_fail(TOOL_USAGE, "the ladder's kernels count in 32 bits");
    snprintf(l.device, sizeof l.device, "%s", d->info.name);
    snprintf(l.description, sizeof l.description, "%s", d->info.description);
    int result = bench_peak(d, &l.peak);
    if (!result) result = bench_units_peak(d, &l.units_peak);
    if (!result) result = bench_bandwidth(d, &l.bandwidth);
    if (!result) result = bench_product_create(d, l.shape, bench_type_named("f32"), &p);
    if (!result) result = measure_scalar(d, &p, &l.scalar);
    bench_progress(d, NULL);
    if (!result) print_head(&l);
    if (!result) result = measure_rungs(d, &p, &l);
    bench_product_free(&p);
    if (!result) *bench_report_add_ladder(d->report) = l;
    return result;
}
