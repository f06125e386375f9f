/* The bare webgpu.h as a peer of quern bench launch, on quern's own device, queue and buffer: the least calls that a launch takes. Its
   declarations are those of webgpu-native that both wgpu-native and Dawn follow; handles are pointers. */
#include <sched.h>
#include <stdlib.h>

#include <quern/interop.h>

#include "bench_peer.h"

typedef void *object;

typedef struct text {
    const char *data;
    size_t length;
} text;

typedef struct labelled { /* descriptors of encoders and passes have no more that is wanted */
    void *chain;
    text label;
    const void *more;
} labelled;

typedef struct wgsl {
    void *chain;
    uint32_t type;
    text code;
} wgsl;

typedef struct pipeline_desc {
    void *chain;
    text label;
    object layout;
    void *stage_chain;
    object module;
    text entry;
    size_t num_constants;
    const void *constants;
} pipeline_desc;

typedef struct binding {
    void *chain;
    uint32_t binding;
    object buffer;
    uint64_t offset, size;
    object sampler, view;
} binding;

typedef struct group_desc {
    void *chain;
    text label;
    object layout;
    size_t num_entries;
    const binding *entries;
} group_desc;

typedef struct callback {
    void *chain;
    uint32_t mode;
    void (*call)(void);
    void *user, *second;
} callback;

typedef struct future {
    uint64_t id;
} future;

/* X(result, name, parameters) */
#define FUNCTIONS(X)                                                                                         \
    X(object, wgpuDeviceCreateShaderModule, (object device, const labelled *desc))                           \
    X(object, wgpuDeviceCreateComputePipeline, (object device, const pipeline_desc *desc))                   \
    X(object, wgpuComputePipelineGetBindGroupLayout, (object pipeline, uint32_t index))                      \
    X(object, wgpuDeviceCreateBindGroup, (object device, const group_desc *desc))                            \
    X(object, wgpuDeviceCreateCommandEncoder, (object device, const labelled *desc))                         \
    X(object, wgpuCommandEncoderBeginComputePass, (object encoder, const labelled *desc))                    \
    X(void, wgpuComputePassEncoderSetPipeline, (object pass, object pipeline))                               \
    X(void, wgpuComputePassEncoderSetBindGroup,                                                              \
      (object pass, uint32_t index, object group, size_t num_offsets, const uint32_t *offsets))              \
    X(void, wgpuComputePassEncoderDispatchWorkgroups, (object pass, uint32_t x, uint32_t y, uint32_t z))     \
    X(void, wgpuComputePassEncoderEnd, (object pass))                                                        \
    X(void, wgpuComputePassEncoderRelease, (object pass))                                                    \
    X(object, wgpuCommandEncoderFinish, (object encoder, const labelled *desc))                              \
    X(void, wgpuCommandEncoderRelease, (object encoder))                                                     \
    X(void, wgpuCommandBufferRelease, (object commands))                                                     \
    X(void, wgpuQueueSubmit, (object queue, size_t count, const object *commands))                           \
    X(void, wgpuInstanceProcessEvents, (object instance))                                                    \
    X(void, wgpuShaderModuleRelease, (object module))                                                        \
    X(void, wgpuComputePipelineRelease, (object pipeline))                                                   \
    X(void, wgpuBindGroupLayoutRelease, (object layout))                                                     \
    X(void, wgpuBindGroupRelease, (object group))

typedef struct webgpu {
    const bench_device *d;
    object instance, device, pipeline, group;
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
    uint32_t (*poll)(object device, uint32_t wait, const void *index); /* wgpu-native's; NULL: Dawn */
    future (*done)(object queue, callback callback);
} webgpu;

static bool load_functions(webgpu *w, char *why) {
    static const char *const names[] = {"libwgpu_native.so", "libwebgpu_dawn.so", NULL};
    const char *named = getenv("QUERN_WEBGPU_LIB"), *const own[] = {named, NULL};
    void *library = bench_library_open(named && *named ? own : names, why);
    bool all = library != NULL;
#define LOAD(result, name, parameters) all = all && bench_library_find(library, #name, (void *)&w->name, why);
    FUNCTIONS(LOAD)
#undef LOAD
    if (!all || bench_library_find(library, "wgpuDevicePoll", (void *)&w->poll, why)) return all;
    return bench_library_find(library, "wgpuQueueOnSubmittedWorkDone2", (void *)&w->done, why);
}

static object handle_of(const webgpu *w, qn_native_kind kind) {
    uint64_t handle = 0;
    const qn_status status = qn_device_native(w->d->device, kind, &handle);
    return status ? NULL : (object)(uintptr_t)handle;
}

