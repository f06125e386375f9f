/* Memory: is it as fast when it was asked for late as when it was asked for early? Pairs of buffers are made one
   after another, as a program that runs for long makes them: first all stay, then each second pair goes and new ones of
   other sizes come. A copy within each pair is timed over a short and over a long time: a gap before the device starts
   shows in the short one only. The address shows which pages the driver can map the memory with. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

enum { NUM_PAIRS = 24, KEPT = 14, SHORT_MS = 2, LONG_MS = 40, SAMPLES = 9, LARGE_MIB = 64 };
static const char *const devices[] = {"cuda", "vulkan", "opencl"};
static const unsigned mib[NUM_PAIRS] = {256, 16,  64, 1,  64,  48, 128, 4,   64, 192, 64, 128,
                                        2,   256, 64, 96, 128, 64, 192, 100, 64, 8,   64, 256};

static const char address_source[] =
    "kernel void address(global ulong *out, global const float4 *a) { out[0] = (ulong)a; }\n";

typedef struct pair {
    qn_buffer *from, *to;
} pair;

typedef struct memory {
    qn_context *context;
    qn_device *device;
    qn_kernel *copy, *address;
    qn_buffer *result; /* of `address` */
    qn_event *begin, *end;
    pair pairs[NUM_PAIRS];
} memory;

static bool good(const memory *m, qn_status status, char *why) {
    if (status) snprintf(why, WHY_SIZE, "%s: %s", qn_status_name(status), qn_error_message(m->context));
    return !status;
}

static bool get_kernel(memory *m, const char *source, const char *options, const char *name,
                       qn_kernel **kernel, char *why) {
    qn_program *program = NULL;
    const qn_program_desc desc = {.source = source, .options = options};
    bool fine = good(m, qn_program_create(m->device, &desc, &program), why) &&
                good(m, qn_kernel_create(program, name, kernel), why);
    qn_program_destroy(program);
    return fine;
}

static bool open_memory(memory *m, const char *device, char *why) {
    *m = (memory){0};
    const qn_buffer_desc word = {.size = 8};
    return good(m, qn_context_create(NULL, &m->context), why) &&
           good(m, qn_device_get(m->context, device, &m->device), why) &&
           get_kernel(m, bench_source("bandwidth.cl"), "-D PER=1", "wide_copy", &m->copy, why) &&
           get_kernel(m, address_source, NULL, "address", &m->address, why) &&
           good(m, qn_buffer_create(m->device, &word, &m->result), why) &&
           good(m, qn_event_create(m->device, &m->begin), why) &&
           good(m, qn_event_create(m->device, &m->end), why);
}

static bool make_pair(memory *m, pair *p, uint64_t size, char *why) {
    const qn_buffer_desc desc = {.size = size};
    return good(m, qn_buffer_create(m->device, &desc, &p->from), why) &&
           good(m, qn_buffer_create(m->device, &desc, &p->to), why);
}

static void drop_pair(pair *p) {
    qn_buffer_destroy(p->from);
    qn_buffer_destroy(p->to);
    *p = (pair){0};
}

/* Where the device sees a buffer; 0: failed. */
static uint64_t address_of(memory *m, qn_buffer *buffer, char *why) {
    const qn_range one = {.global = {1}};
    uint64_t address = 0;
    bool fine = good(m, qn_launch(NULL, m->address, &one, QN_ARGS(m->result, buffer)), why) &&
                good(m, qn_buffer_read(m->result, 0, &address, sizeof address), why);
    return fine ? address : 0;
}

/* Milliseconds of one copy, of `repeats` in a row. */
static double time_copy(memory *m, const pair *p, uint64_t size, unsigned repeats, char *why) {
    const qn_range range = {.global = {size / 16}, .local = {256}};
    qn_stream *stream = qn_device_stream(m->device);
    int64_t ns = 0;
    bool fine = good(m, qn_stream_record(stream, m->begin), why);
    for (unsigned i = 0; i < repeats && fine; i++)
        fine = good(m, qn_launch(NULL, m->copy, &range, QN_ARGS(p->from, p->to)), why);
    fine = fine && good(m, qn_stream_record(stream, m->end), why) &&
           good(m, qn_stream_wait(stream, QN_FOREVER), why) &&
           good(m, qn_event_elapsed(m->begin, m->end, &ns), why);
    return fine ? (double)ns * 1e-6 / repeats : -1;
}

