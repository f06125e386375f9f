/* Work beside other APIs: memory that is theirs or another process's, and the drivers' own handles; and what libraries above quern need. quern.h includes this
   file; programs include that. */
#ifndef QUERN_INTEROP_H
#define QUERN_INTEROP_H

#include "quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory of other APIs and processes, without a copy ---- */

/* Kinds of handles of memory, as bits. */
typedef enum qn_handle_kind {
    QN_HANDLE_CUDA_POINTER = 1, /* CUdeviceptr (or void * of cudaMalloc), of the device's primary context */
    QN_HANDLE_OPENCL_MEM = 2,   /* cl_mem, of the device's context (QN_NATIVE_OPENCL_CONTEXT) */
    /* File descriptor between Vulkan and CUDA on the same GPU (qn_device_info.uuid). */
    QN_HANDLE_OPAQUE_FD = 4,
    QN_HANDLE_DMA_BUF = 8 /* file descriptor of a Linux dma-buf */
} qn_handle_kind;

/* Defaults: the whole of the memory, from its beginning. */
typedef struct qn_import_desc {
    qn_handle_kind kind;
    uint64_t handle;      /* the pointer, the cl_mem or the descriptor, as a number */
    uint64_t size;        /* bytes of the buffer, at least 1 */
    uint64_t offset;      /* where it begins in the memory: a multiple of 16, for a cl_mem 0 */
    uint64_t memory_size; /* descriptors: bytes of all the memory, as its exporter tells; 0: offset + size */
    const char *label;    /* as of qn_buffer_desc */
} qn_import_desc;

/* A buffer in memory that somebody else has made. Its contents are what is there. A pointer's memory is the caller's to
   keep until the buffer is destroyed and the device done with it; a cl_mem is retained. A descriptor stays the caller's,
   to be closed at any time: quern makes one of its own. Nothing orders the work of two APIs on the memory: wait for the
   one (qn_stream_wait, or its own way) before the other goes on. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (the handle is
   not what `kind` says, or not of this device), QN_ERROR_RANGE, QN_ERROR_UNSUPPORTED (kind is not among the device's
   import_handles; or the driver does not take it), QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DEVICE_LOST. Any thread. */
QN_API qn_status qn_buffer_import(qn_device *device, const qn_import_desc *desc, qn_buffer **buffer);

/* What qn_buffer_import, Vulkan or CUDA want to know of an exported buffer. */
typedef struct qn_export {
    uint64_t handle;      /* the descriptor: the caller's, to be closed */
    uint64_t offset;      /* where the buffer begins in the memory */
    uint64_t size;        /* bytes of the buffer */
    uint64_t memory_size; /* bytes of all the memory */
} qn_export;

/* A descriptor of the buffer's memory, for another context, API or process. `kind` was among those that the buffer was
   made exportable for. The memory lives until the buffer, and all that was imported from it, are gone. Buffers that were
   mapped for writing must have been used on the device since. Pointers and cl_mem are qn_buffer_native's. Errors:
   QN_ERROR_NULL, QN_ERROR_ARGUMENT (a kind that is no descriptor), QN_ERROR_STATE (not made exportable, or the host has
   newer contents), QN_ERROR_DRIVER (also: no more descriptors), QN_ERROR_DEVICE_LOST. Any thread. */
QN_API qn_status qn_buffer_export(qn_buffer *buffer, qn_handle_kind kind, qn_export *out);

/* ---- native handles: work of your own beside quern's ---- */

/* A driver's own handles, as numbers: pointers are cast through uintptr_t. All are borrowed: they are quern's to release,
   and what is done with them must leave the object as it was found but for contents. Those of a device and of a buffer
   are valid as long as the object. Those of a stream are valid for as long on CUDA; elsewhere they are to be asked for
   between qn_stream_native_begin and qn_stream_native_end, and are valid until then.
   What a view's handle says includes the view's offset. */
