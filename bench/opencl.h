/* OpenCL's loader as the benchmarks call it; the few declarations needed (Khronos, OpenCL 1.2 API), so that neither headers
   nor library are needed to build. */
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef void *cl_object; /* every cl_* handle */

enum {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_NAME = 0x102B,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_MEM_READ_WRITE = 1,
    CL_MEM_COPY_HOST_PTR = 32
};
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFu

/* X(result, name, parameters) */
#define OPENCL_FUNCTIONS(X)                                                                                  \
    X(cl_int, clGetPlatformIDs, (cl_uint, cl_object *, cl_uint *))                                           \
    X(cl_int, clGetPlatformInfo, (cl_object, cl_uint, size_t, void *, size_t *))                             \
    X(cl_int, clGetDeviceIDs, (cl_object, uint64_t, cl_uint, cl_object *, cl_uint *))                        \
    X(cl_int, clGetDeviceInfo, (cl_object, cl_uint, size_t, void *, size_t *))                               \
    X(cl_object, clCreateContext, (const intptr_t *, cl_uint, cl_object *, void *, void *, cl_int *))        \
    X(cl_object, clCreateCommandQueue, (cl_object, cl_object, uint64_t, cl_int *))                           \
    X(cl_object, clCreateProgramWithSource, (cl_object, cl_uint, const char **, const size_t *, cl_int *))   \
    X(cl_int, clBuildProgram, (cl_object, cl_uint, cl_object *, const char *, void *, void *))               \
    X(cl_int, clGetProgramBuildInfo, (cl_object, cl_object, cl_uint, size_t, void *, size_t *))              \
    X(cl_object, clCreateKernel, (cl_object, const char *, cl_int *))                                        \
    X(cl_int, clSetKernelArg, (cl_object, cl_uint, size_t, const void *))                                    \
    X(cl_object, clCreateBuffer, (cl_object, uint64_t, size_t, void *, cl_int *))                            \
    X(cl_int, clEnqueueWriteBuffer,                                                                          \
      (cl_object, cl_object, cl_uint, size_t, size_t, const void *, cl_uint, void *, void *))                \
    X(cl_int, clEnqueueReadBuffer,                                                                           \
      (cl_object, cl_object, cl_uint, size_t, size_t, void *, cl_uint, void *, void *))                      \
    X(cl_int, clEnqueueNDRangeKernel,                                                                        \
      (cl_object, cl_object, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, void *,       \
       void *))                                                                                              \
    X(cl_int, clFinish, (cl_object))                                                                         \
    X(cl_int, clReleaseMemObject, (cl_object))                                                               \
    X(cl_int, clReleaseKernel, (cl_object))                                                                  \
    X(cl_int, clReleaseProgram, (cl_object))                                                                 \
    X(cl_int, clReleaseCommandQueue, (cl_object))                                                            \
    X(cl_int, clReleaseContext, (cl_object))

#define OPENCL_MEMBER(result, name, parameters) result(*name) parameters;

#endif
