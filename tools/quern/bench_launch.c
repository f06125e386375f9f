/* quern bench launch: what it costs the host to launch a kernel that does next to nothing, and how long until it is done. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quern/history.h>

#include "bench_peer.h"

enum { ITEMS = BENCH_LAUNCH_ITEMS, GRAPH_LAUNCHES = BENCH_GRAPH_LAUNCHES, KEPT = 1024 };

/* Each work-item counts its launches, which is what is checked. */
static const char source[] = "kernel void count(global uint *x, uint n) { x[get_global_id(0)] += n; }\n";

typedef struct launch_task {
    bench_device *d;
    qn_program *program;
    qn_kernel *kernel;
    qn_buffer *buffer, *operands;
    qn_graph *graph;
    const bench_peer *peer;
    bench_launches peers; /* how the peer makes its launches */
    bool failed, keeps;   /* a launch has; a history */
    uint32_t launched;    /* wraps as the kernel's numbers do */
} launch_task;

static qn_status launch(launch_task *t) {
    t->launched++;
    return qn_launch(t->d->stream, t->kernel, &(qn_range){.global = {ITEMS}, .local = {ITEMS}},
                     QN_ARGS(t->buffer, 1u));
}

static qn_status wait(void *user) {
    const launch_task *t = user;
    return qn_stream_wait(t->d->stream, QN_FOREVER);
}

static qn_status run_launches(void *user, uint32_t first, uint32_t count) {
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = launch(user);
    return status;
}

/* The same while the newest launches are kept in a ring. */
static qn_status run_launches_kept(void *user, uint32_t first, uint32_t count) {
    launch_task *t = user;
    if (!t->keeps && qn_history_keep(t->d->context, KEPT)) return QN_ERROR_OUT_OF_MEMORY;
    t->keeps = true;
    return run_launches(user, first, count);
}

static qn_status run_launch_and_wait(void *user, uint32_t first, uint32_t count) {
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) {
        status = launch(user);
        if (!status) status = wait(user);
    }
    return status;
}

static qn_status launch_graph(launch_task *t) {
    t->launched += GRAPH_LAUNCHES;
    return qn_graph_launch(t->d->stream, t->graph);
}

static qn_status run_graph(void *user, uint32_t first, uint32_t count) {
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = launch_graph(user);
    return status;
}

static qn_status run_graph_and_wait(void *user, uint32_t first, uint32_t count) {
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) {
        status = launch_graph(user);
        if (!status) status = wait(user);
    }
    return status;
}

/* The same as a library call: what qn_kernels_matmul adds to a launch. */
static qn_status run_product(void *user, uint32_t first, uint32_t count) {
    enum { SIDE = 16 };
    const launch_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    qn_matmul_desc desc = {.out = QN_ARRAY(t->operands, QN_F32, SIDE, SIDE),
                           .a = QN_ARRAY(t->operands, QN_F32, SIDE, SIDE),
                           .b = QN_ARRAY(t->operands, QN_F32, SIDE, SIDE)};
    desc.a.offset = SIDE * SIDE;
    desc.b.offset = 2 * SIDE * SIDE;
    for (uint32_t i = 0; i < count && !status; i++)
        status = qn_kernels_matmul(t->d->kernels, t->d->stream, &desc);
    return status;
}

static const struct {
    const char *what;
    qn_status (*run)(void *user, uint32_t first, uint32_t count);
    bool waits_after; /* which is not timed */
    bool on_device;
    bench_launches launches; /* the same by a peer */
    bool is_quern;           /* has no such thing by others */
} figures[] = {
    {"a launch, on the host", run_launches, true, false, {false, false}, false},
    {"a launch, on the host, with a history", run_launches_kept, true, false, {false, false}, true},
    {"a launch, on the device, among many", run_launches, false, true, {false, false}, false},
    {"a launch, and waiting for it", run_launch_and_wait, false, false, {true, false}, false},
    {"a graph of 20 launches, on the host", run_graph, true, false, {false, true}, false},
    {"a graph of 20 launches, on the device", run_graph, false, true, {false, true}, false},
    {"a graph of 20 launches, and waiting for it", run_graph_and_wait, false, false, {true, true}, false},
    {"qn_kernels_matmul of 16x16x16, on the host", run_product, true, false, {false, false}, true}};
