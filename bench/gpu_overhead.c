/* Overhead: what a launch costs through quern and through the bare driver: submitting without waiting, launching and
   waiting, and recorded graphs of small kernels: each waits for the one before through a buffer, or each has a buffer
   of its own. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 400, TURN = 20, WARM = 3, BURST = 100, GRAPH_BURST = 20, ITEMS = 64 };
enum { LAUNCH, LAUNCH_WAIT, GRAPH, GRAPH_WAIT, GRAPH_APART, GRAPH_APART_WAIT, NUM_FIGURES };

static const char tiny_source[] =
    "kernel void tiny(global float *x, float a) { x[get_global_id(0)] += a; }\n";
static const bare_type *const peers[] = {&bare_cuda, &bare_vulkan, &bare_opencl};

typedef struct ours {
    qn_context *context;
    qn_device *device;
    qn_stream *stream;
    qn_kernel *kernel;
    qn_buffer *buffer, *apart[GRAPH_KERNELS];
    qn_graph *graph, *graph_apart;
    uint64_t launched; /* to check what they did */
} ours;

/* Median and 99th percentile in microseconds; 0: not measured. */
typedef struct figure {
    double median, worst;
} figure;

typedef struct figures {
    figure quern[NUM_FIGURES], bare[NUM_FIGURES];
} figures;

static bool good(const ours *q, qn_status status, char *why) {
    if (status) snprintf(why, WHY_SIZE, "%s: %s", qn_status_name(status), qn_error_message(q->context));
    return !status;
}

static qn_status submit(ours *q) {
    const qn_range range = {.global = {ITEMS}, .local = {ITEMS}};
    q->launched++;
    return qn_launch(q->stream, q->kernel, &range, QN_ARGS(q->buffer, 1.0f));
}

static bool record(ours *q, bool apart, qn_graph **graph, char *why) {
    const qn_range range = {.global = {ITEMS}, .local = {ITEMS}};
    const qn_buffer_desc desc = {.size = ITEMS * 4};
    for (int i = 0; i < GRAPH_KERNELS && apart; i++)
        if (!good(q, qn_buffer_create(q->device, &desc, &q->apart[i]), why)) return false;
    bool fine = good(q, qn_graph_begin(q->stream), why);
    for (int i = 0; i < GRAPH_KERNELS && fine; i++) {
        qn_buffer *buffer = apart ? q->apart[i] : q->buffer;
        fine = good(q, qn_launch(q->stream, q->kernel, &range, QN_ARGS(buffer, 1.0f)), why);
    }
    return fine && good(q, qn_graph_end(q->stream, graph), why);
}

static bool open_ours(ours *q, const char *device, char *why) {
    qn_program *program = NULL;
    *q = (ours){0};
    bool fine =
        good(q, qn_context_create(NULL, &q->context), why) &&
        good(q, qn_device_get(q->context, device, &q->device), why) &&
        good(q, qn_stream_create(q->device, &q->stream), why) &&
        good(q, qn_program_create(q->device, &(qn_program_desc){.source = tiny_source}, &program), why) &&
        good(q, qn_kernel_create(program, "tiny", &q->kernel), why) &&
        good(q, qn_buffer_create(q->device, &(qn_buffer_desc){.size = ITEMS * 4}, &q->buffer), why) &&
        record(q, false, &q->graph, why) && record(q, true, &q->graph_apart, why);
    return fine;
}

/* ---- quern's side of bare_type ---- */

static double since(int64_t begin, unsigned count) { return (double)(bench_now() - begin) * 1e-3 / count; }

