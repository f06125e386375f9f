/* Vulkan without quern's compiler and launches, on quern's own device and queue, as peers of quern bench: glslang, which makes SPIR-V of
   the kernels' twins in GLSL (texts/ *.comp), and the bare driver's dispatches. The program glslangValidator makes the modules when it
   is there; to build this, the system's Vulkan headers have to be. */
#include "bench_code.h"

#if defined(__has_include)
#if __has_include(<vulkan/vulkan.h>) && !defined(_WIN32)
#define HAVE_VULKAN
#endif
#endif

#ifdef HAVE_VULKAN
#define VK_NO_PROTOTYPES
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "bench_text.h"

#define FUNCTIONS(X)                                                                                         \
    X(vkCreateCommandPool)                                                                                   \
    X(vkDestroyCommandPool)                                                                                  \
    X(vkAllocateCommandBuffers)                                                                              \
    X(vkFreeCommandBuffers)                                                                                  \
    X(vkBeginCommandBuffer)                                                                                  \
    X(vkEndCommandBuffer)                                                                                    \
    X(vkCmdBindPipeline)                                                                                     \
    X(vkCmdPushConstants)                                                                                    \
    X(vkCmdDispatch)                                                                                         \
    X(vkCmdPipelineBarrier)                                                                                  \
    X(vkQueueSubmit)                                                                                         \
    X(vkQueueWaitIdle)                                                                                       \
    X(vkCreateShaderModule)                                                                                  \
    X(vkDestroyShaderModule)                                                                                 \
    X(vkCreatePipelineLayout)                                                                                \
    X(vkDestroyPipelineLayout)                                                                               \
    X(vkCreateComputePipelines)                                                                              \
    X(vkDestroyPipeline)

enum { PUSH_BYTES = 128, WORDS = 4 /* specialisation constants: the local size, and twin.glsl's `words` */ };

typedef struct vulkan {
    const bench_device *d;
    VkDevice device;
    VkCommandPool pool;
    VkPipelineLayout layout;
    VkPipeline count; /* of launches; NULL: not made yet */
    VkCommandBuffer launch, graph;
    char folder[BENCH_FOLDER]; /* with the twins */
#define MEMBER(name) PFN_##name name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} vulkan;

static bool good(VkResult result, const char *what, char *why) {
    if (result != VK_SUCCESS) snprintf(why, BENCH_WHY, "%s: error %d", what, (int)result);
    return result == VK_SUCCESS;
}

/* ---- modules ---- */

static const char *const twins[] = {
    "twin.glsl",         "count.comp",      "saxpy.comp",      "sum.comp",       "matmul_naive.comp",
    "matmul_tiled.comp", "nbody_step.comp", "mandelbrot.comp", "histogram.comp", "scan_groups.comp",
    "scan_add.comp",     "spmv_rows.comp",  "transpose.comp"};
enum { NUM_TWINS = sizeof twins / sizeof *twins };

static void path_of(const vulkan *v, const char *name, char path[BENCH_FOLDER + 64]) {
    snprintf(path, BENCH_FOLDER + 64, "%s/%s", v->folder, name);
}

static bool write_twins(vulkan *v, char *why) {
    char path[BENCH_FOLDER + 64];
    const char *error = NULL;
    if (!bench_folder_make(v->folder)) {
        v->folder[0] = 0;
        snprintf(why, BENCH_WHY, "no folder for its modules can be made");
        return false;
    }
    for (int i = 0; i < NUM_TWINS && !error; i++) {
        size_t size;
        const char *text = bench_text(twins[i], &size);
        path_of(v, twins[i], path);
        error = tool_file_write(path, (const unsigned char *)text, size);
    }
    if (error) snprintf(why, BENCH_WHY, "%s", error);
    return !error;
}

static void remove_twins(const vulkan *v) {
    char path[BENCH_FOLDER + 64];
    if (!v->folder[0]) return;
    for (int i = 0; i < NUM_TWINS; i++) {
        path_of(v, twins[i], path);
        remove(path);
    }
    path_of(v, "module.spv", path);
    remove(path);
    bench_folder_remove(v->folder);
}

/* SPIR-V of a kernel's twin, from malloc; NULL: there is no twin, or glslang fails. */
static unsigned char *compile(const vulkan *v, const char *kernel, size_t *size, char *why) {
    char name[64], from[BENCH_FOLDER + 64], to[BENCH_FOLDER + 64], command[3 * BENCH_FOLDER];
    unsigned char *module = NULL;
    snprintf(name, sizeof name, "%s.comp", kernel);
    if (!bench_text(name, NULL)) return NULL;
    path_of(v, name, from);
    path_of(v, "module.spv", to);
    snprintf(command, sizeof command,
             "glslangValidator --quiet --target-env vulkan1.2 -o '%s' '%s' >/dev/null 2>&1", to, from);
    if (system(command) != 0 || tool_file_read(to, &module, size)) {
        snprintf(why, BENCH_WHY, "glslangValidator does not compile %s", name);
        return NULL;
    }
    return module;
}

static bool make_pipeline(const vulkan *v, const char *kernel, const uint32_t words[WORDS],
                          VkPipeline *pipeline, char *why) {
    VkSpecializationMapEntry entries[WORDS];
    size_t size;
    unsigned char *module = compile(v, kernel, &size, why);
    if (!module) return false;
    for (uint32_t i = 0; i < WORDS; i++) entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
    const VkSpecializationInfo special = {WORDS, entries, WORDS * sizeof *words, words};
    const VkShaderModuleCreateInfo shader = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = size,
                                             .pCode = (const uint32_t *)(const void *)module};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &special},
        .layout = v->layout};
    bool fine = good(v->vkCreateShaderModule(v->device, &shader, NULL, &info.stage.module),
                     "vkCreateShaderModule", why);
    free(module);
    if (!fine) return false;
    fine = good(v->vkCreateComputePipelines(v->device, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
                "vkCreateComputePipelines", why);
    v->vkDestroyShaderModule(v->device, info.stage.module, NULL);
    return fine;
}

