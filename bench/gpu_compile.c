/* Compiling: a kernel file of 300 lines to each target's text, and to a loaded program on each device, quern's time and the
   driver's apart; then a second process, which must find everything in the disk cache. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SAMPLES = 51 };
static const char kernel_file[] = "lines300.cl";
static const char *const devices[] = {"cuda", "vulkan", "opencl"};

/* ---- text ---- */

/* Of many translations in one process, by one context. */
typedef struct translating {
    double first_ms, least_ms, median_ms;
    double faults; /* page faults of each but the first */
} translating;

static double page_faults(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_minflt;
}

static bool translate_times(qn_context *context, const char *target, unsigned samples, translating *t,
                            char *why) {
    double times[SAMPLES], faults = 0;
    for (unsigned n = 0; n < samples; n++) {
        if (n == 1) faults = page_faults();
        char *text = NULL;
        int64_t begin = bench_now();
        qn_status status = qn_translate(
            context, &(qn_translate_desc){.program = {.source = bench_source(kernel_file)}, .target = target},
            &text, NULL);
        times[n] = (double)(bench_now() - begin) * 1e-6;
        qn_text_free(context, text);
        if (!status) continue;
        snprintf(why, WHY_SIZE, "%s", qn_error_message(context));
        return false;
    }
    *t = (translating){.first_ms = times[0],
                       .least_ms = gpu_quantile(times, samples, 0),
                       .median_ms = gpu_median(times, samples),
                       .faults = (page_faults() - faults) / (samples - 1)};
    return true;
}

static void translations(const gpu_options *o) {
    static const struct {
        const char *target;
        double limit;
    } targets[] = {{"ptx", 2}, {"spirv", 2}, {"clc", 0}};
    qn_context *context = NULL;
    if (qn_context_create(NULL, &context)) return;
    report("\n| target | ms | least ms | first ms | page faults each |\n|---|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char why[WHY_SIZE], what[64];
        translating t;
        if (!translate_times(context, targets[i].target, o->quick ? 3 : SAMPLES, &t, why)) {
            report_failure("%s to %s: %s", kernel_file, targets[i].target, why);
            continue;
        }
        report("| %s | %.2f | %.2f | %.2f | %.0f |\n", targets[i].target, t.median_ms, t.least_ms, t.first_ms,
               t.faults);
        snprintf(what, sizeof what, "compile 300 lines to %s, ms", targets[i].target);
        if (targets[i].limit > 0) report_target(what, t.median_ms, targets[i].limit, false);
    }
    qn_context_destroy(context);
}

/* ---- programs ---- */

typedef struct start {
    double all_ms, quern_ms, driver_ms;
    double result_ms; /* another program, to the end of its first launch */
    int from_cache;
    bool heard;
} start;

/* Drivers may compile as late as at the first launch: a matrix product from its text to its end. */
static qn_status first_result(qn_device *device) {
    enum { SIDE = 128 };
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_buffer *buffers[3] = {NULL};
    qn_buffer_desc desc = {.size = SIDE * SIDE * sizeof(float)};
    qn_range range = {.global = {SIDE / 4, SIDE / 4}, .local = {16, 16}};
    qn_status status =
        qn_program_create(device, &(qn_program_desc){.source = bench_source("matmul.cl")}, &program);
    if (!status) status = qn_kernel_create(program, "matmul_registers", &kernel);
    for (int i = 0; i < 3 && !status; i++) status = qn_buffer_create(device, &desc, &buffers[i]);
    if (!status)
        status =
            qn_launch(NULL, kernel, &range, QN_ARGS(SIDE, SIDE, SIDE, buffers[0], buffers[1], buffers[2]));
    if (!status) status = qn_stream_wait(qn_device_stream(device), QN_FOREVER);
    for (int i = 0; i < 3; i++) qn_buffer_destroy(buffers[i]);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return status;
}

