/* What is observed of streams: the trace's events, and the history's entries. A command notes itself when it ran (clock_next), or has a mark before and behind it in its stream, as an
   event would; a thread looks every few milliseconds which are done, and writes them. The device's clock is compared with the host's once a second: a mark
   is set on a stream of the trace's own, and was reached after it was submitted and before it was seen.
   The file's format is the "JSON Array Format" of Chromium's "Trace Event Format". Times are CLOCK_MONOTONIC's. */
#include "runtime/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/json_file.h"
#include "util/thread.h"

enum {
    LOOK_EVERY_NS = 20000000,
    IDLE_NS = 1000000000,
    COMPARE_EVERY_NS = 1000000000,
    COMPARE_ROUNDS = 5,
    COMPARE_TIMEOUT_NS = 20000000,
    MOST_PENDING = 1 << 16, /* of a stream; what comes on top is counted, not written */
    BUFFER = 64 << 10,
    EVENT_ROOM = 2 << 10,
    NAME = 96,
    FIRST_LANE = 1 << 28, /* tracks of streams and of the host's threads: no numbers of threads */
    FIRST_HOST = 1 << 29,
    MOST_HOSTS = 64,
    MOST_FILES = 99
};

/* As small as can be: thousands may be in flight. */
struct qn__span {
    qn__span *next;
    qn__times times;
    qn__mark *begin, *end; /* NULL where none were needed */
    uint64_t version;      /* of both marks */
    bool marked;           /* they tell the times */
    bool graph;
    uint8_t kind; /* qn__command_kind */
    uint8_t work_dim;
    uint32_t local[3];
    uint64_t global[3], offset[3];
    uint64_t size; /* bytes, or commands of a graph */
    uint64_t submitted_ns;
    const char *name; /* the lane's */
};

/* Names of kernels, which may be gone when they are written. */
typedef struct known_name {
    struct known_name *next;
    char text[];
} known_name;

/* How a device's clock stands to the host's. */
typedef struct clock_of {
    struct clock_of *next;
    qn_device *device;
    qn__queue *queue;
    qn__mark *mark;
    uint64_t version, number; /* of the mark's last recording, and of its command */
    uint64_t compared_ns;     /* when; 0: never */
    int64_t offset;           /* the host's minus the device's */
    bool known;
} clock_of;

struct qn__lane {
    qn__lane *next;
    qn_stream *stream;
    uint32_t track;
    uint64_t last_end;     /* of its events, on the host's clock; the trace's lock guards it */
    uint64_t dropped_told; /* of `dropped`, in the file */
    atomic_uint_fast64_t pending, dropped;
    pthread_mutex_t lock; /* of what follows */
    qn__span *first, *last, *done;
    qn__span *free; /* the submitting thread's, as what follows */
    known_name *names;
    const char *last_name;
};

struct qn__trace {
    qn_context *context;
    qn__history *history;
    atomic_bool keeps; /* the history is fed */
    bool writes;       /* it has a file */
    qn__json_file file;
    pthread_mutex_t lock; /* of the lanes' list and the clocks; a backend may be asked while it is held */
    qn__lane *lanes;
    clock_of *clocks;
    uint32_t num_lanes;
    pthread_mutex_t
        text_lock; /* of what follows, but `stop`; a backend that has a lock of its own may wait for it */
    uint32_t num_hosts;
    pthread_t hosts[MOST_HOSTS];
    bool failed; /* the file cannot be written any more */
    size_t length;
    char text[BUFFER + QN__JSON_FILE_ROOM];
    pthread_t thread;
    pthread_mutex_t stop_lock;
    pthread_cond_t stopping;
    bool stop;
};

/* ---- writing; the text's lock is held ---- */

static void flush(qn__trace *trace) {
    const bool lost = trace->failed || !trace->writes;
    const int error = lost ? 0 : qn__json_file_append(&trace->file, trace->text, trace->length);
    trace->length = 0;
    if (!error) return;
    trace->failed = true;
    qn__log(trace->context, QN_LOG_WARNING, "the trace ends here: %s", strerror(error));
}

