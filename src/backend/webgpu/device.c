/* A WebGPU device: what it is and can do, and the backend's table. */
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"

enum { MOST_ITEMS = 1024 }; /* in a group: for as many the lowered collectives have room (pass/group.h) */

/* ---- opening ---- */

void qn__wg_was_lost(qn__gpu *gpu, const char *message) {
    char why[QN__WHY];
    const char *kernel = gpu->last_queue ? qn__flight_first(&gpu->last_queue->flight) : NULL;
    qn__lose(&gpu->loss, why, "the device is lost%s%.120s: %s", kernel ? " in kernel " : "",
             kernel ? kernel : "", message);
}

static void was_lost(wg_object const *device, uint32_t reason, wg_text message, void *user, void *second) {
    char text[200];
    (void)device, (void)second;
    if (reason == WG_LOST_DESTROYED || !((qn__gpu *)user)->device) return;
    qn__wg_copy_text(text, sizeof text, message);
    qn__wg_was_lost(user, text);
}

static void got_device(uint32_t status, wg_object device, wg_text message, void *user, void *second) {
    (void)second;
    if (status == WG_SUCCESS)
        ((qn__gpu *)user)->device = device;
    else
        qn__wg_copy_text(((qn__gpu *)user)->description, sizeof((qn__gpu *)user)->description, message);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void take_limits(qn__gpu *gpu, const wg_limits *limits) {
    const uint32_t *rest = limits->rest + gpu->dialect->limits_behind;
    gpu->max_binding = limits->storage_size / 16 * 16;
    gpu->max_buffer = limits->buffer_size / 16 * 16;
    gpu->max_uniform = limits->uniform_size;
    gpu->storage_alignment = limits->storage_alignment;
    gpu->num_storage = limits->storage_buffers;
    gpu->local_memory = rest[0];
    gpu->max_group = least(rest[1], MOST_ITEMS);
    for (int d = 0; d < 3; d++) {
        gpu->max_local[d] = least(rest[2 + d], gpu->max_group);
        gpu->max_groups[d] = rest[5];
    }
}

static void describe(qn__gpu *gpu) {
    wg_about about;
    qn__wg_ask_about(gpu->api, gpu->adapter, &about);
    memcpy(gpu->description, about.device, sizeof gpu->description);
    gpu->emulated = about.type == WG_ADAPTER_CPU;
    snprintf(gpu->version, sizeof gpu->version, "%s, %.120s", gpu->dialect->name, about.description);
    snprintf(gpu->cache_key, sizeof gpu->cache_key, "WebGPU; %s; %s", gpu->version, gpu->description);
}

/* Of devices whose sub-groups have one size and are consecutive work-items, which the interface does not tell: those of NVIDIA,
   and Mesa's software driver, which says how wide its vectors are: "llvmpipe (LLVM 15.0.6, 256 bits)". */
static uint32_t sub_group_size(const qn__gpu *gpu) {
    enum { NVIDIA = 0x10de, WIDTH = 32 };
    wg_about about;
    qn__wg_ask_about(gpu->api, gpu->adapter, &about);
    if (about.vendor_id == NVIDIA) return WIDTH;
    unsigned version[3], bits;
    const bool known = sscanf(about.device, "llvmpipe (LLVM %u.%u.%u, %u bits)", &version[0], &version[1],
                              &version[2], &bits) == 4;
    return known && about.type == WG_ADAPTER_CPU && bits >= 128 && bits <= 1024 ? bits / 32 : 0;
}

/* What the adapter has of what is of use. */
enum { FEATURES = 3 };
static size_t choose_features(qn__gpu *gpu, uint32_t features[FEATURES], bool *times) {
    const wg_dialect *dialect = gpu->dialect;
    size_t count = 0;
    *times = gpu->api->wgpuAdapterHasFeature(gpu->adapter, dialect->times_feature);
    if (*times) features[count++] = dialect->times_feature;
    if (gpu->api->wgpuAdapterHasFeature(gpu->adapter, dialect->sub_groups_feature))
        gpu->sub_group_size = sub_group_size(gpu);
    if (gpu->sub_group_size) features[count++] = dialect->sub_groups_feature;
    gpu->has_f16 = gpu->api->wgpuAdapterHasFeature(gpu->adapter, dialect->f16_feature);
    if (gpu->has_f16) features[count++] = dialect->f16_feature;
    return count;
}

static qn_status open_device(qn__gpu *gpu, char *why) {
    wg_limits limits = {0};
    gpu->api->wgpuAdapterGetLimits(gpu->adapter, &limits);
    limits.chain = NULL;
    static const char *const rounds[] = {"timestamp_quantization"};
    static const char *const trusts[] = {"disable_robustness", "disable_workgroup_init"};
    wg_toggles toggles = {.chain = {.type = WG_DAWN_TOGGLES},
                          .num_on = QN__COUNT(trusts),
                          .on = trusts,
                          .num_off = 1,
                          .off = rounds};
    uint32_t features[FEATURES];
    bool times;
    const size_t num_features = choose_features(gpu, features, &times);
    const wg_device_desc desc = {
        .chain = gpu->dialect->has_toggles ? &toggles.chain : NULL,
        .num_features = num_features,
        .features = features,
        .limits = &limits,
        .lost = {.mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))was_lost, .user = gpu},
        .error = {.call = qn__wg_note_error, .user = gpu},
    };
    const wg_callback callback = {
        .mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))got_device, .user = gpu};
    gpu->api->wgpuAdapterRequestDevice(gpu->adapter, &desc, callback);
    for (int i = 0; i < 100 && !gpu->device; i++) gpu->api->wgpuInstanceProcessEvents(gpu->instance);
    if (!gpu->device) {
        snprintf(why, QN__WHY, "%s cannot open the device: %.200s", gpu->dialect->name, gpu->description);
        return QN_ERROR_DRIVER;
    }
    take_limits(gpu, &limits);
    describe(gpu);
    gpu->queue = gpu->api->wgpuDeviceGetQueue(gpu->device);
    gpu->params_new = UINT32_MAX;
    gpu->blocks = qn__allocate_zeroed(gpu->services->allocator, QN__WG_PARAMS);
    if (!gpu->blocks) return QN_ERROR_OUT_OF_MEMORY;
    char message[QN__WHY] = "";
    gpu->params = qn__wg_buffer(gpu, WG_USE_UNIFORM | WG_USE_COPY_TO, QN__WG_PARAMS, message);
    for (int i = 0; i < 2 && !message[0]; i++)
        gpu->nothing[i] = qn__wg_buffer(gpu, WG_USE_STORAGE, 16, message);
    if (times) qn__wg_times_begin(gpu);
    if (gpu->queue && gpu->params && gpu->nothing[0] && gpu->nothing[1]) return QN_OK;
    snprintf(why, QN__WHY, "%s gives no queue or no memory%s%.200s", gpu->dialect->name,
             message[0] ? ": " : "", message);
    return QN_ERROR_DRIVER;
}

