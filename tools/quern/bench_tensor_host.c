/* Rows of quern bench tensor: what an op and a recorded step cost the host, and a graph that is met for the first time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_tensor.h"

enum { SMALL = 64, ADDENDS = 4 };

static qn_status wait(void *user) {
    const bench_tensors *b = *(bench_tensors *const *)user;
    return qn_stream_wait(b->d->stream, QN_FOREVER);
}

/* All have the tensors first. */
typedef struct host_work {
    bench_tensors *b;
    qn_tensor *x; /* 64 elements, retained */
    qn_step *step;
    uint64_t nodes;
    uint64_t runs;
} host_work;

static qn_status make_small(host_work *w) {
    float values[SMALL];
    for (int i = 0; i < SMALL; i++) values[i] = (float)i;
    w->x = qn_tensor_retain(qn_from_data(w->b->t, QN_F32, QN_SHAPE(SMALL), values));
    return qn_tensor_status(w->x);
}

static int check_small(const host_work *w, qn_tensor *x, double added, const char *what) {
    float values[SMALL];
    const qn_status status = qn_tensor_read(x, values, sizeof values);
    if (status) return bench_tensor_fail(w->b, status);
    for (int i = 0; i < SMALL; i++)
        if (!(fabs((double)values[i] - (i + added)) <= 1e-6 * (fabs(i + added) + 1)))
            return tool_fail(TOOL_DIFFERENT, "%s: element %d is %g instead of %g", what, i, (double)values[i],
                             i + added);
    return TOOL_OK;
}

/* ---- an op at once ---- */

static qn_status run_eager(void *user, uint32_t first, uint32_t count) {
    const host_work *w = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) {
        status = qn_scope_begin(w->b->t);
        if (!status) status = qn_tensor_realize(qn_add(w->x, 1));
        qn_scope_end(w->b->t);
    }
    return status;
}

static int measure_eager(bench_tensors *b, const bench_tensor_row *row) {
    host_work w = {.b = b};
    const bench_task task = {.run = run_eager, .user = &w, .on_host = true, .after = wait};
    bench_time time;
    int result = bench_tensor_fail(b, make_small(&w));
    if (!result) result = check_small(&w, qn_add(w.x, 1), 1, row->what);
    if (!result) result = bench_tensor_fail(b, qn_tensors_wait(b->t, QN_FOREVER));
    if (!result) result = bench_measure(b->d, &task, &time);
    if (!result) bench_tensor_print(b, row, "64 elements", 0, "ns", &time, "");
    return result;
}

/* ---- a graph for the first time ---- */

/* Layers of elements: functions, rows' means, views and a loss, with gradients: as a step of training has them. */
static qn_tensor *make_graph(const host_work *w, uint64_t rows) {
    qn_tensors *t = w->b->t;
    qn_tensor *x = qn_zeros(t, QN_F32, QN_SHAPE(rows, SMALL)), *weights[4], *gradients[4], *loss = NULL;
    for (int i = 0; i < 4; i++)
        weights[i] = qn_tensor_require_gradient(qn_full(t, QN_F32, QN_SHAPE(SMALL), 1.0 + i), true);
    for (int i = 0; i < 4; i++) {
        qn_tensor *y = qn_gelu(qn_multiply(x, weights[i]));
        qn_tensor *centred = qn_subtract(y, qn_mean(y, QN_AXES(-1), true));
        x = qn_multiply(centred, qn_rsqrt(qn_add(qn_mean(qn_square(centred), QN_AXES(-1), true), 1e-5)));
    }
    loss = qn_mean(qn_square(x), QN_ALL_AXES, false);
    if (qn_gradients(loss, weights, 4, gradients)) return loss;
    qn_tensor *all = qn_add(gradients[0], gradients[1]);
    return qn_add(all, qn_add(gradients[2], gradients[3]));
}

static void count_step(void *user, const char *text) { *(uint64_t *)user += text != NULL; }

static qn_status trace(host_work *w, uint64_t rows) {
    qn_tensors_stats before, after;
    uint64_t kernels = 0;
    qn_status status = qn_scope_begin(w->b->t);
    if (status) return status;
    qn_tensors_get_stats(w->b->t, &before);
    qn_tensor *x = make_graph(w, rows);
    qn_tensors_get_stats(w->b->t, &after);
    w->nodes = after.nodes - before.nodes;
    status = qn_tensor_explain(&x, 1, NULL, count_step, &kernels);
    qn_scope_end(w->b->t);
    return status;
}

/* Of another number of rows each time, so that nothing is known but the programs. */
static qn_status run_trace(void *user, uint32_t first, uint32_t count) {
    host_work *w = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = trace(w, 1000 + 64 * ++w->runs);
    return status;
}

static int measure_trace(bench_tensors *b, const bench_tensor_row *row) {
    host_work w = {.b = b};
    const bench_task task = {.run = run_trace, .user = &w, .on_host = true};
    bench_time time;
    char note[64];
    int result = bench_tensor_fail(b, trace(&w, 1000));
    if (!result) result = bench_tensor_fail(b, qn_tensors_wait(b->t, QN_FOREVER));
    if (!result) result = bench_measure(b->d, &task, &time);
    if (result) return result;
    snprintf(note, sizeof note, "%llu nodes", (unsigned long long)w.nodes);
    bench_tensor_print(b, row, "", 0, "ns", &time, note);
    return TOOL_OK;
}

