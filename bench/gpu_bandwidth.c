/* Bandwidth: copy, saxpy and add on arrays far larger than any cache, on each device, the best of a few ways to write them,
   beside the driver's own copy within the card; and transfers through mapped buffers beside the driver's own from pinned memory. */
#include "gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COPY, SAXPY, ADD, NUM_KERNELS, SAMPLES = 15, TRIES = 3, REPEATS = 4, WINDOWS = 16, WINDOW = 4096 };
static const char *const devices[] = {"cuda", "vulkan", "opencl"};
static const char *const names[NUM_KERNELS] = {"copy", "saxpy", "add"};
static const double bytes_an_element[NUM_KERNELS] = {8, 12, 12};

/* How many float4 a work-item takes (bandwidth.cl; 0: one float), and the work-group's size. */
typedef struct way {
    const char *name;
    unsigned per, local;
} way;

static const way ways[] = {{"float4, 256", 1, 256},   {"float4, 512", 1, 512},   {"2 float4, 256", 2, 256},
                           {"2 float4, 512", 2, 512}, {"4 float4, 256", 4, 256}, {"4 float4, 512", 4, 512},
                           {"float, 256", 0, 256}};
enum { NUM_WAYS = sizeof ways / sizeof *ways };

static const char fill_source[] =
    "uint scatter(uint i) { i *= 2654435761u; i ^= i >> 15; i *= 739982445u; return i ^ i >> 12; }\n"
    "kernel void fill(uint seed, global float *x) {\n"
    "    size_t i = get_global_id(0);\n"
    "    x[i] = (float)(scatter((uint)i + seed) >> 8) * 0x1p-24f;\n"
    "}\n"
    "kernel void touch(global float *x) { x[get_global_id(0)] += 1.0f; }\n";

/* What fill leaves in x[i]. */
static float filled(uint32_t i, uint32_t seed) {
    uint32_t x = (i + seed) * 2654435761u;
    x ^= x >> 15;
    x *= 739982445u;
    return (float)((x ^ x >> 12) >> 8) * 0x1p-24f;
}

typedef struct streams {
    qn_context *context;
    qn_device *device;
    qn_kernel *fill, *touch, *kernel;
    qn_buffer *buffers[3];
    qn_event *begin, *end;
    uint64_t count;
} streams;

static bool good(const streams *s, qn_status status, char *why) {
    if (status) snprintf(why, WHY_SIZE, "%s: %s", qn_status_name(status), qn_error_message(s->context));
    return !status;
}

static bool get_kernel(streams *s, const char *source, const char *options, const char *name,
                       qn_kernel **kernel, char *why) {
    qn_program *program = NULL;
    const qn_program_desc desc = {.source = source, .options = options};
    bool fine = good(s, qn_program_create(s->device, &desc, &program), why) &&
                good(s, qn_kernel_create(program, name, kernel), why);
    qn_program_destroy(program);
    return fine;
}

static bool open_streams(streams *s, const char *device, uint64_t count, char *why) {
    *s = (streams){.count = count};
    if (!good(s, qn_context_create(NULL, &s->context), why) ||
        !good(s, qn_device_get(s->context, device, &s->device), why))
        return false;
    qn_device_info info;
    qn_device_get_info(s->device, &info);
    while (s->count * 16 > info.memory || s->count * 4 > info.max_buffer) s->count /= 2;
    bool fine = get_kernel(s, fill_source, NULL, "fill", &s->fill, why) &&
                get_kernel(s, fill_source, NULL, "touch", &s->touch, why) &&
                good(s, qn_event_create(s->device, &s->begin), why) &&
                good(s, qn_event_create(s->device, &s->end), why);
    qn_buffer_desc desc = {.size = s->count * 4, .uninitialised = true};
    for (int i = 0; i < 3 && fine; i++)
        fine = good(s, qn_buffer_create(s->device, &desc, &s->buffers[i]), why);
    return fine;
}

