/* What a trace costs: launches without waiting in a context without $QUERN_TRACE and in one that writes it, in turn. What a
   launch costs more is what it costs the thread that launches; the device may take longer for what notes the times. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 100, QUICK_SAMPLES = 3, WARM = 3, BURST = 100, ITEMS = 64 };
static const char source[] = "kernel void tiny(global float *x, float a) { x[get_global_id(0)] += a; }\n";
static const char *const devices[] = {"cuda", "vulkan", "opencl", "cpu"};
enum { NUM_DEVICES = sizeof devices / sizeof *devices };

typedef struct launcher {
    qn_context *context;
    qn_stream *stream;
    qn_kernel *kernel;
    qn_buffer *buffer;
    double launch[SAMPLES], all[SAMPLES]; /* microseconds of one: until it is submitted, until it is done */
} launcher;

static bool good(const launcher *l, qn_status status, char *why) {
    if (status) snprintf(why, WHY_SIZE, "%s: %s", qn_status_name(status), qn_error_message(l->context));
    return !status;
}

/* trace: a file's path, or NULL. */
static bool open_launcher(launcher *l, const char *device_name, const char *trace, char *why) {
    const qn_context_desc desc = {.cpu_compile_first = true};
    const qn_program_desc program_desc = {.source = source};
    qn_device *device = NULL;
    qn_program *program = NULL;
    if (trace)
        setenv("QUERN_TRACE", trace, 1);
    else
        unsetenv("QUERN_TRACE");
    bool fine = good(l, qn_context_create(&desc, &l->context), why) &&
                good(l, qn_device_get(l->context, device_name, &device), why) &&
                good(l, qn_stream_create(device, &l->stream), why) &&
                good(l, qn_program_create(device, &program_desc, &program), why) &&
                good(l, qn_kernel_create(program, "tiny", &l->kernel), why) &&
                good(l, qn_buffer_create(device, &(qn_buffer_desc){.size = ITEMS * 4}, &l->buffer), why);
    unsetenv("QUERN_TRACE");
    return fine;
}

static bool sample(launcher *l, unsigned at, char *why) {
    const qn_range range = {.global = {ITEMS}, .local = {ITEMS}};
    const int64_t begin = bench_now();
    for (unsigned i = 0; i < BURST; i++)
        if (!good(l, qn_launch(l->stream, l->kernel, &range, QN_ARGS(l->buffer, 1.0f)), why)) return false;
    l->launch[at] = (double)(bench_now() - begin) * 1e-3 / BURST;
    if (!good(l, qn_stream_wait(l->stream, QN_FOREVER), why)) return false;
    l->all[at] = (double)(bench_now() - begin) * 1e-3 / BURST;
    return true;
}

static bool measure(launcher *plain, launcher *traced, unsigned samples, char *why) {
    for (unsigned n = 0; n < WARM + samples; n++) {
        const unsigned at = n < WARM ? 0 : n - WARM;
        if (!sample(plain, at, why) || !sample(traced, at, why)) return false;
    }
    return true;
}

static void print_row(const char *device, launcher *plain, launcher *traced, unsigned samples) {
    char what[64];
    const double off = gpu_median(plain->launch, samples), on = gpu_median(traced->launch, samples);
    report("| %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", device, off, on, on - off,
           gpu_median(plain->all, samples), gpu_median(traced->all, samples));
    snprintf(what, sizeof what, "a trace on %s, us more of a launch", device);
    report_target(what, on - off, 1, false);
}

/* Something was written of each launch. */
static bool is_written(const char *path, unsigned samples) {
    char line[4096];
    unsigned spans = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) spans += strstr(line, "\"tiny\"") != NULL;
    if (file) fclose(file);
    return spans >= (WARM + samples) * BURST;
}

void gpu_trace_child(const gpu_options *o, const char *device, size_t first) {
    static launcher plain, traced;
    char why[WHY_SIZE] = "", path[] = "/tmp/quern-trace-XXXXXX", file[64];
    const unsigned samples = o->quick ? QUICK_SAMPLES : SAMPLES;
    (void)first;
    if (!mkdtemp(path)) {
        report_failure("trace on %s: no folder in /tmp", device);
        return;
    }
    snprintf(file, sizeof file, "%s/trace.json", path);
    const bool fine = open_launcher(&plain, device, NULL, why) && open_launcher(&traced, device, file, why) &&
                      measure(&plain, &traced, samples, why);
    if (fine)
        print_row(device, &plain, &traced, samples);
    else
        report_failure("trace on %s: %s", device, why);
    qn_context_destroy(plain.context);
    qn_context_destroy(traced.context);
    if (fine && !is_written(file, samples)) report_failure("trace on %s: launches are missing in it", device);
    unlink(file);
    rmdir(path);
}

void gpu_trace(const gpu_options *o) {
    char why[WHY_SIZE] = "";
    report("\n### Tracing\n\nMicroseconds of a launch, of %u in a row: until it is submitted, without "
           "$QUERN_TRACE and with it, "
           "and until it is done.\n\n"
           "| device | launch | traced | more | done | traced |\n|---|---:|---:|---:|---:|---:|\n",
           (unsigned)BURST);
    for (int i = 0; i < NUM_DEVICES && !gpu_stopped(); i++) {
        if (strcmp(devices[i], "cpu") != 0 && gpu_look(devices[i], why) == GPU_NONE)
            report("| %s | left out: %s | | | | |\n", devices[i], why);
        else
            gpu_run_child(o, "trace", devices[i], NULL, NULL);
    }
}
