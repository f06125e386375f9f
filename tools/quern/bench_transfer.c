/* quern bench transfer: rates between host and device, from pinned memory and from ordinary, and within the device. Each run is
   timed until its data is where it belongs. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct transfer_task {
    bench_device *d;
    uint64_t size;
    float *random;           /* what is sent */
    void *ordinary, *pinned; /* on the host */
    qn_buffer *buffer, *other;
} transfer_task;

static void *memory_of(const transfer_task *t, bool pinned) { return pinned ? t->pinned : t->ordinary; }

static qn_status up(transfer_task *t, bool pinned) {
    return qn_stream_write(t->d->stream, t->buffer, 0, memory_of(t, pinned), t->size);
}

static qn_status down(transfer_task *t, bool pinned) {
    return qn_stream_read(t->d->stream, t->buffer, 0, memory_of(t, pinned), t->size);
}

static qn_status across(transfer_task *t, bool pinned) {
    (void)pinned;
    return qn_stream_copy(t->d->stream, t->buffer, 0, t->other, 0, t->size);
}

/* What to the task is to the check: which memory has to be like `random` afterwards. */
static const struct {
    const char *what;
    qn_status (*run)(transfer_task *t, bool pinned);
    bool pinned;
} kinds[] = {{"to the device, pinned", up, true},
             {"to the device", up, false},
             {"from the device, pinned", down, true},
             {"from the device", down, false},
             {"within the device", across, false}};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

typedef struct kind_task {
    transfer_task *t;
    int kind;
} kind_task;

static qn_status run_transfers(void *user, uint32_t first, uint32_t count) {
    const kind_task *k = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) {
        status = kinds[k->kind].run(k->t, kinds[k->kind].pinned);
        if (!status) status = qn_stream_wait(k->t->d->stream, QN_FOREVER);
    }
    return status;
}

static qn_status prepare(transfer_task *t, int kind) {
    const bool is_up = kinds[kind].run == up;
    memset(t->ordinary, 0, t->size);
    memset(t->pinned, 0, t->size);
    if (is_up) memcpy(memory_of(t, kinds[kind].pinned), t->random, t->size);
    const uint8_t zero = 0;
    qn_status status = qn_stream_fill(t->d->stream, t->other, 0, t->size, &zero, 1);
    if (!status && is_up) status = qn_stream_fill(t->d->stream, t->buffer, 0, t->size, &zero, 1);
    if (!status && !is_up) status = qn_stream_write(t->d->stream, t->buffer, 0, t->random, t->size);
    return status ? status : qn_stream_wait(t->d->stream, QN_FOREVER);
}

static int check(transfer_task *t, int kind) {
    const bool is_down = kinds[kind].run == down;
    void *got = memory_of(t, kinds[kind].pinned);
    qn_status status = QN_OK;
    if (!is_down) status = qn_buffer_read(kinds[kind].run == up ? t->buffer : t->other, 0, got, t->size);
    if (status) return tool_fail_status(t->d->context, status);
    if (memcmp(got, t->random, t->size) == 0) return TOOL_OK;
    return tool_fail(TOOL_DIFFERENT, "%s: %s: what arrives is not what was sent", t->d->info.name,
                     kinds[kind].what);
}

static int measure_kind(transfer_task *t, int kind) {
    kind_task k = {t, kind};
    const bench_task task = {.run = run_transfers, .user = &k, .on_host = true};
    char what[64];
    bench_time time;
    snprintf(what, sizeof what, "%llu KiB %s", (unsigned long long)(t->size >> 10), kinds[kind].what);
    bench_progress(t->d, what);
    const qn_status status = prepare(t, kind);
    int result = status ? tool_fail_status(t->d->context, status) : bench_measure(t->d, &task, &time);
    if (!result) result = check(t, kind);
    if (!result) bench_print_figure(t->d, "transfer", what, "quern", (double)t->size, "B/s", &time, "");
    return result;
}

static int measure_size(bench_device *d, uint64_t size) {
    const qn_buffer_desc desc = {.size = size, .uninitialised = true};
    transfer_task t = {.d = d, .size = size};
    qn_status status = qn_buffer_create(d->device, &desc, &t.buffer);
    if (!status) status = qn_buffer_create(d->device, &desc, &t.other);
    if (!status) status = qn_host_alloc(d->device, size, &t.pinned);
    int result = status ? tool_fail_status(d->context, status) : TOOL_OK;
    t.ordinary = tool_alloc(size);
    t.random = bench_random(size / sizeof(float), 3);
    for (int kind = 0; kind < NUM_KINDS && !result; kind++) {
        result = measure_kind(&t, kind);
        bench_step(d);
    }
    free(t.random);
    free(t.ordinary);
    if (t.pinned) qn_host_free(d->device, t.pinned);
    qn_buffer_destroy(t.buffer);
    qn_buffer_destroy(t.other);
    return result;
}

int bench_transfer_run(bench_device *d) {
    static const uint64_t sizes[] = {(uint64_t)4 << 10, (uint64_t)1 << 20, (uint64_t)64 << 20};
    int result = TOOL_OK;
    bench_print_head(d, "transfer");
    bench_steps(d, NUM_KINDS * sizeof sizes / sizeof *sizes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !result; i++) result = measure_size(d, sizes[i]);
    if (!result) putchar('\n');
    return result;
}
