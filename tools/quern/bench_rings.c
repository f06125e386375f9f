/* quern bench rings: messages to a ring and back, how long one takes and how many go in a second; what an idle ring costs. */
#include <pthread.h>
#include <quern/ring.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "bench_rings.h"

enum { MOST_WORDS = 512, CAPACITY = 1024, BATCH = 128, PRODUCERS = 4 };

/* The first word counts the messages, by which each reply is checked. A work-group moves a large message together. */
static const char source[] = "#include \"quern/ring.cl\"\n"
                             "typedef struct words { ulong at[WORDS]; } words;\n"
                             "void next(qn_ring *ring, local const words *in) {\n"
                             "#if QN_RING_GROUP_SIZE == 1 || QN_RING_PER_ITEM\n"
                             "    ((local words *)in)->at[0]++;\n"
                             "#else\n"
                             "    if (get_local_id(0) == 0) ((local words *)in)->at[0]++;\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "#endif\n"
                             "    qn_ring_reply(ring, in, sizeof *in);\n"
                             "}\n";

typedef struct rings_task {
    bench_device *d;
    qn_ring *ring;
    uint32_t words;
    const char *wrong; /* what was */
} rings_task;

static uint32_t group_size_for(const bench_device *d, uint32_t words) {
    return d->info.kind == QN_DEVICE_CUDA && words > 64 ? 128 : 1;
}

/* How a ring takes its messages: one by one, or several for one work-item, or each by one of its own. */
typedef struct rings_how {
    uint32_t group_size, read_ahead;
    bool per_item;
} rings_how;

static int begin(rings_task *t, bench_device *d, uint32_t words, qn_ring_idle idle, rings_how how) {
    char number[16];
    snprintf(number, sizeof number, "%u", words);
    const qn_define define = {"WORDS", number};
    const uint32_t size = words * (uint32_t)sizeof(uint64_t);
    const qn_ring_desc desc = {.program = {.source = source, .defines = &define, .num_defines = 1},
                               .handler = "next",
                               .message_type = "words",
                               .message_size = size,
                               .reply_size = size,
                               .group_size = how.group_size,
                               .per_item = how.per_item,
                               .capacity = CAPACITY,
                               .reply_capacity = CAPACITY,
                               .idle = idle,
                               .read_ahead = how.read_ahead};
    *t = (rings_task){.d = d, .words = words};
    qn_status status = qn_ring_create(d->device, &desc, &t->ring);
    if (!status) status = qn_ring_launch(t->ring, 10000000000u);
    if (!status) status = qn_ring_activate(t->ring, 10000000000u);
    return status ? tool_fail_status(d->context, status) : TOOL_OK;
}

static int end(rings_task *t, int result) {
    const qn_status status = qn_ring_close(t->ring, 10000000000u);
    if (result) return result;
    if (t->wrong) return tool_fail(TOOL_DIFFERENT, "%s: %s", t->d->info.name, t->wrong);
    return status ? tool_fail_status(t->d->context, status) : TOOL_OK;
}

static uint64_t for_ns(const bench_device *d) { return (uint64_t)(d->options->seconds * 1e9); }

/* ---- one after another ---- */

