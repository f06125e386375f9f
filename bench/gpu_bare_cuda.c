/* The least that launches cost with the CUDA driver: the loops that a careful user would write. */
#include "gpu.h"
#include "gpu_cuda.h"

#include <stdlib.h>

enum { ITEMS = 64, CAPTURE_RELAXED = 2 };

static const char tiny_ptx[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry tiny(.param .u64 x, .param .f32 a) {\n"
    "    .reg .f32 %f<3>;\n    .reg .b32 %r<5>;\n    .reg .b64 %d<4>;\n"
    "    ld.param.u64 %d1, [x];\n    ld.param.f32 %f1, [a];\n"
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.s32 %r4, %r1, %r2, %r3;\n    mul.wide.u32 %d2, %r4, 4;\n"
    "    cvta.to.global.u64 %d3, %d1;\n    add.s64 %d3, %d3, %d2;\n"
    "    ld.global.f32 %f2, [%d3];\n    add.f32 %f2, %f2, %f1;\n"
    "    st.global.f32 [%d3], %f2;\n    ret;\n}\n";

struct bare {
    cuda *c;
    cu_object module, function, graph, graph_exec;
    uint64_t memory;
    float a;
};

static int submit(bare *b) {
    void *params[] = {&b->memory, &b->a};
    return b->c->launch(b->function, 1, 1, 1, ITEMS, 1, 1, 0, b->c->stream, params, NULL);
}

static void close_bare(bare *b) {
    if (b->graph_exec) b->c->graph_exec_destroy(b->graph_exec);
    if (b->graph) b->c->graph_destroy(b->graph);
    if (b->c) cuda_free(b->c, b->memory);
    if (b->module) b->c->module_unload(b->module);
    if (b->c) cuda_close(b->c);
    free(b);
}

static bool record(bare *b, char *why) {
    cuda *c = b->c;
    int status = c->capture_begin(c->stream, CAPTURE_RELAXED);
    for (int i = 0; i < GRAPH_KERNELS && !status; i++) status = submit(b);
    return cuda_good(c, status, "capture", why) &&
           cuda_good(c, c->capture_end(c->stream, &b->graph), "cuStreamEndCapture", why) &&
           cuda_good(c, c->graph_instantiate(&b->graph_exec, b->graph, 0), "cuGraphInstantiate", why);
}

static bare *open_bare(const char *description, char *why) {
    bare *b = bench_alloc(sizeof *b);
    (void)description;
    b->a = 1;
    b->c = cuda_open(why);
    bool fine = b->c && cuda_good(b->c, b->c->module_load(&b->module, tiny_ptx), "cuModuleLoadData", why) &&
                cuda_good(b->c, b->c->module_function(&b->function, b->module, "tiny"), "tiny", why) &&
                (b->memory = cuda_alloc(b->c, ITEMS * sizeof(float))) != 0 && record(b, why);
    if (fine) return b;
    close_bare(b);
    return NULL;
}

static double since(int64_t begin, unsigned count) { return (double)(bench_now() - begin) * 1e-3 / count; }

static double launch(bare *b, unsigned count) {
    int status = 0;
    b->c->context_set(b->c->context);
    int64_t begin = bench_now();
    for (unsigned i = 0; i < count; i++) status |= submit(b);
    double time = since(begin, count);
    status |= b->c->stream_synchronize(b->c->stream);
    return status ? -1 : time;
}

static double launch_wait(bare *b) {
    b->c->context_set(b->c->context);
    int64_t begin = bench_now();
    int status = submit(b) | b->c->stream_synchronize(b->c->stream);
    return status ? -1 : since(begin, 1);
}

static double graph(bare *b, unsigned count) {
    int status = 0;
    b->c->context_set(b->c->context);
    int64_t begin = bench_now();
    for (unsigned i = 0; i < count; i++) status |= b->c->graph_launch(b->graph_exec, b->c->stream);
    status |= b->c->stream_synchronize(b->c->stream);
    return status ? -1 : since(begin, count);
}

static double graph_wait(bare *b) { return graph(b, 1); }

const bare_type bare_cuda = {"cuda", open_bare, launch, launch_wait, graph, graph_wait, close_bare};
