/* WebGPU's C interface as far as it is used: webgpu.h of webgpu-native, whose structs begin with a chain of extensions. The
   implementations differ in how far they follow it; what is not the same in wgpu-native and Dawn stands in the table of
   driver.c. Handles and enumerations are pointers and words here. */
#ifndef QN__WEBGPU_API_H
#define QN__WEBGPU_API_H

#include <stddef.h>
#include <stdint.h>

typedef void *wg_object;

typedef struct wg_text {
    const char *data;
    size_t length;
} wg_text;
#define WG_TEXT_END SIZE_MAX /* length of a text that ends in a zero */

typedef struct wg_chain {
    struct wg_chain *next;
    uint32_t type;
} wg_chain;

enum {
    WG_SHADER_SOURCE_WGSL = 2,
    WG_ALLOW_PROCESS_EVENTS = 2,
    WG_MAP_READ = 1,
    WG_SUCCESS = 1,
    WG_VALIDATION = 1, /* filters of errors */
    WG_OUT_OF_MEMORY = 2,
    WG_NO_ERROR = 1, /* their types */
    WG_ERROR_MEMORY = 3,
    WG_ADAPTER_CPU = 3,
    WG_BACKEND_VULKAN = 6,
    WG_LOST_DESTROYED = 2,
    WG_QUERY_TIMES = 2,
    WG_DAWN_TOGGLES = 0x5000A /* of the chain; Dawn's own */
};

enum { /* of buffers */
       WG_USE_MAP_READ = 1,
       WG_USE_COPY_FROM = 4,
       WG_USE_COPY_TO = 8,
       WG_USE_UNIFORM = 0x40,
       WG_USE_STORAGE = 0x80,
       WG_USE_RESOLVE = 0x200
};

/* What follows differs from here on. */
typedef struct wg_limits {
    wg_chain *chain;
    uint32_t textures[4], groups, groups_and_vertices, bindings, dynamic[2], sampled, samplers,
        storage_buffers, storage_textures, uniform_buffers;
    uint64_t uniform_size, storage_size;
    uint32_t uniform_alignment, storage_alignment, vertex_buffers;
    uint64_t buffer_size;
    uint32_t vertex_attributes, vertex_stride;
    uint32_t rest[32];
} wg_limits;

typedef struct wg_adapter_info {
    wg_chain *chain;
    wg_text vendor, architecture, device, description;
    uint32_t backend, type, vendor_id, device_id;
    uint32_t rest[8];
} wg_adapter_info;

typedef struct wg_future {
    uint64_t id;
} wg_future;

typedef struct wg_callback {
    wg_chain *chain;
    uint32_t mode;
    void (*call)(void); /* of the function's own type */
    void *user, *second;
} wg_callback;

typedef struct wg_error_callback {
    wg_chain *chain;
    void (*call)(wg_object const *device, uint32_t type, wg_text message, void *user, void *second);
    void *user, *second;
} wg_error_callback;

typedef struct wg_device_desc {
    wg_chain *chain;
    wg_text label;
    size_t num_features;
    const uint32_t *features;
    const wg_limits *limits;
    struct {
        wg_chain *chain;
        wg_text label;
    } queue;
    wg_callback lost;
    wg_error_callback error;
} wg_device_desc;

typedef struct wg_buffer_desc {
    wg_chain *chain;
    wg_text label;
    uint64_t usage, size;
    uint32_t mapped;
} wg_buffer_desc;

typedef struct wg_labelled { /* descriptors of encoders, passes, shader modules */
    wg_chain *chain;
    wg_text label;
    const void *times; /* of a pass */
} wg_labelled;

/* Of a pass. The older state of the header has no chain: there it begins behind it. */
typedef struct wg_pass_times {
    wg_chain *chain;
    wg_object queries;
    uint32_t begin, end; /* UINT32_MAX: none */
} wg_pass_times;

typedef struct wg_queries_desc {
    wg_chain *chain;
    wg_text label;
    uint32_t type, count;
} wg_queries_desc;

typedef struct wg_toggles {
    wg_chain chain;
    size_t num_on;
    const char *const *on;
    size_t num_off;
    const char *const *off;
} wg_toggles;

