/* The CUDA driver's own calls, as a careful user would write them, on quern's context and stream (NVIDIA, CUDA driver API). */
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include "bench_nvidia.h"

/* X(member, symbol, parameters): each gives 0 for success. */
#define BENCH_CUDA_FUNCTIONS(X)                                                                              \
    X(push, cuCtxPushCurrent_v2, (void *context)) /* makes it the thread's, which the calls below work in */ \
    X(pop, cuCtxPopCurrent_v2, (void **context))                                                             \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, int device))                       \
    X(load, cuModuleLoadData, (void **module, const void *code))                                             \
    X(unload, cuModuleUnload, (void *module))                                                                \
    X(get_function, cuModuleGetFunction, (void **function, void *module, const char *name))                  \
    X(function_attribute, cuFuncGetAttribute, (int *value, int attribute, void *function))                   \
    X(launch, cuLaunchKernel,                                                                                \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,                  \
       unsigned block_y, unsigned block_z, unsigned local, void *stream, void **params, void **extra))       \
    X(wait, cuStreamSynchronize, (void *stream))                                                             \
    X(capture_begin, cuStreamBeginCapture_v2, (void *stream, int mode))                                      \
    X(capture_end, cuStreamEndCapture, (void *stream, void **graph))                                         \
    X(graph_instantiate, cuGraphInstantiateWithFlags,                                                        \
      (void **executable, void *graph, unsigned long long flags))                                            \
    X(graph_launch, cuGraphLaunch, (void *executable, void *stream))                                         \
    X(executable_destroy, cuGraphExecDestroy, (void *executable))                                            \
    X(graph_destroy, cuGraphDestroy, (void *graph))                                                          \
    X(upload, cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t size, void *stream))              \
    X(download, cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t size, void *stream))                  \
    X(copy, cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t size, void *stream))                   \
    X(copy_peer, cuMemcpyPeerAsync,                                                                          \
      (uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size, void *stream))

typedef struct bench_cuda {
    const bench_device *d;
    void *context, *stream;
#define BENCH_CUDA_MEMBER(member, symbol, parameters) int(*member) parameters;
    BENCH_CUDA_FUNCTIONS(BENCH_CUDA_MEMBER)
#undef BENCH_CUDA_MEMBER
} bench_cuda;

bool bench_cuda_open(const bench_device *d, bench_cuda *c, char *why);
bool bench_cuda_arch(const bench_cuda *c, int *arch, char *why); /* 90: sm_90 */
/* From here to `leave` the stream and the thread's context are for the driver's own calls. Between them what uses `buffers`
   (NULL: none) may be submitted. */
bool bench_cuda_enter(const bench_cuda *c, qn_buffer *const *buffers, size_t count);
bool bench_cuda_leave(const bench_cuda *c);

#endif
