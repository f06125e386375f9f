/* The bare webgpu.h as peers, on quern's own device, queue and buffers: of quern bench launch, with the least calls that a launch takes,
   and of quern bench code, where the implementation compiles the kernels' twins in WGSL. Its declarations are those of
   webgpu-native that both wgpu-native and Dawn follow; handles are pointers. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <quern/interop.h>

#include "bench_wgsl.h"

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

typedef struct buffer_desc {
    void *chain;
    text label;
    uint64_t usage, size;
    uint32_t mapped;
} buffer_desc;

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
    X(object, wgpuDeviceCreateBuffer, (object device, const buffer_desc *desc))                              \
    X(void, wgpuBufferRelease, (object buffer))                                                              \
    X(void, wgpuQueueWriteBuffer,                                                                            \
      (object queue, object buffer, uint64_t offset, const void *data, size_t size))                         \
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
    /* wgpu-native's; NULL: Dawn, whose device quern has made with accesses not checked. */
    uint32_t (*poll)(object device, uint32_t wait, const void *index);
    object (*trusted)(object device, const labelled *desc, uint64_t checks);
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
    if (all) bench_library_find(library, "wgpuDeviceCreateShaderModuleTrusted", (void *)&w->trusted, why);
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

/* ---- what both make ---- */

/* NULL: the implementation does not take it. */
static object make_pipeline(const webgpu *w, const char *source, const char *entry) {
    enum { WGSL = 2 };
    wgsl code = {.type = WGSL, .code = {source, strlen(source)}};
    const labelled shader = {.chain = &code};
    object module =
        w->trusted ? w->trusted(w->device, &shader, 0) : w->wgpuDeviceCreateShaderModule(w->device, &shader);
    const pipeline_desc desc = {.module = module, .entry = {entry, strlen(entry)}};
    object pipeline = module ? w->wgpuDeviceCreateComputePipeline(w->device, &desc) : NULL;
    if (module) w->wgpuShaderModuleRelease(module);
    return pipeline;
}

static object make_group(const webgpu *w, object pipeline, const binding *entries, size_t count) {
    object layout = w->wgpuComputePipelineGetBindGroupLayout(pipeline, 0);
    object group = w->wgpuDeviceCreateBindGroup(
        w->device, &(group_desc){.layout = layout, .num_entries = count, .entries = entries});
    w->wgpuBindGroupLayoutRelease(layout);
    return group;
}

/* ---- launches ---- */

static bool make_launches(webgpu *w, bench_place counters) {
    static const char source[] = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
                                 "@compute @workgroup_size(64) fn count(@builtin(global_invocation_id) id: "
                                 "vec3u) { x[id.x] += 1u; }\n";
    if (w->group) return true;
    w->pipeline = make_pipeline(w, source, "count");
    if (!w->pipeline) return false;
    const binding entry = {.buffer = (object)(uintptr_t)counters.at,
                           .offset = counters.offset,
                           .size = BENCH_LAUNCH_ITEMS * sizeof(uint32_t)};
    w->group = make_group(w, w->pipeline, &entry, 1);
    return w->group != NULL;
}

/* Submits what was encoded. */
static void end(const webgpu *w, object queue, object encoder, object pass) {
    w->wgpuComputePassEncoderEnd(pass);
    w->wgpuComputePassEncoderRelease(pass);
    object commands = w->wgpuCommandEncoderFinish(encoder, NULL);
    w->wgpuCommandEncoderRelease(encoder);
    w->wgpuQueueSubmit(queue, 1, &commands);
    w->wgpuCommandBufferRelease(commands);
}