static void gpu_close(qn__gpu *gpu) {
    if (gpu->device) qn__wg_drain(gpu);
    qn__wg_times_end(gpu);
    if (gpu->params) gpu->api->wgpuBufferRelease(gpu->params);
    for (int i = 0; i < 2; i++)
        if (gpu->nothing[i]) gpu->api->wgpuBufferRelease(gpu->nothing[i]);
    if (gpu->queue) gpu->api->wgpuQueueRelease(gpu->queue);
    if (gpu->device) gpu->api->wgpuDeviceRelease(gpu->device);
    qn__release(gpu->services->allocator, gpu->blocks);
    qn__loss_free(&gpu->loss);
    pthread_mutex_destroy(&gpu->lock);
    qn__release(gpu->services->allocator, gpu);
}

static qn_status gpu_open(qn__driver *driver, uint32_t index, qn__gpu **out, char *why) {
    const qn__services *services = driver->services;
    qn__gpu *gpu = qn__allocate_zeroed(services->allocator, sizeof *gpu);
    if (!gpu) return QN_ERROR_OUT_OF_MEMORY;
    gpu->services = services;
    gpu->api = &driver->api;
    gpu->dialect = driver->dialect;
    gpu->instance = driver->instance;
    gpu->adapter = driver->adapters[index];
    gpu->serial = 1;
    atomic_store(&gpu->next_address, (uint64_t)1 << 40);
    pthread_mutex_init(&gpu->lock, NULL);
    qn__loss_init(&gpu->loss);
    qn_status status = open_device(gpu, why);
    if (status)
        gpu_close(gpu);
    else
        *out = gpu;
    return status;
}

/* ---- what it can do ---- */