/* A context, the program and all of its kernels. */
static bool start_once(const char *device_name, start *s, char *why) {
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_program *program = NULL;
    qn_status status = qn_context_create(NULL, &context);
    if (!status) status = qn_device_get(context, device_name, &device);
    int64_t begin = bench_now();
    if (!status)
        status = qn_program_create(device, &(qn_program_desc){.source = bench_source(kernel_file)}, &program);
    for (uint32_t i = 0; !status && i < qn_program_kernel_count(program); i++) {
        qn_kernel *kernel = NULL;
        status = qn_kernel_create(program, qn_program_kernel_name(program, i), &kernel);
        qn_kernel_destroy(kernel);
    }
    s->all_ms = (double)(bench_now() - begin) * 1e-6;
    qn_program_times times = {0};
    if (!status) status = qn_program_get_times(program, &times);
    s->quern_ms = (double)times.compile_ns * 1e-6;
    s->driver_ms = (double)times.driver_ns * 1e-6;
    s->from_cache = times.from_cache;
    begin = bench_now();
    if (!status) status = first_result(device);
    s->result_ms = (double)(bench_now() - begin) * 1e-6;
    if (status) snprintf(why, WHY_SIZE, "%s", qn_error_message(context));
    qn_program_destroy(program);
    qn_context_destroy(context);
    return status == QN_OK;
}

void gpu_start_child(const gpu_options *o, const char *device, size_t first) {
    start s;
    char why[WHY_SIZE] = "";
    (void)o;
    (void)first;
    if (start_once(device, &s, why))
        report_figures("%g %g %g %g %d", s.all_ms, s.quern_ms, s.driver_ms, s.result_ms, s.from_cache);
    else
        report_failure("compiling on %s: %s", device, why);
}

static void hear(void *user, const char *figures) {
    start *s = user;
    s->heard = sscanf(figures, "%lf %lf %lf %lf %d", &s->all_ms, &s->quern_ms, &s->driver_ms, &s->result_ms,
                      &s->from_cache) == 5;
}

static void device_row(const gpu_options *o, const char *device) {
    start first = {0}, second = {0};
    gpu_run_child(o, "start", device, hear, &first);
    if (first.heard) gpu_run_child(o, "start", device, hear, &second);
    if (!first.heard || !second.heard) {
        report("| %s | failed | | | | | | | |\n", device);
        return;
    }
    report("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %s |\n", device, first.quern_ms,
           first.driver_ms, first.all_ms, first.result_ms, second.driver_ms, second.all_ms, second.result_ms,
           second.from_cache ? "yes" : "no");
    if (first.from_cache) report_failure("compiling on %s: the first start was from a cache", device);
    if (!second.from_cache)
        report_failure("compiling on %s: the second start was not from the cache", device);
}

void gpu_compile(const gpu_options *o) {
    char cache[] = "/tmp/quern-bench-XXXXXX", command[64], why[WHY_SIZE];
    report("\n### Compiling\n\n%s; the drivers' own caches are off.\n", kernel_file);
    translations(o);
    if (!mkdtemp(cache)) return;
    setenv("QUERN_CACHE_DIR", cache, 1);
    setenv("POCL_CACHE_DIR", cache, 1); /* PoCL's cannot be turned off */
    report("\nA program and its kernels in a new process: quern's time, the driver's, all; and a matrix "
           "product from its "
           "text to the end of its first launch (drivers may compile as late as that). Then again, from "
           "quern's disk "
           "cache, where the driver's time is loading.\n\n| device | quern ms | driver ms | all ms | first "
           "result ms | "
           "second: driver ms | all ms | first result ms | from cache "
           "|\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (int i = 0; i < 3 && !gpu_stopped(); i++) {
        if (gpu_look(devices[i], why) != GPU_NONE)
            device_row(o, devices[i]);
        else
            report("| %s | left out: %s | | | | | | | |\n", devices[i], why);
    }
    unsetenv("QUERN_CACHE_DIR");
    unsetenv("POCL_CACHE_DIR");
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    if (system(command)) fprintf(stderr, "quern_gpu_bench: %s is left over\n", cache);
}