enum { NUM_FIGURES = sizeof figures / sizeof *figures };

static qn_status prepare(launch_task *t) {
    const qn_buffer_desc counters = {.size = ITEMS * sizeof(uint32_t)},
                         operands = {.size = 3 * 16 * 16 * sizeof(float)};
    bench_device *d = t->d;
    qn_status status = qn_program_create(d->device, &(qn_program_desc){.source = source}, &t->program);
    if (!status) status = qn_program_wait(t->program, QN_FOREVER);
    if (!status) status = qn_kernel_create(t->program, NULL, &t->kernel);
    if (!status) status = qn_buffer_create(d->device, &counters, &t->buffer);
    if (!status) status = qn_buffer_create(d->device, &operands, &t->operands);
    if (!status) status = run_product(t, 0, 1);
    if (!status) status = qn_kernels_wait(d->kernels, QN_FOREVER);
    if (!status) status = wait(t);
    if (!status) status = qn_graph_begin(d->stream);
    for (int i = 0; i < GRAPH_LAUNCHES && !status; i++) status = launch(t);
    if (!status) status = qn_graph_end(d->stream, &t->graph);
    t->launched = 0;
    return status;
}

static int check(const launch_task *t) {
    uint32_t counters[ITEMS];
    const qn_status status = qn_buffer_read(t->buffer, 0, counters, sizeof counters);
    if (status) return tool_fail_status(t->d->context, status);
    for (int i = 0; i < ITEMS; i++)
        if (counters[i] != t->launched)
            return tool_fail(TOOL_DIFFERENT, "%s: after %u launches work-item %d has counted %u",
                             t->d->info.name, t->launched, i, counters[i]);
    return TOOL_OK;
}

static int measure_figure(launch_task *t, int figure, const char *what, double *ns) {
    const bench_task task = {.run = figures[figure].run,
                             .user = t,
                             .on_host = !figures[figure].on_device,
                             .after = figures[figure].waits_after ? wait : NULL};
    bench_time time = {.median = 0};
    bench_progress(t->d, what);
    int result = bench_measure(t->d, &task, &time);
    if (t->keeps) qn_history_keep(t->d->context, 0);
    t->keeps = false;
    if (!result) result = check(t);
    if (!result) bench_print_figure(t->d, "launch", what, "quern", 0, "ns", &time, "");
    *ns = time.median;
    return result;
}

static void end(launch_task *t) {
    qn_graph_destroy(t->graph);
    qn_kernel_destroy(t->kernel);
    qn_program_destroy(t->program);
    qn_buffer_destroy(t->buffer);
    qn_buffer_destroy(t->operands);
}

/* ---- the bare driver ---- */

static qn_status run_peer(void *user, uint32_t first, uint32_t count) {
    launch_task *t = user;
    bench_place counters;
    qn_status status = qn_stream_native_begin(t->d->stream, &t->buffer, 1);
    (void)first;
    if (status) return status;
    status = bench_peer_place(t->peer, t->buffer, &counters);
    if (!status) t->failed = !t->peer->type->launch(t->peer->peer, &t->peers, counters, count);
    t->launched += count * (t->peers.is_graph ? GRAPH_LAUNCHES : 1);
    const qn_status ended = qn_stream_native_end(t->d->stream);
    return status ? status : ended;
}

static int measure_peer(launch_task *t, int figure, const bench_peer *peer, double quern) {
    const bench_task task = {.run = run_peer,
                             .user = t,
                             .on_host = !figures[figure].on_device,
                             .after = figures[figure].waits_after ? wait : NULL};
    bench_time time;
    char note[48];
    t->peer = peer;
    t->peers = figures[figure].launches;
    int result = bench_measure(t->d, &task, &time);
    if (!result && t->failed) result = tool_fail(TOOL_RUN_FAILED, "%s: a launch failed", peer->type->name);
    if (!result) result = check(t);
    if (result) return result;
    const double more = (quern - time.median) * 1e-3;
    snprintf(note, sizeof note, "quern takes %.2f us %s", fabs(more), more < 0 ? "less" : "more");
    bench_print_figure(t->d, "launch", figures[figure].what, peer->type->name, 0, "ns", &time, note);
    return TOOL_OK;
}

