/* quern bench rings: hops from ring to ring, and a soak at full load, in which each message is checked. */
#include <pthread.h>
#include <quern/memory.h>
#include <quern/ring.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <unistd.h>
#endif

#include "bench.h"
#include "bench_rings.h"

#define LONG ((uint64_t)10000000000)

/* ---- hops ---- */

static const char circle_text[] = "#include \"quern/ring.cl\"\n"
                                  "typedef struct words { ulong at[8]; } words;\n"
                                  "void hop(qn_ring *ring, local const words *in) {\n"
                                  "    words out = *in;\n"
                                  "    if (out.at[0]-- == 0) qn_ring_reply(ring, &out, sizeof out);\n"
                                  "    else qn_ring_forward(ring, 0, &out, sizeof out);\n"
                                  "}\n";

/* Two rings that send to each other. */
static qn_status make_circle(bench_device *d, qn_ring *rings[2]) {
    const qn_ring_desc desc = {.program = {.source = circle_text},
                               .handler = "hop",
                               .message_type = "words",
                               .links = 1,
                               .mail_capacity = 64,
                               .idle = QN_RING_CONTINUOUS};
    qn_status status = QN_OK;
    for (int i = 0; i < 2 && !status; i++) status = qn_ring_create(d->device, &desc, &rings[i]);
    if (!status)
        status = qn_ring_connect((qn_ring_link[]){{rings[0], 0, rings[1]}, {rings[1], 0, rings[0]}}, 2);
    for (int i = 0; i < 2 && !status; i++) status = qn_ring_launch(rings[i], LONG);
    for (int i = 0; i < 2 && !status; i++) status = qn_ring_activate(rings[i], LONG);
    return status;
}

/* What a number of hops takes, without what a message without any does. */
static qn_status time_hops(qn_ring *ring, uint64_t hops, double *ns) {
    uint64_t message[8] = {hops}, reply[8];
    const int64_t start = bench_now();
    qn_status status = qn_ring_send(ring, NULL, message, sizeof message, LONG);
    /* Looks all the time: who waits sleeps after some tens of microseconds, by as much as many hops take. */
    while (!status && (status = qn_ring_receive(ring, NULL, reply, sizeof reply, 0)) == QN_ERROR_TIMEOUT)
        status = bench_now() - start < (int64_t)LONG ? QN_OK : QN_ERROR_TIMEOUT;
    *ns = (double)(bench_now() - start);
    return status;
}

