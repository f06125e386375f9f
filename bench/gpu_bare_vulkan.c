/* The least that launches cost with the Vulkan driver: a command buffer with one dispatch, recorded before, submitted in a
   loop; and one with as many dispatches as a graph has. */
#include "bench_text.h"
#include "gpu.h"

#include <stdlib.h>

enum { ITEMS = 64 };

struct bare {
    vulkan *v;
    workload one, many;
    vulkan_session *launch, *graph;
};

static void make_load(workload *load, unsigned steps) {
    load->result = workload_buffer(load, ITEMS * sizeof(float), NULL, true);
    for (unsigned i = 0; i < steps; i++)
        workload_step(load, "tiny", ITEMS, 0, ITEMS, 0, STEP_ARGS(BUF(0), REAL(1)));
}

static void close_bare(bare *b) {
    if (b->launch) vulkan_release(b->launch);
    if (b->graph) vulkan_release(b->graph);
    if (b->v) vulkan_close(b->v);
    workload_free(&b->one);
    workload_free(&b->many);
    free(b);
}

static bare *open_bare(const char *description, char *why) {
    const char *modules[GRAPH_KERNELS];
    size_t sizes[GRAPH_KERNELS], size = 0;
    const char *module = bench_text("tiny.comp.spv", &size);
    if (!module) {
        snprintf(why, WHY_SIZE, "built without glslangValidator");
        return NULL;
    }
    for (int i = 0; i < GRAPH_KERNELS; i++) modules[i] = module, sizes[i] = size;
    bare *b = bench_alloc(sizeof *b);
    make_load(&b->one, 1);
    make_load(&b->many, GRAPH_KERNELS);
    b->v = vulkan_open(description, why);
    if (b->v) b->launch = vulkan_prepare(b->v, modules, sizes, &b->one, why);
    if (b->launch) b->graph = vulkan_prepare(b->v, modules, sizes, &b->many, why);
    if (b->graph) return b;
    close_bare(b);
    return NULL;
}

static double since(int64_t begin, unsigned count) { return (double)(bench_now() - begin) * 1e-3 / count; }

static double launch(bare *b, unsigned count) {
    char why[WHY_SIZE];
    bool fine = true;
    int64_t begin = bench_now();
    for (unsigned i = 0; i < count; i++) fine = fine && vulkan_submit(b->launch, why);
    double time = since(begin, count);
    return fine && vulkan_wait(b->launch, why) ? time : -1;
}

static double launch_wait(bare *b) {
    char why[WHY_SIZE];
    int64_t begin = bench_now();
    return vulkan_run(b->launch, why) ? since(begin, 1) : -1;
}

static double graph(bare *b, unsigned count) {
    char why[WHY_SIZE];
    bool fine = true;
    int64_t begin = bench_now();
    for (unsigned i = 0; i < count; i++) fine = fine && vulkan_submit(b->graph, why);
    return fine && vulkan_wait(b->graph, why) ? since(begin, count) : -1;
}

static double graph_wait(bare *b) { return graph(b, 1); }

const bare_type bare_vulkan = {"vulkan", open_bare, launch, launch_wait, graph, graph_wait, close_bare};