static int by_time(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_quantile(bench_device *d, const char *what, const char *which, const char *by,
                           const double *times, size_t count, double part) {
    char name[64], note[32] = "";
    const size_t at = (size_t)(part * (double)(count - 1));
    snprintf(name, sizeof name, "%s, %s", what, which);
    const bench_time time = {.median = times[at],
                             .low = times[at * 9 / 10],
                             .high = times[at + (count - 1 - at) / 10],
                             .samples = (uint32_t)count};
    for (size_t i = d->report->count; i-- > 0 && strcmp(by, "quern") != 0;) {
        const bench_result *r = &d->report->results[i];
        if (strcmp(r->what, name) != 0 || strcmp(r->device, d->info.name) != 0) continue;
        snprintf(note, sizeof note, "%.2f of quern's", time.median / r->value);
        break;
    }
    bench_print_figure(d, "rings", name, by, 0, "ns", &time, note);
}

void bench_rings_print(bench_device *d, const char *what, const char *by, double *times, size_t count) {
    qsort(times, count, sizeof *times, by_time);
    print_quantile(d, what, "p50", by, times, count, 0.5);
    print_quantile(d, what, "p99", by, times, count, 0.99);
    print_quantile(d, what, "p99.9", by, times, count, 0.999);
}

static qn_status call_many(rings_task *t, double *times, size_t most, size_t *count) {
    uint64_t in[MOST_WORDS] = {0}, out[MOST_WORDS];
    const size_t size = t->words * sizeof *in;
    const int64_t until = bench_now() + (int64_t)for_ns(t->d);
    qn_status status = QN_OK;
    for (*count = 0; !status && *count < most && (*count < 100 || bench_now() < until); ++*count) {
        in[0] = *count;
        const int64_t start = bench_now();
        status = qn_ring_call(t->ring, in, size, out, size, 10000000000u);
        times[*count] = (double)(bench_now() - start);
        if (!status && out[0] != in[0] + 1) t->wrong = "a reply is not that of its message";
    }
    return status;
}

static int measure_calls(bench_device *d, uint32_t words) {
    enum { MOST = 1 << 20 };
    rings_task t;
    char what[48];
    size_t count = 0;
    double *times = malloc(MOST * sizeof *times);
    if (!times) return tool_fail(TOOL_RUN_FAILED, "out of memory");
    snprintf(what, sizeof what, "a call of %u bytes", (unsigned)(words * sizeof(uint64_t)));
    bench_progress(d, what);
    int result = begin(&t, d, words, QN_RING_CONTINUOUS, (rings_how){.group_size = group_size_for(d, words)});
    const qn_status status = result ? QN_OK : call_many(&t, times, MOST, &count);
    if (status) result = tool_fail_status(d->context, status);
    result = end(&t, result);
    if (!result) bench_rings_print(d, what, "quern", times, count);
    free(times);
    return result ? result : bench_rings_bare(d, what, words);
}

/* ---- as many as go ---- */

/* Nanoseconds of a message in each window of CAPACITY of them, so that the median does not tell when a thread had to wait for a
   processor. */
typedef struct windows {
    double *times;
    size_t count, most;
    uint64_t end; /* messages at the end of this one */
    int64_t start;
} windows;

static void note(windows *w, uint64_t messages) {
    if (messages < w->end) return;
    const int64_t now = bench_now();
    const uint64_t more = messages - w->end + CAPACITY;
    if (w->start && w->count < w->most) w->times[w->count++] = (double)(now - w->start) / (double)more;
    w->start = now;
    w->end = messages + CAPACITY;
}

/* Keeps the queues filled; replies come in the order of the messages. */
static qn_status stream(rings_task *t, windows *w) {
    static uint64_t in[BATCH][8], out[BATCH][8];
    const int64_t until = bench_now() + (int64_t)for_ns(t->d);
    const qn_ring_batch batch = {.payloads = in, .size = sizeof *in, .stride = sizeof *in, .count = BATCH};
    uint64_t sent = 0, got = 0;
    qn_status status = QN_OK;
    for (bool more = true; !status && (more || got < sent);
         more = more && (w->count < 3 || bench_now() < until)) {
        uint32_t now;
        if (more && sent - got <= CAPACITY - BATCH) {
            for (uint32_t i = 0; i < BATCH; i++) in[i][0] = sent + i;
            status = qn_ring_send_batch(t->ring, &batch, &now, 10000000000u);
            sent += now;
            if (sent - got <= CAPACITY - BATCH) continue;
        }
        if (!status)
            status = qn_ring_receive_batch(t->ring, NULL, out, sizeof *out, BATCH, &now, 10000000000u);
        for (uint32_t i = 0; i < now && !status; i++)
            if (out[i][0] != ++got) t->wrong = "messages were lost, came twice or out of order";
        note(w, got);
    }
    return status;
}

typedef struct producer {
    rings_task *t;
    pthread_t thread;
    uint64_t sent;
    _Atomic bool *stop;
} producer;

static void *produce(void *argument) {
    producer *p = argument;
    const uint64_t in[8] = {7};
    while (!*p->stop && !qn_ring_send(p->t->ring, NULL, in, sizeof in, 10000000000u)) p->sent++;
    return NULL;
}

static qn_status receive_until(rings_task *t, windows *w, int64_t until, uint64_t *got) {
    static uint64_t out[BATCH][8];
    qn_status status = QN_OK;
    while (!status && (w->count < 3 || bench_now() < until)) {
        uint32_t now;
        status = qn_ring_receive_batch(t->ring, NULL, out, sizeof *out, BATCH, &now, 10000000000u);
        *got += now;
        note(w, *got);
    }
    return status;
}

/* By four threads, one message at a time each; this one receives. */
static qn_status stream_by_producers(rings_task *t, windows *w) {
    static uint64_t out[BATCH][8];
    _Atomic bool stop = false;
    producer producers[PRODUCERS];
    uint64_t sent = 0, got = 0;
    uint32_t started = 0;
    for (; started < PRODUCERS; started++) {
        producers[started] = (producer){.t = t, .stop = &stop};
        if (pthread_create(&producers[started].thread, NULL, produce, &producers[started])) break;
    }
    const qn_status status = receive_until(t, w, bench_now() + (int64_t)for_ns(t->d), &got);
    stop = true;
    for (uint32_t now = 0; !status; got += now) /* so that none waits for room */
        if (qn_ring_receive_batch(t->ring, NULL, out, sizeof *out, BATCH, &now, 300000000u)) break;
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(producers[i].thread, NULL);
        sent += producers[i].sent;
    }
    if (!status && (got != sent || started < PRODUCERS)) t->wrong = "messages were lost or came twice";
    return status;
}

