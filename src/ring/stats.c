/* What a ring tells of itself, as a struct, as JSON and as Prometheus' text. Counts of the kernel's side are words of 32 bits, which
   wrap; with what the host has counted they give numbers of 64. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ring/internal.h"

enum { SUB_BITS = 3, SUBS = 1 << SUB_BITS };

/* ---- latency ---- */

/* Eight buckets for each doubling: what is read out of them is off by a sixteenth at most. */
static uint32_t bucket_of(uint64_t ns) {
    uint32_t log = 0;
    while (ns >> (log + 1)) log++;
    if (log < SUB_BITS) return (uint32_t)ns;
    const uint32_t bucket = (log - SUB_BITS + 1) * SUBS + (uint32_t)(ns >> (log - SUB_BITS)) % SUBS;
    return bucket < QN__RING_BUCKETS ? bucket : QN__RING_BUCKETS - 1;
}

static uint64_t begin_of(uint32_t bucket) {
    if (bucket < SUBS) return bucket;
    return (uint64_t)(SUBS + bucket % SUBS) << (bucket / SUBS - 1);
}

void qn__ring_note_latency(qn_ring *ring, uint64_t ns) {
    qn__ring_latency *latency = &ring->latency;
    if (latency->count == 0 || ns < latency->min) latency->min = ns;
    if (ns > latency->max) latency->max = ns;
    latency->count++;
    latency->sum += ns;
    latency->buckets[bucket_of(ns)]++;
}

/* The time below which `part` of all lie: the middle of its bucket, within what was seen. */
static uint64_t quantile(const qn__ring_latency *latency, double part) {
    const double wanted = part * (double)latency->count;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < QN__RING_BUCKETS; i++) {
        seen += latency->buckets[i];
        if (!latency->buckets[i] || (double)seen < wanted) continue;
        const uint64_t middle = (begin_of(i) + begin_of(i + 1)) / 2;
        return middle < latency->min ? latency->min : middle > latency->max ? latency->max : middle;
    }
    return latency->max;
}

static void fill_latency(qn_ring *ring, qn_ring_latency *to) {
    pthread_mutex_lock(&ring->receive_lock);
    const qn__ring_latency *from = &ring->latency;
    *to = (qn_ring_latency){.count = from->count, .min_ns = from->min, .max_ns = from->max};
    if (from->count) {
        to->mean_ns = from->sum / from->count;
        to->p50_ns = quantile(from, 0.5);
        to->p99_ns = quantile(from, 0.99);
        to->p999_ns = quantile(from, 0.999);
    }
    for (uint32_t i = 0; i < QN__RING_BUCKETS; i++) {
        uint32_t log = 0;
        while (begin_of(i) >> (log + 1)) log++;
        to->histogram[log < QN_RING_BUCKETS ? log : QN_RING_BUCKETS - 1] += from->buckets[i];
    }
    pthread_mutex_unlock(&ring->receive_lock);
}

/* ---- counts ---- */

uint32_t qn__ring_depth(const qn_ring *ring, uint32_t band) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    uint32_t head = 0u - atomic_load_explicit(&ring->taken_before[band], memory_order_relaxed);
    for (uint32_t i = 0; i < ring->desc.groups; i++)
        head += atomic_load_explicit(&groups[i].bands[band], memory_order_relaxed);
    const uint32_t revoked = atomic_load_explicit(&ring->control->revoked[band], memory_order_relaxed);
    if (revoked - head - 1 < 1u << 30) head = revoked;
    const uint32_t depth = atomic_load_explicit(&ring->in.at[band], memory_order_relaxed) - head;
    return depth > ring->in.capacity ? 0 : depth; /* more: some were taken meanwhile */
}

