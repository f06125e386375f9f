/* quern bench rings: messages that are work. A stream of them beside launching each and waiting for it, where a message's computation takes
   100 us, and 1 us; and what an idle ring costs a kernel that runs beside it. */
#include <quern/ring.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_rings.h"

#define LONG ((uint64_t)10000000000)

enum { MOST = 1 << 16, HALF = 16, WIDE_HALF = 128, ITEMS = 64, ROWS = 1 << 20 };

/* Each turn waits for the one before. */
static const char text[] =
    "#ifdef QN_RING_GROUPS\n"
    "#include \"quern/ring.cl\"\n"
    "#endif\n"
    "typedef struct task { uint turns, number; float x; uint padding; } task;\n"
    "static float turn(float x, uint turns) {\n"
    "    for (uint i = 0; i < turns; i++) x = fma(x, 0.9990234375f, 0.5f);\n"
    "    return x;\n"
    "}\n"
    "#ifdef QN_RING_GROUPS\n"
    "void solve(qn_ring *ring, local const task *in) {\n"
    "    task out = *in;\n"
    "    out.x = turn(out.x, out.turns);\n"
    "    qn_ring_reply(ring, &out, sizeof out);\n"
    "}\n"
    "#else\n"
    "kernel void launched(global float *x, uint turns) { *x = turn(*x, turns); }\n"
    "kernel void neighbour(global const float *restrict a, global float *restrict b) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    b[i] = sqrt(a[i]) + b[i];\n"
    "}\n"
    "#endif\n";

typedef struct task {
    uint32_t turns, number;
    float x;
    uint32_t padding;
} task;

typedef struct bench_work {
    bench_device *d;
    qn_program *program;
    qn_kernel *launched, *neighbour;
    qn_buffer *one, *from, *to;
    qn_stream *stream;
    qn_ring *ring, *wide; /* of `wide` each work-item handles a message; on a GPU alone */
    qn_ring *restless;    /* looks all the time */
    double turn_ns;
    double *times;
    const char *wrong;
} bench_work;

static qn_status make_rings(bench_work *w) {
    qn_ring_desc desc = {.program = {.source = text},
                         .handler = "solve",
                         .message_type = "task",
                         .message_size = sizeof(task),
                         .reply_size = sizeof(task)};
    qn_status status = qn_ring_create(w->d->device, &desc, &w->ring);
    desc.idle = QN_RING_CONTINUOUS;
    if (!status) status = qn_ring_create(w->d->device, &desc, &w->restless);
    desc.idle = QN_RING_ADAPTIVE;
    desc.group_size = ITEMS;
    desc.per_item = true;
    desc.capacity = desc.reply_capacity = 4 * WIDE_HALF;
    if (!status && w->d->info.kind == QN_DEVICE_CUDA) status = qn_ring_create(w->d->device, &desc, &w->wide);
    return status;
}

static qn_status make(bench_work *w) {
    const qn_program_desc program = {.source = text};
    const qn_buffer_desc rows = {.size = ROWS * sizeof(float)}, one = {.size = sizeof(float)};
    const float zero = 0;
    qn_device *device = w->d->device;
    qn_status status = qn_program_create(device, &program, &w->program);
    if (!status) status = qn_program_wait(w->program, QN_FOREVER);
    if (!status) status = qn_kernel_create(w->program, "launched", &w->launched);
    if (!status) status = qn_kernel_create(w->program, "neighbour", &w->neighbour);
    if (!status) status = qn_buffer_create(device, &one, &w->one);
    if (!status) status = qn_buffer_create(device, &rows, &w->from);
    if (!status) status = qn_buffer_create(device, &rows, &w->to);
    if (!status) status = qn_stream_create(device, &w->stream);
    if (!status) status = qn_stream_fill(w->stream, w->one, 0, sizeof zero, &zero, sizeof zero);
    if (!status) status = qn_stream_fill(w->stream, w->from, 0, rows.size, &zero, sizeof zero);
    if (!status) status = qn_stream_fill(w->stream, w->to, 0, rows.size, &zero, sizeof zero);
    if (!status) status = qn_stream_wait(w->stream, LONG);
    return status ? status : make_rings(w);
}