/* ---- commands ---- */

typedef struct dispatch {
    VkPipeline pipeline;
    uint32_t groups[2];
    unsigned char push[PUSH_BYTES];
} dispatch;

/* Behind what was done before, as each other one is. */
static void record_barrier(const vulkan *v, VkCommandBuffer commands) {
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    v->vkCmdPipelineBarrier(commands, stages, stages, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static bool record(const vulkan *v, const dispatch *all, uint32_t count, VkCommandBuffer *commands,
                   char *why) {
    const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = v->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    if (!good(v->vkAllocateCommandBuffers(v->device, &info, commands), "vkAllocateCommandBuffers", why) ||
        !good(v->vkBeginCommandBuffer(*commands, &begin), "vkBeginCommandBuffer", why))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        record_barrier(v, *commands);
        v->vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, all[i].pipeline);
        v->vkCmdPushConstants(*commands, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSH_BYTES, all[i].push);
        v->vkCmdDispatch(*commands, all[i].groups[0], all[i].groups[1], 1);
    }
    record_barrier(v, *commands);
    return good(v->vkEndCommandBuffer(*commands), "vkEndCommandBuffer", why);
}

/* Between qn_stream_native_begin and qn_stream_native_end. */
static VkQueue queue_of(const vulkan *v) {
    uint64_t queue = 0;
    return qn_stream_native(v->d->stream, QN_NATIVE_VULKAN_QUEUE, &queue) ? NULL : (VkQueue)(uintptr_t)queue;
}

static bool submit(const vulkan *v, VkQueue queue, const VkCommandBuffer *commands) {
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = commands};
    return v->vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS;
}

/* ---- the device ---- */