static double our_time(ours *q, int what) {
    unsigned count = what == LAUNCH ? BURST : what == GRAPH || what == GRAPH_APART ? GRAPH_BURST : 1;
    qn_status status = QN_OK;
    double time = 0;
    int64_t begin = bench_now();
    for (unsigned i = 0; i < count && !status; i++) {
        if (what == GRAPH || what == GRAPH_WAIT) {
            q->launched += GRAPH_KERNELS;
            status = qn_graph_launch(q->stream, q->graph);
        } else if (what == GRAPH_APART || what == GRAPH_APART_WAIT) {
            status = qn_graph_launch(q->stream, q->graph_apart);
        } else
            status = submit(q);
    }
    if (what == LAUNCH) time = since(begin, count);
    if (!status) status = qn_stream_wait(q->stream, QN_FOREVER);
    if (what != LAUNCH) time = since(begin, count);
    return status ? -1 : time;
}

static double bare_time(const bare_type *type, bare *b, int what) {
    switch (what) {
    case LAUNCH: return type->launch(b, BURST);
    case LAUNCH_WAIT: return type->launch_wait(b);
    case GRAPH: return type->graph ? type->graph(b, GRAPH_BURST) : -1;
    case GRAPH_WAIT: return type->graph_wait ? type->graph_wait(b) : -1;
    default: return -1;
    }
}

/* In turn, a few samples at a time: a GPU takes longer to change from one driver context to another than all that is
   measured here takes. The first ones after a change warm up. */
static void measure(ours *q, const bare_type *type, bare *b, int what, unsigned samples, figure *quern,
                    figure *peer) {
    double *mine = bench_alloc(samples * sizeof *mine), *theirs = bench_alloc(samples * sizeof *theirs);
    bool have_mine = true, have_theirs = b != NULL;
    for (unsigned first = 0; first < samples; first += TURN) {
        unsigned last = first + TURN < samples ? first + TURN : samples;
        for (unsigned n = 0; n < WARM + last - first && have_mine; n++)
            have_mine = (mine[first + (n < WARM ? 0 : n - WARM)] = our_time(q, what)) >= 0;
        for (unsigned n = 0; n < WARM + last - first && have_theirs; n++)
            have_theirs = (theirs[first + (n < WARM ? 0 : n - WARM)] = bare_time(type, b, what)) >= 0;
    }
    if (have_mine) *quern = (figure){gpu_median(mine, samples), gpu_quantile(mine, samples, 0.99)};
    if (have_theirs) *peer = (figure){gpu_median(theirs, samples), gpu_quantile(theirs, samples, 0.99)};
    free(mine);
    free(theirs);
}

/* Every launch added one to every element. */
static bool check(ours *q, char *why) {
    float values[ITEMS];
    if (!good(q, qn_buffer_read(q->buffer, 0, values, sizeof values), why)) return false;
    for (int i = 0; i < ITEMS; i++) {
        if (values[i] == (float)q->launched) continue;
        snprintf(why, WHY_SIZE, "after %llu launches element %d is %g", (unsigned long long)q->launched, i,
                 (double)values[i]);
        return false;
    }
    return true;
}

/* ---- table ---- */

static const char *const figure_names[NUM_FIGURES] = {"launch, no wait",
                                                      "launch and wait",
                                                      "graph of 20, back to back",
                                                      "graph of 20 and wait",
                                                      "graph of 20 apart, back to back",
                                                      "graph of 20 apart and wait"};

static void print_row(const char *device, int what, figure quern, figure peer) {
    report("| %s | %s | %.2f | %.2f |", device, figure_names[what], quern.median, quern.worst);
    if (peer.median > 0)
        report(" %.2f | %.2f | %.3f |\n", peer.median, peer.worst, quern.median / peer.median);
    else
        report(" | | |\n");
}

/* To the device's own bare driver; graphs on vulkan to the bare CUDA graph. */
static void target(const char *device, int what, double ours, double peer, double limit) {
    char text[96];
    bool foreign = what == GRAPH && strcmp(device, "cuda") != 0;
    if (!(ours > 0) || !(peer > 0)) return;
    snprintf(text, sizeof text, "%s on %s to the bare %s", figure_names[what], device,
             foreign ? "CUDA graph" : "driver");
    report_target(text, ours / peer, limit, false);
}