static void destroy(bench_work *w) {
    qn_ring_close(w->ring, LONG);
    qn_ring_close(w->wide, LONG);
    qn_ring_close(w->restless, LONG);
    qn_kernel_destroy(w->launched);
    qn_kernel_destroy(w->neighbour);
    qn_program_destroy(w->program);
    qn_buffer_destroy(w->one);
    qn_buffer_destroy(w->from);
    qn_buffer_destroy(w->to);
    qn_stream_destroy(w->stream);
    free(w->times);
}

static int by_time(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bench_time quantiles(double *times, uint32_t count) {
    qsort(times, count, sizeof *times, by_time);
    return (bench_time){.median = times[count / 2],
                        .low = times[count / 10],
                        .high = times[count - 1 - count / 10],
                        .samples = count};
}

static int64_t deadline(const bench_work *w) { return bench_now() + (int64_t)(w->d->options->seconds * 1e9); }

/* ---- a launch for each ---- */

static qn_status launch_one(bench_work *w, uint32_t turns, double *ns) {
    const int64_t start = bench_now();
    qn_status status = qn_launch(w->stream, w->launched, QN_RANGE(1), QN_ARGS(w->one, turns));
    if (!status) status = qn_stream_wait(w->stream, LONG);
    *ns = (double)(bench_now() - start);
    return status;
}

/* What one turn takes, by what more of them take longer. */
static qn_status time_turn(bench_work *w) {
    enum { FEW = 50000, MANY = 550000, TIMES = 9 };
    double few[TIMES], many[TIMES];
    qn_status status = QN_OK;
    for (int i = 0; i < TIMES && !status; i++) {
        status = launch_one(w, FEW, &few[i]);
        if (!status) status = launch_one(w, MANY, &many[i]);
    }
    if (status) return status;
    w->turn_ns = (quantiles(many, TIMES).low - quantiles(few, TIMES).low) / (MANY - FEW);
    return QN_OK;
}

static qn_status time_launches(bench_work *w, uint32_t turns, bench_time *time) {
    const int64_t until = deadline(w);
    uint32_t count = 0;
    qn_status status = QN_OK;
    for (; !status && count < MOST && (count < 20 || bench_now() < until); count++)
        status = launch_one(w, turns, &w->times[count]);
    *time = quantiles(w->times, count);
    return status;
}

/* ---- a ring's stream ---- */

static qn_status send_tasks(qn_ring *ring, uint32_t turns, uint32_t first, uint32_t count) {
    task tasks[WIDE_HALF];
    uint32_t sent;
    for (uint32_t i = 0; i < count; i++) tasks[i] = (task){.turns = turns, .number = first + i};
    const qn_ring_batch batch = {
        .payloads = tasks, .size = sizeof *tasks, .stride = sizeof *tasks, .count = count};
    return qn_ring_send_batch(ring, &batch, &sent, LONG);
}

static qn_status receive_tasks(bench_work *w, qn_ring *ring, uint32_t first, uint32_t count) {
    task tasks[WIDE_HALF];
    for (uint32_t got = 0, now; got < count; got += now) {
        const qn_status status =
            qn_ring_receive_batch(ring, NULL, tasks, sizeof *tasks, count - got, &now, LONG);
        if (status) return status;
        for (uint32_t i = 0; i < now; i++)
            if (tasks[i].number != first + got + i) w->wrong = "messages were lost or came out of order";
    }
    return QN_OK;
}

/* One half of what is in flight is answered while the other one waits in the queue. */
static qn_status time_stream(bench_work *w, qn_ring *ring, uint32_t turns, bench_time *time) {
    const uint32_t half = ring == w->wide ? WIDE_HALF : HALF;
    const int64_t until = deadline(w);
    uint32_t count = 0, number = 0;
    qn_status status = send_tasks(ring, turns, 0, half);
    for (int64_t last = bench_now(), now; !status && count < MOST && (count < 20 || last < until);
         last = now) {
        status = send_tasks(ring, turns, number + half, half);
        if (!status) status = receive_tasks(w, ring, number, half);
        number += half;
        now = bench_now();
        w->times[count++] = (double)(now - last) / half;
    }
    if (!status) status = receive_tasks(w, ring, number, half);
    *time = quantiles(w->times, count);
    return status;
}

static qn_status measure_stream(bench_work *w, qn_ring *ring, double work_ns) {
    char what[64], note[64];
    bench_time launches, stream;
    const double turns = work_ns / w->turn_ns;
    const uint32_t whole = turns < 1 ? 1 : (uint32_t)turns;
    snprintf(what, sizeof what, "a message of %g us of work, %s", work_ns / 1000,
             ring == w->wide ? "to a work-item each" : "in a stream");
    bench_progress(w->d, what);
    qn_status status = time_launches(w, whole, &launches);
    if (!status) status = time_stream(w, ring, whole, &stream);
    if (status) return status;
    const double work = whole * w->turn_ns;
    snprintf(note, sizeof note, "efficiency %.0f %%", 100 * work / stream.median);
    bench_print_figure(w->d, "rings", what, "quern", 0, "ns", &stream, note);
    snprintf(note, sizeof note, "efficiency %.0f %%, %.2f of the stream's speed",
             100 * work / launches.median, stream.median / launches.median);
    bench_print_figure(w->d, "rings", what, "a launch and a wait", 0, "ns", &launches, note);
    return QN_OK;
}

/* ---- beside an idle ring ---- */

static qn_status time_neighbour(bench_work *w, bench_time *time) {
    const int64_t until = deadline(w);
    uint32_t count = 0;
    qn_status status = QN_OK;
    for (; !status && count < MOST && (count < 20 || bench_now() < until); count++) {
        const int64_t start = bench_now();
        status = qn_launch(w->stream, w->neighbour, QN_RANGE(ROWS), QN_ARGS(w->from, w->to));
        if (!status) status = qn_stream_wait(w->stream, LONG);
        w->times[count] = (double)(bench_now() - start);
    }
    *time = quantiles(w->times, count);
    return status;
}

static void print_neighbour(bench_work *w, const char *what, const bench_time *alone,
                            const bench_time *beside) {
    char note[64];
    snprintf(note, sizeof note, "%.3f of the time alone", beside->median / alone->median);
    bench_print_figure(w->d, "rings", what, "quern", 0, "ns", beside, note);
}

/* Alone behind it, as the device's clock was. */
static qn_status measure_restless(bench_work *w) {
    bench_time alone, beside;
    qn_status status = qn_ring_launch(w->restless, LONG);
    if (!status) status = qn_ring_activate(w->restless, LONG);
    if (!status) status = time_neighbour(w, &beside);
    if (!status) status = qn_ring_stop(w->restless, QN_RING_DRAIN, LONG);
    if (!status) status = time_neighbour(w, &alone);
    if (!status) print_neighbour(w, "a kernel beside a ring that looks all the time", &alone, &beside);
    return status;
}

static qn_status run(bench_work *w) {
    bench_time alone, beside;
    qn_status status = make(w);
    if (!status) status = time_turn(w);
    if (!status) status = time_neighbour(w, &alone);
    if (!status) status = qn_ring_launch(w->ring, LONG);
    if (!status) status = qn_ring_activate(w->ring, LONG);
    if (!status && w->wide) status = qn_ring_launch(w->wide, LONG);
    if (!status && w->wide) status = qn_ring_activate(w->wide, LONG);
    if (!status) status = measure_stream(w, w->ring, 100000);
    if (!status) status = measure_stream(w, w->ring, 1000);
    if (!status && w->wide) status = measure_stream(w, w->wide, 1000);
    if (!status) status = time_neighbour(w, &beside);
    if (!status) print_neighbour(w, "a kernel beside an idle ring", &alone, &beside);
    return status ? status : measure_restless(w);
}

int bench_rings_work(bench_device *d) {
    bench_work w = {.d = d, .times = malloc(MOST * sizeof(double))};
    if (!w.times) return tool_fail(TOOL_RUN_FAILED, "out of memory");
    const qn_status status = run(&w);
    const int result = status    ? tool_fail_status(d->context, status)
                       : w.wrong ? tool_fail(TOOL_DIFFERENT, "%s: %s", d->info.name, w.wrong)
                                 : TOOL_OK;
    destroy(&w);
    return result;
}