static bool load_functions(vulkan *v, char *why) {
    static const char *const names[] = {"libvulkan.so.1", "libvulkan.so", NULL};
    PFN_vkGetInstanceProcAddr get = NULL;
    const bench_symbol symbol = {"vkGetInstanceProcAddr", (void *)&get};
    uint64_t instance = 0, device = 0;
    if (!bench_library_load(names, &symbol, 1, why)) return false;
    qn_status status = qn_device_native(v->d->device, QN_NATIVE_VULKAN_INSTANCE, &instance);
    if (!status) status = qn_device_native(v->d->device, QN_NATIVE_VULKAN_DEVICE, &device);
    if (status) {
        snprintf(why, BENCH_WHY, "%s", qn_error_message(v->d->context));
        return false;
    }
    bool all = true;
#define LOAD(name)                                                                                           \
    v->name = (PFN_##name)get((VkInstance)(uintptr_t)instance, #name);                                       \
    all = all && v->name;
    FUNCTIONS(LOAD)
#undef LOAD
    v->device = (VkDevice)(uintptr_t)device;
    if (!all) snprintf(why, BENCH_WHY, "the driver lacks functions of Vulkan 1.0");
    return all;
}

static bool make_objects(vulkan *v, char *why) {
    uint64_t family = 0;
    if (qn_device_native(v->d->device, QN_NATIVE_VULKAN_QUEUE_FAMILY, &family)) return false;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = (uint32_t)family};
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSH_BYTES};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    return good(v->vkCreateCommandPool(v->device, &pool, NULL, &v->pool), "vkCreateCommandPool", why) &&
           good(v->vkCreatePipelineLayout(v->device, &layout, NULL, &v->layout), "vkCreatePipelineLayout",
                why);
}

static void close_vulkan(void *peer) {
    vulkan *v = peer;
    qn_stream_wait(v->d->stream, QN_FOREVER);
    if (v->count) v->vkDestroyPipeline(v->device, v->count, NULL);
    if (v->layout) v->vkDestroyPipelineLayout(v->device, v->layout, NULL);
    if (v->pool) v->vkDestroyCommandPool(v->device, v->pool, NULL);
    remove_twins(v);
    free(v);
}

static void *open_vulkan(const bench_device *d, char *why) {
    vulkan *v = tool_alloc(sizeof *v);
    v->d = d;
    if (system("glslangValidator --version >/dev/null 2>&1") != 0) {
        snprintf(why, BENCH_WHY, "there is no glslangValidator to make its modules");
        free(v);
        return NULL;
    }
    if (load_functions(v, why) && make_objects(v, why) && write_twins(v, why)) return v;
    close_vulkan(v);
    return NULL;
}

/* ---- workloads ---- */

typedef struct session {
    const vulkan *v;
    bench_workload_buffers buffers;
    uint64_t places[BENCH_MAX_BUFFERS];
    dispatch *all; /* one a step */
    VkCommandBuffer commands;
} session;

static void release(void *user) {
    session *s = user;
    const vulkan *v = s->v;
    qn_stream_wait(v->d->stream, QN_FOREVER);
    if (s->commands) v->vkFreeCommandBuffers(v->device, v->pool, 1, &s->commands);
    for (uint32_t i = 0; i < s->buffers.load->num_steps; i++)
        if (s->all[i].pipeline) v->vkDestroyPipeline(v->device, s->all[i].pipeline, NULL);
    bench_buffers_free(&s->buffers);
    free(s->all);
    free(s);
}

/* As push constants, one after another where their sizes let them. */
static void set_args(session *s, const bench_workload_step *step, dispatch *to) {
    size_t used = 0;
    for (uint32_t a = 0; a < step->num_args; a++) {
        const bench_arg *arg = &step->args[a];
        const bool is_buffer = arg->kind == BENCH_BUFFER;
        const size_t size = is_buffer ? 8 : 4;
        if (arg->kind == BENCH_LOCAL) continue;
        used = (used + size - 1) / size * size;
        memcpy(to->push + used, is_buffer ? (const void *)&s->places[arg->value.u] : &arg->value, size);
        used += size;
    }
}

static bool make_step(session *s, uint32_t index, char *why) {
    const bench_workload_step *step = &s->buffers.load->steps[index];
    dispatch *to = &s->all[index];
    uint32_t words[WORDS] = {step->local[0], step->local[1] ? step->local[1] : 1, 1, 1};
    for (uint32_t a = 0; a < step->num_args; a++)
        if (step->args[a].kind == BENCH_LOCAL) words[3] = step->args[a].value.u / 4;
    to->groups[0] = (uint32_t)(step->global[0] / step->local[0]);
    to->groups[1] = step->global[1] ? (uint32_t)(step->global[1] / step->local[1]) : 1;
    set_args(s, step, to);
    return make_pipeline(s->v, step->kernel, words, &to->pipeline, why);
}

