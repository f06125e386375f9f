/* The CUDA driver's functions as the bare peers call them (CUDA driver API manual). Each returns 0 for success. */
#ifndef GPU_CUDA_H
#define GPU_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *cu_object; /* every handle */

/* X(member, symbol, parameters) */
#define CUDA_FUNCTIONS(X)                                                                                    \
    X(init, cuInit, (unsigned))                                                                              \
    X(error_string, cuGetErrorString, (int, const char **))                                                  \
    X(driver_version, cuDriverGetVersion, (int *))                                                           \
    X(device_get, cuDeviceGet, (int *, int))                                                                 \
    X(device_name, cuDeviceGetName, (char *, int, int))                                                      \
    X(device_attribute, cuDeviceGetAttribute, (int *, int, int))                                             \
    X(context_retain, cuDevicePrimaryCtxRetain, (cu_object *, int))                                          \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (int))                                                  \
    X(context_set, cuCtxSetCurrent, (cu_object))                                                             \
    X(context_synchronize, cuCtxSynchronize, (void))                                                         \
    X(stream_create, cuStreamCreate, (cu_object *, unsigned))                                                \
    X(stream_destroy, cuStreamDestroy_v2, (cu_object))                                                       \
    X(stream_synchronize, cuStreamSynchronize, (cu_object))                                                  \
    X(event_create, cuEventCreate, (cu_object *, unsigned))                                                  \
    X(event_destroy, cuEventDestroy_v2, (cu_object))                                                         \
    X(event_record, cuEventRecord, (cu_object, cu_object))                                                   \
    X(event_synchronize, cuEventSynchronize, (cu_object))                                                    \
    X(event_elapsed, cuEventElapsedTime, (float *, cu_object, cu_object))                                    \
    X(module_load, cuModuleLoadData, (cu_object *, const void *))                                            \
    X(module_unload, cuModuleUnload, (cu_object))                                                            \
    X(module_function, cuModuleGetFunction, (cu_object *, cu_object, const char *))                          \
    X(function_attribute, cuFuncGetAttribute, (int *, int, cu_object))                                       \
    X(launch, cuLaunchKernel,                                                                                \
      (cu_object, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu_object, void **,  \
       void **))                                                                                             \
    X(alloc, cuMemAlloc_v2, (uint64_t *, size_t))                                                            \
    X(free, cuMemFree_v2, (uint64_t))                                                                        \
    X(host_alloc, cuMemHostAlloc, (void **, size_t, unsigned))                                               \
    X(host_free, cuMemFreeHost, (void *))                                                                    \
    X(memset8, cuMemsetD8_v2, (uint64_t, unsigned char, size_t))                                             \
    X(upload, cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                                             \
    X(download, cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                                 \
    X(upload_async, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, cu_object))                       \
    X(download_async, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, cu_object))                           \
    X(copy_async, cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, cu_object))                             \
    X(capture_begin, cuStreamBeginCapture_v2, (cu_object, int))                                              \
    X(capture_end, cuStreamEndCapture, (cu_object, cu_object *))                                             \
    X(graph_instantiate, cuGraphInstantiateWithFlags, (cu_object *, cu_object, unsigned long long))          \
    X(graph_launch, cuGraphLaunch, (cu_object, cu_object))                                                   \
    X(graph_exec_destroy, cuGraphExecDestroy, (cu_object))                                                   \
    X(graph_destroy, cuGraphDestroy, (cu_object))

struct cuda {
    void *library;
#define CUDA_MEMBER(name, symbol, parameters) int(*name) parameters;
    CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
    cu_object context, stream;
    int device, arch;
    char description[192];
};

bool cuda_good(const struct cuda *c, int status, const char *what, char *why);

#endif
