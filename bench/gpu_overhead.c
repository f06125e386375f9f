/* Overhead: what a launch costs through quern and through the bare driver: submitting without waiting, launching and
   waiting, and recorded graphs of small kernels. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 400, BURST = 100, GRAPH_BURST = 20, ITEMS = 64 };
enum { LAUNCH, LAUNCH_WAIT, GRAPH, GRAPH_WAIT, NUM_FIGURES };

static const char tiny_source[] =
    "kernel void tiny(global float *x, float a) { x[get_global_id(0)] += a; }\n";
static const bare_type *const peers[] = {&bare_cuda, &bare_vulkan, &bare_opencl};

typedef struct ours {
    qn_context *context;
    qn_device *device;
    qn_stream *stream;
    qn_kernel *kernel;
    qn_buffer *buffer;
    qn_graph *graph;
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

static bool open_ours(ours *q, const char *device, char *why) {
    qn_program *program = NULL;
    *q = (ours){0};
    if (qn_context_create(NULL, &q->context)) return false;
    bool fine =
        good(q, qn_device_get(q->context, device, &q->device), why) &&
        good(q, qn_stream_create(q->device, &q->stream), why) &&
        good(q, qn_program_create(q->device, &(qn_program_desc){.source = tiny_source}, &program), why) &&
        good(q, qn_kernel_create(program, "tiny", &q->kernel), why) &&
        good(q, qn_buffer_create(q->device, &(qn_buffer_desc){.size = ITEMS * 4}, &q->buffer), why) &&
        good(q, qn_graph_begin(q->stream), why);
    for (int i = 0; i < GRAPH_KERNELS && fine; i++) fine = good(q, submit(q), why);
    q->launched = 0;
    return fine && good(q, qn_graph_end(q->stream, &q->graph), why);
}

/* ---- quern's side of bare_type ---- */

static double since(int64_t begin, unsigned count) { return (double)(bench_now() - begin) * 1e-3 / count; }

static double our_time(ours *q, int what) {
    unsigned count = what == LAUNCH ? BURST : what == GRAPH ? GRAPH_BURST : 1;
    qn_status status = QN_OK;
    double time = 0;
    int64_t begin = bench_now();
    for (unsigned i = 0; i < count && !status; i++) {
        if (what == GRAPH || what == GRAPH_WAIT) {
            q->launched += GRAPH_KERNELS;
            status = qn_graph_launch(q->stream, q->graph);
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
    default: return type->graph_wait ? type->graph_wait(b) : -1;
    }
}

/* In turn; a first tenth warms up. */
static void measure(ours *q, const bare_type *type, bare *b, int what, unsigned samples, figure *quern,
                    figure *peer) {
    double *mine = bench_alloc(samples * sizeof *mine), *theirs = bench_alloc(samples * sizeof *theirs);
    bool have_mine = true, have_theirs = b != NULL;
    for (unsigned n = 0; n < samples + samples / 10; n++) {
        unsigned at = n % samples;
        if (have_mine) have_mine = (mine[at] = our_time(q, what)) >= 0;
        if (have_theirs) have_theirs = (theirs[at] = bare_time(type, b, what)) >= 0;
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

static const char *const figure_names[NUM_FIGURES] = {"launch, no wait", "launch and wait",
                                                      "graph of 20, back to back", "graph of 20 and wait"};

static void print_row(const char *device, int what, figure quern, figure peer) {
    report("| %s | %s | %.2f | %.2f |", device, figure_names[what], quern.median, quern.worst);
    if (peer.median > 0)
        report(" %.2f | %.2f | %.3f |\n", peer.median, peer.worst, quern.median / peer.median);
    else
        report(" | | |\n");
}

static void targets(const char *device, const figures *f, const figures *cuda_figures) {
    char what[96];
    bool is_cuda = strcmp(device, "cuda") == 0;
    for (int i = 0; i < NUM_FIGURES; i++) {
        bool graph = i == GRAPH || i == GRAPH_WAIT;
        const figure *peer = graph ? &cuda_figures->bare[i] : &f->bare[i];
        double limit = i == LAUNCH ? 1.15 : graph && !is_cuda ? 2.2 : 1.1;
        if (!(f->quern[i].median > 0) || !(peer->median > 0)) continue;
        if (!is_cuda && (i == LAUNCH_WAIT || (graph && strcmp(device, "vulkan") != 0))) continue;
        snprintf(what, sizeof what, "%s on %s to the bare %s", figure_names[i], device,
                 graph && !is_cuda ? "CUDA graph" : "driver");
        report_target(what, f->quern[i].median / peer->median, limit, false);
    }
}

static void run_device(const bare_type *type, const gpu_options *o, const char *description, figures *f) {
    char why[WHY_SIZE] = "";
    ours q;
    bare *b = NULL;
    if (!open_ours(&q, type->name, why)) {
        report_failure("overhead on %s: %s", type->name, why);
    } else {
        b = type->open(description, why);
        if (!b) report("| %s | no peer: %s | | | | | |\n", type->name, why);
        for (int i = 0; i < NUM_FIGURES; i++) {
            measure(&q, type, b, i, o->quick ? 20 : SAMPLES, &f->quern[i], &f->bare[i]);
            print_row(type->name, i, f->quern[i], f->bare[i]);
        }
        if (!check(&q, why)) report_failure("overhead on %s: %s", type->name, why);
    }
    if (b) type->close(b);
    qn_graph_destroy(q.graph);
    qn_context_destroy(q.context);
}

void gpu_overhead(const gpu_options *o) {
    static figures all[3];
    char why[WHY_SIZE] = "";
    report(
        "\n### Overhead\n\nMicroseconds: median and 99th percentile. Peers: cuLaunchKernel and a CUDA graph; "
        "vkQueueSubmit of a command buffer recorded before; clEnqueueNDRangeKernel with its arguments "
        "set.\n\n"
        "| device | what | quern | p99 | bare | p99 | ratio |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < 3; i++) {
        gpu_presence presence = gpu_look(peers[i]->name, why);
        if (presence != GPU_NONE) {
            run_device(peers[i], o, why, &all[i]);
            if (presence == GPU_PRESENT) targets(peers[i]->name, &all[i], &all[0]);
        } else
            report("| %s | left out: %s | | | | | |\n", peers[i]->name, why);
    }
}