/* ---- its kernels, compiled ---- */

enum { MOST_TEXTS = 64 };

/* quern's own part, which has no driver in it: the texts of the graph's kernels to what the device's driver gets. */
typedef struct text_work {
    bench_tensors *b;
    const char *target;
    char *texts[MOST_TEXTS];
    uint32_t count;
} text_work;

static void keep_text(void *user, const char *text) {
    text_work *w = user;
    if (w->count < MOST_TEXTS && strstr(text, "void tensor(")) w->texts[w->count++] = strdup(text);
}

static qn_status run_translate(void *user, uint32_t first, uint32_t count) {
    const text_work *w = user;
    qn_status status = QN_OK;
    for (uint32_t i = first; i < first + count && !status; i++) {
        char *made = NULL;
        const qn_translate_desc desc = {.program = {.source = w->texts[i % w->count], .path = "tensor.cl"},
                                        .target = w->target};
        status = qn_translate(w->b->d->context, &desc, &made, NULL);
        qn_text_free(w->b->d->context, made);
    }
    return status;
}

static int measure_texts(bench_tensors *b, const bench_tensor_row *row) {
    static const char *const targets[] = {[QN_DEVICE_CPU] = "c",
                                          [QN_DEVICE_CUDA] = "ptx",
                                          [QN_DEVICE_VULKAN] = "spirv",
                                          [QN_DEVICE_OPENCL] = "clc",
                                          [QN_DEVICE_WEBGPU] = "wgsl"};
    const uint32_t kind = b->d->info.kind;
    text_work w = {.b = b, .target = kind < sizeof targets / sizeof *targets ? targets[kind] : "ir"};
    const bench_task task = {.run = run_translate, .user = &w, .on_host = true};
    bench_time time;
    char note[64];
    qn_status status = qn_scope_begin(b->t);
    if (status) return bench_tensor_fail(b, status);
    const host_work graph = {.b = b};
    qn_tensor *x = make_graph(&graph, 1000);
    status = qn_tensor_explain(&x, 1, &(qn_explain_desc){.text = true}, keep_text, &w);
    qn_scope_end(b->t);
    int result = bench_tensor_fail(b, status);
    if (!result && !w.count) result = tool_fail(TOOL_DIFFERENT, "%s: the graph has no kernels", row->what);
    if (!result) result = bench_measure(b->d, &task, &time);
    snprintf(note, sizeof note, "%u kernels", (unsigned)w.count);
    if (!result) bench_tensor_print(b, row, w.target, 0, "ns", &time, note);
    for (uint32_t i = 0; i < w.count; i++) free(w.texts[i]);
    return result;
}

/* ---- a recorded step ---- */

static qn_status add_some(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                          size_t num_outputs) {
    (void)user, (void)num_inputs, (void)num_outputs;
    qn_tensor *x = inputs[0];
    for (int i = 0; i < ADDENDS; i++) x = qn_add(x, qn_mean(x, QN_AXES(0), true));
    outputs[0] = qn_multiply(qn_subtract(x, inputs[0]), 1.0 / 31.5);
    return QN_OK;
}

static qn_status run_step(const host_work *w, qn_tensor **output) {
    return qn_step_run(w->step, &w->x, 1, output, 1);
}

static qn_status run_replay(void *user, uint32_t first, uint32_t count) {
    const host_work *w = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) {
        qn_tensor *output;
        status = qn_scope_begin(w->b->t);
        if (!status) status = run_step(w, &output);
        qn_scope_end(w->b->t);
    }
    return status;
}

/* The mean of 0, ..., 63 is 31.5; it is added 1, 2, 4 and 8 times. */
static int check_step(const host_work *w, const char *what) {
    qn_tensor *output;
    const qn_status status = run_step(w, &output);
    if (status) return bench_tensor_fail(w->b, status);
    return check_small(w, qn_add(output, w->x), (1 << ADDENDS) - 1, what);
}

static int measure_replay(bench_tensors *b, const bench_tensor_row *row) {
    host_work w = {.b = b};
    const bench_task task = {.run = run_replay, .user = &w, .on_host = true, .after = wait};
    bench_time time;
    qn_status status = make_small(&w);
    if (!status) status = qn_step_create(b->t, add_some, NULL, &w.step);
    int result = bench_tensor_fail(b, status);
    if (!result) result = check_step(&w, row->what);
    if (!result) result = bench_tensor_fail(b, qn_tensors_wait(b->t, QN_FOREVER));
    if (!result) result = bench_measure(b->d, &task, &time);
    if (!result) bench_tensor_print(b, row, "64 elements", 0, "ns", &time, "");
    qn_step_destroy(w.step);
    return result;
}

static const bench_tensor_row rows[] = {{"op at once, on the host", 0, measure_eager},
                                        {"graph met for the first time", 0, measure_trace},
                                        {"text of a fused kernel to its target", 0, measure_texts},
                                        {"replay of a step, on the host", 0, measure_replay}};
const bench_tensor_list bench_tensor_host = {rows, sizeof rows / sizeof *rows};