typedef struct wg_wgsl {
    wg_chain chain;
    wg_text code;
} wg_wgsl;

typedef struct wg_constant {
    wg_chain *chain;
    wg_text key;
    double value;
} wg_constant;

typedef struct wg_pipeline_desc {
    wg_chain *chain;
    wg_text label;
    wg_object layout;
    struct {
        wg_chain *chain;
        wg_object module;
        wg_text entry;
        size_t num_constants;
        const wg_constant *constants;
    } compute;
} wg_pipeline_desc;

typedef struct wg_binding {
    wg_chain *chain;
    uint32_t binding;
    wg_object buffer;
    uint64_t offset, size;
    wg_object sampler, view;
} wg_binding;

typedef struct wg_group_desc {
    wg_chain *chain;
    wg_text label;
    wg_object layout;
    size_t num_entries;
    const wg_binding *entries;
} wg_group_desc;

/* SYMBOL(result, name, parameters) of all implementations. */
#define QN__WEBGPU_FUNCTIONS(SYMBOL)                                                                         \
    SYMBOL(wg_object, wgpuCreateInstance, (const void *desc))                                                \
    SYMBOL(void, wgpuInstanceRelease, (wg_object instance))                                                  \
    SYMBOL(void, wgpuInstanceProcessEvents, (wg_object instance))                                            \
    SYMBOL(uint32_t, wgpuAdapterGetLimits, (wg_object adapter, wg_limits * limits))                          \
    SYMBOL(uint32_t, wgpuAdapterGetInfo, (wg_object adapter, wg_adapter_info * info))                        \
    SYMBOL(void, wgpuAdapterInfoFreeMembers, (wg_adapter_info info))                                         \
    SYMBOL(uint32_t, wgpuAdapterHasFeature, (wg_object adapter, uint32_t feature))                           \
    SYMBOL(wg_object, wgpuDeviceCreateQuerySet, (wg_object device, const wg_queries_desc *desc))             \
    SYMBOL(void, wgpuQuerySetRelease, (wg_object queries))                                                   \
    SYMBOL(void, wgpuCommandEncoderResolveQuerySet,                                                          \
           (wg_object encoder, wg_object queries, uint32_t first, uint32_t count, wg_object to,              \
            uint64_t offset))                                                                                \
    SYMBOL(void, wgpuAdapterRelease, (wg_object adapter))                                                    \
    SYMBOL(wg_object, wgpuDeviceGetQueue, (wg_object device))                                                \
    SYMBOL(void, wgpuDeviceRelease, (wg_object device))                                                      \
    SYMBOL(void, wgpuDevicePushErrorScope, (wg_object device, uint32_t filter))                              \
    SYMBOL(wg_object, wgpuDeviceCreateBuffer, (wg_object device, const wg_buffer_desc *desc))                \
    SYMBOL(wg_object, wgpuDeviceCreateShaderModule, (wg_object device, const wg_labelled *desc))             \
    SYMBOL(wg_object, wgpuDeviceCreateComputePipeline, (wg_object device, const wg_pipeline_desc *desc))     \
    SYMBOL(wg_object, wgpuDeviceCreateBindGroup, (wg_object device, const wg_group_desc *desc))              \
    SYMBOL(wg_object, wgpuDeviceCreateCommandEncoder, (wg_object device, const wg_labelled *desc))           \
    SYMBOL(wg_object, wgpuComputePipelineGetBindGroupLayout, (wg_object pipeline, uint32_t index))           \
    SYMBOL(wg_object, wgpuCommandEncoderBeginComputePass, (wg_object encoder, const wg_labelled *desc))      \
    SYMBOL(wg_object, wgpuCommandEncoderFinish, (wg_object encoder, const wg_labelled *desc))                \
    SYMBOL(void, wgpuCommandEncoderCopyBufferToBuffer,                                                       \
           (wg_object encoder, wg_object from, uint64_t from_offset, wg_object to, uint64_t to_offset,       \
            uint64_t size))                                                                                  \
    SYMBOL(void, wgpuCommandEncoderClearBuffer,                                                              \
           (wg_object encoder, wg_object buffer, uint64_t offset, uint64_t size))                            \
    SYMBOL(void, wgpuComputePassEncoderSetPipeline, (wg_object pass, wg_object pipeline))                    \
    SYMBOL(void, wgpuComputePassEncoderSetBindGroup,                                                         \
           (wg_object pass, uint32_t index, wg_object group, size_t num_offsets, const uint32_t *offsets))   \
    SYMBOL(void, wgpuComputePassEncoderDispatchWorkgroups,                                                   \
           (wg_object pass, uint32_t x, uint32_t y, uint32_t z))                                             \
    SYMBOL(void, wgpuComputePassEncoderEnd, (wg_object pass))                                                \
    SYMBOL(void, wgpuComputePassEncoderRelease, (wg_object pass))                                            \
    SYMBOL(void, wgpuCommandEncoderRelease, (wg_object encoder))                                             \
    SYMBOL(void, wgpuCommandBufferRelease, (wg_object commands))                                             \
    SYMBOL(void, wgpuBindGroupRelease, (wg_object group))                                                    \
    SYMBOL(void, wgpuBindGroupLayoutRelease, (wg_object layout))                                             \
    SYMBOL(void, wgpuComputePipelineRelease, (wg_object pipeline))                                           \
    SYMBOL(void, wgpuShaderModuleRelease, (wg_object module))                                                \
    SYMBOL(void, wgpuQueueSubmit, (wg_object queue, size_t count, const wg_object *commands))                \
    SYMBOL(void, wgpuQueueWriteBuffer,                                                                       \
           (wg_object queue, wg_object buffer, uint64_t offset, const void *data, size_t size))              \
    SYMBOL(void, wgpuQueueRelease, (wg_object queue))                                                        \
    SYMBOL(const void *, wgpuBufferGetConstMappedRange, (wg_object buffer, size_t offset, size_t size))      \
    SYMBOL(void, wgpuBufferUnmap, (wg_object buffer))                                                        \
    SYMBOL(void, wgpuBufferDestroy, (wg_object buffer))                                                      \
    SYMBOL(void, wgpuBufferRelease, (wg_object buffer))

