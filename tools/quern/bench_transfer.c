/* quern bench transfer: rates between host and device, from pinned memory, ordinary memory and by mapping a buffer, within the device,
   and to another device of the kind. Each run is timed until its data is where it belongs. */
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"

typedef struct transfer_task {
    bench_device *d;
    uint64_t size;
    float *random;           /* what is sent */
    void *ordinary, *pinned; /* on the host */
    qn_buffer *buffer, *other;
    qn_device *sibling; /* another device of the kind; NULL: there is none */
    qn_buffer *beyond;  /* there */
    char beyond_name[32];
    const bench_peer *peer;
    double quern; /* nanoseconds */
} transfer_task;

static qn_status up(const transfer_task *t, void *host) {
    return qn_stream_write(t->d->stream, t->buffer, 0, host, t->size);
}

static qn_status down(const transfer_task *t, void *host) {
    return qn_stream_read(t->d->stream, t->buffer, 0, host, t->size);
}

static qn_status across(const transfer_task *t, void *host) {
    (void)host;
    return qn_stream_copy(t->d->stream, t->buffer, 0, t->other, 0, t->size);
}

static qn_status beyond(const transfer_task *t, void *host) {
    (void)host;
    return qn_stream_copy(t->d->stream, t->buffer, 0, t->beyond, 0, t->size);
}

/* What was written through the host's view goes over when the device needs it, which is within the copy. */
static qn_status map_up(const transfer_task *t, void *host) {
    void *view;
    qn_status status = qn_buffer_map(t->buffer, QN_MAP_WRITE, &view);
    if (status) return status;
    memcpy(view, host, t->size);
    status = qn_buffer_unmap(t->buffer);
    return status ? status : across(t, host);
}

/* The device's contents are newer than the host's view after the copy. */
static qn_status map_down(const transfer_task *t, void *host) {
    void *view;
    qn_status status = across(t, host);
    if (!status) status = qn_buffer_map(t->other, QN_MAP_READ, &view);
    if (status) return status;
    memcpy(host, view, t->size);
    return qn_buffer_unmap(t->other);
}

/* Where the data has to be afterwards: on the host, or in which buffer. */
typedef enum place { ON_HOST, IN_BUFFER, IN_OTHER, BEYOND } place;

static const struct {
    const char *what;
    qn_status (*run)(const transfer_task *t, void *host);
    bool pinned, from_host;
    place to;
    bench_transfer by_peers;
} kinds[] = {{"to the device, pinned", up, true, true, IN_BUFFER, BENCH_UP},
             {"to the device", up, false, true, IN_BUFFER, BENCH_UP},
             {"from the device, pinned", down, true, false, ON_HOST, BENCH_DOWN},
             {"from the device", down, false, false, ON_HOST, BENCH_DOWN},
             {"within the device", across, false, false, IN_OTHER, BENCH_ACROSS},
             {"to the device by mapping, and within", map_up, false, true, IN_OTHER, BENCH_NOWHERE},
             {"within, and from the device by mapping", map_down, false, false, ON_HOST, BENCH_NOWHERE},
             {"to ", beyond, false, false, BEYOND, BENCH_BEYOND}};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

static void *host_of(const transfer_task *t, int kind) {
    return kinds[kind].pinned ? t->pinned : t->ordinary;
}

static qn_buffer *target_of(const transfer_task *t, int kind) {
    return kinds[kind].to == IN_OTHER ? t->other : kinds[kind].to == BEYOND ? t->beyond : t->buffer;
}

typedef struct kind_task {
    transfer_task *t;
    int kind;
    bool failed; /* the peer's call */
} kind_task;

static qn_status run_transfers(void *user, uint32_t first, uint32_t count) {
    const kind_task *k = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) {
        status = kinds[k->kind].run(k->t, host_of(k->t, k->kind));
        if (!status) status = qn_stream_wait(k->t->d->stream, QN_FOREVER);
    }
    return status;
}

static qn_status run_peer(void *user, uint32_t first, uint32_t count) {
    kind_task *k = user;
    const transfer_task *t = k->t;
    qn_buffer *const target = target_of(t, k->kind);
    bench_copy copy = {.what = kinds[k->kind].by_peers,
                       .host = host_of(t, k->kind),
                       .size = t->size,
                       .to_device = t->sibling};
    qn_status status = bench_peer_place(t->peer, t->buffer, &copy.from);
    if (!status) status = bench_peer_place(t->peer, target, &copy.to);
    (void)first;
    for (uint32_t i = 0; i < count && !status && !k->failed; i++)
        k->failed = !t->peer->type->copy(t->peer->peer, &copy);
    return status;
}

static qn_status prepare(const transfer_task *t, int kind) {
    const uint8_t zero = 0;
    qn_buffer *const target = target_of(t, kind);
    memset(t->ordinary, 0, t->size);
    memset(t->pinned, 0, t->size);
    if (kinds[kind].from_host) memcpy(host_of(t, kind), t->random, t->size);
    qn_status status = qn_stream_fill(t->d->stream, t->other, 0, t->size, &zero, 1);
    if (!status && kinds[kind].from_host)
        status = qn_stream_fill(t->d->stream, t->buffer, 0, t->size, &zero, 1);
    if (!status && !kinds[kind].from_host)
        status = qn_stream_write(t->d->stream, t->buffer, 0, t->random, t->size);
    if (!status) status = qn_stream_wait(t->d->stream, QN_FOREVER);
    if (!status && target == t->beyond) status = qn_buffer_write(target, 0, t->ordinary, t->size);
    return status;
}

