/* The part of the CUDA driver API that is used, declared in our own words: libcuda.so.1 is opened at run time
   and neither the toolkit nor its headers are needed. Names, numbers and layouts are facts of the driver's ABI
   (CUDA Driver API reference); tests/cuda_facts.c compares them with cuda.h where a toolkit is installed. */
#ifndef QN__CUDA_DRIVER_H
#define QN__CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int qn__cu_result;
typedef int qn__cu_device;
typedef uint64_t qn__cu_address;
typedef struct qn__cu_context_object *qn__cu_context;
typedef struct qn__cu_stream_object *qn__cu_stream;
typedef struct qn__cu_event_object *qn__cu_event;
typedef struct qn__cu_pool_object *qn__cu_pool;
typedef struct qn__cu_link_object *qn__cu_link;
typedef struct qn__cu_module_object *qn__cu_module;
typedef struct qn__cu_function_object *qn__cu_function;
typedef struct qn__cu_graph_object *qn__cu_graph;
typedef struct qn__cu_exec_object *qn__cu_exec;
typedef struct qn__cu_external_object *qn__cu_external;
typedef unsigned long long qn__cu_allocation;
typedef struct qn__cu_node_object *qn__cu_node;

/* X(name behind QN__CU_, value): results that are told apart. */
#define QN__CU_RESULTS(X)                                                                                    \
    X(SUCCESS, 0)                                                                                            \
    X(ERROR_INVALID_VALUE, 1)                                                                                \
    X(ERROR_OUT_OF_MEMORY, 2)                                                                                \
    X(ERROR_DEINITIALIZED, 4)                                                                                \
    X(ERROR_DEVICE_UNAVAILABLE, 46)                                                                          \
    X(ERROR_NO_DEVICE, 100)                                                                                  \
    X(ERROR_ECC_UNCORRECTABLE, 214)                                                                          \
    X(ERROR_NVLINK_UNCORRECTABLE, 220)                                                                       \
    X(ERROR_JIT_COMPILER_NOT_FOUND, 221)                                                                     \
    X(ERROR_CONTAINED, 226)                                                                                  \
    X(ERROR_NOT_READY, 600)                                                                                  \
    X(ERROR_ILLEGAL_ADDRESS, 700)                                                                            \
    X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                                                    \
    X(ERROR_LAUNCH_TIMEOUT, 702)                                                                             \
    X(ERROR_CONTEXT_IS_DESTROYED, 709)                                                                       \
    X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                                                             \
    X(ERROR_ASSERT, 710)                                                                                     \
    X(ERROR_HARDWARE_STACK_ERROR, 714)                                                                       \
    X(ERROR_ILLEGAL_INSTRUCTION, 715)                                                                        \
    X(ERROR_MISALIGNED_ADDRESS, 716)                                                                         \
    X(ERROR_INVALID_ADDRESS_SPACE, 717)                                                                      \
    X(ERROR_INVALID_PC, 718)                                                                                 \
    X(ERROR_LAUNCH_FAILED, 719)                                                                              \
    X(ERROR_TENSOR_MEMORY_LEAK, 721)                                                                         \
    X(ERROR_NOT_SUPPORTED, 801)                                                                              \
    X(ERROR_EXTERNAL_DEVICE, 911)                                                                            \
    X(ERROR_UNKNOWN, 999)