static bool get_way(streams *s, int kernel, const way *w, char *why) {
    static const char *const plain[NUM_KERNELS] = {"stream_copy", "saxpy", "stream_add"};
    static const char *const wide[NUM_KERNELS] = {"wide_copy", "wide_saxpy", "wide_add"};
    char options[24];
    snprintf(options, sizeof options, "-D PER=%u", w->per);
    const char *file = w->per ? "bandwidth.cl" : kernel == SAXPY ? "saxpy.cl" : "stream.cl";
    qn_kernel_destroy(s->kernel);
    s->kernel = NULL;
    return get_kernel(s, bench_source(file), options, w->per ? wide[kernel] : plain[kernel], &s->kernel, why);
}

static qn_status submit(streams *s, int kernel, const way *w) {
    const qn_range range = {.global = {w->per ? s->count / (4 * w->per) : s->count}, .local = {w->local}};
    qn_buffer *a = s->buffers[0], *b = s->buffers[1], *c = s->buffers[2];
    if (kernel == COPY) return qn_launch(NULL, s->kernel, &range, QN_ARGS(a, c));
    if (kernel == ADD) return qn_launch(NULL, s->kernel, &range, QN_ARGS(a, b, c));
    return w->per ? qn_launch(NULL, s->kernel, &range, QN_ARGS(0.5f, a, c))
                  : qn_launch(NULL, s->kernel, &range, QN_ARGS((uint32_t)s->count, 0.5f, a, c));
}

static bool fill_all(streams *s, char *why) {
    const qn_range range = {.global = {s->count}, .local = {256}};
    for (uint32_t i = 0; i < 3; i++)
        if (!good(s, qn_launch(NULL, s->fill, &range, QN_ARGS(i * 77u, s->buffers[i])), why)) return false;
    return true;
}

static double wanted(int kernel, uint32_t i) {
    double a = filled(i, 0), b = filled(i, 77), c = filled(i, 154);
    return kernel == COPY ? a : kernel == SAXPY ? 0.5 * a + c : a + b;
}

/* Once on fresh data, looked at in windows up to the very end. */
static bool verify(streams *s, int kernel, const way *w, char *why) {
    float window[WINDOW];
    bool fine = fill_all(s, why) && good(s, submit(s, kernel, w), why);
    for (uint64_t n = 0; n < WINDOWS && fine; n++) {
        uint64_t first = (s->count - WINDOW) / (WINDOWS - 1) * n;
        if (n == WINDOWS - 1) first = s->count - WINDOW;
        fine = good(s, qn_buffer_read(s->buffers[2], first * 4, window, sizeof window), why);
        for (uint32_t i = 0; i < WINDOW && fine; i++) {
            if (fabs(window[i] - wanted(kernel, (uint32_t)first + i)) <= 1e-6) continue;
            snprintf(why, WHY_SIZE, "wrong result: element %llu is %g", (unsigned long long)first + i,
                     (double)window[i]);
            fine = false;
        }
    }
    return fine;
}

static double time_kernel(streams *s, int kernel, const way *w, char *why) {
    qn_stream *stream = qn_device_stream(s->device);
    int64_t ns = 0;
    bool fine = good(s, qn_stream_record(stream, s->begin), why);
    for (int i = 0; i < REPEATS && fine; i++) fine = good(s, submit(s, kernel, w), why);
    fine = fine && good(s, qn_stream_record(stream, s->end), why) &&
           good(s, qn_stream_wait(stream, QN_FOREVER), why) &&
           good(s, qn_event_elapsed(s->begin, s->end, &ns), why);
    return fine ? (double)ns * 1e-6 / REPEATS : -1;
}

/* The driver's copy of as many bytes as the kernel `copy` copies. */
typedef struct peer {
    cuda *driver;
    uint64_t from, to;
} peer;

/* The fastest of the ways, each tried a few times; NULL: one failed. */
static const way *best_way(streams *s, const char *device, int kernel, char *why) {
    const way *best = NULL;
    double least = 0;
    for (int i = 0; i < NUM_WAYS; i++) {
        double times[TRIES];
        if (!get_way(s, kernel, &ways[i], why) || !verify(s, kernel, &ways[i], why)) return NULL;
        for (int n = 0; n < TRIES; n++)
            if ((times[n] = time_kernel(s, kernel, &ways[i], why)) < 0) return NULL;
        double ms = gpu_median(times, TRIES);
        fprintf(stderr, "quern_gpu_bench: %s on %s, %s: %.4f ms, %.3f TB/s\n", names[kernel], device,
                ways[i].name, ms, (double)s->count * bytes_an_element[kernel] / ms * 1e-9);
        if (best && ms >= least) continue;
        best = &ways[i];
        least = ms;
    }
    return get_way(s, kernel, best, why) ? best : NULL;
}

