/* What quern uses of OpenCL 1.2, and of 2.0 where it is there (Khronos OpenCL API Specification): our own declarations of the functions, which
   are opened at run time, and of the numbers. All kinds of objects are one opaque type here. */
#ifndef QN__OPENCL_API_H
#define QN__OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct qn__cl_object
    *cl_object; /* a platform, device, context, queue, memory, program, kernel or event */

enum { /* results; 0 is success */
       CL_DEVICE_NOT_AVAILABLE = -2,
       CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
       CL_OUT_OF_RESOURCES = -5,
       CL_OUT_OF_HOST_MEMORY = -6,
       CL_BUILD_PROGRAM_FAILURE = -11,
       CL_INVALID_CONTEXT = -34,
       CL_INVALID_COMMAND_QUEUE = -36,
       CL_INVALID_BUFFER_SIZE = -61
};

enum { /* what is asked of platforms and devices */
       CL_PLATFORM_VERSION = 0x0901,
       CL_PLATFORM_NAME = 0x0902,
       CL_DEVICE_TYPE = 0x1000,
       CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
       CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
       CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
       CL_DEVICE_ADDRESS_BITS = 0x100D,
       CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
       CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
       CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
       CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
       CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
       CL_DEVICE_ENDIAN_LITTLE = 0x1026,
       CL_DEVICE_AVAILABLE = 0x1027,
       CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
       CL_DEVICE_NAME = 0x102B,
       CL_DRIVER_VERSION = 0x102D,
       CL_DEVICE_VERSION = 0x102F,
       CL_DEVICE_EXTENSIONS = 0x1030,
       CL_DEVICE_SVM_CAPABILITIES = 0x1053, /* OpenCL 2.0 */
       CL_DEVICE_UUID_KHR = 0x106A,         /* cl_khr_device_uuid */
       CL_DEVICE_WARP_SIZE_NV = 0x4003      /* cl_nv_device_attribute_query */
};

enum {
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_TYPE_CUSTOM = 1 << 4,
    CL_FP_DENORM = 1 << 0,
    CL_FP_FMA = 1 << 5,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7
};
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFu

enum {
    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_TYPE = 0x1100,
    CL_MEM_SIZE = 0x1102,
    CL_MEM_CONTEXT = 0x1106,
    CL_MEM_OBJECT_BUFFER = 0x10F0,
    CL_MEM_USE_HOST_PTR = 1 << 3,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MEM_SVM_FINE_GRAIN_BUFFER = 1 << 10,
    CL_MEM_SVM_ATOMICS = 1 << 11,
    CL_DEVICE_SVM_FINE_GRAIN_BUFFER = 1 << 1,
    CL_DEVICE_SVM_ATOMICS = 1 << 3,
    CL_MAP_READ = 1 << 0,
    CL_MAP_WRITE = 1 << 1,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11B3,
    CL_KERNEL_PRIVATE_MEM_SIZE = 0x11B4,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    CL_COMPLETE = 0,
    CL_PROFILING_COMMAND_END = 0x1283
};

