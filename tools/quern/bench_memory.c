/* quern bench memory: is memory as fast when it was asked for late as when it was asked for early? Pairs of buffers are made one
   after another, as a program that runs for long makes them: first all stay, then the earlier ones go and new ones of other sizes
   come. A copy within each pair is timed as soon as it is there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { NUM_PAIRS = 24, KEPT = 14, LARGE_MIB = 64 };
static const uint32_t mib[NUM_PAIRS] = {256, 16,  64, 1,  64,  48, 128, 4,   64, 192, 64, 128,
                                        2,   256, 64, 96, 128, 64, 192, 100, 64, 8,   64, 256};

typedef struct pair {
    const bench_device *d;
    qn_buffer *from, *to;
    uint64_t size;
    uint8_t contents;
} pair;

static qn_status run_copies(void *user, uint32_t first, uint32_t count) {
    const pair *p = user;
    qn_status status = QN_OK;
    (void)first;
    const qn_copy_desc desc = {.from = QN_ARRAY(p->from, QN_U8, p->size),
                               .to = QN_ARRAY(p->to, QN_U8, p->size)};
    for (uint32_t i = 0; i < count && !status; i++)
        status = qn_kernels_copy(p->d->kernels, p->d->stream, &desc);
    return status;
}

static qn_status make_pair(pair *p) {
    const qn_buffer_desc desc = {.size = p->size, .uninitialised = true};
    const uint8_t zero = 0;
    qn_status status = qn_buffer_create(p->d->device, &desc, &p->from);
    if (!status) status = qn_buffer_create(p->d->device, &desc, &p->to);
    if (!status) status = qn_stream_fill(p->d->stream, p->from, 0, p->size, &p->contents, 1);
    if (!status) status = qn_stream_fill(p->d->stream, p->to, 0, p->size, &zero, 1);
    if (!status) status = run_copies(p, 0, 1);
    if (!status) status = qn_kernels_wait(p->d->kernels, QN_FOREVER);
    return status ? status : qn_stream_wait(p->d->stream, QN_FOREVER);
}

static void drop_pair(pair *p) {
    qn_buffer_destroy(p->from);
    qn_buffer_destroy(p->to);
    p->from = p->to = NULL;
}

static int check(const pair *p) {
    unsigned char *got = tool_alloc(p->size);
    const qn_status status = qn_buffer_read(p->to, 0, got, p->size);
    int result = status ? tool_fail_status(p->d->context, status) : TOOL_OK;
    for (uint64_t i = 0; i < p->size && !result; i++)
        if (got[i] != p->contents)
            result = tool_fail(TOOL_DIFFERENT, "%s: byte %llu of a copy is %u instead of %u", p->d->info.name,
                               (unsigned long long)i, got[i], p->contents);
    free(got);
    return result;
}

typedef struct extremes {
    double least, most; /* rates of large pairs */
} extremes;

static int measure_pair(bench_device *d, pair *pairs, uint32_t i, extremes *found) {
    pair *p = &pairs[i];
    const bench_task task = {.run = run_copies, .user = p};
    char what[64];
    bench_time time;
    if (i >= KEPT) drop_pair(&pairs[2 * (i - KEPT)]);
    *p =
        (pair){.d = d, .size = (uint64_t)mib[i] << (bench_is_gpu(d) ? 20 : 12), .contents = (uint8_t)(i + 1)};
    snprintf(what, sizeof what, "pair %u of %u, %llu KiB each", i + 1, (unsigned)NUM_PAIRS,
             (unsigned long long)(p->size >> 10));
    bench_progress(d, what);
    const qn_status status = make_pair(p);
    int result = status ? tool_fail_status(d->context, status) : bench_measure(d, &task, &time);
    if (!result) result = check(p);
    if (result) return result;
    const double work = 2.0 * (double)p->size, rate = work / time.median;
    bench_print_figure(d, "memory", what, "quern", work, "B/s", &time, "");
    if (mib[i] < LARGE_MIB) return TOOL_OK; /* caches may hold much of it */
    found->least = found->least > 0 ? fmin(found->least, rate) : rate;
    found->most = fmax(found->most, rate);
    return TOOL_OK;
}

int bench_memory_run(bench_device *d) {
    pair pairs[NUM_PAIRS] = {{0}};
    extremes found = {0, 0};
    int result = TOOL_OK;
    bench_print_head(d, "memory");
    bench_steps(d, NUM_PAIRS);
    for (uint32_t i = 0; i < NUM_PAIRS && !result; i++) {
        result = measure_pair(d, pairs, i, &found);
        bench_step(d);
    }
    for (uint32_t i = 0; i < NUM_PAIRS; i++) drop_pair(&pairs[i]);
    if (!result)
        printf("  of the large pairs the slowest has %.3f of the quickest\n\n", found.least / found.most);
    return result;
}
