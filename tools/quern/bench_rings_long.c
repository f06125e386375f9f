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

enum { SOAKERS = 3, MOST_WORDS = 128, MOST_BATCH = 64, SLACK_KB = 1024 };

/* Words of a message: who sent it, its place, what the answer has there, and others by which damage is seen. */
enum { WHO, PLACE, ANSWER, OTHERS };

static const char soak_text[] = "#include \"quern/ring.cl\"\n"
                                "typedef struct words { ulong at[WORDS]; } words;\n"
                                "void answer(qn_ring *ring, local const words *in) {\n"
                                "#if QN_RING_GROUP_SIZE == 1 || QN_RING_PER_ITEM\n"
                                "    ((local words *)in)->at[2] = ~in->at[1];\n"
                                "#else\n"
                                "    if (get_local_id(0) == 0) ((local words *)in)->at[2] = ~in->at[1];\n"
                                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                "#endif\n"
                                "    qn_ring_reply(ring, in, sizeof *in);\n"
                                "}\n"
                                "void check(qn_ring *ring, local const words *in, global ulong *state) {\n"
                                "    if (in->at[1] != state[in->at[0]]++) qn_ring_fail(ring, 1);\n"
                                "    answer(ring, in);\n"
                                "}\n";

/* How the soaked rings take their messages. The state, in which the handler checks their order, has a ring over a bus fence its answers:
   others are without. */
typedef struct soak_kind {
    const char *name;
    uint32_t words, group_size, read_ahead;
    bool per_item, has_state;
} soak_kind;

static const soak_kind soak_kinds[] = {
    {"", 8, 1, 32, false, true},
    {", one by one", 8, 1, 0, false, false},
    {", large ones", MOST_WORDS, 64, 0, false, false},
    {", to a work-item each", 8, 64, 0, true, false},
};

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

/* One of the rings, which are all under load at a time. */
typedef struct soak_run {
    bench_device *d;
    const soak_kind *kind;
    qn_ring *ring;
    qn_buffer *state;
    pthread_t thread;
    bool started;
    char wrong[256]; /* what was first; "": nothing */
    bool has_failed; /* that was a call */
    uint64_t messages;
    growth grown;
} soak_run;

static void note_wrong(soak_run *run, const char *wrong) {
    if (!run->wrong[0]) snprintf(run->wrong, sizeof run->wrong, "%.250s", wrong);
}

/* By the thread whose call it was, whose sentence it is. */
static void note_status(soak_run *run, qn_status status) {
    if (!status || run->wrong[0]) return;
    run->has_failed = true;
    note_wrong(run, qn_error_message(run->d->context));
}

typedef struct soaker {
    soak_run *run;
    uint64_t number, sent;
    _Atomic bool *stop;
    pthread_t thread;
    bool started;
    char wrong[256]; /* why it has ended before it was told to; "": it has not */
} soaker;

static void fill_message(uint64_t *words, uint32_t count, uint64_t who, uint64_t place) {
    words[WHO] = who;
    words[PLACE] = place;
    words[ANSWER] = 0;
    for (uint32_t i = OTHERS; i < count; i++) words[i] = place * SOAKERS + who + i;
}

static bool is_answer(const uint64_t *words, uint32_t count, uint64_t place) {
    bool is = words[PLACE] == place && words[ANSWER] == ~place;
    for (uint32_t i = OTHERS; i < count; i++) is = is && words[i] == place * SOAKERS + words[WHO] + i;
    return is;
}

/* Batches of each size, and single messages. */
static void *soak(void *argument) {
    soaker *s = argument;
    const uint32_t count = s->run->kind->words;
    const size_t size = count * sizeof(uint64_t);
    uint64_t words[MOST_BATCH * MOST_WORDS];
    for (uint32_t round = 0; !*s->stop; round++) {
        const uint32_t many = round * 7 % MOST_BATCH + 1;
        for (uint32_t i = 0; i < many; i++) fill_message(words + i * count, count, s->number, s->sent + i);
        uint32_t sent = 0;
        const qn_ring_batch batch = {words, size, size, many, 0, 0};
        qn_status status;
        if (many == 1) {
            status = qn_ring_send(s->run->ring, NULL, words, size, LONG);
            sent = status ? 0 : 1;
        } else {
            status = qn_ring_send_batch(s->run->ring, &batch, &sent, LONG);
        }
        s->sent += sent;
        if (!status) continue;
        snprintf(s->wrong, sizeof s->wrong, "%.250s", qn_error_message(s->run->d->context));
        break;
    }
    return NULL;
}

/* Each producer's messages are answered in order, none missing, none twice. */
static qn_status receive(soak_run *run, uint64_t next[SOAKERS], uint64_t timeout_ns) {
    uint64_t words[MOST_BATCH * MOST_WORDS];
    const uint32_t count = run->kind->words;
    uint32_t received;
    const qn_status status = qn_ring_receive_batch(run->ring, NULL, words, count * sizeof *words, MOST_BATCH,
                                                   &received, timeout_ns);
    for (uint32_t i = 0; i < received && !status; i++) {
        const uint64_t *message = words + i * count;
        if (message[WHO] >= SOAKERS || !is_answer(message, count, next[message[WHO]]))
            note_wrong(run, "a message was lost, came twice, out of order or damaged");
        else
            next[message[WHO]]++;
    }
    return status;
}

/* Until nothing comes. */
static void receive_rest(soak_run *run, uint64_t next[SOAKERS]) {
    qn_status status = QN_OK;
    while (!status && !run->wrong[0]) status = receive(run, next, 300000000);
    if (status != QN_ERROR_TIMEOUT) note_status(run, status);
}

