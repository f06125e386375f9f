/* Copies from one CUDA device to another: quern's beside cuMemcpyPeerAsync on memory of cuMemAlloc, in turn in one process.
   Both keep several under way on one stream, and wait at the end. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 9, MOST_REPEATS = 200, SAMPLE_MS = 10 };

static const unsigned kib[] = {64, 1024, 16 << 10, 256 << 10, 1 << 20};
static const unsigned quick_kib[] = {64, 1024};
enum { LARGE_KIB = 16 << 10 }; /* from there on the link counts and not the call */

typedef struct peer {
    qn_context *context;
    qn_device *devices[2];
    qn_buffer *buffers[2];
    qn_stream *stream; /* of the first */
    /* the driver's own */
    int (*push)(void *), (*pop)(void **), (*enable)(void *, unsigned), (*alloc)(uint64_t *, size_t),
        (*free)(uint64_t);
    int (*stream_create)(void **, unsigned), (*stream_destroy)(void *), (*synchronize)(void *);
    int (*copy)(uint64_t, void *, uint64_t, void *, size_t, void *);
    void *contexts[2], *bare_stream;
    uint64_t memory[2];
} peer;

static bool good(const peer *p, qn_status status, char *why) {
    if (status) snprintf(why, WHY_SIZE, "%s: %s", qn_status_name(status), qn_error_message(p->context));
    return !status;
}

static bool find_functions(peer *p, char *why) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        const char *name;
        void *function;
    } rows[] = {{"cuCtxPushCurrent_v2", &p->push},
                {"cuCtxPopCurrent_v2", &p->pop},
                {"cuCtxEnablePeerAccess", &p->enable},
                {"cuMemAlloc_v2", &p->alloc},
                {"cuMemFree_v2", &p->free},
                {"cuStreamCreate", &p->stream_create},
                {"cuStreamDestroy_v2", &p->stream_destroy},
                {"cuStreamSynchronize", &p->synchronize},
                {"cuMemcpyPeerAsync", &p->copy}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *symbol = library ? dlsym(library, rows[i].name) : NULL;
        if (!symbol) {
            snprintf(why, WHY_SIZE, "no %s", rows[i].name);
            return false;
        }
        memcpy(rows[i].function, &symbol, sizeof symbol);
    }
    return true;
}

/* The same contexts as quern's: each device has one that all share. */
static bool open_bare(peer *p, uint64_t size, char *why) {
    for (int i = 0; i < 2; i++) {
        uint64_t handle = 0;
        if (!good(p, qn_device_native(p->devices[i], QN_NATIVE_CUDA_CONTEXT, &handle), why)) return false;
        p->contexts[i] = (void *)(uintptr_t)handle;
    }
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        void *popped;
        p->push(p->contexts[i]);
        failed |= p->alloc(&p->memory[i], size);
        if (i == 0) failed |= p->stream_create(&p->bare_stream, 1);
        p->enable(p->contexts[!i], 0); /* may be done already */
        p->pop(&popped);
    }
    if (failed) snprintf(why, WHY_SIZE, "the bare driver has no memory or stream");
    return !failed;
}

static bool open_peer(peer *p, uint64_t size, char *why) {
    static const char *const names[] = {"cuda:0", "cuda:1"};
    const qn_buffer_desc desc = {.size = size};
    *p = (peer){0};
    if (!good(p, qn_context_create(NULL, &p->context), why)) return false;
    for (int i = 0; i < 2; i++)
        if (!good(p, qn_device_get(p->context, names[i], &p->devices[i]), why) ||
            !good(p, qn_buffer_create(p->devices[i], &desc, &p->buffers[i]), why))
            return false;
    return good(p, qn_stream_create(p->devices[0], &p->stream), why) && find_functions(p, why) &&
           open_bare(p, size, why);
}

static void close_peer(peer *p) {
    for (int i = 0; i < 2; i++) {
        void *popped;
        if (!p->memory[i]) continue;
        p->push(p->contexts[i]);
        p->free(p->memory[i]);
        if (i == 0) p->stream_destroy(p->bare_stream);
        p->pop(&popped);
    }
    if (p->context) qn_context_destroy(p->context);
}