static void put(qn__trace *trace, const char *format, ...) QN__PRINTF(2, 3);
static void put(qn__trace *trace, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(trace->text + trace->length, BUFFER - trace->length, format, args);
    va_end(args);
    trace->length += length > 0 ? (size_t)length : 0;
}

/* An event up to its arguments. */
static void put_head(qn__trace *trace, const char *name, const char *phase, uint32_t track) {
    char quoted[2 * NAME + 64];
    if (trace->length > BUFFER - EVENT_ROOM) flush(trace);
    qn__json_string(quoted, sizeof quoted, name);
    put(trace, ",\n{\"name\":%s,\"ph\":\"%s\",\"pid\":%ld,\"tid\":%u", quoted, phase, (long)getpid(),
        (unsigned)track);
}

static void put_span(qn__trace *trace, const char *category, const char *name, uint32_t track,
                     uint64_t begin_ns, uint64_t end_ns) {
    const uint64_t took = end_ns - begin_ns;
    put_head(trace, name, "X", track);
    put(trace, ",\"cat\":\"%s\",\"ts\":%llu.%03u,\"dur\":%llu.%03u", category,
        (unsigned long long)(begin_ns / 1000), (unsigned)(begin_ns % 1000), (unsigned long long)(took / 1000),
        (unsigned)(took % 1000));
}

static void put_name(qn__trace *trace, const char *what, uint32_t track, const char *name) {
    char quoted[2 * NAME + 64];
    qn__json_string(quoted, sizeof quoted, name);
    put_head(trace, what, "M", track);
    put(trace, ",\"args\":{\"name\":%s}}", quoted);
}

/* ---- the clocks ---- */

/* One comparison; false: the device did not get to it in time, or failed. */
static bool compare(clock_of *clock, int64_t *least, int64_t *most) {
    const qn_backend *backend = clock->device->backend;
    char why[QN__WHY];
    uint64_t reached;
    const qn__command record = {
        .kind = QN__COMMAND_RECORD, .mark = clock->mark, .mark_version = ++clock->version};
    const uint64_t before = qn__now_ns();
    if (backend->submit(clock->queue, &record, &clock->number, why)) return false;
    if (backend->mark_wait(clock->mark, clock->version, COMPARE_TIMEOUT_NS, why)) return false;
    const uint64_t after = qn__now_ns();
    if (!backend->mark_done(clock->mark, clock->version, &reached)) return false;
    if ((int64_t)(before - reached) > *least) *least = (int64_t)(before - reached);
    if ((int64_t)(after - reached) < *most) *most = (int64_t)(after - reached);
    return true;
}

static void compare_clocks(clock_of *clock) {
    int64_t least = INT64_MIN, most = INT64_MAX;
    clock->compared_ns = qn__now_ns();
    if (!clock->queue) return;
    for (int i = 0; i < COMPARE_ROUNDS; i++)
        if (!compare(clock, &least, &most)) return;
    clock->offset = least + (most - least) / 2;
    clock->known = true;
}

static clock_of *add_clock(qn__trace *trace, qn_device *device) {
    const qn_backend *backend = device->backend;
    char why[QN__WHY];
    clock_of *clock = qn__allocate_zeroed(&trace->context->allocator, sizeof *clock);
    if (!clock) return NULL;
    clock->device = device;
    clock->known = backend->clock_next != NULL; /* it is the host's */
    bool made = clock->known || !backend->queue_create(device->gpu, &clock->queue, why);
    if (made && !clock->known && backend->mark_create(device->gpu, &clock->mark, why)) {
        backend->queue_destroy(clock->queue);
        made = false;
    }
    if (!made) {
        qn__release(&trace->context->allocator, clock);
        return NULL;
    }
    clock->next = trace->clocks;
    return trace->clocks = clock;
}