/* TB/s read and written, in samples of about `ms`; 0: failed. */
static double rate(memory *m, const pair *p, uint64_t size, double ms, char *why) {
    double times[SAMPLES], once = time_copy(m, p, size, 2, why);
    unsigned repeats = once > ms ? 1 : once > 0.001 ? (unsigned)(ms / once) + 1 : 100;
    for (int n = 0; n < SAMPLES; n++)
        if ((times[n] = time_copy(m, p, size, repeats, why)) < 0) return 0;
    return (double)size * 2 / gpu_median(times, SAMPLES) * 1e-9;
}

static void print_alignment(uint64_t address) {
    uint64_t unit = address & -address;
    if (unit >= 1u << 20)
        report("%llu MiB", (unsigned long long)(unit >> 20));
    else if (unit >= 1u << 10)
        report("%llu KiB", (unsigned long long)(unit >> 10));
    else
        report("%llu bytes", (unsigned long long)unit);
}

typedef struct extremes {
    double least, most;
} extremes;

static bool measure(memory *m, const gpu_options *o, const char *device, size_t i, extremes *found,
                    char *why) {
    pair *p = &m->pairs[i];
    if (i >= KEPT) drop_pair(&m->pairs[2 * (i - KEPT)]);
    uint64_t size = (uint64_t)mib[i] << (o->quick ? 12 : 20);
    uint64_t address = make_pair(m, p, size, why) ? address_of(m, p->from, why) : 0;
    double brief = address ? rate(m, p, size, SHORT_MS, why) : 0;
    double steady = brief > 0 ? rate(m, p, size, o->quick ? SHORT_MS : LONG_MS, why) : 0;
    if (!(steady > 0)) return false;
    report("| %s | %zu | %g | ", device, i, (double)size / (1u << 20));
    print_alignment(address);
    report(" | %.3f | %.3f |\n", brief, steady);
    if (mib[i] < LARGE_MIB) return true; /* much of it may be in a cache */
    if (found->least == 0 || brief < found->least) found->least = brief;
    if (steady > found->most) found->most = steady;
    return true;
}

void gpu_memory_child(const gpu_options *o, const char *device, size_t first) {
    char why[WHY_SIZE] = "", what[64];
    memory m;
    extremes found = {0};
    bool fine = open_memory(&m, device, why);
    for (size_t i = 0; i < NUM_PAIRS && fine; i++) fine = measure(&m, o, device, i, &found, why);
    if (!fine) report_failure("memory on %s: %s", device, why);
    snprintf(what, sizeof what, "memory on %s, slowest to fastest", device);
    if (fine && !o->quick) report_target(what, found.least / found.most, 0.80, true);
    for (size_t i = 0; i < NUM_PAIRS; i++) drop_pair(&m.pairs[i]);
    qn_context_destroy(m.context);
    (void)first; /* what matters is what came before: it cannot go on in the middle */
}

void gpu_memory(const gpu_options *o) {
    char why[WHY_SIZE] = "";
    report("\n### Memory asked for early and late\n\n"
           "A copy within each of %d pairs of buffers, made in this order; samples of %d and of %d ms. From "
           "pair %d on, "
           "one of the earlier ones goes first. The last line of a device's share under Targets is of pairs "
           "of %d MiB and "
           "more.\n\n"
           "| device | pair | MiB | address divides by | TB/s, short | TB/s, long "
           "|\n|---|---:|---:|---:|---:|---:|\n",
           NUM_PAIRS, SHORT_MS, LONG_MS, KEPT, LARGE_MIB);
    for (int i = 0; i < 3 && !gpu_stopped(); i++) {
        if (gpu_look(devices[i], why) == GPU_PRESENT)
            gpu_run_child(o, "memory", devices[i], NULL, NULL);
        else
            report("\n- %s: left out: %s\n", devices[i], why);
    }
}