static void start(soak_run *run, soaker soakers[SOAKERS], _Atomic bool *stop) {
    for (uint64_t i = 0; i < SOAKERS; i++) {
        soakers[i] = (soaker){.run = run, .number = i, .stop = stop};
        soakers[i].started = pthread_create(&soakers[i].thread, NULL, soak, &soakers[i]) == 0;
        if (!soakers[i].started) note_wrong(run, "the system gives no thread");
    }
}

/* Where something is wrong already the ring is stopped, which their calls say then. */
static void end(soak_run *run, soaker soakers[SOAKERS]) {
    const bool is_right = !run->wrong[0];
    if (!is_right) qn_ring_stop(run->ring, QN_RING_DROP, LONG);
    for (int i = 0; i < SOAKERS; i++) {
        if (soakers[i].started) pthread_join(soakers[i].thread, NULL);
        if (is_right && soakers[i].wrong[0]) note_wrong(run, soakers[i].wrong);
        run->messages += soakers[i].sent;
    }
}

static void note_growth(soak_run *run, const memory_use *before) {
    const memory_use after = memory_now(run->d, run->ring);
    run->grown = grown_since(before, &after);
    if (run->grown.resident_kb > SLACK_KB) note_wrong(run, "memory has grown");
    if (run->grown.device_kb > 0) note_wrong(run, "memory of the device has grown");
}

static void *load_ring(void *argument) {
    soak_run *run = argument;
    soaker soakers[SOAKERS];
    uint64_t next[SOAKERS] = {0};
    _Atomic bool stop = false;
    const int64_t begin = bench_now(), span = (int64_t)(run->d->options->soak * 1e9);
    memory_use before = {0};
    bool is_warm = false;
    start(run, soakers, &stop);
    while (!run->wrong[0] && bench_now() - begin < span) {
        note_status(run, receive(run, next, LONG));
        if (is_warm || bench_now() - begin <= span / 5) continue;
        is_warm = true;
        before = memory_now(run->d, run->ring);
    }
    stop = true;
    receive_rest(run, next); /* so that none waits for room */
    end(run, soakers);
    receive_rest(run, next);
    for (int i = 0; i < SOAKERS; i++)
        if (next[i] != soakers[i].sent) note_wrong(run, "messages were lost");
    note_growth(run, &before);
    return NULL;
}

static void make_ring(soak_run *run) {
    const soak_kind *kind = run->kind;
    const qn_buffer_desc memory = {.size = SOAKERS * sizeof(uint64_t)};
    const uint64_t zeros[SOAKERS] = {0};
    char number[16];
    snprintf(number, sizeof number, "%u", (unsigned)kind->words);
    const qn_define define = {"WORDS", number};
    const uint32_t size = kind->words * (uint32_t)sizeof(uint64_t);
    qn_status status = qn_buffer_create(run->d->device, &memory, &run->state);
    if (!status) status = qn_buffer_write(run->state, 0, zeros, sizeof zeros);
    const qn_ring_desc desc = {.program = {.source = soak_text, .defines = &define, .num_defines = 1},
                               .handler = kind->has_state ? "check" : "answer",
                               .message_type = "words",
                               .message_size = size,
                               .reply_size = size,
                               .state = kind->has_state ? run->state : NULL,
                               .state_type = kind->has_state ? "ulong" : NULL,
                               .group_size = kind->group_size,
                               .per_item = kind->per_item,
                               .read_ahead = kind->read_ahead};
    if (!status) status = qn_ring_create(run->d->device, &desc, &run->ring);
    if (!status) status = qn_ring_launch(run->ring, LONG);
    if (!status) status = qn_ring_activate(run->ring, LONG);
    note_status(run, status);
}

static int tell_soak(const soak_run *run) {
    const bench_device *d = run->d;
    if (run->wrong[0])
        return tool_fail(run->has_failed ? TOOL_RUN_FAILED : TOOL_DIFFERENT, "%s: soak%s: %s", d->info.name,
                         run->kind->name, run->wrong);
    printf("  soak%s: %llu messages in %g s, each once and in order; memory %+ld KB, of the device %+ld KB",
           run->kind->name, (unsigned long long)run->messages, d->options->soak, run->grown.resident_kb,
           run->grown.device_kb);
    if (d->info.kind == QN_DEVICE_CUDA) printf(", the GPU's by all %+ld KB", run->grown.gpu_kb);
    putchar('\n');
    return TOOL_OK;
}

int bench_rings_soak(bench_device *d) {
    enum { KINDS = sizeof soak_kinds / sizeof *soak_kinds };
    const int kinds = d->info.kind == QN_DEVICE_CUDA ? KINDS : 1; /* elsewhere they are alike */
    soak_run runs[KINDS];
    int result = TOOL_OK;
    bench_progress(d, "soak");
    for (int i = 0; i < kinds; i++) {
        runs[i] = (soak_run){.d = d, .kind = &soak_kinds[i]};
        make_ring(&runs[i]);
    }
    for (int i = 0; i < kinds; i++) {
        if (runs[i].wrong[0]) continue;
        runs[i].started = pthread_create(&runs[i].thread, NULL, load_ring, &runs[i]) == 0;
        if (!runs[i].started) note_wrong(&runs[i], "the system gives no thread");
    }
    for (int i = 0; i < kinds; i++)
        if (runs[i].started) pthread_join(runs[i].thread, NULL);
    for (int i = 0; i < kinds; i++) {
        const int told = tell_soak(&runs[i]);
        result = result ? result : told;
        qn_ring_close(runs[i].ring, LONG);
        qn_buffer_destroy(runs[i].state);
    }
    if (!result) putchar('\n');
    return result;
}