/* In turn with the peer. */
static bool time_best(streams *s, int kernel, const way *w, const peer *p, unsigned samples, double *ms,
                      double *peer_ms, char *why) {
    double times[SAMPLES], copies[SAMPLES];
    for (unsigned n = 0; n < samples; n++) {
        copies[n] = p->to ? cuda_copy_time(p->driver, p->to, p->from, s->count * 4) : 0;
        if ((times[n] = time_kernel(s, kernel, w, why)) < 0) return false;
    }
    *ms = gpu_median(times, samples);
    *peer_ms = gpu_median(copies, samples);
    return true;
}

static void print_kernel(const char *device, const streams *s, int kernel, const way *w, double ms,
                         double peer_ms) {
    double rate = (double)s->count * bytes_an_element[kernel] / ms * 1e-9;
    report("| %s | %s | %s | %.4f | %.3f |", device, names[kernel], w->name, ms, rate);
    if (!(peer_ms > 0)) {
        report(" | |\n");
        return;
    }
    double peer_rate = (double)s->count * 8 / peer_ms * 1e-9;
    report(" %.3f | %.3f |\n", peer_rate, rate / peer_rate);
    char what[64];
    snprintf(what, sizeof what, "bandwidth of %s on %s", names[kernel], device);
    report_target(what, rate / peer_rate, strcmp(device, "cuda") == 0 ? 0.95 : 0.90, true);
}

void gpu_bandwidth_child(const gpu_options *o, const char *device, size_t first) {
    char why[WHY_SIZE] = "";
    streams s;
    peer p = {.driver = cuda_open(why)};
    bool fine = open_streams(&s, device, o->quick ? 1u << 20 : 1u << 28, why);
    if (fine && p.driver) {
        p.from = cuda_alloc(p.driver, s.count * 4);
        p.to = cuda_alloc(p.driver, s.count * 4);
    }
    if (!fine) report_failure("bandwidth on %s: %s", device, why);
    for (size_t k = first; k < NUM_KERNELS && fine; k++) {
        double ms, peer_ms;
        report_case(k, names[k]);
        const way *best = best_way(&s, device, (int)k, why);
        if (best && time_best(&s, (int)k, best, &p, o->quick ? 3 : SAMPLES, &ms, &peer_ms, why))
            print_kernel(device, &s, (int)k, best, ms, peer_ms);
        else
            report_failure("bandwidth of %s on %s: %s", names[k], device, why);
    }
    if (p.driver) {
        cuda_free(p.driver, p.from);
        cuda_free(p.driver, p.to);
        cuda_close(p.driver);
    }
    qn_context_destroy(s.context);
}

/* ---- transfers ---- */

enum { NUM_QUEUES = 2 }; /* of the bare Vulkan driver: that computes, for copies alone */
enum { MAPPED, PINNED, ORDINARY, NUM_MEMORIES };
static const char *const memory_names[NUM_MEMORIES] = {"a mapped buffer", "qn_host_alloc", "ordinary memory"};

typedef struct transfer {
    double ours[NUM_MEMORIES][2][SAMPLES], peers[2][NUM_QUEUES][SAMPLES]; /* milliseconds; up and down */
    unsigned num_queues;
    const char *peer;
    uint64_t size;
} transfer;

/* The driver's own copies: pinned memory of CUDA, also for OpenCL, or the bare Vulkan driver. */
typedef struct copier {
    cuda *driver;
    void *pinned;
    uint64_t memory;
    vulkan *v;
    vulkan_copies *copies;
} copier;

static void open_copier(copier *c, transfer *t, const char *device, const char *description) {
    char why[WHY_SIZE] = "";
    *c = (copier){0};
    if (strcmp(device, "vulkan") == 0) {
        c->v = vulkan_open(description, why);
        if (c->v) c->copies = vulkan_copies_open(c->v, t->size, why);
        t->num_queues = c->copies ? NUM_QUEUES : 0;
        t->peer = "vkCmdCopyBuffer";
        return;
    }
    c->driver = cuda_open(why);
    if (!c->driver) return;
    c->pinned = cuda_host_alloc(c->driver, t->size);
    c->memory = cuda_alloc(c->driver, t->size);
    if (c->pinned) memset(c->pinned, 1, t->size);
    t->num_queues = c->pinned && c->memory ? 1 : 0;
    t->peer = "cuMemcpyAsync";
}