/* A recent comparison; NULL: the device answers none. */
static const clock_of *clock_for(qn__trace *trace, qn_device *device) {
    clock_of *clock = trace->clocks;
    while (clock && clock->device != device) clock = clock->next;
    if (!clock) clock = add_clock(trace, device);
    if (!clock) return NULL;
    if (!clock->compared_ns || qn__now_ns() - clock->compared_ns > COMPARE_EVERY_NS) compare_clocks(clock);
    return clock->known ? clock : NULL;
}

/* A stream that a device still holds back is left to it. */
void qn__trace_forget(qn_device *device) {
    qn__trace *trace = device->object.context->trace;
    const qn_backend *backend = device->backend;
    char why[QN__WHY];
    if (!trace) return;
    pthread_mutex_lock(&trace->lock);
    clock_of **at = &trace->clocks;
    while (*at && (*at)->device != device) at = &(*at)->next;
    clock_of *clock = *at;
    if (clock) *at = clock->next;
    pthread_mutex_unlock(&trace->lock);
    if (clock && clock->queue && !backend->wait(clock->queue, clock->number, COMPARE_TIMEOUT_NS, why)) {
        backend->queue_destroy(clock->queue);
        backend->mark_destroy(clock->mark);
    }
    qn__release(&trace->context->allocator, clock);
}

/* ---- commands that are done; the trace's lock is held ---- */

static void put_command(qn__trace *trace, const qn__lane *lane, const qn__span *span, uint64_t begin,
                        uint64_t end) {
    char range[QN__RANGE_TEXT];
    const bool launch = span->kind == QN__COMMAND_LAUNCH && !span->graph;
    put_span(trace, span->graph ? "graph" : launch ? "launch" : "copy", span->name, lane->track, begin, end);
    if (launch) {
        qn__command command = {.work_dim = span->work_dim};
        memcpy(command.global, span->global, sizeof command.global);
        memcpy(command.offset, span->offset, sizeof command.offset);
        memcpy(command.local, span->local, sizeof command.local);
        qn__range_print(&command, range, sizeof range);
        put(trace, ",\"args\":{\"range\":\"%s\"", range);
    } else
        put(trace, ",\"args\":{\"%s\":%llu", span->graph ? "commands" : "bytes",
            (unsigned long long)span->size);
    put(trace, ",\"submitted\":%llu.%03u}}", (unsigned long long)(span->submitted_ns / 1000),
        (unsigned)(span->submitted_ns % 1000));
}

static bool is_lost(const qn__lane *lane) {
    char why[QN__WHY];
    const qn_device *device = lane->stream->device;
    return device->backend->is_lost && device->backend->is_lost(device->gpu, why);
}

/* When it ran, on the host's clock; false: that is not known. */
static bool times_of(qn__trace *trace, const qn__lane *lane, qn__span *span, uint64_t *begin, uint64_t *end) {
    const qn_backend *backend = lane->stream->device->backend;
    if (!span->marked) {
        *begin = atomic_load(&span->times.begin_ns);
        *end = atomic_load(&span->times.end_ns);
        return *begin && *end; /* what was dropped has ended without a begin */
    }
    const clock_of *clock = clock_for(trace, lane->stream->device);
    const bool done = clock && backend->mark_done(span->begin, span->version, begin) &&
                      backend->mark_done(span->end, span->version, end);
    if (!done) return false;
    *begin += (uint64_t)clock->offset;
    *end += (uint64_t)clock->offset;
    /* The comparison of clocks is off by as long as the device's answer was on its way: nothing begins before its time. */
    if (*begin < span->submitted_ns) *begin = span->submitted_ns;
    if (*end < *begin) *end = *begin;
    return true;
}

/* What the backend has noted. Of what was held, the stream's cancelling tells, and whether the device is there. */
static qn_status status_of(const qn__lane *lane, qn__span *span, uint64_t end) {
    if (!span->marked) return (qn_status)atomic_load(&span->times.status);
    const uint64_t cancelled = atomic_load(&lane->stream->cancelled_ns);
    if (span->submitted_ns < cancelled && (!end || end > cancelled)) return QN_ERROR_CANCELLED;
    return end ? QN_OK : is_lost(lane) ? QN_ERROR_DEVICE_LOST : QN_OK;
}

