/* Tensors shared with other libraries (NumPy, PyTorch, JAX, CuPy, ...) by DLPack, version 1, without a copy: of the processor and of
   CUDA devices. The structs are those of dlpack/dlpack.h, which this header does not need; here they are only named.

       struct DLManagedTensorVersioned *shared;
       qn_tensor_to_dlpack(x, &shared);  // for a capsule "dltensor_versioned"
       qn_tensor *y = qn_from_dlpack(t, shared);

   Both forms are there: that of version 1 and the older one without a version, which says less. */
#ifndef QUERN_DLPACK_H
#define QUERN_DLPACK_H

#include <quern/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* The tensor's values, computed if need be, where they are in memory; strides and all. Waits until they are there: whoever gets them has
   nothing to wait for. They stay until the consumer calls the deleter, from any thread and after the tensor and its qn_tensors are
   gone, but before the context is destroyed. What was taken from others (qn_from_dlpack, qn_from_array) is copied first. Values of tensors do not change: it is marked as for reading alone, and without a
   version is meant so. Errors: the tensor's failure, QN_ERROR_NULL, QN_ERROR_UNSUPPORTED (the device is neither the processor nor
   CUDA's), QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_tensor_to_dlpack(qn_tensor *x, struct DLManagedTensorVersioned **shared);
QN_API qn_status qn_tensor_to_dlpack_unversioned(qn_tensor *x, struct DLManagedTensor **shared);

/* A tensor of another library's memory, which has to keep its contents while tensors use it. The deleter is called when they do so no longer,
   by the thread of that call, after the stream's work has been waited for. What is not done with it on another stream has to be waited for
   before. Memory of the processor, also pinned, becomes a tensor of other devices by a copy. A failed tensor (QN_ERROR_ARGUMENT, QN_ERROR_UNSUPPORTED: a type, device or version that is not
   known, another device's memory) leaves it to the caller. */
QN_API qn_tensor *qn_from_dlpack(qn_tensors *tensors, struct DLManagedTensorVersioned *shared);
QN_API qn_tensor *qn_from_dlpack_unversioned(qn_tensors *tensors, struct DLManagedTensor *shared);

#ifdef __cplusplus
}
#endif

#endif
