/* The bare CUDA driver as a peer of quern bench: its own launches with the arguments at hand, and its own graphs. */
#include <stdlib.h>
#include <string.h>

#include "bench_cuda.h"

/* x[id] += n, by a group of BENCH_LAUNCH_ITEMS. */
static const char module_text[] = ".version 6.3\n"
                                  ".target sm_60\n"
                                  ".address_size 64\n"
                                  ".visible .entry count(.param .u64 x, .param .u32 n) {\n"
                                  "    .reg .b32 %r<4>;\n"
                                  "    .reg .b64 %rd<4>;\n"
                                  "    ld.param.u64 %rd1, [x];\n"
                                  "    ld.param.u32 %r1, [n];\n"
                                  "    cvta.to.global.u64 %rd1, %rd1;\n"
                                  "    mov.u32 %r2, %tid.x;\n"
                                  "    mul.wide.u32 %rd2, %r2, 4;\n"
                                  "    add.s64 %rd3, %rd1, %rd2;\n"
                                  "    ld.global.u32 %r3, [%rd3];\n"
                                  "    add.u32 %r3, %r3, %r1;\n"
                                  "    st.global.u32 [%rd3], %r3;\n"
                                  "    ret;\n"
                                  "}\n";

typedef struct driver {
    bench_cuda cuda;
    int arch; /* 90: sm_90 */
    void *module, *function;
    void *graph, *executable; /* of BENCH_GRAPH_LAUNCHES launches; NULL: not recorded yet */
} driver;

static void *open_driver(const bench_device *d, char *why) {
    driver *v = tool_alloc(sizeof *v);
    bench_cuda *c = &v->cuda;
    if (bench_cuda_open(d, c, why) && bench_cuda_arch(c, &v->arch, why) && bench_cuda_enter(c, NULL, 0)) {
        int failed = c->load(&v->module, module_text);
        if (!failed) failed = c->get_function(&v->function, v->module, "count");
        if (failed) snprintf(why, BENCH_WHY, "it does not load a kernel: status %d", failed);
        if (bench_cuda_leave(c) && !failed) return v;
    }
    free(v);
    return NULL;
}

static int launch_once(const driver *v, bench_place counters) {
    uint32_t one = 1;
    void *params[] = {&counters.at, &one};
    return v->cuda.launch(v->function, 1, 1, 1, BENCH_LAUNCH_ITEMS, 1, 1, 0, v->cuda.stream, params, NULL);
}

static int record(driver *v, bench_place counters) {
    enum { RELAXED = 2 };
    const bench_cuda *c = &v->cuda;
    int failed = c->capture_begin(c->stream, RELAXED);
    for (int i = 0; i < BENCH_GRAPH_LAUNCHES && !failed; i++) failed = launch_once(v, counters);
    if (!failed) failed = c->capture_end(c->stream, &v->graph);
    return failed ? failed : c->graph_instantiate(&v->executable, v->graph, 0);
}

static bool launch(void *peer, const bench_launches *what, bench_place counters, uint32_t count) {
    driver *v = peer;
    const bench_cuda *c = &v->cuda;
    void *context;
    int failed = c->push(c->context);
    if (failed) return false;
    if (what->is_graph && !v->executable) failed = record(v, counters);
    for (uint32_t i = 0; i < count && !failed; i++) {
        failed = what->is_graph ? c->graph_launch(v->executable, c->stream) : launch_once(v, counters);
        if (!failed && what->waits) failed = c->wait(c->stream);
    }
    return c->pop(&context) == 0 && !failed;
}

/* ---- copies ---- */

static bool copy(void *peer, const bench_copy *what) {
    const bench_cuda *c = &((const driver *)peer)->cuda;
    uint64_t context = 0;
    int failed = 1;
    if (!bench_cuda_enter(c, NULL, 0)) return false;
    switch (what->what) {
    case BENCH_UP: failed = c->upload(what->to.at, what->host, what->size, c->stream); break;
    case BENCH_DOWN: failed = c->download(what->host, what->from.at, what->size, c->stream); break;
    case BENCH_ACROSS: failed = c->copy(what->to.at, what->from.at, what->size, c->stream); break;
    case BENCH_BEYOND:
        if (qn_device_native(what->to_device, QN_NATIVE_CUDA_CONTEXT, &context) == QN_OK)
            failed = c->copy_peer(what->to.at, (void *)(uintptr_t)context, what->from.at, c->context,
                                  what->size, c->stream);
        break;
    case BENCH_NOWHERE: break;
    }
    if (!failed) failed = c->wait(c->stream);
    return bench_cuda_leave(c) && !failed;
}

/* ---- packed programs ---- */

/* In them: machine code is an ELF image; of texts the one for the highest architecture that the device has. */
static const char *find_image(const driver *v, const bench_code *code) {
    static const char target[] = ".target sm_", version[] = ".version", elf[] = "\177ELF";
    const char *found = NULL, *begin = NULL, *end = code->data + code->size;
    long best = 0;
    for (const char *at = code->data; at + sizeof target < end; at++) {
        if (!code->is_text && memcmp(at, elf, sizeof elf - 1) == 0) return at;
        if (memcmp(at, version, sizeof version - 1) == 0) begin = at;
        if (!code->is_text || !begin || memcmp(at, target, sizeof target - 1) != 0) continue;
        const long arch = strtol(at + sizeof target - 1, NULL, 10);
        if (arch > v->arch || arch <= best) continue;
        best = arch;
        found = begin;
    }
    return found;
}

/* What a launch needs to know of the kernel is asked: drivers put it on the device no earlier than that. */
static bool load(void *peer, const bench_code *code) {
    enum { MAX_THREADS_PER_BLOCK = 0 }; /* CUfunction_attribute */
    const driver *v = peer;
    const bench_cuda *c = &v->cuda;
    const char *image = find_image(v, code);
    void *module = NULL, *function = NULL;
    int threads;
    if (!image || !bench_cuda_enter(c, NULL, 0)) return false;
    int failed = c->load(&module, image);
    if (!failed) failed = c->get_function(&function, module, code->kernel);
    if (!failed) failed = c->function_attribute(&threads, MAX_THREADS_PER_BLOCK, function);
    if (module) c->unload(module);
    return bench_cuda_leave(c) && !failed;
}

static void close_driver(void *peer) {
    driver *v = peer;
    const bench_cuda *c = &v->cuda;
    if (bench_cuda_enter(c, NULL, 0)) {
        if (v->executable) c->executable_destroy(v->executable);
        if (v->graph) c->graph_destroy(v->graph);
        c->unload(v->module);
        bench_cuda_leave(c);
    }
    free(v);
}

const bench_peer_type bench_driver = {.name = "driver",
                                      .kind = QN_DEVICE_CUDA,
                                      .open = open_driver,
                                      .close = close_driver,
                                      .launch = launch,
                                      .copy = copy,
                                      .load = load,
                                      .has_graphs = true};