static void print_rate(bench_device *d, const char *what, windows *w) {
    qsort(w->times, w->count, sizeof *w->times, by_time);
    const bench_time time = {.median = w->times[w->count / 2],
                             .low = w->times[w->count / 10],
                             .high = w->times[w->count * 9 / 10],
                             .samples = (uint32_t)w->count};
    bench_print_figure(d, "rings", what, "quern", 1, "/s", &time, "");
}

static int measure_rate(bench_device *d, const char *what, rings_how how,
                        qn_status (*run)(rings_task *t, windows *w)) {
    enum { MOST = 1 << 20 };
    rings_task t;
    windows w = {.times = malloc(MOST * sizeof(double)), .most = MOST};
    if (!w.times) return tool_fail(TOOL_RUN_FAILED, "out of memory");
    bench_progress(d, what);
    int result = begin(&t, d, 8, QN_RING_CONTINUOUS, how);
    const qn_status status = result ? QN_OK : run(&t, &w);
    if (status) result = tool_fail_status(d->context, status);
    result = end(&t, result);
    if (!result) print_rate(d, what, &w);
    free(w.times);
    return result;
}

/* What a ring does that handles one message after another, and on a GPU one whose work-items handle one each. */
static int measure_rates(bench_device *d) {
    const rings_how in_turn = {.read_ahead = 32}, by_item = {.group_size = 64, .per_item = true};
    int result = measure_rate(d, "messages of 64 bytes, in batches", in_turn, stream);
    if (!result)
        result = measure_rate(d, "messages of 64 bytes, by four threads", in_turn, stream_by_producers);
    if (d->info.kind != QN_DEVICE_CUDA) return result;
    if (!result) result = measure_rate(d, "in batches, to a work-item each", by_item, stream);
    if (!result)
        result = measure_rate(d, "by four threads, to a work-item each", by_item, stream_by_producers);
    return result;
}

/* ---- idle ---- */

#if !defined(_WIN32)

/* The processor's time that the whole process takes while a ring waits, of one core. */
static int measure_idle(bench_device *d) {
    static const char what[] = "an idle ring's part of a core, adaptive";
    rings_task t;
    struct timespec begins, ends;
    bench_progress(d, what);
    int result = begin(&t, d, 8, QN_RING_ADAPTIVE, (rings_how){0});
    const struct timespec settle = {.tv_nsec = 50000000}, watch = {.tv_nsec = 500000000};
    nanosleep(&settle, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begins);
    nanosleep(&watch, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ends);
    result = end(&t, result);
    const double ns = (double)(ends.tv_sec - begins.tv_sec) * 1e9 + (double)(ends.tv_nsec - begins.tv_nsec);
    if (!result) printf("  %-44s %.3f %%\n", what, 100 * ns / (double)watch.tv_nsec);
    return result;
}

#else

static int measure_idle(bench_device *d) {
    (void)d;
    return TOOL_OK;
}

#endif

int bench_rings_run(bench_device *d) {
    bench_print_head(d, "rings");
    if (d->info.kind == QN_DEVICE_NULL) {
        printf("  %s answers no messages\n\n", d->info.name);
        return TOOL_OK;
    }
    /* Without it the host has a part in each hop, and such rings take some drivers minutes to compile. */
    const bool hops = d->info.capabilities & QN_CAN_SHARE_COHERENTLY;
    if (d->options->soak) return bench_rings_soak(d);
    int result = measure_calls(d, 8);
    if (!result) result = measure_calls(d, MOST_WORDS);
    if (!result) result = measure_rates(d);
    if (!result && hops) result = bench_rings_hops(d);
    if (!result && !d->info.loop_limit) result = bench_rings_work(d); /* which times long loops */
    if (!result) result = measure_idle(d);
    if (!result) putchar('\n');
    return result;
}
