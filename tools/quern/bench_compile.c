/* quern bench compile: from the text of a kernel to a target's, and to a program that a device can launch; nothing is taken from
   the cache. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_text.h"

typedef struct compile_task {
    bench_device *d;
    qn_program_desc program;
    const char *target; /* NULL: the device's program */
    char *text;         /* the first translation, of `size` bytes: the others have to be the same */
    size_t size;
    bool differs;
    double own_ns, driver_ns; /* of all programs */
} compile_task;

static qn_status translate(compile_task *t) {
    char *text = NULL;
    size_t size = 0;
    const qn_translate_desc desc = {.program = t->program, .target = t->target, .size = &size};
    const qn_status status = qn_translate(t->d->context, &desc, &text, NULL);
    if (status) return status;
    if (!t->text) {
        t->text = text;
        t->size = size;
        return QN_OK;
    }
    if (size != t->size || memcmp(text, t->text, size) != 0) t->differs = true;
    qn_text_free(t->d->context, text);
    return QN_OK;
}

static qn_status load(compile_task *t) {
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_program_times times = {0};
    qn_status status = qn_program_create(t->d->device, &t->program, &program);
    if (!status) status = qn_program_wait(program, QN_FOREVER);
    if (!status) status = qn_program_get_times(program, &times);
    if (!status) status = qn_kernel_create(program, qn_program_kernel_name(program, 0), &kernel);
    t->driver_ns += (double)times.driver_ns;
    t->own_ns += (double)times.compile_ns;
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return status;
}

static qn_status run_compile(void *user, uint32_t first, uint32_t count) {
    compile_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = t->target ? translate(t) : load(t);
    return status;
}

static int measure(bench_device *d, const char *file, const char *target) {
    compile_task t = {.d = d, .program = {.disable_cache = true}, .target = target};
    const bench_task task = {.run = run_compile, .user = &t, .on_host = true};
    char what[64], note[64] = "";
    bench_time time;
    if (tool_ends_with(file, ".wgsl")) t.program.language = QN_LANGUAGE_WGSL;
    t.program.source = bench_text(file, NULL);
    if (!t.program.source && !qn_kernels_source(file, &t.program))
        return tool_fail(TOOL_RUN_FAILED, "the library has no %s", file);
    snprintf(what, sizeof what, "%s to %s", file, target ? target : "a program");
    bench_progress(d, what);
    int result = bench_measure(d, &task, &time);
    if (!result && t.differs)
        result = tool_fail(TOOL_DIFFERENT, "%s: not the same at each translation", what);
    if (t.driver_ns > 0)
        snprintf(note, sizeof note, "%.1f %% of it by the driver",
                 t.driver_ns / (t.driver_ns + t.own_ns) * 100);
    if (!result) bench_print_figure(d, "compile", what, "quern", 0, "ns", &time, note);
    qn_text_free(d->context, t.text);
    return result;
}

int bench_compile_run(bench_device *d) {
    static const char *const files[] = {"saxpy.cl", "scan.cl", "lines300.cl", "lines300.wgsl",
                                        "matmul/09_sub_groups.cl"},
                             *const loaded = "saxpy.cl";
    static const char *const targets[] = {"ptx", "spirv", "clc", "c"};
    enum { NUM_FILES = sizeof files / sizeof *files, NUM_TARGETS = sizeof targets / sizeof *targets };
    int result = TOOL_OK;
    bench_print_head(d, "compile");
    bench_steps(d, NUM_FILES * NUM_TARGETS + 3);
    for (int i = 0; i < NUM_FILES * NUM_TARGETS && !result; i++) {
        result = measure(d, files[i / NUM_TARGETS], targets[i % NUM_TARGETS]);
        bench_step(d);
    }
    if (!result) result = measure(d, loaded, NULL);
    bench_step(d);
    if (!result) result = bench_packed_run(d);
    if (!result) putchar('\n');
    return result;
}