static void copy_name(char to[QN_HISTORY_NAME], const char *name) {
    size_t length = strlen(name);
    if (length >= QN_HISTORY_NAME) length = QN_HISTORY_NAME - 1;
    memcpy(to, name, length);
    to[length] = 0;
}

static void note_entry(qn__trace *trace, const qn__lane *lane, qn__span *span, uint64_t begin, uint64_t end) {
    const bool is_launch = span->graph || span->kind == QN__COMMAND_LAUNCH;
    if (!is_launch || !atomic_load(&trace->keeps)) return;
    qn_history_entry entry = {.commands = span->graph ? (uint32_t)span->size : 0,
                              .device = lane->stream->device,
                              .stream = lane->stream,
                              .submitted_ns = span->submitted_ns,
                              .begin_ns = begin,
                              .end_ns = end,
                              .status = status_of(lane, span, end)};
    if (!span->graph) {
        copy_name(entry.kernel, span->name);
        entry.work_dim = span->work_dim;
        memcpy(entry.global, span->global, sizeof entry.global);
        memcpy(entry.offset, span->offset, sizeof entry.offset);
        memcpy(entry.local, span->local, sizeof entry.local);
    }
    qn__history_add(trace->history, &entry);
}

/* Commands of a stream come one after another, none before it was submitted: what is off by the clocks' error is set right. */
static void write_span(qn__trace *trace, qn__lane *lane, qn__span *span) {
    uint64_t begin = 0, end = 0;
    if (!times_of(trace, lane, span, &begin, &end)) {
        note_entry(trace, lane, span, 0, 0);
        return;
    }
    const uint64_t least = lane->last_end > span->submitted_ns ? lane->last_end : span->submitted_ns;
    const uint64_t now = qn__now_ns();
    if ((int64_t)(begin - least) < 0) begin = least;
    if ((int64_t)(end - now) > 0) end = now;
    if ((int64_t)(end - begin) < 0) end = begin;
    lane->last_end = end;
    note_entry(trace, lane, span, begin, end);
    if (!trace->writes) return;
    pthread_mutex_lock(&trace->text_lock);
    put_command(trace, lane, span, begin, end);
    pthread_mutex_unlock(&trace->text_lock);
}

static bool is_done(const qn__lane *lane, qn__span *span) {
    uint64_t time;
    if (!span->marked) return atomic_load(&span->times.end_ns) != 0;
    return lane->stream->device->backend->mark_done(span->end, span->version, &time) || is_lost(lane);
}

/* Only the reader takes spans out, and who submits touches no more than the last one: the list is walked without the lock. */
static void look_at(qn__trace *trace, qn__lane *lane, bool all) {
    pthread_mutex_lock(&lane->lock);
    qn__span *first = lane->first, *last = lane->last;
    pthread_mutex_unlock(&lane->lock);
    qn__span *taken = NULL;
    uint64_t count = 0;
    while (taken != last) {
        qn__span *span = taken ? taken->next : first;
        if (!all && !is_done(lane, span)) break;
        write_span(trace, lane, span);
        taken = span;
        count++;
    }
    if (taken) {
        pthread_mutex_lock(&lane->lock);
        lane->first = taken->next;
        if (!lane->first) lane->last = NULL;
        taken->next = lane->done;
        lane->done = first;
        pthread_mutex_unlock(&lane->lock);
        atomic_fetch_sub(&lane->pending, count);
    }
    const uint64_t dropped = atomic_load(&lane->dropped);
    if (dropped == lane->dropped_told) return;
    qn__history_skip(trace->history, dropped - lane->dropped_told);
    pthread_mutex_lock(&trace->text_lock);
    put_head(trace, "commands that came too fast to be written", "I", lane->track);
    put(trace, ",\"ts\":%llu,\"s\":\"t\",\"args\":{\"count\":%llu}}", (unsigned long long)qn__now_ns() / 1000,
        (unsigned long long)(dropped - lane->dropped_told));
    pthread_mutex_unlock(&trace->text_lock);
    lane->dropped_told = dropped;
}