/* X(name behind QN__CU_, value): flags, attributes and options. */
#define QN__CU_NUMBERS(X)                                                                                    \
    X(DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                             \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                                                   \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                                                                   \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                                                                   \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                                                    \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                                                                    \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7)                                                                    \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                                       \
    X(DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                                        \
    X(DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                             \
    X(DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                                                              \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                         \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                         \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                                \
    X(DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 99)                                                          \
    X(DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)                                                          \
    X(FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                               \
    X(FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                                   \
    X(FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                                    \
    X(FUNC_ATTRIBUTE_NUM_REGS, 4)                                                                            \
    X(FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                                       \
    X(FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 15)                                               \
    X(CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING, 2)                                                           \
    X(JIT_INFO_LOG_BUFFER, 3)                                                                                \
    X(JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                                                                     \
    X(JIT_ERROR_LOG_BUFFER, 5)                                                                               \
    X(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                                    \
    X(JIT_OPTIMIZATION_LEVEL, 7)                                                                             \
    X(JIT_TARGET_FROM_CUCONTEXT, 8)                                                                          \
    X(JIT_GENERATE_DEBUG_INFO, 11)                                                                           \
    X(JIT_GENERATE_LINE_INFO, 13)                                                                            \
    X(JIT_INPUT_PTX, 1)                                                                                      \
    X(MEM_ALLOCATION_TYPE_PINNED, 1)                                                                         \
    X(DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)                                             \
    X(DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)                                     \
    X(POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                                                   \
    X(POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                                                                \
    X(POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                                                      \
    X(EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, 1)                                                              \
    X(MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1)                                                              \
    X(MEM_ALLOC_GRANULARITY_MINIMUM, 0)                                                                      \
    X(MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                                                    \
    X(MEM_LOCATION_TYPE_DEVICE, 1)                                                                           \
    X(MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                                                                     \
    X(MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)                                                                  \
    X(MEMPOOL_ATTR_USED_MEM_CURRENT, 7)                                                                      \
    X(MEMHOSTALLOC_PORTABLE, 1)                                                                              \
    X(MEMHOSTALLOC_DEVICEMAP, 2)                                                                             \
    X(MEMHOSTREGISTER_PORTABLE, 1)                                                                           \
    X(MEMHOSTREGISTER_DEVICEMAP, 2)                                                                          \
    X(MEMHOSTREGISTER_READ_ONLY, 8)                                                                          \
    X(TENSOR_MAP_DATA_TYPE_UINT8, 0)                                                                         \
    X(TENSOR_MAP_DATA_TYPE_UINT16, 1)                                                                        \
    X(TENSOR_MAP_DATA_TYPE_UINT32, 2)                                                                        \
    X(TENSOR_MAP_DATA_TYPE_UINT64, 4)                                                                        \
    X(TENSOR_MAP_INTERLEAVE_NONE, 0)                                                                         \
    X(TENSOR_MAP_SWIZZLE_NONE, 0)                                                                            \
    X(TENSOR_MAP_SWIZZLE_128B, 3)                                                                            \
    X(TENSOR_MAP_L2_PROMOTION_L2_256B, 3)                                                                    \
    X(TENSOR_MAP_FLOAT_OOB_FILL_NONE, 0)                                                                     \
    X(STREAM_NON_BLOCKING, 1)                                                                                \
    X(STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                                                                   \
    X(EVENT_DEFAULT, 0)                                                                                      \
    X(EVENT_DISABLE_TIMING, 2)

enum {
#define QN__CU_ENUM(name, value) QN__CU_##name = value,
    QN__CU_RESULTS(QN__CU_ENUM) QN__CU_NUMBERS(QN__CU_ENUM)
#undef QN__CU_ENUM
};

typedef struct qn__cu_pool_props {
    int allocation_type, handle_types;
    struct {
        int type, id;
    } location;
    void *security;
    size_t max_size; /* 0: the driver's own */
    unsigned short usage;
    unsigned char reserved[54];
} qn__cu_pool_props;

typedef struct qn__cu_kernel_node {
    qn__cu_function function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
} qn__cu_kernel_node;

/* CUDA_MEMCPY3D */
typedef struct qn__cu_copy_side {
    size_t x, y, z, level;
    int type;
    const void *host;
    qn__cu_address device;
    void *array, *reserved;
    size_t pitch, height;
} qn__cu_copy_side;
typedef struct qn__cu_copy_node {
    qn__cu_copy_side from, to;
    size_t width, height, depth;
} qn__cu_copy_node;

/* cuMemCreate */
typedef struct qn__cu_allocation_props {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *security;
    unsigned char flags[8];
} qn__cu_allocation_props;

/* cuImportExternalMemory */
typedef struct qn__cu_external_desc {
    int type;
    union {
        int fd;
        void *others[2];
    } handle;
    unsigned long long size;
    unsigned flags, reserved[16];
} qn__cu_external_desc;

typedef struct qn__cu_external_range {
    unsigned long long offset, size;
    unsigned flags, reserved[16];
} qn__cu_external_range;

typedef struct qn__cu_access {
    struct {
        int type, id;
    } location;
    int flags;
} qn__cu_access;

/* X(field, exported name, parameters). The names carry the version of the ABI: those of CUDA 11.4. */
#define QN__CU_FUNCTIONS(X)                                                                                  \
    X(init, "cuInit", (unsigned flags))                                                                      \
    X(driver_version, "cuDriverGetVersion", (int *version))                                                  \
    X(error_name, "cuGetErrorName", (qn__cu_result result, const char **text))                               \
    X(error_string, "cuGetErrorString", (qn__cu_result result, const char **text))                           \
    X(device_count, "cuDeviceGetCount", (int *count))                                                        \
    X(device_get, "cuDeviceGet", (qn__cu_device * device, int ordinal))                                      \
    X(device_name, "cuDeviceGetName", (char *name, int size, qn__cu_device device))                          \
    X(device_uuid, "cuDeviceGetUuid_v2", (unsigned char uuid[16], qn__cu_device device))                     \
    X(device_total_mem, "cuDeviceTotalMem_v2", (size_t * bytes, qn__cu_device device))                       \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, qn__cu_device device))           \
    X(primary_retain, "cuDevicePrimaryCtxRetain", (qn__cu_context * context, qn__cu_device device))          \
    X(primary_release, "cuDevicePrimaryCtxRelease_v2", (qn__cu_device device))                               \
    X(primary_reset, "cuDevicePrimaryCtxReset_v2", (qn__cu_device device))                                   \
    X(context_push, "cuCtxPushCurrent_v2", (qn__cu_context context))                                         \
    X(context_pop, "cuCtxPopCurrent_v2", (qn__cu_context * context))                                         \
    X(can_access_peer, "cuDeviceCanAccessPeer", (int *can, qn__cu_device device, qn__cu_device peer))        \
    X(enable_peer, "cuCtxEnablePeerAccess", (qn__cu_context peer, unsigned flags))                           \
    X(mem_info, "cuMemGetInfo_v2", (size_t * free, size_t * total))                                          \
    X(mem_alloc, "cuMemAlloc_v2", (qn__cu_address * address, size_t size))                                   \
    X(mem_free, "cuMemFree_v2", (qn__cu_address address))                                                    \
    X(pool_create, "cuMemPoolCreate", (qn__cu_pool * pool, const qn__cu_pool_props *props))                  \
    X(pool_destroy, "cuMemPoolDestroy", (qn__cu_pool pool))                                                  \
    X(pool_set, "cuMemPoolSetAttribute", (qn__cu_pool pool, int attribute, void *value))                     \
    X(pool_get, "cuMemPoolGetAttribute", (qn__cu_pool pool, int attribute, void *value))                     \
    X(pool_set_access, "cuMemPoolSetAccess", (qn__cu_pool pool, const qn__cu_access *access, size_t count))  \
    X(pool_trim, "cuMemPoolTrimTo", (qn__cu_pool pool, size_t keep))                                         \
    X(pool_alloc, "cuMemAllocFromPoolAsync",                                                                 \
      (qn__cu_address * address, size_t size, qn__cu_pool pool, qn__cu_stream stream))                       \
    X(pool_free, "cuMemFreeAsync", (qn__cu_address address, qn__cu_stream stream))                           \
    X(host_alloc, "cuMemHostAlloc", (void **memory, size_t size, unsigned flags))                            \
    X(pointer_get, "cuPointerGetAttribute", (void *value, int attribute, qn__cu_address address))            \
    X(external_import, "cuImportExternalMemory",                                                             \
      (qn__cu_external * external, const qn__cu_external_desc *desc))                                        \
    X(external_map, "cuExternalMemoryGetMappedBuffer",                                                       \
      (qn__cu_address * address, qn__cu_external external, const qn__cu_external_range *range))              \
    X(external_destroy, "cuDestroyExternalMemory", (qn__cu_external external))                               \
    X(granularity, "cuMemGetAllocationGranularity",                                                          \
      (size_t * granularity, const qn__cu_allocation_props *props, int option))                              \
    X(allocation_create, "cuMemCreate",                                                                      \
      (qn__cu_allocation * allocation, size_t size, const qn__cu_allocation_props *props,                    \
       unsigned long long flags))                                                                            \
    X(allocation_release, "cuMemRelease", (qn__cu_allocation allocation))                                    \
    X(allocation_export, "cuMemExportToShareableHandle",                                                     \
      (void *handle, qn__cu_allocation allocation, int type, unsigned long long flags))                      \
    X(allocation_import, "cuMemImportFromShareableHandle",                                                   \
      (qn__cu_allocation * allocation, void *handle, int type))                                              \
    X(range_reserve, "cuMemAddressReserve",                                                                  \
      (qn__cu_address * address, size_t size, size_t alignment, qn__cu_address wanted,                       \
       unsigned long long flags))                                                                            \
    X(range_free, "cuMemAddressFree", (qn__cu_address address, size_t size))                                 \
    X(range_map, "cuMemMap",                                                                                 \
      (qn__cu_address address, size_t size, size_t offset, qn__cu_allocation allocation,                     \
       unsigned long long flags))                                                                            \
    X(range_unmap, "cuMemUnmap", (qn__cu_address address, size_t size))                                      \
    X(range_set_access, "cuMemSetAccess",                                                                    \
      (qn__cu_address address, size_t size, const qn__cu_access *access, size_t count))                      \
    X(host_free, "cuMemFreeHost", (void *memory))                                                            \
    X(host_register, "cuMemHostRegister_v2", (void *memory, size_t size, unsigned flags))                    \
    X(host_unregister, "cuMemHostUnregister", (void *memory))                                                \
    X(host_address, "cuMemHostGetDevicePointer_v2",                                                          \
      (qn__cu_address * address, void *memory, unsigned flags))                                              \
    X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                                \
      (qn__cu_address to, const void *from, size_t size, qn__cu_stream stream))                              \
    X(copy_to_host, "cuMemcpyDtoHAsync_v2",                                                                  \
      (void *to, qn__cu_address from, size_t size, qn__cu_stream stream))                                    \
    X(copy_on_device, "cuMemcpyDtoDAsync_v2",                                                                \
      (qn__cu_address to, qn__cu_address from, size_t size, qn__cu_stream stream))                           \
    X(copy_peer, "cuMemcpyPeerAsync",                                                                        \
      (qn__cu_address to, qn__cu_context to_context, qn__cu_address from, qn__cu_context from_context,       \
       size_t size, qn__cu_stream stream))                                                                   \
    X(set_8, "cuMemsetD8Async",                                                                              \
      (qn__cu_address to, unsigned char value, size_t count, qn__cu_stream stream))                          \
    X(set_16, "cuMemsetD16Async",                                                                            \
      (qn__cu_address to, unsigned short value, size_t count, qn__cu_stream stream))                         \
    X(set_32, "cuMemsetD32Async", (qn__cu_address to, unsigned value, size_t count, qn__cu_stream stream))   \
    X(set_columns_32, "cuMemsetD2D32Async",                                                                  \
      (qn__cu_address to, size_t pitch, unsigned value, size_t width, size_t height, qn__cu_stream stream))  \
    X(stream_create, "cuStreamCreate", (qn__cu_stream * stream, unsigned flags))                             \
    X(stream_destroy, "cuStreamDestroy_v2", (qn__cu_stream stream))                                          \
    X(stream_synchronize, "cuStreamSynchronize", (qn__cu_stream stream))                                     \
    X(stream_wait_event, "cuStreamWaitEvent", (qn__cu_stream stream, qn__cu_event event, unsigned flags))    \
    X(stream_begin_capture, "cuStreamBeginCapture_v2", (qn__cu_stream stream, int mode))                     \
    X(stream_end_capture, "cuStreamEndCapture", (qn__cu_stream stream, qn__cu_graph * graph))                \
    X(event_create, "cuEventCreate", (qn__cu_event * event, unsigned flags))                                 \
    X(event_destroy, "cuEventDestroy_v2", (qn__cu_event event))                                              \
    X(event_record, "cuEventRecord", (qn__cu_event event, qn__cu_stream stream))                             \
    X(event_query, "cuEventQuery", (qn__cu_event event))                                                     \
    X(event_synchronize, "cuEventSynchronize", (qn__cu_event event))                                         \
    X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, qn__cu_event begin, qn__cu_event end))      \
    X(link_create, "cuLinkCreate_v2",                                                                        \
      (unsigned num_options, int *options, void **values, qn__cu_link *link))                                \
    X(link_add, "cuLinkAddData_v2",                                                                          \
      (qn__cu_link link, int type, void *data, size_t size, const char *name, unsigned num_options,          \
       int *options, void **values))                                                                         \
    X(link_complete, "cuLinkComplete", (qn__cu_link link, void **cubin, size_t *size))                       \
    X(link_destroy, "cuLinkDestroy", (qn__cu_link link))                                                     \
    X(module_load, "cuModuleLoadData", (qn__cu_module * module, const void *image))                          \
    X(module_unload, "cuModuleUnload", (qn__cu_module module))                                               \
    X(module_function, "cuModuleGetFunction",                                                                \
      (qn__cu_function * function, qn__cu_module module, const char *name))                                  \
    X(function_get, "cuFuncGetAttribute", (int *value, int attribute, qn__cu_function function))             \
    X(function_set, "cuFuncSetAttribute", (qn__cu_function function, int attribute, int value))              \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                              \
      (int *blocks, qn__cu_function function, int threads, size_t dynamic))                                  \
    X(launch, "cuLaunchKernel",                                                                              \
      (qn__cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
       unsigned block_y, unsigned block_z, unsigned shared, qn__cu_stream stream, void **params,             \
       void **extra))                                                                                        \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                                      \
      (qn__cu_exec * exec, qn__cu_graph graph, unsigned long long flags))                                    \
    X(graph_destroy, "cuGraphDestroy", (qn__cu_graph graph))                                                 \
    X(exec_upload, "cuGraphUpload", (qn__cu_exec exec, qn__cu_stream stream))                                \
    X(exec_set_kernel, "cuGraphExecKernelNodeSetParams",                                                     \
      (qn__cu_exec exec, qn__cu_node node, const qn__cu_kernel_node *params))                                \
    X(exec_launch, "cuGraphLaunch", (qn__cu_exec exec, qn__cu_stream stream))                                \
    X(exec_destroy, "cuGraphExecDestroy", (qn__cu_exec exec))

/* Those that a driver may lack; NULL then. */
#define QN__CU_OPTIONAL_FUNCTIONS(X)                                                                         \
    X(copy_node_get, "cuGraphMemcpyNodeGetParams", (qn__cu_node node, qn__cu_copy_node * params))            \
    X(exec_set_copy, "cuGraphExecMemcpyNodeSetParams",                                                       \
      (qn__cu_exec exec, qn__cu_node node, const qn__cu_copy_node *params, qn__cu_context context))          \
    X(stream_capture_info, "cuStreamGetCaptureInfo_v2",                                                      \
      (qn__cu_stream stream, int *status, uint64_t *id, qn__cu_graph *graph, const qn__cu_node **before,     \
       size_t *num_before))                                                                                  \
    X(tensor_map, "cuTensorMapEncodeTiled",                                                                  \
      (void *map, int type, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,    \
       const unsigned *tile, const unsigned *steps, int interleave, int swizzle, int promotion, int fill))   \
    X(window_map, "cuTensorMapEncodeIm2col",                                                                 \
      (void *map, int type, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,    \
       const int *lower, const int *upper, unsigned channels, unsigned pixels, const unsigned *steps,        \
       int interleave, int swizzle, int promotion, int fill))

typedef struct qn__cu {
#define QN__CU_FIELD(field, symbol, params) qn__cu_result(*field) params;
    QN__CU_FUNCTIONS(QN__CU_FIELD) QN__CU_OPTIONAL_FUNCTIONS(QN__CU_FIELD)
#undef QN__CU_FIELD
} qn__cu;

#endif