static void targets(const char *device, const figures *f, const figures *cuda_figures) {
    const figure *ours = f->quern, *bare = f->bare;
    bool is_cuda = strcmp(device, "cuda") == 0;
    target(device, LAUNCH, ours[LAUNCH].median, bare[LAUNCH].median, 1.15);
    if (is_cuda) {
        target(device, LAUNCH_WAIT, ours[LAUNCH_WAIT].median, bare[LAUNCH_WAIT].median, 1.1);
        target(device, GRAPH_WAIT, ours[GRAPH_WAIT].median, bare[GRAPH_WAIT].median, 1.1);
    }
    if (is_cuda || strcmp(device, "vulkan") == 0)
        target(device, GRAPH, ours[GRAPH].median, cuda_figures->bare[GRAPH].median, is_cuda ? 1.1 : 2.2);
}

static const bare_type *peer_of(const char *device) {
    for (int i = 0; i < 3; i++)
        if (strcmp(peers[i]->name, device) == 0) return peers[i];
    return NULL;
}

void gpu_overhead_child(const gpu_options *o, const char *device, size_t first) {
    char why[WHY_SIZE] = "", description[WHY_SIZE] = "";
    const bare_type *type = peer_of(device);
    ours q;
    bare *b = NULL;
    if (!type || gpu_look(device, description) == GPU_NONE) return;
    if (open_ours(&q, device, why)) {
        b = type->open(description, why);
        if (!b && first == 0) report("| %s | no peer: %s | | | | | |\n", device, why);
        for (size_t i = first; i < NUM_FIGURES; i++) {
            figure mine = {0}, peer = {0};
            report_case(i, device);
            measure(&q, type, b, (int)i, o->quick ? 20 : SAMPLES, &mine, &peer);
            report_figures("%zu %.9g %.9g %.9g %.9g", i, mine.median, mine.worst, peer.median, peer.worst);
        }
        if (!check(&q, why)) report_failure("overhead on %s: %s", device, why);
    } else
        report_failure("overhead on %s: %s", device, why);
    if (b) type->close(b);
    qn_graph_destroy(q.graph);
    qn_graph_destroy(q.graph_apart);
    qn_context_destroy(q.context);
}

typedef struct hearing {
    const char *device;
    figures *figures;
} hearing;

static void hear(void *user, const char *text) {
    hearing *h = user;
    size_t what;
    figure mine, peer;
    if (sscanf(text, "%zu %lf %lf %lf %lf", &what, &mine.median, &mine.worst, &peer.median, &peer.worst) !=
            5 ||
        what >= NUM_FIGURES)
        return;
    h->figures->quern[what] = mine;
    h->figures->bare[what] = peer;
    print_row(h->device, (int)what, mine, peer);
}

void gpu_overhead(const gpu_options *o) {
    static figures all[3];
    char why[WHY_SIZE] = "";
    report(
        "\n### Overhead\n\nMicroseconds: median and 99th percentile. Peers: cuLaunchKernel and a CUDA graph; "
        "vkQueueSubmit of a command buffer recorded before; clEnqueueNDRangeKernel with its arguments set. "
        "Graphs are of 20 kernels on one buffer, each of which waits for the one before, the bare ones too; "
        "\"apart\": on 20 buffers, free to overlap.\n\n"
        "| device | what | quern | p99 | bare | p99 | ratio |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < 3 && !gpu_stopped(); i++) {
        gpu_presence presence = gpu_look(peers[i]->name, why);
        hearing h = {peers[i]->name, &all[i]};
        if (presence == GPU_NONE) {
            report("| %s | left out: %s | | | | | |\n", peers[i]->name, why);
            continue;
        }
        gpu_run_child(o, "overhead", peers[i]->name, hear, &h);
        if (presence == GPU_PRESENT) targets(peers[i]->name, &all[i], &all[0]);
    }
}