static double copy_time(copier *c, const transfer *t, bool up, unsigned queue) {
    if (c->copies) return vulkan_copies_time(c->copies, up, queue != 0);
    return up ? cuda_upload_time(c->driver, c->memory, c->pinned, t->size)
              : cuda_download_time(c->driver, c->pinned, c->memory, t->size);
}

static void close_copier(copier *c) {
    if (c->copies) vulkan_copies_close(c->copies);
    if (c->v) vulkan_close(c->v);
    if (!c->driver) return;
    cuda_host_free(c->driver, c->pinned);
    cuda_free(c->driver, c->memory);
    cuda_close(c->driver);
}

/* A map for writing leaves the copy to the next launch that needs it; a map for reading copies at once. */
static bool round_trip(streams *s, qn_buffer *buffer, transfer *t, unsigned n, char *why) {
    const qn_range range = {.global = {256}, .local = {256}};
    qn_stream *stream = qn_device_stream(s->device);
    void *pointer = NULL;
    if (!good(s, qn_buffer_map(buffer, QN_MAP_WRITE, &pointer), why)) return false;
    for (size_t i = 0; i < t->size / 4; i += 997) ((float *)pointer)[i] = (float)(i + n);
    ((float *)pointer)[0] = (float)n;
    if (!good(s, qn_buffer_unmap(buffer), why)) return false;
    int64_t begin = bench_now();
    if (!good(s, qn_launch(NULL, s->touch, &range, QN_ARGS(buffer)), why) ||
        !good(s, qn_stream_wait(stream, QN_FOREVER), why))
        return false;
    t->ours[MAPPED][0][n] = (double)(bench_now() - begin) * 1e-6;
    begin = bench_now();
    if (!good(s, qn_buffer_map(buffer, QN_MAP_READ, &pointer), why)) return false;
    t->ours[MAPPED][1][n] = (double)(bench_now() - begin) * 1e-6;
    bool right = ((float *)pointer)[0] == (float)n + 1 && ((float *)pointer)[997] == (float)(997 + n);
    if (!right) snprintf(why, WHY_SIZE, "wrong data came back");
    return good(s, qn_buffer_unmap(buffer), why) && right;
}

/* Written from there and read back, each waited for. */
static bool there_and_back(streams *s, qn_buffer *buffer, float *memory, int kind, transfer *t, unsigned n,
                           char *why) {
    qn_stream *stream = qn_device_stream(s->device);
    const size_t last = t->size / sizeof *memory - 1;
    memory[0] = (float)n;
    memory[last] = (float)n + 2;
    int64_t begin = bench_now();
    if (!good(s, qn_stream_write(stream, buffer, 0, memory, t->size), why) ||
        !good(s, qn_stream_wait(stream, QN_FOREVER), why))
        return false;
    t->ours[kind][0][n] = (double)(bench_now() - begin) * 1e-6;
    memory[0] = memory[last] = -1;
    begin = bench_now();
    if (!good(s, qn_stream_read(stream, buffer, 0, memory, t->size), why) ||
        !good(s, qn_stream_wait(stream, QN_FOREVER), why))
        return false;
    t->ours[kind][1][n] = (double)(bench_now() - begin) * 1e-6;
    const bool right = memory[0] == (float)n && memory[last] == (float)n + 2;
    if (!right) snprintf(why, WHY_SIZE, "%s: wrong data came back", memory_names[kind]);
    return right;
}