static int by_time(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int bench_rings_hops(bench_device *d) {
    enum { HOPS = 1000, MOST = 1000 };
    static const char what[] = "a hop from ring to ring";
    static double times[MOST];
    qn_ring *rings[2] = {NULL, NULL};
    uint32_t count = 0;
    bench_progress(d, what);
    qn_status status = make_circle(d, rings);
    const int64_t until = bench_now() + (int64_t)(d->options->seconds * 1e9);
    for (; !status && count < MOST && (count < 3 || bench_now() < until); count++) {
        double none, all;
        status = time_hops(rings[0], 0, &none);
        if (!status) status = time_hops(rings[0], HOPS, &all);
        times[count] = status ? 0 : (all - none) / HOPS;
    }
    const int result = status ? tool_fail_status(d->context, status) : TOOL_OK;
    for (int i = 0; i < 2; i++) qn_ring_close(rings[i], LONG);
    if (result) return result;
    qsort(times, count, sizeof *times, by_time);
    const bench_time time = {.median = times[count / 2],
                             .low = times[count / 10],
                             .high = times[count - 1 - count / 10],
                             .samples = count};
    bench_print_figure(d, "rings", what, "quern", 0, "ns", &time, "");
    return TOOL_OK;
}

/* ---- soak ---- */

enum { SOAKERS = 3, WORDS = 8, MOST_BATCH = 64, SLACK_KB = 1024 };

static const char soak_text[] = "#include \"quern/ring.cl\"\n"
                                "typedef struct words { ulong at[8]; } words;\n"
                                "void answer(qn_ring *ring, local const words *in) {\n"
                                "    words out = *in;\n"
                                "    out.at[2] = ~in->at[1];\n"
                                "    qn_ring_reply(ring, &out, sizeof out);\n"
                                "}\n"
                                "void check(qn_ring *ring, local const words *in, global ulong *state) {\n"
                                "    if (in->at[1] != state[in->at[0]]++) qn_ring_fail(ring, 1);\n"
                                "    answer(ring, in);\n"
                                "}\n";

/* How the soaked rings take their messages. The state, in which the handler checks their order, has a ring over a bus fence its answers:
   one is without. */
typedef struct soak_kind {
    const char *name;
    uint32_t group_size, read_ahead;
    bool per_item, has_state;
} soak_kind;

static const soak_kind soak_kinds[] = {
    {"", 1, 32, false, true},
    {", one by one", 1, 0, false, false},
    {", to a work-item each", 64, 0, true, false},
};

typedef struct soaker {
    qn_ring *ring;
    uint64_t number, sent;
    _Atomic bool *stop;
    pthread_t thread;
    bool started;
} soaker;

/* Batches of each size, and single messages. */
static void *soak(void *argument) {
    soaker *s = argument;
    uint64_t words[MOST_BATCH][WORDS];
    for (uint32_t round = 0; !*s->stop; round++) {
        const uint32_t count = round * 7 % MOST_BATCH + 1;
        for (uint32_t i = 0; i < count; i++) {
            memset(words[i], 0, sizeof words[i]);
            words[i][0] = s->number;
            words[i][1] = s->sent + i;
        }
        uint32_t sent = 0;
        const qn_ring_batch batch = {words, sizeof *words, sizeof *words, count, 0, 0};
        qn_status status;
        if (count == 1) {
            status = qn_ring_send(s->ring, NULL, words, sizeof *words, LONG);
            sent = status ? 0 : 1;
        } else {
            status = qn_ring_send_batch(s->ring, &batch, &sent, LONG);
        }
        s->sent += sent;
        if (status) break;
    }
    return NULL;
}

/* Each producer's messages are answered in order, none missing, none twice. */
static qn_status receive(qn_ring *ring, uint64_t next[SOAKERS], uint64_t timeout_ns, const char **wrong,
                         uint32_t *received) {
    uint64_t words[MOST_BATCH][WORDS];
    const qn_status status =
        qn_ring_receive_batch(ring, NULL, words, sizeof *words, MOST_BATCH, received, timeout_ns);
    for (uint32_t i = 0; i < *received && !status; i++) {
        const uint64_t who = words[i][0];
        if (who >= SOAKERS || words[i][1] != next[who] || words[i][2] != ~words[i][1])
            *wrong = "a message was lost, came twice, out of order or damaged";
        else
            next[who]++;
    }
    return status;
}

/* Memory of the process that is in use; 0: not known. */
static long resident_kb(void) {
    long pages = 0;
#if defined(__linux__)
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    fclose(file);
    pages *= sysconf(_SC_PAGESIZE) / 1024;
#endif
    return pages;
}

/* The device's memory that quern has, with what is kept for reuse, and of a GPU all that is in use, by others, too (0: not known). */
typedef struct memory_use {
    long resident_kb;
    uint64_t device, gpu;
} memory_use;

static memory_use memory_now(const bench_device *d, qn_ring *ring) {
    memory_use use = {0};
    qn_memory_stats stats;
    qn_ring_gpu gpu;
    if (!qn_device_memory(d->device, &stats)) use.device = stats.used + stats.pooled + stats.host;
    if (!qn_ring_get_gpu(ring, &gpu) && gpu.known & QN_RING_GPU_MEMORY) use.gpu = gpu.memory_used;
    use.resident_kb = resident_kb(); /* with NVML's own */
    return use;
}

/* How much more there is than `before`. */
typedef struct growth {
    long resident_kb, device_kb, gpu_kb;
} growth;

static long more_kb(uint64_t before, uint64_t now) { return before ? ((long)now - (long)before) / 1024 : 0; }

static growth grown_since(const memory_use *before, const memory_use *now) {
    return (growth){before->resident_kb ? now->resident_kb - before->resident_kb : 0,
                    more_kb(before->device, now->device), more_kb(before->gpu, now->gpu)};
}

static qn_status run_soak(bench_device *d, qn_ring *ring, const char **wrong, uint64_t *messages,
                          growth *grown) {
    soaker soakers[SOAKERS];
    uint64_t next[SOAKERS] = {0};
    _Atomic bool stop = false;
    const int64_t start = bench_now(), span = (int64_t)(d->options->soak * 1e9);
    memory_use before = {0}, after;
    bool is_warm = false;
    uint32_t got;
    qn_status status = QN_OK;
    for (uint64_t i = 0; i < SOAKERS; i++) {
        soakers[i] = (soaker){.ring = ring, .number = i, .stop = &stop};
        soakers[i].started = pthread_create(&soakers[i].thread, NULL, soak, &soakers[i]) == 0;
        if (!soakers[i].started) *wrong = "the system gives no thread";
    }
    while (!status && !*wrong && bench_now() - start < span) {
        status = receive(ring, next, LONG, wrong, &got);
        if (is_warm || bench_now() - start <= span / 5) continue;
        is_warm = true;
        before = memory_now(d, ring);
    }
    stop = true;
    /* Until nothing comes, so that none waits for room. */
    while (!status && !*wrong && !receive(ring, next, 300000000, wrong, &got)) {
    }
    if (status || *wrong) qn_ring_stop(ring, QN_RING_DROP, LONG);
    *messages = 0;
    for (int i = 0; i < SOAKERS; i++) {
        if (soakers[i].started) pthread_join(soakers[i].thread, NULL);
        *messages += soakers[i].sent;
    }
    while (!status && !*wrong && !receive(ring, next, 300000000, wrong, &got)) {
    }
    for (int i = 0; i < SOAKERS && !status && !*wrong; i++)
        if (next[i] != soakers[i].sent) *wrong = "messages were lost";
    after = memory_now(d, ring);
    *grown = grown_since(&before, &after);
    if (grown->resident_kb > SLACK_KB) *wrong = "memory has grown";
    if (grown->device_kb > 0) *wrong = "memory of the device has grown";
    return status;
}

static int soak_ring(bench_device *d, const soak_kind *kind) {
    const qn_buffer_desc memory = {.size = SOAKERS * sizeof(uint64_t)};
    const uint64_t zeros[SOAKERS] = {0};
    qn_ring *ring = NULL;
    qn_buffer *state = NULL;
    const char *wrong = NULL;
    uint64_t messages = 0;
    growth grown = {0};
    bench_progress(d, "soak");
    qn_status status = qn_buffer_create(d->device, &memory, &state);
    if (!status) status = qn_buffer_write(state, 0, zeros, sizeof zeros);
    const qn_ring_desc desc = {.program = {.source = soak_text},
                               .handler = kind->has_state ? "check" : "answer",
                               .message_type = "words",
                               .state = kind->has_state ? state : NULL,
                               .state_type = kind->has_state ? "ulong" : NULL,
                               .group_size = kind->group_size,
                               .per_item = kind->per_item,
                               .read_ahead = kind->read_ahead};
    if (!status) status = qn_ring_create(d->device, &desc, &ring);
    if (!status) status = qn_ring_launch(ring, LONG);
    if (!status) status = qn_ring_activate(ring, LONG);
    if (!status) status = run_soak(d, ring, &wrong, &messages, &grown);
    const int failed = status ? tool_fail_status(d->context, status) : TOOL_OK;
    qn_ring_close(ring, LONG);
    qn_buffer_destroy(state);
    if (failed) return failed;
    if (wrong) return tool_fail(TOOL_DIFFERENT, "%s: soak: %s", d->info.name, wrong);
    printf("  soak%s: %llu messages in %g s, each once and in order; memory %+ld KB, of the device %+ld KB",
           kind->name, (unsigned long long)messages, d->options->soak, grown.resident_kb, grown.device_kb);
    if (d->info.kind == QN_DEVICE_CUDA) printf(", the GPU's by all %+ld KB", grown.gpu_kb);
    putchar('\n');
    return TOOL_OK;
}

int bench_rings_soak(bench_device *d) {
    enum { KINDS = sizeof soak_kinds / sizeof *soak_kinds };
    const int kinds = d->info.kind == QN_DEVICE_CUDA ? KINDS : 1; /* elsewhere they are alike */
    int result = TOOL_OK;
    for (int i = 0; i < kinds && !result; i++) result = soak_ring(d, &soak_kinds[i]);
    if (!result) putchar('\n');
    return result;
}
