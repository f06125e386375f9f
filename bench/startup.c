/* What it costs to begin: translating, loading from the disk cache, loading the library, launching nothing.
   What must be seen by a fresh process is measured in children of this program, `quern_bench --child WHAT`,
   which print microseconds. */
#include "bench.h"

#include <dlfcn.h>
#include <quern/quern.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kernel_name[] = "lines300.cl";

static unsigned count_lines(const char *text) {
    unsigned lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

/* ---- children ---- */

static double since(int64_t begin) { return (double)(bench_now() - begin) * 1e-3; }

/* A program from the cache that the parent has filled: prints the time of qn_program_create. */
static int child_load(void) {
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_program *program = NULL;
    if (qn_context_create(NULL, &context) || qn_device_get(context, "cpu", &device)) return 1;
    int64_t begin = bench_now();
    qn_status status =
        qn_program_create(device, &(qn_program_desc){.source = bench_source(kernel_name)}, &program);
    double time = since(begin);
    qn_program_times times = {0};
    if (!status) qn_program_get_times(program, &times);
    printf("%g %d\n", time, (int)times.from_cache);
    qn_context_destroy(context);
    return status != QN_OK;
}

typedef qn_status context_create(const qn_context_desc *desc, qn_context **context);

/* dlopen of the shared library, then a context: prints both times. */
static int child_start(void) {
    int64_t begin = bench_now();
    void *library = dlopen(QUERN_SHARED_PATH, RTLD_NOW | RTLD_LOCAL);
    double loading = since(begin);
    void *symbol = library ? dlsym(library, "qn_context_create") : NULL;
    if (!symbol) {
        fprintf(stderr, "quern_bench: %s: %s\n", QUERN_SHARED_PATH, dlerror());
        return 1;
    }
    context_create *create;
    memcpy(&create, &symbol, sizeof create);
    qn_context *context = NULL;
    begin = bench_now();
    int status = create(NULL, &context);
    printf("%g %g\n", loading, since(begin));
    return status;
}

/* What the first translation of a process costs, whose pages and caches are cold: prints it, and the second's time. */
static int child_first(void) {
    double times[2];
    qn_context *context = NULL;
    qn_status status = qn_context_create(NULL, &context);
    for (int i = 0; i < 2 && !status; i++) {
        char *text = NULL;
        int64_t begin = bench_cpu_now();
        status = qn_translate(
            context, &(qn_translate_desc){.program = {.source = bench_source(kernel_name)}, .target = "ptx"},
            &text, NULL);
        times[i] = (double)(bench_cpu_now() - begin) * 1e-3;
        qn_text_free(context, text);
    }
    if (!status) printf("%g %g\n", times[0], times[1]);
    qn_context_destroy(context);
    return status != QN_OK;
}

int startup_child(const char *what) {
    if (strcmp(what, "first") == 0) return child_first();
    if (strcmp(what, "load") == 0) return child_load();
    return strcmp(what, "start") == 0 ? child_start() : 2;
}

/* The two numbers that a child prints. */
static bool ask_child(const char *what, double *first, double *second) {
    char self[1024], command[1100];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return false;
    self[length] = 0;
    snprintf(command, sizeof command, "'%s' --child %s", self, what);
    FILE *child = popen(command, "r");
    if (!child) return false;
    bool got = fscanf(child, "%lf %lf", first, second) == 2;
    return pclose(child) == 0 && got;
}

/* ---- the measurements ---- */

static void measure_children(startup_times *times, unsigned repeat) {
    double first[32], second[32];
    unsigned got = 0;
    for (unsigned i = 0; i < repeat && i < 32; i++) got += ask_child("start", &first[got], &second[got]);
    if (got) {
        times->library_load = bench_median(first, got);
        times->context = bench_median(second, got);
    }
    got = 0;
    for (unsigned i = 0; i < repeat && i < 32; i++) got += ask_child("first", &first[got], &second[got]);
    if (got) times->translate_first = bench_median(first, got);
    got = 0;
    for (unsigned i = 0; i < repeat && i < 32; i++)
        got += ask_child("load", &first[got], &second[got]) && second[got] == 1;
    if (got) times->cached_load = bench_median(first, got);
}

/* Median processor time in microseconds; translating neither waits nor starts threads. */
static double translate_time(qn_context *context, const char *source, const char *target, unsigned repeat) {
    double values[64];
    unsigned count = repeat < 64 ? repeat : 64;
    for (unsigned i = 0; i < count; i++) {
        char *text = NULL;
        int64_t begin = bench_cpu_now();
        qn_status status = qn_translate(
            context, &(qn_translate_desc){.program = {.source = source}, .target = target}, &text, NULL);
        values[i] = (double)(bench_cpu_now() - begin) * 1e-3;
        if (status) {
            fprintf(stderr, "quern_bench: %s to %s: %s\n", kernel_name, target, qn_error_message(context));
            return -1;
        }
        qn_text_free(context, text);
    }
    return bench_median(values, count);
}

static void measure_translate(startup_times *times, qn_context *context, const char *source,
                              unsigned repeat) {
    times->translate_c = translate_time(context, source, "c", repeat);
    times->translate_ptx = translate_time(context, source, "ptx", repeat);
    times->translate_spirv = translate_time(context, source, "spirv", repeat);
    times->translate_clc = translate_time(context, source, "clc", repeat);
}

static void measure_launch(startup_times *times, qn_device *device, unsigned repeat) {
    static double values[2000];
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    if (qn_program_create(device, &(qn_program_desc){.source = "kernel void empty(void) {}"}, &program) ||
        qn_program_wait(program, QN_FOREVER) || qn_kernel_create(program, NULL, &kernel)) {
        fprintf(stderr, "quern_bench: %s\n", qn_error_message(qn_device_context(device)));
        qn_program_destroy(program);
        return;
    }
    for (unsigned i = 0; i < repeat; i++) {
        int64_t begin = bench_now();
        if (qn_launch(NULL, kernel, QN_RANGE(1), QN_NO_ARGS)) break;
        qn_stream_wait(qn_device_stream(device), QN_FOREVER);
        values[i] = since(begin);
    }
    times->launch = bench_median(values, repeat);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
}

/* What qn_launch costs the thread that calls it; the null device does nothing with it. In microseconds, or -1. */
static double submit_time(qn_context *context, const char *on, unsigned repeat, unsigned at_once) {
    static const char source[] =
        "kernel void f(global float *a, global float *b, global float *c, float s, int n) {"
        " a[n] = b[n] * s + c[n]; }";
    static double values[64];
    qn_device *device = NULL;
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_buffer *buffers[3] = {NULL};
    const unsigned rounds = repeat < 64 ? repeat : 64;
    qn_status status = qn_device_get(context, on, &device);
    if (!status) status = qn_program_create(device, &(qn_program_desc){.source = source}, &program);
    if (!status) status = qn_program_wait(program, QN_FOREVER);
    if (!status) status = qn_kernel_create(program, NULL, &kernel);
    for (int i = 0; i < 3 && !status; i++)
        status = qn_buffer_create(device, &(qn_buffer_desc){.size = 4096}, &buffers[i]);
    for (unsigned r = 0; r < rounds && !status; r++) {
        int64_t begin = bench_now();
        for (unsigned i = 0; i < at_once && !status; i++)
            status =
                qn_launch(NULL, kernel, QN_RANGE(256), QN_ARGS(buffers[0], buffers[1], buffers[2], 2.0f, 7));
        values[r] = since(begin) / at_once;
        if (!status) status = qn_device_wait(device, QN_FOREVER);
    }
    for (int i = 0; i < 3; i++) qn_buffer_destroy(buffers[i]);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return status ? -1 : bench_median(values, rounds);
}

static void measure_submit(startup_times *times, qn_context *context, const char *folder, unsigned repeat) {
    enum { ON_NULL = 10000, ON_CPU = 500 };
    char path[128];
    qn_context *traced = NULL;
    times->submit = submit_time(context, "null", repeat, ON_NULL);
    times->submit_cpu = submit_time(context, "cpu", repeat, ON_CPU);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    setenv("QUERN_TRACE", path, 1);
    if (!qn_context_create(NULL, &traced)) {
        times->submit_traced = submit_time(traced, "null", repeat, ON_NULL);
        times->submit_cpu_traced = submit_time(traced, "cpu", repeat, ON_CPU);
        qn_context_destroy(traced);
    }
    unsetenv("QUERN_TRACE");
}

static void measure_size(startup_times *times) {
    char command[1200], path[] = "/tmp/quern-bench-XXXXXX";
    int file = mkstemp(path);
    struct stat info;
    if (file < 0) return;
    close(file);
    snprintf(command, sizeof command, "strip -o %s '%s' 2>/dev/null", path, QUERN_SHARED_PATH);
    if (system(command) == 0 && stat(path, &info) == 0) times->library_bytes = (double)info.st_size;
    unlink(path);
}

/* Runs the kernel that has the fewest arguments of the file once. */
static bool first_result(qn_device *device, qn_program *program) {
    enum { PIXELS = 64 * 64 };
    qn_kernel *kernel = NULL;
    qn_buffer *image = NULL, *picture = NULL;
    unsigned char out[4];
    qn_status status = qn_kernel_create(program, "tone_map", &kernel);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 16 * PIXELS}, &image);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 4 * PIXELS}, &picture);
    if (!status) status = qn_launch(NULL, kernel, QN_RANGE(PIXELS), QN_ARGS(PIXELS, 1.0f, image, picture));
    if (!status) status = qn_buffer_read(picture, 0, out, sizeof out);
    qn_buffer_destroy(picture);
    qn_buffer_destroy(image);
    qn_kernel_destroy(kernel);
    return status == QN_OK && out[3] == 255;
}