/* F(result, name, parameters) */
#define QN__CL_FUNCTIONS(F)                                                                                  \
    F(int32_t, clGetPlatformIDs, (uint32_t, cl_object *, uint32_t *))                                        \
    F(int32_t, clGetPlatformInfo, (cl_object, uint32_t, size_t, void *, size_t *))                           \
    F(int32_t, clGetDeviceIDs, (cl_object, uint64_t, uint32_t, cl_object *, uint32_t *))                     \
    F(int32_t, clGetDeviceInfo, (cl_object, uint32_t, size_t, void *, size_t *))                             \
    F(cl_object, clCreateContext,                                                                            \
      (const intptr_t *, uint32_t, const cl_object *, void *, void *, int32_t *))                            \
    F(int32_t, clReleaseContext, (cl_object))                                                                \
    F(cl_object, clCreateCommandQueue, (cl_object, cl_object, uint64_t, int32_t *))                          \
    F(int32_t, clReleaseCommandQueue, (cl_object))                                                           \
    F(cl_object, clCreateBuffer, (cl_object, uint64_t, size_t, void *, int32_t *))                           \
    F(int32_t, clRetainMemObject, (cl_object))                                                               \
    F(int32_t, clGetMemObjectInfo, (cl_object, uint32_t, size_t, void *, size_t *))                          \
    F(int32_t, clReleaseMemObject, (cl_object))                                                              \
    F(cl_object, clCreateProgramWithSource, (cl_object, uint32_t, const char **, const size_t *, int32_t *)) \
    F(cl_object, clCreateProgramWithBinary,                                                                  \
      (cl_object, uint32_t, const cl_object *, const size_t *, const unsigned char **, int32_t *,            \
       int32_t *))                                                                                           \
    F(int32_t, clBuildProgram, (cl_object, uint32_t, const cl_object *, const char *, void *, void *))       \
    F(int32_t, clGetProgramInfo, (cl_object, uint32_t, size_t, void *, size_t *))                            \
    F(int32_t, clGetProgramBuildInfo, (cl_object, cl_object, uint32_t, size_t, void *, size_t *))            \
    F(int32_t, clReleaseProgram, (cl_object))                                                                \
    F(cl_object, clCreateKernel, (cl_object, const char *, int32_t *))                                       \
    F(int32_t, clReleaseKernel, (cl_object))                                                                 \
    F(int32_t, clSetKernelArg, (cl_object, uint32_t, size_t, const void *))                                  \
    F(int32_t, clGetKernelWorkGroupInfo, (cl_object, cl_object, uint32_t, size_t, void *, size_t *))         \
    F(int32_t, clEnqueueNDRangeKernel,                                                                       \
      (cl_object, cl_object, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,             \
       const cl_object *, cl_object *))                                                                      \
    F(int32_t, clEnqueueReadBuffer,                                                                          \
      (cl_object, cl_object, uint32_t, size_t, size_t, void *, uint32_t, const cl_object *, cl_object *))    \
    F(int32_t, clEnqueueWriteBuffer,                                                                         \
      (cl_object, cl_object, uint32_t, size_t, size_t, const void *, uint32_t, const cl_object *,            \
       cl_object *))                                                                                         \
    F(int32_t, clEnqueueCopyBuffer,                                                                          \
      (cl_object, cl_object, cl_object, size_t, size_t, size_t, uint32_t, const cl_object *, cl_object *))   \
    F(int32_t, clEnqueueFillBuffer,                                                                          \
      (cl_object, cl_object, const void *, size_t, size_t, size_t, uint32_t, const cl_object *,              \
       cl_object *))                                                                                         \
    F(void *, clEnqueueMapBuffer,                                                                            \
      (cl_object, cl_object, uint32_t, uint64_t, size_t, size_t, uint32_t, const cl_object *, cl_object *,   \
       int32_t *))                                                                                           \
    F(int32_t, clEnqueueUnmapMemObject,                                                                      \
      (cl_object, cl_object, void *, uint32_t, const cl_object *, cl_object *))                              \
    F(int32_t, clEnqueueMarkerWithWaitList, (cl_object, uint32_t, const cl_object *, cl_object *))           \
    F(int32_t, clEnqueueBarrierWithWaitList, (cl_object, uint32_t, const cl_object *, cl_object *))          \
    F(int32_t, clWaitForEvents, (uint32_t, const cl_object *))                                               \
    F(int32_t, clGetEventInfo, (cl_object, uint32_t, size_t, void *, size_t *))                              \
    F(int32_t, clGetEventProfilingInfo, (cl_object, uint32_t, size_t, void *, size_t *))                     \
    F(int32_t, clRetainEvent, (cl_object))                                                                   \
    F(int32_t, clReleaseEvent, (cl_object))                                                                  \
    F(int32_t, clFlush, (cl_object))                                                                         \
    F(int32_t, clFinish, (cl_object))

/* Of OpenCL 2.0: NULL where the loader is older. */
#define QN__CL_NEW_FUNCTIONS(F)                                                                              \
    F(void *, clSVMAlloc, (cl_object, uint64_t, size_t, uint32_t))                                           \
    F(void, clSVMFree, (cl_object, void *))

typedef struct qn__cl {
#define QN__CL_MEMBER(result, name, parameters) result(*name) parameters;
    QN__CL_FUNCTIONS(QN__CL_MEMBER)
    QN__CL_NEW_FUNCTIONS(QN__CL_MEMBER)
#undef QN__CL_MEMBER
} qn__cl;

#endif
