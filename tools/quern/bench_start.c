/* quern bench start: what it costs to begin: a context, a device, the first result of a kernel, and a program that the disk cache
   has. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

typedef struct start_task {
    const bench_device *d;
    qn_context *context; /* with a cache of its own */
    qn_device *device;
    bool is_wrong, is_compiled; /* a result; a program, once more */
} start_task;

static const char source[] = "kernel void twice(global const uint *x, global uint *y) {\n"
                             "    const size_t i = get_global_id(0);\n"
                             "    y[i] = 2 * x[i];\n"
                             "}\n";

static qn_status make_context(bool with_device, const char *device) {
    qn_context *context = NULL;
    qn_device *opened = NULL;
    qn_status status = qn_context_create(NULL, &context);
    if (!status && with_device) status = qn_device_get(context, device, &opened);
    qn_context_destroy(context);
    return status;
}

static qn_status run_context(start_task *t) { return make_context(false, t->d->info.name); }
static qn_status run_device(start_task *t) { return make_context(true, t->d->info.name); }

/* From the text to a result on the host. */
static qn_status run_first_result(start_task *t) {
    enum { COUNT = 64 };
    uint32_t x[COUNT], y[COUNT] = {0};
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_buffer *from = NULL, *to = NULL;
    for (uint32_t i = 0; i < COUNT; i++) x[i] = i * 3 + 1;
    const qn_program_desc desc = {.source = source, .disable_cache = true};
    const qn_buffer_desc filled = {.size = sizeof x, .data = x}, empty = {.size = sizeof y};
    qn_status status = qn_program_create(t->device, &desc, &program);
    if (!status) status = qn_kernel_create(program, NULL, &kernel);
    if (!status) status = qn_buffer_create(t->device, &filled, &from);
    if (!status) status = qn_buffer_create(t->device, &empty, &to);
    if (!status) status = qn_launch(NULL, kernel, QN_RANGE(COUNT), QN_ARGS(from, to));
    if (!status) status = qn_buffer_read(to, 0, y, sizeof y);
    for (uint32_t i = 0; i < COUNT && !status; i++) t->is_wrong |= y[i] != 2 * x[i];
    qn_buffer_destroy(from);
    qn_buffer_destroy(to);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return status;
}

static qn_status run_cached(start_task *t) {
    qn_program *program = NULL;
    qn_program_times times;
    qn_status status = qn_program_create(t->device, &(qn_program_desc){.source = source}, &program);
    if (!status) status = qn_program_wait(program, QN_FOREVER);
    if (!status) status = qn_program_get_times(program, &times);
    if (!status) t->is_compiled |= !times.from_cache;
    qn_program_destroy(program);
    return status;
}

static const struct {
    const char *what;
    qn_status (*run)(start_task *t);
} figures[] = {{"a context, made and destroyed", run_context},
               {"a context and this device in it", run_device},
               {"a kernel's text to its first result", run_first_result},
               {"a program with the disk cache", run_cached}};
enum { NUM_FIGURES = sizeof figures / sizeof *figures };

typedef struct figure_task {
    start_task *t;
    int figure;
} figure_task;

static qn_status run_figure(void *user, uint32_t first, uint32_t count) {
    const figure_task *f = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = figures[f->figure].run(f->t);
    return status;
}

/* Nothing is compiled for an interpreter, nor kept. */
static bool is_interpreted(const bench_device *d) { return strcmp(d->info.driver, "interpreter") == 0; }

static int measure(start_task *t, int figure) {
    figure_task f = {t, figure};
    const bench_task task = {.run = run_figure, .user = &f, .on_host = true};
    bench_time time;
    bench_progress(t->d, figures[figure].what);
    if (figures[figure].run == run_cached && is_interpreted(t->d)) return TOOL_OK;
    if (figures[figure].run == run_cached && run_cached(t) == QN_OK)
        t->is_compiled = false; /* which fills it */
    const int result = bench_measure(t->d, &task, &time);
    if (result) return result;
    if (t->is_wrong) return tool_fail(TOOL_DIFFERENT, "%s: the first result is wrong", t->d->info.name);
    bench_print_figure(t->d, "start", figures[figure].what, "quern", 0, "ns", &time,
                       t->is_compiled ? "the driver compiles it anew" : "");
    return TOOL_OK;
}

int bench_start_run(bench_device *d) {
    char folder[BENCH_FOLDER];
    start_task t = {.d = d};
    if (!bench_folder_make(folder)) return tool_fail(TOOL_RUN_FAILED, "no folder for a cache can be made");
    qn_status status = qn_context_create(&(qn_context_desc){.cache_dir = folder}, &t.context);
    if (!status) status = qn_device_get(t.context, d->info.name, &t.device);
    int result = status ? tool_fail_status(t.context, status) : TOOL_OK;
    if (!result) bench_print_head(d, "start");
    bench_steps(d, NUM_FIGURES);
    for (int i = 0; i < NUM_FIGURES && !result; i++) {
        result = measure(&t, i);
        bench_step(d);
    }
    if (!result) putchar('\n');
    if (t.device) qn_device_wait(t.device, QN_FOREVER);
    qn_cache_clear(t.context);
    qn_context_destroy(t.context);
    bench_folder_remove(folder);
    return result;
}