static bool is_for(int figure, const bench_peer *peer) {
    return !figures[figure].is_quern && (!figures[figure].launches.is_graph || peer->type->has_graphs);
}

/* ---- while it is traced ---- */

#if !defined(_WIN32)

/* Whether the trace has so many of them. */
static bool is_written(const char *path, uint64_t launches) {
    char line[4096];
    uint64_t spans = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) spans += strstr(line, "\"count\"") != NULL;
    if (file) fclose(file);
    return spans >= launches;
}

/* The first figure again, in a context that writes a trace, for a tenth of a second at most: its file grows by 10 MB. */
static int measure_in_trace(bench_device *d, const char *path, uint64_t *launches) {
    const double most = 0.1;
    bench_options options = *d->options;
    bench_device traced = {.options = &options, .report = d->report};
    launch_task t = {.d = &traced};
    qn_context *context = NULL;
    double ns;
    if (options.seconds > most) options.seconds = most;
    options.tuning = NULL;
    setenv("QUERN_TRACE", path, 1);
    qn_status status = qn_context_create(&(qn_context_desc){.cpu_compile_first = true}, &context);
    unsetenv("QUERN_TRACE");
    int result = status ? tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status))
                        : bench_device_open(&traced, context, d->info.name);
    if (!result && (status = prepare(&t)) != QN_OK) result = tool_fail_status(context, status);
    if (!result) result = measure_figure(&t, 0, "a launch, on the host, while traced", &ns);
    *launches = t.launched;
    end(&t);
    bench_device_close(&traced);
    qn_context_destroy(context);
    return result;
}

static int measure_traced(bench_device *d) {
    char folder[BENCH_FOLDER], path[BENCH_FOLDER + 16];
    uint64_t launches = 0;
    if (!bench_folder_make(folder)) return tool_fail(TOOL_RUN_FAILED, "no folder for a trace can be made");
    snprintf(path, sizeof path, "%s/trace.json", folder);
    int result = measure_in_trace(d, path, &launches);
    if (!result && !is_written(path, launches))
        result = tool_fail(TOOL_DIFFERENT, "%s: launches are missing in the trace", d->info.name);
    unlink(path);
    bench_folder_remove(folder);
    return result;
}

#else

static int measure_traced(bench_device *d) {
    (void)d; /* the environment of a process is not to be changed there */
    return TOOL_OK;
}

#endif

/* The library's own part of a launch: the null device does nothing, so that there is nothing to check. */
static int measure_null(bench_device *d) {
    bench_device null = {.options = d->options, .report = d->report};
    launch_task t = {.d = &null};
    const bench_task task = {.run = run_launches, .user = &t, .on_host = true, .after = wait};
    bench_time time;
    int result = bench_device_open(&null, d->context, "null");
    const qn_status status = result ? QN_OK : prepare(&t);
    if (status) result = tool_fail_status(d->context, status);
    if (!result) result = bench_measure(&null, &task, &time);
    if (!result)
        bench_print_figure(&null, "launch", "a launch on the null device", "quern", 0, "ns", &time, "");
    end(&t);
    bench_device_close(&null);
    return result;
}

static int measure_all(launch_task *t) {
    bench_peer peers[BENCH_MAX_PEERS];
    int result = TOOL_OK;
    const uint32_t num_peers = bench_peers_open(t->d, t->d->options->against, BENCH_OF_LAUNCHES, peers);
    bench_print_head(t->d, "launch");
    bench_steps(t->d, NUM_FIGURES + 1); /* and traced */
    for (int i = 0; i < NUM_FIGURES && !result; i++) {
        double ns;
        result = measure_figure(t, i, figures[i].what, &ns);
        for (uint32_t p = 0; p < num_peers && !result; p++)
            if (is_for(i, &peers[p])) result = measure_peer(t, i, &peers[p], ns);
        bench_step(t->d);
    }
    bench_peers_close(peers, num_peers);
    return result;
}

int bench_launch_run(bench_device *d) {
    launch_task t = {.d = d};
    const qn_status status = prepare(&t);
    int result = status ? tool_fail_status(d->context, status) : measure_all(&t);
    if (!result) result = measure_traced(d);
    if (!result && d->info.kind == QN_DEVICE_CPU) result = measure_null(d);
    if (!result) putchar('\n');
    end(&t);
    return result;
}