void startup_measure(startup_times *times, bool quick) {
    *times = (startup_times){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0};
    const char *source = bench_source(kernel_name);
    times->kernel_lines = count_lines(source);
    /* A cache of its own, which the children inherit. */
    char cache[] = "/tmp/quern-bench-XXXXXX", command[64];
    if (!mkdtemp(cache)) return;
    setenv("QUERN_CACHE_DIR", cache, 1);
    qn_context *context = NULL;
    qn_device *device = NULL;
    if (!qn_context_create(NULL, &context) && !qn_device_get(context, "cpu", &device)) {
        measure_translate(times, context, source, quick ? 5 : 50);
        qn_program *program = NULL;
        int64_t begin = bench_now();
        if (!qn_program_create(device, &(qn_program_desc){.source = source}, &program)) {
            if (first_result(device, program)) times->first_result = since(begin);
            if (!qn_program_wait(program, QN_FOREVER)) times->cold_compile = since(begin);
        }
        qn_program_destroy(program);
        measure_children(times, quick ? 3 : 15);
        measure_launch(times, device, quick ? 100 : 2000);
        measure_submit(times, context, cache, quick ? 5 : 50);
    }
    measure_size(times);
    qn_context_destroy(context);
    unsetenv("QUERN_CACHE_DIR");
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    if (system(command)) fprintf(stderr, "quern_bench: %s is left over\n", cache);
}