/* Beside the peer's fastest queue. */
static void print_transfer(const char *device, const transfer *t, int memory, int way, unsigned samples) {
    static const char *const ways[2] = {"host to device", "device to host"};
    const double rate = (double)t->size / gpu_median(t->ours[memory][way], samples) * 1e-6;
    double peer_rate = 0;
    for (unsigned q = 0; q < t->num_queues; q++)
        peer_rate = fmax(peer_rate, (double)t->size / gpu_median(t->peers[way][q], samples) * 1e-6);
    report("| %s | %s | %s | %.2f |", device, memory_names[memory], ways[way], rate);
    if (!(peer_rate > 0)) {
        report(" | | |\n");
        return;
    }
    report(" %s | %.2f | %.3f |\n", t->peer, peer_rate, rate / peer_rate);
    if (memory == ORDINARY) return;
    char what[96];
    snprintf(what, sizeof what, "transfer on %s, %s, %s", device, memory_names[memory], ways[way]);
    report_target(what, rate / peer_rate, 0.95, true);
}

/* All ways in turn with the peer. */
static bool measure_transfers(streams *s, copier *c, transfer *t, unsigned samples, char *why) {
    qn_buffer *buffer = NULL;
    void *pinned = NULL;
    float *ordinary = bench_alloc(t->size);
    memset(ordinary, 1, t->size);
    bool fine = good(s, qn_buffer_create(s->device, &(qn_buffer_desc){.size = t->size}, &buffer), why) &&
                good(s, qn_host_alloc(s->device, t->size, &pinned), why) &&
                round_trip(s, buffer, t, 0, why); /* makes the host's view */
    for (unsigned n = 0; n < samples && fine; n++) {
        fine = round_trip(s, buffer, t, n, why) && there_and_back(s, buffer, pinned, PINNED, t, n, why) &&
               there_and_back(s, buffer, ordinary, ORDINARY, t, n, why);
        for (unsigned q = 0; q < t->num_queues; q++)
            for (int w = 0; w < 2; w++) t->peers[w][q][n] = copy_time(c, t, w == 0, q);
    }
    qn_host_free(s->device, pinned);
    qn_buffer_destroy(buffer);
    free(ordinary);
    return fine;
}

void gpu_transfers_child(const gpu_options *o, const char *device, size_t first) {
    char why[WHY_SIZE] = "", description[WHY_SIZE] = "";
    (void)first;
    unsigned samples = o->quick ? 3 : SAMPLES;
    static transfer t;
    t.size = o->quick ? 1u << 22 : 1u << 28;
    streams s;
    copier c;
    gpu_look(device, description);
    bool fine = open_streams(&s, device, 1u << 16, why);
    open_copier(&c, &t, device, description);
    fine = fine && measure_transfers(&s, &c, &t, samples, why);
    for (int memory = 0; memory < NUM_MEMORIES && fine; memory++)
        for (int way = 0; way < 2; way++) print_transfer(device, &t, memory, way, samples);
    if (!fine) report_failure("transfers on %s: %s", device, why);
    close_copier(&c);
    qn_context_destroy(s.context);
}

/* ---- the section ---- */

void gpu_bandwidth(const gpu_options *o) {
    char why[WHY_SIZE] = "";
    bool present[3], any = false;
    report("\n### Bandwidth\n\n");
    for (int i = 0; i < 3; i++) {
        present[i] = gpu_look(devices[i], why) == GPU_PRESENT;
        any = any || present[i];
        if (!present[i]) report("- %s: left out: %s\n", devices[i], why);
    }
    if (!any) return;
    report("\n2^28 floats (4 GB in all at most); bytes read and written; the fastest of %d ways to write the "
           "kernel: what a "
           "work-item takes, and the work-group's size. Peer: cuMemcpyDtoD of one array.\n\n"
           "| device | kernel | way | ms | TB/s | peer TB/s | ratio |\n|---|---|---|---:|---:|---:|---:|\n",
           NUM_WAYS);
    for (int i = 0; i < 3 && !gpu_stopped(); i++)
        if (present[i]) gpu_run_child(o, "bandwidth", devices[i], NULL, NULL);
    report("\n256 MiB through a mapped buffer, the launch that needs it included, and by qn_stream_write and "
           "qn_stream_read of memory of qn_host_alloc and of ordinary memory. Peer: the driver's own copy "
           "from and to pinned memory, on Vulkan by the faster of the queue that computes and one for "
           "copies alone.\n\n"
           "| device | memory | way | GB/s | peer | GB/s | ratio |\n|---|---|---|---:|---|---:|---:|\n");
    for (int i = 0; i < 3 && !gpu_stopped(); i++)
        if (present[i]) gpu_run_child(o, "transfers", devices[i], NULL, NULL);
}