static void flush_all(qn__trace *trace) {
    pthread_mutex_lock(&trace->text_lock);
    flush(trace);
    pthread_mutex_unlock(&trace->text_lock);
}

static void look_at_all(qn__trace *trace) {
    pthread_mutex_lock(&trace->lock);
    for (qn__lane *lane = trace->lanes; lane; lane = lane->next) look_at(trace, lane, false);
    flush_all(trace);
    pthread_mutex_unlock(&trace->lock);
}

static bool wait_to_stop(qn__trace *trace) {
    const uint64_t pause = atomic_load(&trace->context->observed) ? LOOK_EVERY_NS : IDLE_NS;
    const struct timespec until = qn__deadline(pause);
    pthread_mutex_lock(&trace->stop_lock);
    if (!trace->stop) qn__cond_wait(&trace->stopping, &trace->stop_lock, pause, &until);
    const bool stop = trace->stop;
    pthread_mutex_unlock(&trace->stop_lock);
    return stop;
}

static void *trace_main(void *argument) {
    qn__trace *trace = argument;
    while (!wait_to_stop(trace)) look_at_all(trace);
    return NULL;
}

/* ---- beginning and end ---- */

/* "trace.json", and where others have that, "trace.2.json" and so on. */
static int open_file(qn__trace *trace, const char *path) {
    char numbered[4096];
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const int stem = dot ? (int)(dot - path) : (int)strlen(path);
    int error = qn__json_file_open(&trace->file, path);
    for (int i = 2; error == EWOULDBLOCK && i <= MOST_FILES; i++) {
        snprintf(numbered, sizeof numbered, "%.*s.%d%s", stem, path, i, dot ? dot : "");
        error = qn__json_file_open(&trace->file, numbered);
    }
    return error;
}

static void trace_free(qn__trace *trace) {
    if (trace->writes) qn__json_file_close(&trace->file);
    qn__history_free(&trace->context->allocator, trace->history);
    pthread_mutex_destroy(&trace->lock);
    pthread_mutex_destroy(&trace->text_lock);
    pthread_mutex_destroy(&trace->stop_lock);
    pthread_cond_destroy(&trace->stopping);
    qn__release(&trace->context->allocator, trace);
}

static void backend_did(void *user, const char *name, const char *detail, uint64_t begin_ns) {
    qn__trace_host(user, "compile", name, detail, begin_ns, qn__now_ns());
}

/* With a file where there is a path. 0 or an errno value. */
static int trace_new(qn_context *context, const char *path, qn__trace **out) {
    qn__trace *trace = qn__allocate_zeroed(&context->allocator, sizeof *trace);
    qn__history *history = trace ? qn__history_new(&context->allocator) : NULL;
    if (!history) {
        qn__release(&context->allocator, trace);
        return ENOMEM;
    }
    trace->context = context;
    trace->history = history;
    pthread_mutex_init(&trace->lock, NULL);
    pthread_mutex_init(&trace->text_lock, NULL);
    pthread_mutex_init(&trace->stop_lock, NULL);
    qn__cond_init(&trace->stopping);
    int error = path ? open_file(trace, path) : 0;
    trace->writes = path && !error;
    if (trace->writes) put_name(trace, "process_name", 0, "quern");
    if (!error && !qn__thread_start(&trace->thread, trace_main, trace)) error = EAGAIN;
    if (error)
        trace_free(trace);
    else
        *out = trace;
    return error;
}

void qn__trace_start(qn_context *context) {
    const char *path = qn__environment("QUERN_TRACE");
    qn__trace *trace = NULL;
    if (!path || !path[0]) return;
    const int error = trace_new(context, path, &trace);
    if (error) {
        qn__log(context, QN_LOG_WARNING, "no trace is written to %.500s: %s", path, strerror(error));
        return;
    }
    context->trace = trace;
    context->services.did = backend_did;
    context->services.did_user = context;
    context->observed = true;
}

static void end_thread(qn__trace *trace) {
    pthread_mutex_lock(&trace->stop_lock);
    trace->stop = true;
    pthread_cond_signal(&trace->stopping);
    pthread_mutex_unlock(&trace->stop_lock);
    pthread_join(trace->thread, NULL);
}