static bool make_buffers(session *s, char *why) {
    qn_status status = bench_buffers_make(&s->buffers);
    for (uint32_t i = 0; i < s->buffers.load->num_buffers && !status; i++)
        status = qn_buffer_native(s->buffers.all[i], QN_NATIVE_VULKAN_ADDRESS, &s->places[i]);
    if (status) snprintf(why, BENCH_WHY, "%s", qn_error_message(s->v->d->context));
    return !status;
}

static void *prepare(void *peer, const bench_workload *load, const char *file, const char *source,
                     char *why) {
    const vulkan *v = peer;
    session *s = tool_alloc(sizeof *s);
    (void)file;
    (void)source;
    *s = (session){.v = v, .buffers = {.d = v->d, .load = load}};
    s->all = tool_alloc(load->num_steps * sizeof *s->all);
    bool fine = make_buffers(s, why);
    for (uint32_t i = 0; i < load->num_steps && fine; i++) fine = make_step(s, i, why);
    if (fine && record(v, s->all, load->num_steps, &s->commands, why)) return s;
    release(s);
    return NULL;
}

static bool reset(void *user) { return bench_buffers_reset(&((session *)user)->buffers) == QN_OK; }

static bool run(void *user, uint32_t count) {
    session *s = user;
    const vulkan *v = s->v;
    if (qn_stream_native_begin(v->d->stream, s->buffers.all, s->buffers.load->num_buffers)) return false;
    VkQueue queue = queue_of(v);
    bool fine = queue != NULL;
    for (uint32_t i = 0; i < count && fine; i++) fine = submit(v, queue, &s->commands);
    return qn_stream_native_end(v->d->stream) == QN_OK && fine;
}

static bool read_back(void *user, uint32_t buffer, void *to) {
    return bench_buffers_read(&((session *)user)->buffers, buffer, to) == QN_OK;
}

/* ---- launches: command buffers that were recorded before, submitted in a loop ---- */

static bool make_launches(vulkan *v, bench_place counters) {
    char why[BENCH_WHY];
    const uint32_t words[WORDS] = {BENCH_LAUNCH_ITEMS, 1, 1, 1}, one = 1;
    dispatch all[BENCH_GRAPH_LAUNCHES] = {{.groups = {1, 1}}};
    if (v->graph) return true;
    if (!make_pipeline(v, "count", words, &v->count, why)) return false;
    all[0].pipeline = v->count;
    memcpy(all[0].push, &counters.at, sizeof counters.at);
    memcpy(all[0].push + sizeof counters.at, &one, sizeof one);
    for (int i = 1; i < BENCH_GRAPH_LAUNCHES; i++) all[i] = all[0];
    return record(v, all, 1, &v->launch, why) && record(v, all, BENCH_GRAPH_LAUNCHES, &v->graph, why);
}

static bool launch(void *peer, const bench_launches *what, bench_place counters, uint32_t count) {
    vulkan *v = peer;
    bool fine = make_launches(v, counters);
    VkQueue queue = queue_of(v);
    fine = fine && queue;
    for (uint32_t i = 0; i < count && fine; i++) {
        fine = submit(v, queue, what->is_graph ? &v->graph : &v->launch);
        if (fine && what->waits) fine = v->vkQueueWaitIdle(queue) == VK_SUCCESS;
    }
    return fine;
}

static const bench_code_peer code_peer = {prepare, reset, run, read_back, release};

#else

static void *open_vulkan(const bench_device *d, char *why) {
    (void)d;
    snprintf(why, BENCH_WHY, "this program was built without Vulkan's headers");
    return NULL;
}

static void close_vulkan(void *peer) { (void)peer; }

static bool launch(void *peer, const bench_launches *what, bench_place counters, uint32_t count) {
    (void)peer, (void)what, (void)counters, (void)count;
    return false;
}

static const bench_code_peer code_peer;

#endif

const bench_peer_type bench_vulkan_driver = {.name = "driver",
                                             .kind = QN_DEVICE_VULKAN,
                                             .open = open_vulkan,
                                             .close = close_vulkan,
                                             .launch = launch,
                                             .has_graphs = true},
                      bench_glslang = {.name = "glslang",
                                       .kind = QN_DEVICE_VULKAN,
                                       .open = open_vulkan,
                                       .close = close_vulkan,
                                       .code = &code_peer};