static void fill_bands(const qn_ring *ring, qn_ring_stats *stats) {
    for (uint32_t band = 0; band < ring->desc.bands; band++) {
        qn_ring_band_stats *to = &stats->bands[band];
        to->depth = qn__ring_depth(ring, band);
        to->peak = atomic_load_explicit(&ring->in.peak[band], memory_order_relaxed);
        to->sent = atomic_load_explicit(&ring->sent[band], memory_order_relaxed);
        to->dropped = atomic_load_explicit(&ring->dropped[band], memory_order_relaxed);
        stats->sent += to->sent;
        stats->dropped += to->dropped;
        stats->depth += to->depth;
        if (to->peak > stats->peak) stats->peak = to->peak;
    }
}

/* The 64 bits of a count of which the kernel has 32, where it was `before` at the last look. */
static uint64_t extend(uint64_t before, uint32_t now) { return before + (uint32_t)(now - (uint32_t)before); }

void qn__ring_count(qn_ring *ring) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    uint32_t done = 0, sent = 0, lost = 0, mailed = 0, forwarded = 0;
    for (uint32_t i = 0; i < ring->desc.groups; i++) {
        done += atomic_load_explicit(&groups[i].done, memory_order_relaxed);
        sent += atomic_load_explicit(&groups[i].sent, memory_order_relaxed);
        lost += atomic_load_explicit(&groups[i].lost, memory_order_relaxed);
        mailed += atomic_load_explicit(&groups[i].mailed, memory_order_relaxed);
        for (uint32_t link = 0; link < ring->desc.links; link++)
            forwarded += atomic_load_explicit(&groups[i].forwarded[link], memory_order_relaxed);
    }
    ring->handled = extend(ring->handled, done);
    ring->replied = extend(ring->replied, sent);
    ring->lost = extend(ring->lost, lost);
    ring->mailed = extend(ring->mailed, mailed);
    ring->forwarded = extend(ring->forwarded, forwarded);
}

static void fill_counts(qn_ring *ring, qn_ring_stats *stats) {
    pthread_mutex_lock(&ring->lock);
    qn__ring_count(ring);
    stats->handled = ring->handled;
    stats->replied = ring->replied;
    stats->lost = ring->lost;
    stats->mailed = ring->mailed;
    stats->forwarded = ring->forwarded;
    stats->errors = ring->errors;
    stats->last_error = ring->failure;
    snprintf(stats->last_error_text, sizeof stats->last_error_text, "%.*s",
             (int)sizeof stats->last_error_text - 1, ring->why);
    stats->launches = atomic_load(&ring->epoch);
    const uint64_t up = ring->launch_ns ? qn__ring_now() - ring->launch_ns : 0;
    stats->uptime_ns = up;
    stats->per_second =
        up ? (uint64_t)((double)(stats->handled - ring->handled_before) / ((double)up / 1e9)) : 0;
    pthread_mutex_unlock(&ring->lock);
}

qn_status qn_ring_get_stats(qn_ring *ring, qn_ring_stats *stats) {
    const qn_status status = qn__ring_check(ring, "qn_ring_get_stats");
    if (status) return status;
    if (!stats) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_get_stats: stats is NULL");
    *stats = (qn_ring_stats){.num_bands = ring->desc.bands};
    qn__ring_mirror_look(ring);
    fill_bands(ring, stats);
    fill_counts(ring, stats);
    stats->received = atomic_load_explicit(&ring->received, memory_order_relaxed);
    stats->late = atomic_load_explicit(&ring->late, memory_order_relaxed);
    stats->restarts = atomic_load_explicit(&ring->restarts, memory_order_relaxed);
    stats->dead = atomic_load_explicit(&ring->dead_count, memory_order_relaxed);
    stats->duplicates = atomic_load_explicit(&ring->duplicates, memory_order_relaxed);
    const uint64_t routed = atomic_load_explicit(&ring->routed, memory_order_relaxed);
    const uint64_t here = stats->received + stats->late + routed;
    stats->forwarded += routed;
    qn__ring_net *net = qn__ring_net_lock(ring);
    stats->mail_depth = qn__ring_mail_depth(ring);
    qn__ring_net_unlock(net);
    stats->reply_depth = stats->replied > here ? (uint32_t)(stats->replied - here) : 0;
    fill_latency(ring, &stats->latency);
    return QN_OK;
}