/* Milliseconds of one copy, of `repeats`; negative: failed. */
static double time_quern(peer *p, uint64_t size, unsigned repeats, char *why) {
    const int64_t begin = bench_now();
    bool fine = true;
    for (unsigned i = 0; i < repeats && fine; i++)
        fine = good(p, qn_stream_copy(p->stream, p->buffers[0], 0, p->buffers[1], 0, size), why);
    fine = fine && good(p, qn_stream_wait(p->stream, QN_FOREVER), why);
    return fine ? (double)(bench_now() - begin) * 1e-6 / repeats : -1;
}

static double time_bare(peer *p, uint64_t size, unsigned repeats, char *why) {
    void *popped;
    p->push(p->contexts[0]);
    const int64_t begin = bench_now();
    int failed = 0;
    for (unsigned i = 0; i < repeats; i++)
        failed |= p->copy(p->memory[1], p->contexts[1], p->memory[0], p->contexts[0], size, p->bare_stream);
    failed |= p->synchronize(p->bare_stream);
    const double time = (double)(bench_now() - begin) * 1e-6 / repeats;
    p->pop(&popped);
    if (failed) snprintf(why, WHY_SIZE, "cuMemcpyPeerAsync failed");
    return failed ? -1 : time;
}

/* Quern's rate as a part of the bare driver's; 0: failed. */
static double measure(peer *p, uint64_t size, char *why) {
    double ours[SAMPLES], theirs[SAMPLES], ratios[SAMPLES], once = time_bare(p, size, 2, why);
    if (once < 0 || time_quern(p, size, 2, why) < 0) return 0;
    unsigned repeats = once > 0 ? (unsigned)(SAMPLE_MS / once) + 1 : MOST_REPEATS;
    if (repeats > MOST_REPEATS) repeats = MOST_REPEATS;
    for (int i = 0; i < SAMPLES; i++) {
        ours[i] = time_quern(p, size, repeats, why);
        theirs[i] = time_bare(p, size, repeats, why);
        if (!(ours[i] > 0) || !(theirs[i] > 0)) return 0;
        ratios[i] = theirs[i] / ours[i];
    }
    const double ratio = gpu_median(ratios, SAMPLES);
    report("| %g | %.1f | %.1f | %.3f |\n", (double)size / (1 << 20),
           (double)size * 1e-6 / gpu_median(ours, SAMPLES), (double)size * 1e-6 / gpu_median(theirs, SAMPLES),
           ratio);
    return ratio;
}

void gpu_peer_child(const gpu_options *o, const char *device, size_t first) {
    const unsigned *sizes = o->quick ? quick_kib : kib;
    const size_t count = o->quick ? sizeof quick_kib / sizeof *quick_kib : sizeof kib / sizeof *kib;
    char why[WHY_SIZE] = "";
    ratios large = {0};
    peer p;
    (void)device;
    bool fine = open_peer(&p, (uint64_t)sizes[count - 1] << 10, why);
    for (size_t i = first; i < count && fine; i++) {
        char name[32];
        snprintf(name, sizeof name, "%u KiB", sizes[i]);
        report_case(i, name);
        const double ratio = measure(&p, (uint64_t)sizes[i] << 10, why);
        fine = ratio > 0;
        if (fine && sizes[i] >= LARGE_KIB) ratios_add(&large, name, ratio);
    }
    if (!fine) report_failure("copies between devices: %s", why);
    if (large.count)
        report_target("copies between two GPUs, of the bare driver's rate", ratios_mean(&large), 0.95, true);
    close_peer(&p);
}

void gpu_peer(const gpu_options *o) {
    char why[WHY_SIZE] = "";
    report("\n### Copies between two GPUs\n\n");
    if (gpu_look("cuda:1", why) != GPU_PRESENT) {
        report("There are no two CUDA devices: %s\n", why);
        return;
    }
    report("GB/s of `qn_stream_copy` beside `cuMemcpyPeerAsync`, from cuda:0 to cuda:1.\n\n"
           "| MiB | quern | bare | ratio |\n|---|---|---|---|\n");
    gpu_run_child(o, "peer", "cuda:0", NULL, NULL);
}