void qn__trace_stop(qn_context *context) {
    qn__trace *trace = context->trace;
    if (!trace) return;
    end_thread(trace);
    look_at_all(trace);
}

void qn__trace_free(qn_context *context) {
    if (context->trace) trace_free(context->trace);
    context->trace = NULL;
}

/* ---- the history ---- */

/* Of two threads that make one at once, one takes the other's. */
static qn__trace *get_trace(qn_context *context, qn_status *status) {
    qn__trace *made = NULL, *there = context->trace;
    if (there) return there;
    const int error = trace_new(context, NULL, &made);
    if (error) *status = QN_ERROR_OUT_OF_MEMORY;
    if (error || atomic_compare_exchange_strong(&context->trace, &there, made)) return made;
    end_thread(made);
    trace_free(made);
    return there;
}

/* What an older history was fed with, and is still in flight, belongs to none. */
qn__history *qn__trace_history(qn_context *context, bool on, qn_status *status) {
    qn__trace *trace = on ? get_trace(context, status) : context->trace;
    if (!trace) return NULL;
    look_at_all(trace);
    atomic_store(&trace->keeps, on);
    atomic_store(&context->observed, on || trace->writes);
    return trace->history;
}

qn__history *qn__trace_observe(qn_context *context) {
    qn__trace *trace = context->trace;
    if (!trace) return NULL;
    look_at_all(trace);
    return trace->history;
}

/* ---- the submitting thread ---- */

static qn__lane *lane_of(qn_stream *stream) {
    qn__trace *trace = stream->object.context->trace;
    if (stream->lane) return stream->lane;
    qn__lane *lane = qn__allocate_zeroed(&trace->context->allocator, sizeof *lane);
    if (!lane) return NULL;
    char name[NAME];
    lane->stream = stream;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_mutex_lock(&trace->lock);
    lane->track = FIRST_LANE + ++trace->num_lanes;
    snprintf(name, sizeof name, "%s stream %u%s", stream->device->name, (unsigned)trace->num_lanes,
             stream->device->stream == stream ? " (default)" : "");
    pthread_mutex_lock(&trace->text_lock);
    put_name(trace, "thread_name", lane->track, name);
    pthread_mutex_unlock(&trace->text_lock);
    lane->next = trace->lanes;
    trace->lanes = lane;
    pthread_mutex_unlock(&trace->lock);
    return stream->lane = lane;
}

static bool make_marks(const qn__lane *lane, qn__span *span) {
    const qn_device *device = lane->stream->device;
    char why[QN__WHY];
    if (!span->begin && device->backend->mark_create(device->gpu, &span->begin, why)) span->begin = NULL;
    if (!span->end && device->backend->mark_create(device->gpu, &span->end, why)) span->end = NULL;
    return span->begin && span->end;
}

static qn__span *take_span(qn__lane *lane) {
    if (atomic_load_explicit(&lane->pending, memory_order_relaxed) >= MOST_PENDING) {
        atomic_fetch_add(&lane->dropped, 1);
        return NULL;
    }
    if (!lane->free) {
        pthread_mutex_lock(&lane->lock);
        lane->free = lane->done;
        lane->done = NULL;
        pthread_mutex_unlock(&lane->lock);
    }
    qn__span *span = lane->free;
    if (span) lane->free = span->next;
    if (span) return span;
    return qn__allocate_zeroed(&lane->stream->object.context->allocator, sizeof *span);
}

static bool record(qn_stream *stream, qn__mark *mark, uint64_t version) {
    const qn__command command = {.kind = QN__COMMAND_RECORD, .mark = mark, .mark_version = version};
    return qn__stream_put(stream, &command) == QN_OK;
}