typedef enum qn_native_kind {
    QN_NATIVE_HOST_POINTER = 1, /* buffer: void *, on devices whose buffers are host memory */
    QN_NATIVE_CUDA_DEVICE,      /* device: CUdevice */
    QN_NATIVE_CUDA_CONTEXT,     /* device: CUcontext, the primary one, which the runtime API shares */
    QN_NATIVE_CUDA_STREAM,      /* stream: CUstream, which does not wait for the legacy default stream */
    QN_NATIVE_CUDA_POINTER,     /* buffer: CUdeviceptr */
    QN_NATIVE_VULKAN_INSTANCE,  /* device: VkInstance */
    QN_NATIVE_VULKAN_PHYSICAL_DEVICE, /* device: VkPhysicalDevice */
    QN_NATIVE_VULKAN_DEVICE,          /* device: VkDevice */
    QN_NATIVE_VULKAN_QUEUE_FAMILY,    /* device: index of the family that all its queues are of */
    QN_NATIVE_VULKAN_QUEUE,           /* stream: VkQueue, which several streams may share */
    QN_NATIVE_VULKAN_BUFFER,  /* buffer: VkBuffer, of which it is a part; usage: transfer, storage, address */
    QN_NATIVE_VULKAN_ADDRESS, /* buffer: VkDeviceAddress of its first byte */
    QN_NATIVE_OPENCL_DEVICE,  /* device: cl_device_id */
    QN_NATIVE_OPENCL_CONTEXT, /* device: cl_context */
    QN_NATIVE_OPENCL_QUEUE,   /* stream: cl_command_queue, in order */
    QN_NATIVE_OPENCL_MEM,     /* buffer: cl_mem, of which it is a part */
    QN_NATIVE_OFFSET,         /* buffer: bytes in front of it in that VkBuffer, cl_mem or WGPUBuffer */
    QN_NATIVE_WEBGPU_INSTANCE, /* device: WGPUInstance, of the library that QUERN_WEBGPU_LIB names, or the first that is found */
    QN_NATIVE_WEBGPU_DEVICE, /* device: WGPUDevice */
    QN_NATIVE_WEBGPU_QUEUE,  /* stream: WGPUQueue, which all streams of a device share */
    QN_NATIVE_WEBGPU_BUFFER /* buffer: WGPUBuffer, of which it is a part; usage: storage, copies from and to it */
} qn_native_kind;

/* Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (no such kind, or a handle of another sort of object: the message says of
   which), QN_ERROR_UNSUPPORTED (the device is of another kind, or its buffers are not host memory). Any thread. */
QN_API qn_status qn_device_native(const qn_device *device, qn_native_kind kind, uint64_t *handle);
QN_API qn_status qn_stream_native(const qn_stream *stream, qn_native_kind kind, uint64_t *handle);
QN_API qn_status qn_buffer_native(const qn_buffer *buffer, qn_native_kind kind, uint64_t *handle);

/* Between begin and end the stream's native queue is the caller's: what is submitted to it then comes behind all that
   was submitted to the stream before, and what is submitted to the stream later comes behind it; waits for the stream
   wait for it. `buffers` are those that it uses: newer host contents are brought over first, and they count as written
   by the stream (NULL and 0: none). A NULL stream is the default stream of the first buffer's device; without a buffer,
   and for the end, that is qn_device_stream(device).
   - CUDA and OpenCL: nothing else is needed. A stream or queue of one's own is ordered by the driver's events.
   - Vulkan: commands that use the buffers begin with a memory barrier from the stages compute and transfer, and end with
     one to them. Nobody else submits to the VkQueue meanwhile, so that work of other streams may wait at it for the end.
   - The processor has no queue: begin waits for the stream's work, and the caller works on the memory itself.
   - Where the stream waits for another device, begin waits for that.
   Until the end the calling thread must not use the device in another way. Errors: QN_ERROR_STATE (begin: the stream
   records a graph, has begun already, or a buffer is mapped; end: it has not begun), QN_ERROR_WRONG_CONTEXT,
   QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DEVICE_LOST, and what the wait reports. */
QN_API qn_status qn_stream_native_begin(qn_stream *stream, qn_buffer *const *buffers, size_t num_buffers);
QN_API qn_status qn_stream_native_end(qn_stream *stream);

/* ---- for libraries above this one, as libquern_ring ---- */

/* Has `callback` called once, by the thread that closes the context and before anything of it is given up: for libraries above
   this one, whose objects hold the context's. `callback` NULL: takes back that of `user`. Errors: QN_ERROR_NULL (user),
   QN_ERROR_OUT_OF_MEMORY. Any thread. */
QN_API qn_status qn_context_on_end(qn_context *context, void (*callback)(void *user), void *user);

/* For kernels of a persistent stream that can step aside while the driver loads code, beside which nothing may run: CUDA's. The
   thread that loads, or sees a load end, calls the functions with `user`. `leave`: the kernels are to end soon; short, calls nothing of quern,
   and may come while `back` is called. `back`: they may be launched again, which it may do itself; once for each `leave`, also where
   they have not ended. They are waited for, up to 5 seconds; then loading is refused as beside others. A launch on the stream
   meanwhile waits until the code is loaded. Both NULL: they do not step aside any more, and nothing is being called when this is
   back; so from when the stream is closed. Elsewhere than on CUDA nothing is ever called. Errors: QN_ERROR_STATE (the stream is not
   persistent), QN_ERROR_NULL (one of the functions). Any thread, but not `back` for its own stream. */
QN_API qn_status qn_stream_set_aside(qn_stream *stream, void (*leave)(void *user), void (*back)(void *user),
                                     void *user);

#ifdef __cplusplus
}
#endif

#endif
