/* quern bench launch: what it costs the host to launch a kernel that does next to nothing, and how long until it is done. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { ITEMS = 64, GRAPH_LAUNCHES = 20 };

/* Each work-item counts its launches, which is what is checked. */
static const char source[] = "kernel void count(global uint *x, uint n) { x[get_global_id(0)] += n; }\n";

typedef struct launch_task {
    bench_device *d;
    qn_program *program;
    qn_kernel *kernel;
    qn_buffer *buffer, *operands;
    qn_graph *graph;
    uint32_t launched; /* wraps as the kernel's numbers do */
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

/* The same as a library call: what qn_matmul adds to a launch. */
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
    for (uint32_t i = 0; i < count && !status; i++) status = qn_matmul(t->d->kernels, t->d->stream, &desc);
    return status;
}

static const struct {
    const char *what;
    qn_status (*run)(void *user, uint32_t first, uint32_t count);
    bool waits_after; /* which is not timed */
    bool on_device;
} figures[] = {{"a launch, on the host", run_launches, true, false},
               {"a launch, on the device, among many", run_launches, false, true},
               {"a launch, and waiting for it", run_launch_and_wait, false, false},
               {"a graph of 20 launches, on the host", run_graph, true, false},
               {"a graph of 20 launches, on the device", run_graph, false, true},
               {"a graph of 20 launches, and waiting for it", run_graph_and_wait, false, false},
               {"qn_matmul of 16x16x16, on the host", run_product, true, false}};
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

int bench_launch_run(bench_device *d) {
    launch_task t = {.d = d};
    const qn_status status = prepare(&t);
    int result = status ? tool_fail_status(d->context, status) : TOOL_OK;
    if (!result) bench_print_head(d, "launch");
    for (int i = 0; i < NUM_FIGURES && !result; i++) {
        const bench_task task = {.run = figures[i].run,
                                 .user = &t,
                                 .on_host = !figures[i].on_device,
                                 .after = figures[i].waits_after ? wait : NULL};
        bench_time time;
        bench_progress(d, figures[i].what);
        result = bench_measure(d, &task, &time);
        if (!result) result = check(&t);
        if (!result) bench_print_figure(d, "launch", figures[i].what, "quern", 0, "ns", &time, "");
    }
    if (!result) putchar('\n');
    qn_graph_destroy(t.graph);
    qn_kernel_destroy(t.kernel);
    qn_program_destroy(t.program);
    qn_buffer_destroy(t.buffer);
    qn_buffer_destroy(t.operands);
    return result;
}