static void submit(const webgpu *w, object queue, uint32_t launches) {
    object encoder = w->wgpuDeviceCreateCommandEncoder(w->device, NULL);
    object pass = w->wgpuCommandEncoderBeginComputePass(encoder, NULL);
    w->wgpuComputePassEncoderSetPipeline(pass, w->pipeline);
    w->wgpuComputePassEncoderSetBindGroup(pass, 0, w->group, 0, NULL);
    for (uint32_t i = 0; i < launches; i++) w->wgpuComputePassEncoderDispatchWorkgroups(pass, 1, 1, 1);
    end(w, queue, encoder, pass);
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

/* ---- kernels' twins ---- */

typedef struct twin {
    object pipeline, group, numbers;
    uint32_t groups[2];
} twin;

typedef struct session {
    const webgpu *w;
    bench_workload_buffers buffers;
    twin *twins; /* one a step */
} session;

static void release(void *user) {
    session *s = user;
    const webgpu *w = s->w;
    qn_stream_wait(w->d->stream, QN_FOREVER);
    for (uint32_t i = 0; i < s->buffers.load->num_steps; i++) {
        const twin *t = &s->twins[i];
        if (t->group) w->wgpuBindGroupRelease(t->group);
        if (t->pipeline) w->wgpuComputePipelineRelease(t->pipeline);
        if (t->numbers) w->wgpuBufferRelease(t->numbers);
    }
    bench_buffers_free(&s->buffers);
    free(s->twins);
    free(s);
}

/* The uniform variable of a step's numbers; `queue` is quern's, on loan. */
static bool make_numbers(const session *s, const bench_workload_step *step, object queue, twin *to,
                         binding *entry) {
    enum { COPY_TO = 8, UNIFORM = 0x40 };
    unsigned char numbers[BENCH_WGSL_NUMBERS];
    const webgpu *w = s->w;
    const uint32_t size = bench_wgsl_numbers(step, numbers);
    to->numbers =
        w->wgpuDeviceCreateBuffer(w->device, &(buffer_desc){.usage = COPY_TO | UNIFORM, .size = size});
    if (!to->numbers) return false;
    w->wgpuQueueWriteBuffer(queue, to->numbers, 0, numbers, size);
    *entry = (binding){.buffer = to->numbers, .size = size};
    return true;
}

static bool bind(const session *s, const bench_workload_step *step, object queue, twin *to) {
    binding entries[BENCH_MAX_ARGS + 1];
    unsigned char numbers[BENCH_WGSL_NUMBERS];
    uint32_t count = 0, place = 0;
    if (bench_wgsl_numbers(step, numbers) && !make_numbers(s, step, queue, to, &entries[count++]))
        return false;
    for (uint32_t a = 0; a < step->num_args; a++) {
        if (step->args[a].kind != BENCH_BUFFER) continue;
        const uint32_t which = step->args[a].value.u;
        uint64_t handle = 0;
        if (qn_buffer_native(s->buffers.all[which], QN_NATIVE_WEBGPU_BUFFER, &handle)) return false;
        entries[count++] = (binding){.binding = ++place,
                                     .buffer = (object)(uintptr_t)handle,
                                     .size = s->buffers.load->buffers[which].size};
    }
    to->group = make_group(s->w, to->pipeline, entries, count);
    return to->group != NULL;
}

/* False without a sentence: it has no twin. */
static bool make_twin(const session *s, uint32_t index, object queue, char *why) {
    bench_workload_step step = s->buffers.load->steps[index];
    twin *to = &s->twins[index];
    char *source = bench_wgsl_text(&step);
    if (!source) return false;
    to->groups[0] = (uint32_t)(step.global[0] / step.local[0]);
    to->groups[1] = step.global[1] ? (uint32_t)(step.global[1] / step.local[1]) : 1;
    to->pipeline = make_pipeline(s->w, source, step.kernel);
    free(source);
    if (to->groups[0] > UINT16_MAX) {
        snprintf(why, BENCH_WHY, "its %u groups are more than the %u of a dispatch", to->groups[0],
                 (unsigned)UINT16_MAX);
        return false;
    }
    if (to->pipeline && bind(s, &step, queue, to)) return true;
    snprintf(why, BENCH_WHY, "the implementation does not take its twin");
    return false;
}

static object borrow(const session *s) {
    uint64_t queue = 0;
    if (qn_stream_native_begin(s->w->d->stream, s->buffers.all, s->buffers.load->num_buffers)) return NULL;
    return qn_stream_native(s->w->d->stream, QN_NATIVE_WEBGPU_QUEUE, &queue) ? NULL
                                                                             : (object)(uintptr_t)queue;
}

static void *prepare(void *peer, const bench_workload *load, const char *file, const char *source,
                     char *why) {
    webgpu *w = peer;
    session *s = tool_alloc(sizeof *s);
    (void)file, (void)source;
    *s = (session){.w = w, .buffers = {.d = w->d, .load = load}};
    s->twins = tool_alloc(load->num_steps * sizeof *s->twins);
    memset(s->twins, 0, load->num_steps * sizeof *s->twins);
    bool fine = bench_buffers_make(&s->buffers) == QN_OK;
    object queue = fine ? borrow(s) : NULL;
    for (uint32_t i = 0; i < load->num_steps && fine; i++) fine = queue && make_twin(s, i, queue, why);
    if (queue) fine = qn_stream_native_end(w->d->stream) == QN_OK && fine;
    if (fine) return s;
    release(s);
    return NULL;
}

static bool reset(void *user) { return bench_buffers_reset(&((session *)user)->buffers) == QN_OK; }

static bool run(void *user, uint32_t count) {
    const session *s = user;
    const webgpu *w = s->w;
    const uint32_t num_steps = s->buffers.load->num_steps;
    object queue = borrow(s);
    if (!queue) return false;
    object encoder = w->wgpuDeviceCreateCommandEncoder(w->device, NULL);
    object pass = w->wgpuCommandEncoderBeginComputePass(encoder, NULL);
    for (uint32_t i = 0; i < count * num_steps; i++) {
        const twin *t = &s->twins[i % num_steps];
        w->wgpuComputePassEncoderSetPipeline(pass, t->pipeline);
        w->wgpuComputePassEncoderSetBindGroup(pass, 0, t->group, 0, NULL);
        w->wgpuComputePassEncoderDispatchWorkgroups(pass, t->groups[0], t->groups[1], 1);
    }
    end(w, queue, encoder, pass);
    return qn_stream_native_end(w->d->stream) == QN_OK;
}

static bool read_back(void *user, uint32_t buffer, void *to) {
    return bench_buffers_read(&((session *)user)->buffers, buffer, to) == QN_OK;
}

static const bench_code_peer code_peer = {prepare, reset, run, read_back, release};

const bench_peer_type bench_webgpu_driver = {.name = "driver",
                                             .kind = QN_DEVICE_WEBGPU,
                                             .open = open_webgpu,
                                             .close = close_webgpu,
                                             .launch = launch,
                                             .has_graphs = true},
                      bench_webgpu_wgsl = {.name = "wgsl",
                                           .kind = QN_DEVICE_WEBGPU,
                                           .open = open_webgpu,
                                           .close = close_webgpu,
                                           .code = &code_peer};