/* The same of one implementation or another: wgpu-native's, and how it is told to look what is done. */
#define QN__WEBGPU_OTHER_FUNCTIONS(SYMBOL)                                                                   \
    SYMBOL(uint32_t, wgpuDevicePoll, (wg_object device, uint32_t wait, const void *index))                   \
    SYMBOL(wg_object, wgpuDeviceCreateShaderModuleTrusted,                                                   \
           (wg_object device, const wg_labelled *desc, uint64_t checks))                                     \
    SYMBOL(float, wgpuQueueGetTimestampPeriod, (wg_object queue))                                            \
    SYMBOL(void, wgpuDeviceTick, (wg_object device))

/* Functions with callbacks, whose names end otherwise in Dawn. */
#define QN__WEBGPU_ASKING_FUNCTIONS(SYMBOL)                                                                  \
    SYMBOL(wg_future, wgpuInstanceRequestAdapter,                                                            \
           (wg_object instance, const void *options, wg_callback callback))                                  \
    SYMBOL(wg_future, wgpuAdapterRequestDevice,                                                              \
           (wg_object adapter, const wg_device_desc *desc, wg_callback callback))                            \
    SYMBOL(wg_future, wgpuDevicePopErrorScope, (wg_object device, wg_callback callback))                     \
    SYMBOL(wg_future, wgpuBufferMapAsync,                                                                    \
           (wg_object buffer, uint64_t mode, size_t offset, size_t size, wg_callback callback))              \
    SYMBOL(wg_future, wgpuQueueOnSubmittedWorkDone, (wg_object queue, wg_callback callback))

typedef struct qn__wg {
#define SYMBOL(result, name, parameters) result(*name) parameters;
    QN__WEBGPU_FUNCTIONS(SYMBOL)
    QN__WEBGPU_OTHER_FUNCTIONS(SYMBOL)
    QN__WEBGPU_ASKING_FUNCTIONS(SYMBOL)
#undef SYMBOL
} qn__wg;

#endif
