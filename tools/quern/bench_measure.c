/* Samples of a task's time: how many runs one is of, when there are enough, and what is made of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(_WIN32)
#include <windows.h>
#endif

#include "bench.h"

enum { MIN_SAMPLES = 3, MAX_SAMPLES = 301, MAX_REPEATS = 4096 };

/* A sample should last so long that what surrounds its runs does not count. */
static const double sample_ns = 2e6;

int64_t bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static qn_status sample_on_device(const bench_device *d, const bench_task *task, uint32_t first,
                                  uint32_t count, double *ns) {
    int64_t elapsed = 0;
    qn_status status = qn_stream_record(d->stream, d->begin);
    if (!status) status = task->run(task->user, first, count);
    if (!status) status = qn_stream_record(d->stream, d->end);
    if (!status) status = qn_stream_wait(d->stream, QN_FOREVER);
    if (!status) status = qn_event_elapsed(d->begin, d->end, &elapsed);
    *ns = (double)elapsed;
    return status;
}

/* The time of one of `count` runs. */
static int sample(const bench_device *d, const bench_task *task, uint32_t *first, uint32_t count,
                  double *ns) {
    const int64_t begin = bench_now();
    qn_status status =
        task->on_host ? task->run(task->user, *first, count) : sample_on_device(d, task, *first, count, ns);
    if (task->on_host) *ns = (double)(bench_now() - begin);
    if (!status && task->after) status = task->after(task->user);
    if (status) return tool_fail_status(d->context, status);
    *first += count;
    *ns = fmax(*ns, 1) / count; /* a device's clock may be coarse */
    return TOOL_OK;
}

int bench_sample(const bench_device *d, const bench_task *task, uint32_t count, double *ns) {
    uint32_t first = 0;
    return sample(d, task, &first, count, ns);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bench_time summary(double *ns, uint32_t count) {
    qsort(ns, count, sizeof *ns, by_value);
    const double median = count % 2 ? ns[count / 2] : (ns[count / 2 - 1] + ns[count / 2]) / 2;
    return (bench_time){median, ns[count / 10], ns[count - 1 - count / 10], count, 0};
}

/* A GPU whose driver lowers its clocks while a process leaves it idle, and does not raise them at once (docs/results/nvidia-h200.md). */
static bool slows_down(const bench_device *d) {
    return (d->info.kind == QN_DEVICE_VULKAN || d->info.kind == QN_DEVICE_WEBGPU) &&
           !(d->info.capabilities & QN_CAN_EMULATE);
}

static double seconds_since(int64_t begin) { return (double)(bench_now() - begin) * 1e-9; }

/* Once for what happens at the first run, then until clocks and caches are as they will be. Says how many runs a sample is. */
static int warm_up(const bench_device *d, const bench_task *task, uint32_t *run, uint32_t *repeats) {
    const double raise = 0.4, limit = fmax(d->options->seconds * 0.2, slows_down(d) ? raise : 0);
    const int64_t begin = bench_now();
    double ns = 0;
    *repeats = 1;
    do {
        const int result = sample(d, task, run, *repeats, &ns);
        if (result) return result;
        const double wanted = fmin(sample_ns, d->options->seconds * 1e8) / ns;
        *repeats = wanted > MAX_REPEATS ? MAX_REPEATS : wanted > 1 ? (uint32_t)wanted : 1;
    } while (seconds_since(begin) < limit);
    return TOOL_OK;
}

int bench_measure(const bench_device *d, const bench_task *task, bench_time *time) {
    double ns[MAX_SAMPLES];
    uint32_t run = 0, repeats, count = 0;
    int result = warm_up(d, task, &run, &repeats);
    const int64_t begin = bench_now();
    while (!result && count < MAX_SAMPLES &&
           (count < MIN_SAMPLES || seconds_since(begin) < d->options->seconds))
        result = sample(d, task, &run, repeats, &ns[count++]);
    if (result) return result;
    *time = summary(ns, count);
    time->runs = run;
    return TOOL_OK;
}

void bench_rate(bench_result *result, double work, const bench_time *time) {
    result->is_time = work == 0;
    result->value = work == 0 ? time->median : work / time->median * 1e9;
    result->low = work == 0 ? time->low : work / time->high * 1e9;
    result->high = work == 0 ? time->high : work / time->low * 1e9;
    result->samples = time->samples;
}

double bench_spread(const bench_result *result) {
    return result->value > 0 ? (result->high - result->low) / 2 / result->value : 0;
}

float *bench_random(size_t count, uint32_t seed) {
    float *numbers = tool_alloc(count * sizeof *numbers);
    uint32_t x = seed * 2654435761u + 1; /* Marsaglia's xorshift */
    for (size_t i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        numbers[i] = (float)(x >> 8) * 0x1p-23f - 1.0f;
    }
    return numbers;
}

bool bench_folder_make(char path[BENCH_FOLDER]) {
#if defined(_WIN32)
    return GetTempPathA(BENCH_FOLDER - 32, path) > 0 && GetTempFileNameA(path, "qn", 0, path) != 0 &&
           remove(path) == 0 && CreateDirectoryA(path, NULL);
#else
    const char *parent = getenv("TMPDIR");
    snprintf(path, BENCH_FOLDER, "%.480s/quern-XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(path) != NULL;
#endif
}

void bench_folder_remove(const char *path) {
#if defined(_WIN32)
    RemoveDirectoryA(path);
#else
    rmdir(path);
#endif
}