static void gpu_info(const qn__gpu *gpu, qn_device_info *info) {
    const uint64_t most = (uint64_t)1 << 48;
    *info = (qn_device_info){
        .description = gpu->description,
        .driver = gpu->version,
        .compute_units = 1, /* the interface does not tell */
        .sub_group_size = gpu->sub_group_size ? gpu->sub_group_size : 32,
        .max_group_size = gpu->max_group,
        .max_local_size = {gpu->max_local[0], gpu->max_local[1], gpu->max_local[2]},
        .max_global_size = {most, most, most},
        .local_memory = gpu->local_memory,
        .memory = gpu->max_buffer,
        .max_buffer = gpu->max_buffer,
        .max_args_size = (uint32_t)(gpu->max_uniform < 4096 ? gpu->max_uniform / 2 : gpu->max_uniform - 2048),
    };
}

static void target(const qn__gpu *gpu, qn__target *target) {
    enum { LLVMPIPE_LOOPS = 65535 }; /* as in Vulkan's backend: the only software driver there is for it */
    *target = (qn__target){
        .kind = QN__TARGET_WGSL,
        .sub_group_size = gpu->sub_group_size ? gpu->sub_group_size : 32,
        .lacks_sub_groups = !gpu->sub_group_size,
        .has_f16_conversions = gpu->has_f16,
        .loop_limit = gpu->emulated ? LLVMPIPE_LOOPS : 0,
        .lacks_fast_fma32 = gpu->emulated, /* Mesa's software driver multiplies and adds */
        .lacks_exact_fma = gpu->emulated,
        .lacks_loop_results = gpu->emulated,
        .lacks_lasting_code = gpu->emulated,
        .lacks_exact_sums = true, /* drivers make b of (a + b) - a; WGSL cannot forbid it */
        .lacks_exact_choices = !gpu->emulated,
        .lacks_division = !gpu->emulated,
        .lacks_f32_denormals = true,
        .wants_one_buffer_type = gpu->dialect->refuses_aliases || gpu->num_storage < QN__WG_BINDINGS,
        .wants_unrolled = !gpu->emulated};
}

static const char *cache_key(const qn__gpu *gpu) { return gpu->cache_key; }

static bool is_lost(qn__gpu *gpu, char *why) { return qn__is_lost_by(&gpu->loss, why); }

static uint64_t native(const qn__gpu *gpu, const qn__queue *queue, const qn__memory *memory,
                       qn_native_kind kind) {
    (void)queue; /* there is one for all */
    switch (kind) {
    case QN_NATIVE_WEBGPU_INSTANCE: return (uint64_t)(uintptr_t)gpu->instance;
    case QN_NATIVE_WEBGPU_DEVICE: return (uint64_t)(uintptr_t)gpu->device;
    case QN_NATIVE_WEBGPU_QUEUE: return (uint64_t)(uintptr_t)gpu->queue;
    case QN_NATIVE_WEBGPU_BUFFER: return (uint64_t)(uintptr_t)memory->buffer;
    default: return 0; /* QN_NATIVE_OFFSET: each has a buffer of its own */
    }
}

const qn_backend qn__backend_webgpu = {
    .kind = QN_DEVICE_WEBGPU,
    .name = "webgpu",
    .by_name_only = true,
    .code_extension = ".wgsl",
    .open = qn__wg_open,
    .close = qn__wg_close,
    .identify = qn__wg_identify,
    .gpu_open = gpu_open,
    .gpu_close = gpu_close,
    .is_lost = is_lost,
    .gpu_info = gpu_info,
    .target = target,
    .cache_key = cache_key,
    .memory_create = qn__wg_memory_create,
    .memory_destroy = qn__wg_memory_destroy,
    .queue_create = qn__wg_queue_create,
    .queue_destroy = qn__wg_queue_destroy,
    .submit = qn__wg_submit,
    .completed = qn__wg_completed,
    .wait = qn__wg_wait,
    .failure = qn__wg_failure,
    .unfinished = qn__wg_unfinished,
    .mark_create = qn__wg_mark_create,
    .mark_destroy = qn__wg_mark_destroy,
    .mark_done = qn__wg_mark_done,
    .mark_wait = qn__wg_mark_wait,
    .code_load = qn__wg_code_load,
    .code_unload = qn__wg_code_unload,
    .choose_local = qn__wg_choose_local,
    .replay_create = qn__wg_replay_create,
    .replay_destroy = qn__wg_replay_destroy,
    .replay_submit = qn__wg_replay_submit,
    .native = native,
    .lend = qn__wg_lend,
    .take_back = qn__wg_take_back,
};