/* ---- texts ---- */

typedef struct writer {
    char *text;
    size_t size, length;
} writer;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const bool room = w->length < w->size;
    const int length =
        vsnprintf(room ? w->text + w->length : NULL, room ? w->size - w->length : 0, format, args);
    va_end(args);
    if (length > 0) w->length += (size_t)length;
}

static void add_quoted(writer *w, const char *text) {
    add(w, "\"");
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            add(w, "\\%c", *c);
        else if ((unsigned char)*c < ' ')
            add(w, "\\u%04x", (unsigned)*c);
        else
            add(w, "%c", *c);
    add(w, "\"");
}

typedef unsigned long long number;

static void write_gpu_json(writer *w, qn_ring *ring) {
    qn_ring_gpu gpu;
    if (qn__ring_read_gpu(ring, &gpu)) return;
    const char *between = "";
    add(w, ", \"gpu\": {");
#define COUNTER(field, help)
#define GAUGE(field, help)
#define BAND_COUNTER(field, help)
#define BAND_GAUGE(field, help)
#define GPU_GAUGE(what, field, help)                                                                         \
    if (gpu.known & QN_RING_GPU_##what) {                                                                    \
        add(w, "%s\"" #field "\": %llu", between, (number)gpu.field);                                        \
        between = ", ";                                                                                      \
    }
#include "ring/stats.def"
    add(w, "}");
}

static void write_json(writer *w, qn_ring *ring, const qn_ring_stats *s) {
    add(w, "{\"ring\": ");
    add_quoted(w, ring->label);
    add(w, ", \"device\": \"%s\", \"state\": \"%s\"", ring->device_info.name,
        qn__ring_state_name(atomic_load(&ring->state)));
#define COUNTER(field, help) add(w, ", \"" #field "\": %llu", (number)s->field);
#define GAUGE(field, help)   COUNTER(field, help)
#define BAND_COUNTER(field, help)
#define BAND_GAUGE(field, help)
#define GPU_GAUGE(what, field, help)
#include "ring/stats.def"
    add(w, ", \"last_error\": ");
    add_quoted(w, s->last_error_text);
    add(w, ", \"bands\": [");
    for (uint32_t i = 0; i < s->num_bands; i++) {
        add(w, "%s{\"band\": %u", i ? ", " : "", (unsigned)i);
#define COUNTER(field, help)
#define GAUGE(field, help)
#define BAND_COUNTER(field, help) add(w, ", \"" #field "\": %llu", (number)s->bands[i].field);
#define BAND_GAUGE(field, help)   BAND_COUNTER(field, help)
#define GPU_GAUGE(what, field, help)
#include "ring/stats.def"
        add(w, "}");
    }
    const qn_ring_latency *l = &s->latency;
    add(w,
        "], \"latency\": {\"count\": %llu, \"min_ns\": %llu, \"mean_ns\": %llu, \"p50_ns\": %llu, "
        "\"p99_ns\": %llu, "
        "\"p999_ns\": %llu, \"max_ns\": %llu, \"histogram\": [",
        (number)l->count, (number)l->min_ns, (number)l->mean_ns, (number)l->p50_ns, (number)l->p99_ns,
        (number)l->p999_ns, (number)l->max_ns);
    for (int i = 0; i < QN_RING_BUCKETS; i++) add(w, "%s%llu", i ? ", " : "", (number)l->histogram[i]);
    add(w, "]}");
    write_gpu_json(w, ring);
    add(w, "}\n");
}

static void add_metric(writer *w, const qn_ring *ring, const char *name, const char *type, const char *help,
                       number value) {
    const char *end = strcmp(type, "counter") == 0 ? "_total" : "";
    add(w, "# HELP quern_ring_%s%s %s\n# TYPE quern_ring_%s%s %s\nquern_ring_%s%s{ring=", name, end, help,
        name, end, type, name, end);
    add_quoted(w, ring->label);
    add(w, ",device=\"%s\"} %llu\n", ring->device_info.name, value);
}

static void add_band_metric(writer *w, const qn_ring *ring, const char *name, const char *end, uint32_t band,
                            number value) {
    add(w, "quern_ring_band_%s%s{ring=", name, end);
    add_quoted(w, ring->label);
    add(w, ",device=\"%s\",band=\"%u\"} %llu\n", ring->device_info.name, (unsigned)band, value);
}

static void add_histogram(writer *w, const qn_ring *ring, const qn_ring_latency *latency) {
    static const char name[] = "quern_ring_latency_seconds";
    number below = 0;
    add(w, "# HELP %s from qn_ring_send to the reply\n# TYPE %s histogram\n", name, name);
    for (int i = 0; i <= QN_RING_BUCKETS; i++) {
        const bool last = i == QN_RING_BUCKETS;
        char bound[32];
        if (!last) below += latency->histogram[i];
        snprintf(bound, sizeof bound, "%g", (double)((uint64_t)2 << i) / 1e9);
        add(w, "%s_bucket{ring=", name);
        add_quoted(w, ring->label);
        add(w, ",le=\"%s\"} %llu\n", last ? "+Inf" : bound, below);
    }
    add(w, "%s_sum{ring=", name);
    add_quoted(w, ring->label);
    add(w, "} %.9f\n%s_count{ring=", (double)latency->mean_ns * (double)latency->count / 1e9, name);
    add_quoted(w, ring->label);
    add(w, "} %llu\n", (number)latency->count);
}

static void write_prometheus(writer *w, qn_ring *ring, const qn_ring_stats *s) {
    qn_ring_gpu gpu;
    qn__ring_read_gpu(ring, &gpu);
#define COUNTER(field, help) add_metric(w, ring, #field, "counter", help, (number)s->field);
#define GAUGE(field, help)   add_metric(w, ring, #field, "gauge", help, (number)s->field);
#define BAND_METRIC(field, help, type, end)                                                                  \
    add(w,                                                                                                   \
        "# HELP quern_ring_band_" #field end " " help "\n# TYPE quern_ring_band_" #field end " " type "\n"); \
    for (uint32_t i = 0; i < s->num_bands; i++)                                                              \
        add_band_metric(w, ring, #field, end, i, (number)s->bands[i].field);
#define BAND_COUNTER(field, help) BAND_METRIC(field, help, "counter", "_total")
#define BAND_GAUGE(field, help)   BAND_METRIC(field, help, "gauge", "")
#define GPU_GAUGE(what, field, help)                                                                         \
    if (gpu.known & QN_RING_GPU_##what) add_metric(w, ring, "gpu_" #field, "gauge", help, (number)gpu.field);
#include "ring/stats.def"
#undef BAND_METRIC
    add_histogram(w, ring, &s->latency);
}

qn_status qn_ring_format_stats(qn_ring *ring, qn_ring_format format, char *text, size_t size,
                               size_t *needed) {
    qn_ring_stats stats;
    qn_status status = qn__ring_check(ring, "qn_ring_format_stats");
    if (!status) status = qn_ring_get_stats(ring, &stats);
    if (status) return status;
    if (size && !text) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_format_stats: text is NULL");
    writer w = {text, size, 0};
    switch (format) {
    case QN_RING_JSON: write_json(&w, ring, &stats); break;
    case QN_RING_PROMETHEUS: write_prometheus(&w, ring, &stats); break;
    default:
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT,
                             "qn_ring_format_stats: format is not one that there is");
    }
    if (needed) *needed = w.length + 1;
    if (w.length < size) return QN_OK;
    return qn__ring_fail(ring, QN_ERROR_RANGE,
                         "qn_ring_format_stats: the text has %zu bytes; there is room for %zu", w.length + 1,
                         size);
}