/* A stream mostly launches what it has launched before. */
static const char *keep_name(qn__lane *lane, const char *name) {
    if (lane->last_name && strcmp(lane->last_name, name) == 0) return lane->last_name;
    known_name *known = lane->names;
    while (known && strcmp(known->text, name) != 0) known = known->next;
    if (known) return lane->last_name = known->text;
    const size_t size = strlen(name) + 1;
    known = qn__allocate(&lane->stream->object.context->allocator, sizeof *known + size);
    if (!known) return "kernel";
    memcpy(known->text, name, size);
    known->next = lane->names;
    lane->names = known;
    return lane->last_name = known->text;
}

static void describe(qn__lane *lane, qn__span *span, const qn__command *command, size_t count) {
    static const char *const names[] = {[QN__COMMAND_WRITE] = "write",
                                        [QN__COMMAND_READ] = "read",
                                        [QN__COMMAND_COPY] = "copy",
                                        [QN__COMMAND_FILL] = "fill",
                                        [QN__COMMAND_LAUNCH] = "kernel"};
    span->graph = command == NULL;
    span->kind = command ? (uint8_t)command->kind : QN__COMMAND_LAUNCH;
    span->size = command ? command->size : count;
    span->name = command ? names[command->kind] : "graph";
    if (!command || command->kind != QN__COMMAND_LAUNCH) return;
    span->name = keep_name(lane, command->kernel_name);
    span->work_dim = (uint8_t)command->work_dim;
    memcpy(span->global, command->global, sizeof span->global);
    memcpy(span->offset, command->offset, sizeof span->offset);
    memcpy(span->local, command->local, sizeof span->local);
}

/* Of the submitting thread, which has not used it. */
static void keep_span(qn__lane *lane, qn__span *span) {
    span->next = lane->free;
    lane->free = span;
}

qn__span *qn__trace_begin(qn_stream *stream, const qn__command *command, size_t count, bool held) {
    const qn_backend *backend = stream->device->backend;
    if (command && (command->kind == QN__COMMAND_RECORD || command->kind == QN__COMMAND_WAIT)) return NULL;
    const qn__trace *trace = stream->object.context->trace;
    if (!trace->writes && command && command->kind != QN__COMMAND_LAUNCH)
        return NULL; /* for a history alone */
    qn__lane *lane = lane_of(stream);
    qn__span *span = lane ? take_span(lane) : NULL;
    if (!span) return NULL;
    describe(lane, span, command, count);
    span->marked = held || !backend->clock_next;
    span->submitted_ns = qn__now_ns();
    if (!span->marked) {
        atomic_store_explicit(&span->times.end_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&span->times.status, QN_OK, memory_order_relaxed);
        backend->clock_next(stream->queue, &span->times);
        return span;
    }
    if (make_marks(lane, span) && record(stream, span->begin, ++span->version)) return span;
    keep_span(lane, span);
    return NULL;
}

void qn__trace_end(qn_stream *stream, qn__span *span, qn_status status) {
    qn__lane *lane = stream->lane;
    if (status && !span->marked) stream->device->backend->clock_next(stream->queue, NULL);
    if (status || (span->marked && !record(stream, span->end, span->version))) {
        keep_span(lane, span);
        return;
    }
    span->next = NULL;
    pthread_mutex_lock(&lane->lock);
    if (lane->last)
        lane->last->next = span;
    else
        lane->first = span;
    lane->last = span;
    lane->pending++;
    pthread_mutex_unlock(&lane->lock);
}

/* One that was held may never have been recorded. */
static void destroy_mark(const qn_device *device, qn__mark *mark) {
    if (!mark) return;
    qn__recordings_forget(device->object.context, mark);
    device->backend->mark_destroy(mark);
}

static void free_list(const qn__lane *lane, qn__span *first) {
    const qn_device *device = lane->stream->device;
    for (qn__span *span = first, *next; span; span = next) {
        next = span->next;
        destroy_mark(device, span->begin);
        destroy_mark(device, span->end);
        qn__release(&device->object.context->allocator, span);
    }
}

