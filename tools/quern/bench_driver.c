/* The bare CUDA driver as a peer of quern bench launch: its own call with the arguments at hand, as a careful user would write it, on
   quern's context and stream. The few declarations needed are written out here (NVIDIA, CUDA driver API). */
#include <stdlib.h>

#include "bench_peer.h"

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
    const bench_device *d;
    void *context, *module, *function;
    int (*push)(void *context); /* makes it the thread's, which the calls below work in */
    int (*pop)(void **context);
    int (*load)(void **module, const void *text);
    int (*unload)(void *module);
    int (*get_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                  unsigned block_y, unsigned block_z, unsigned local, void *stream, void **params,
                  void **extra);
    int (*wait)(void *stream);
} driver;

/* From here to `leave` the stream and the thread's context are for the driver's own calls. */
static bool enter(const driver *v) {
    if (qn_stream_native_begin(v->d->stream, NULL, 0)) return false;
    if (v->push(v->context) == 0) return true;
    qn_stream_native_end(v->d->stream);
    return false;
}

static bool leave(const driver *v) {
    void *context;
    const bool popped = v->pop(&context) == 0;
    return qn_stream_native_end(v->d->stream) == QN_OK && popped;
}

static bool start(driver *v, char *why) {
    uint64_t context = 0;
    const qn_status status = qn_device_native(v->d->device, QN_NATIVE_CUDA_CONTEXT, &context);
    v->context = (void *)(uintptr_t)context;
    if (status || !enter(v)) {
        snprintf(why, BENCH_WHY, "its context: %s", qn_error_message(v->d->context));
        return false;
    }
    int failed = v->load(&v->module, module_text);
    if (!failed) failed = v->get_function(&v->function, v->module, "count");
    if (failed) snprintf(why, BENCH_WHY, "it does not load a kernel: status %d", failed);
    return leave(v) && !failed;
}

static void *open_driver(const bench_device *d, char *why) {
    static const char *const names[] = {"nvcuda.dll", "libcuda.so.1", NULL};
    driver *v = tool_alloc(sizeof *v);
    const bench_symbol symbols[] = {{"cuCtxPushCurrent_v2", &v->push},
                                    {"cuCtxPopCurrent_v2", &v->pop},
                                    {"cuModuleLoadData", &v->load},
                                    {"cuModuleUnload", &v->unload},
                                    {"cuModuleGetFunction", &v->get_function},
                                    {"cuLaunchKernel", &v->launch},
                                    {"cuStreamSynchronize", &v->wait}};
    v->d = d;
    if (bench_library_load(names, symbols, sizeof symbols / sizeof *symbols, why) && start(v, why)) return v;
    free(v);
    return NULL;
}

static bool launch(void *peer, uint64_t counters, uint32_t count, bool waits) {
    const driver *v = peer;
    uint64_t stream;
    uint32_t one = 1;
    void *params[] = {&counters, &one};
    if (qn_stream_native(v->d->stream, QN_NATIVE_CUDA_STREAM, &stream)) return false;
    void *const queue = (void *)(uintptr_t)stream;
    void *context;
    int failed = v->push(v->context);
    if (failed) return false;
    for (uint32_t i = 0; i < count && !failed; i++) {
        failed = v->launch(v->function, 1, 1, 1, BENCH_LAUNCH_ITEMS, 1, 1, 0, queue, params, NULL);
        if (!failed && waits) failed = v->wait(queue);
    }
    return v->pop(&context) == 0 && !failed;
}

static void close_driver(void *peer) {
    driver *v = peer;
    if (enter(v)) {
        v->unload(v->module);
        leave(v);
    }
    free(v);
}

const bench_peer_type bench_driver = {
    .name = "driver", .kind = QN_DEVICE_CUDA, .open = open_driver, .close = close_driver, .launch = launch};