static int check(const transfer_task *t, int kind, const char *by) {
    void *got = host_of(t, kind);
    qn_status status = QN_OK;
    if (kinds[kind].to != ON_HOST) status = qn_buffer_read(target_of(t, kind), 0, got, t->size);
    if (status) return tool_fail_status(t->d->context, status);
    if (memcmp(got, t->random, t->size) == 0) return TOOL_OK;
    return tool_fail(TOOL_DIFFERENT, "%s: %s by %s: what arrives is not what was sent", t->d->info.name,
                     kinds[kind].what, by);
}

static int measure_kind(transfer_task *t, int kind, const bench_peer *peer) {
    kind_task k = {.t = t, .kind = kind};
    const bench_task task = {.run = peer ? run_peer : run_transfers, .user = &k, .on_host = true};
    const char *by = peer ? peer->type->name : "quern";
    char what[112], note[48] = "";
    bench_time time;
    snprintf(what, sizeof what, "%llu KiB %s%s", (unsigned long long)(t->size >> 10), kinds[kind].what,
             kinds[kind].to == BEYOND ? t->beyond_name : "");
    bench_progress(t->d, what);
    t->peer = peer;
    const qn_status status = prepare(t, kind);
    int result = status ? tool_fail_status(t->d->context, status) : bench_measure(t->d, &task, &time);
    if (!result && k.failed) result = tool_fail(TOOL_RUN_FAILED, "%s: a copy failed", by);
    if (!result) result = check(t, kind, by);
    if (result) return result;
    if (peer) snprintf(note, sizeof note, "quern has %.3f of it", time.median / t->quern);
    bench_print_figure(t->d, "transfer", what, by, (double)t->size, "B/s", &time, note);
    if (!peer) t->quern = time.median;
    return TOOL_OK;
}

static int measure_kinds(transfer_task *t, const bench_peer *peers, uint32_t num_peers) {
    int result = TOOL_OK;
    for (int kind = 0; kind < NUM_KINDS && !result; kind++) {
        if (kinds[kind].to == BEYOND && !t->beyond) continue;
        result = measure_kind(t, kind, NULL);
        for (uint32_t i = 0; i < num_peers && !result && kinds[kind].by_peers != BENCH_NOWHERE; i++)
            result = measure_kind(t, kind, &peers[i]);
        bench_step(t->d);
    }
    return result;
}

/* Another GPU by the same interface. */
static qn_device *find_sibling(const bench_device *d, char *name, size_t size) {
    for (uint32_t i = 0; i < qn_device_count(d->context) && bench_is_gpu(d); i++) {
        qn_device *other = qn_device_at(d->context, i);
        qn_device_info info;
        if (other == d->device || qn_device_get_info(other, &info) || info.kind != d->info.kind ||
            (info.capabilities & QN_CAN_EMULATE) || memcmp(info.uuid, d->info.uuid, sizeof info.uuid) == 0)
            continue;
        snprintf(name, size, "%s", info.name);
        return other;
    }
    return NULL;
}

static int measure_size(bench_device *d, uint64_t size, const bench_peer *peers, uint32_t num_peers) {
    const qn_buffer_desc desc = {.size = size, .uninitialised = true};
    transfer_task t = {.d = d, .size = size};
    t.sibling = find_sibling(d, t.beyond_name, sizeof t.beyond_name);
    qn_status status = qn_buffer_create(d->device, &desc, &t.buffer);
    if (!status) status = qn_buffer_create(d->device, &desc, &t.other);
    if (!status && t.sibling) status = qn_buffer_create(t.sibling, &desc, &t.beyond);
    if (!status) status = qn_host_alloc(d->device, size, &t.pinned);
    t.ordinary = tool_alloc(size);
    t.random = bench_random(size / sizeof(float), 3);
    const int result = status ? tool_fail_status(d->context, status) : measure_kinds(&t, peers, num_peers);
    free(t.random);
    free(t.ordinary);
    if (t.pinned) qn_host_free(d->device, t.pinned);
    qn_buffer_destroy(t.buffer);
    qn_buffer_destroy(t.other);
    qn_buffer_destroy(t.beyond);
    return result;
}

int bench_transfer_run(bench_device *d) {
    static const uint64_t sizes[] = {(uint64_t)4 << 10, (uint64_t)1 << 20, (uint64_t)64 << 20};
    bench_peer peers[BENCH_MAX_PEERS];
    char name[32];
    int result = TOOL_OK;
    const uint32_t num_kinds = find_sibling(d, name, sizeof name) ? NUM_KINDS : NUM_KINDS - 1;
    const uint32_t num_peers = bench_peers_open(d, d->options->against, BENCH_OF_TRANSFERS, peers);
    bench_print_head(d, "transfer");
    bench_steps(d, num_kinds * sizeof sizes / sizeof *sizes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !result; i++)
        result = measure_size(d, sizes[i], peers, num_peers);
    if (!result) putchar('\n');
    bench_peers_close(peers, num_peers);
    return result;
}