void qn__trace_leave(qn_stream *stream) {
    qn__lane *lane = stream->lane;
    if (!lane) return;
    qn__trace *trace = stream->object.context->trace;
    pthread_mutex_lock(&trace->lock);
    look_at(trace, lane, true);
    qn__lane **at = &trace->lanes;
    while (*at != lane) at = &(*at)->next;
    *at = lane->next;
    flush_all(trace);
    pthread_mutex_unlock(&trace->lock);
    stream->lane = NULL;
    free_list(lane, lane->free);
    free_list(lane, lane->done);
    for (known_name *known = lane->names, *next; known; known = next) {
        next = known->next;
        qn__release(&trace->context->allocator, known);
    }
    pthread_mutex_destroy(&lane->lock);
    qn__release(&trace->context->allocator, lane);
}

/* ---- threads of the host ---- */

/* The calling thread's track. A thread that ends leaves it to the one that gets its id. */
static uint32_t host_track(qn__trace *trace) {
    const pthread_t self = pthread_self();
    char name[NAME];
    for (uint32_t i = 0; i < trace->num_hosts; i++)
        if (pthread_equal(trace->hosts[i], self)) return FIRST_HOST + i;
    if (trace->num_hosts == MOST_HOSTS) return FIRST_HOST + MOST_HOSTS;
    const uint32_t index = trace->num_hosts++;
    trace->hosts[index] = self;
    snprintf(name, sizeof name, "host thread %u", (unsigned)index + 1);
    put_name(trace, "thread_name", FIRST_HOST + index, name);
    return FIRST_HOST + index;
}

bool qn_trace_is_on(const qn_context *context) {
    return !qn__check(context, QN__OBJECT_CONTEXT, "qn_trace_is_on", "context") && context->trace &&
           context->trace->writes;
}

static void put_time(qn__trace *trace, const char *what, uint64_t ns) {
    put(trace, ",\"%s\":%llu.%03u", what, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

/* Both ends of an arrow have one name. It leads from, or to, the event around its time. */
static void put_flow(qn__trace *trace, const qn_trace_event *event, uint32_t track) {
    put_head(trace, "message", event->ends ? "f" : "s", track);
    put_time(trace, "ts", event->begin_ns);
    put(trace, ",\"cat\":\"own\",\"id\":\"%llx.%llx\"%s}", (unsigned long long)event->flow[0],
        (unsigned long long)event->flow[1], event->ends ? ",\"bp\":\"e\"" : "");
}

qn_status qn_trace_add(qn_context *context, const qn_trace_event *event) {
    static const char function[] = "qn_trace_add";
    qn_trace_event wanted;
    const qn_status status = qn__check(context, QN__OBJECT_CONTEXT, function, "context");
    if (status) return status;
    QN__READ(context, qn_trace_event, &wanted, event);
    if (!wanted.name)
        return qn__fail(context, QN_ERROR_NULL, "%s: %s is NULL", function, event ? "its name" : "event");
    if (wanted.end_ns < wanted.begin_ns)
        return qn__fail(context, QN_ERROR_RANGE, "%s: '%s' ends before it begins", function, wanted.name);
    qn__trace *trace = context->trace;
    if (!trace || !trace->writes) return QN_OK;
    pthread_mutex_lock(&trace->text_lock);
    const uint32_t track = host_track(trace);
    put_span(trace, "own", wanted.name, track, wanted.begin_ns, wanted.end_ns);
    put(trace, "}");
    if (wanted.flow[0] || wanted.flow[1]) put_flow(trace, &wanted, track);
    pthread_mutex_unlock(&trace->text_lock);
    return QN_OK;
}

void qn__trace_host(qn_context *context, const char *category, const char *name, const char *detail,
                    uint64_t begin_ns, uint64_t end_ns) {
    qn__trace *trace = context->trace;
    char quoted[2 * NAME + 64];
    if (!trace || !trace->writes) return;
    qn__json_string(quoted, sizeof quoted, detail ? detail : "");
    pthread_mutex_lock(&trace->text_lock);
    put_span(trace, category, name, host_track(trace), begin_ns, end_ns);
    put(trace, ",\"args\":{\"detail\":%s}}", quoted);
    flush(trace);
    pthread_mutex_unlock(&trace->text_lock);
}