static void close_webgpu(void *peer) {
    webgpu *w = peer;
    if (w->group) w->wgpuBindGroupRelease(w->group);
    if (w->pipeline) w->wgpuComputePipelineRelease(w->pipeline);
    free(w);
}

static void *open_webgpu(const bench_device *d, char *why) {
    webgpu *w = tool_alloc(sizeof *w);
    w->d = d;
    w->instance = handle_of(w, QN_NATIVE_WEBGPU_INSTANCE);
    w->device = handle_of(w, QN_NATIVE_WEBGPU_DEVICE);
    if (w->instance && w->device && load_functions(w, why)) return w;
    close_webgpu(w);
    return NULL;
}

/* ---- launches ---- */

static bool make_launches(webgpu *w, bench_place counters) {
    enum { WGSL = 2 };
    static const char source[] = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
                                 "@compute @workgroup_size(64) fn count(@builtin(global_invocation_id) id: "
                                 "vec3u) { x[id.x] += 1u; }\n";
    if (w->group) return true;
    wgsl code = {.type = WGSL, .code = {source, sizeof source - 1}};
    object module = w->wgpuDeviceCreateShaderModule(w->device, &(labelled){.chain = &code});
    const pipeline_desc desc = {.module = module, .entry = {"count", 5}};
    w->pipeline = module ? w->wgpuDeviceCreateComputePipeline(w->device, &desc) : NULL;
    if (module) w->wgpuShaderModuleRelease(module);
    if (!w->pipeline) return false;
    object layout = w->wgpuComputePipelineGetBindGroupLayout(w->pipeline, 0);
    const binding entry = {.buffer = (object)(uintptr_t)counters.at,
                           .offset = counters.offset,
                           .size = BENCH_LAUNCH_ITEMS * sizeof(uint32_t)};
    w->group = w->wgpuDeviceCreateBindGroup(
        w->device, &(group_desc){.layout = layout, .num_entries = 1, .entries = &entry});
    w->wgpuBindGroupLayoutRelease(layout);
    return w->group != NULL;
}

static void submit(const webgpu *w, object queue, uint32_t launches) {
    object encoder = w->wgpuDeviceCreateCommandEncoder(w->device, NULL);
    object pass = w->wgpuCommandEncoderBeginComputePass(encoder, NULL);
    w->wgpuComputePassEncoderSetPipeline(pass, w->pipeline);
    w->wgpuComputePassEncoderSetBindGroup(pass, 0, w->group, 0, NULL);
    for (uint32_t i = 0; i < launches; i++) w->wgpuComputePassEncoderDispatchWorkgroups(pass, 1, 1, 1);
    w->wgpuComputePassEncoderEnd(pass);
    w->wgpuComputePassEncoderRelease(pass);
    object commands = w->wgpuCommandEncoderFinish(encoder, NULL);
    w->wgpuCommandEncoderRelease(encoder);
    w->wgpuQueueSubmit(queue, 1, &commands);
    w->wgpuCommandBufferRelease(commands);
}

static void was_done(uint32_t status, void *user, void *second) {
    (void)status, (void)second;
    *(bool *)user = true;
}

static void wait(const webgpu *w, object queue) {
    enum { ALLOW_PROCESS_EVENTS = 2 };
    bool done = false;
    if (w->poll) {
        w->poll(w->device, 1, NULL);
        return;
    }
    w->done(queue, (callback){.mode = ALLOW_PROCESS_EVENTS, .call = (void (*)(void))was_done, .user = &done});
    for (;;) {
        w->wgpuInstanceProcessEvents(w->instance);
        if (done) return;
        sched_yield();
    }
}

/* Where none waits, as many in a submission as quern puts into one. */
static bool launch(void *peer, const bench_launches *what, bench_place counters, uint32_t count) {
    enum { TOGETHER = 64 };
    webgpu *w = peer;
    uint64_t handle = 0;
    if (!make_launches(w, counters)) return false;
    if (qn_stream_native(w->d->stream, QN_NATIVE_WEBGPU_QUEUE, &handle)) return false;
    object queue = (object)(uintptr_t)handle;
    const uint32_t all = count * (what->is_graph ? BENCH_GRAPH_LAUNCHES : 1);
    const uint32_t most = !what->waits ? TOGETHER : what->is_graph ? BENCH_GRAPH_LAUNCHES : 1;
    for (uint32_t done = 0; done < all; done += most) {
        submit(w, queue, all - done < most ? all - done : most);
        if (what->waits) wait(w, queue);
    }
    return true;
}

const bench_peer_type bench_webgpu_driver = {.name = "driver",
                                             .kind = QN_DEVICE_WEBGPU,
                                             .open = open_webgpu,
                                             .close = close_webgpu,
                                             .launch = launch,
                                             .has_graphs = true};
