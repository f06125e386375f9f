/* What the OpenCL backend declares by itself is what Khronos' header says. Skipped where that is not installed. */
#include <stdio.h>

#include "backend/opencl/api.h"

#define NUMBERS(N)                                                                                           \
    N(CL_DEVICE_NOT_AVAILABLE)                                                                               \
    N(CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                                      \
    N(CL_OUT_OF_RESOURCES)                                                                                   \
    N(CL_OUT_OF_HOST_MEMORY)                                                                                 \
    N(CL_BUILD_PROGRAM_FAILURE)                                                                              \
    N(CL_INVALID_CONTEXT)                                                                                    \
    N(CL_INVALID_COMMAND_QUEUE)                                                                              \
    N(CL_INVALID_BUFFER_SIZE)                                                                                \
    N(CL_PLATFORM_VERSION)                                                                                   \
    N(CL_PLATFORM_NAME)                                                                                      \
    N(CL_DEVICE_TYPE)                                                                                        \
    N(CL_DEVICE_MAX_COMPUTE_UNITS)                                                                           \
    N(CL_DEVICE_MAX_WORK_GROUP_SIZE)                                                                         \
    N(CL_DEVICE_MAX_WORK_ITEM_SIZES)                                                                         \
    N(CL_DEVICE_ADDRESS_BITS)                                                                                \
    N(CL_DEVICE_MAX_MEM_ALLOC_SIZE)                                                                          \
    N(CL_DEVICE_MAX_PARAMETER_SIZE)                                                                          \
    N(CL_DEVICE_SINGLE_FP_CONFIG)                                                                            \
    N(CL_DEVICE_GLOBAL_MEM_SIZE)                                                                             \
    N(CL_DEVICE_LOCAL_MEM_SIZE)                                                                              \
    N(CL_DEVICE_ENDIAN_LITTLE)                                                                               \
    N(CL_DEVICE_AVAILABLE)                                                                                   \
    N(CL_DEVICE_COMPILER_AVAILABLE)                                                                          \
    N(CL_DEVICE_NAME)                                                                                        \
    N(CL_DRIVER_VERSION)                                                                                     \
    N(CL_DEVICE_VERSION)                                                                                     \
    N(CL_DEVICE_EXTENSIONS)                                                                                  \
    N(CL_DEVICE_SVM_CAPABILITIES)                                                                            \
    N(CL_DEVICE_SVM_FINE_GRAIN_BUFFER)                                                                       \
    N(CL_DEVICE_SVM_ATOMICS)                                                                                 \
    N(CL_MEM_SVM_FINE_GRAIN_BUFFER)                                                                          \
    N(CL_MEM_SVM_ATOMICS)                                                                                    \
    N(CL_DEVICE_TYPE_CPU)                                                                                    \
    N(CL_DEVICE_TYPE_CUSTOM)                                                                                 \
    N(CL_DEVICE_TYPE_ALL)                                                                                    \
    N(CL_FP_DENORM)                                                                                          \
    N(CL_FP_FMA)                                                                                             \
    N(CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)                                                                   \
    N(CL_QUEUE_PROFILING_ENABLE)                                                                             \
    N(CL_MEM_READ_WRITE)                                                                                     \
    N(CL_MEM_USE_HOST_PTR)                                                                                   \
    N(CL_MEM_ALLOC_HOST_PTR)                                                                                 \
    N(CL_MAP_READ)                                                                                           \
    N(CL_MAP_WRITE)                                                                                          \
    N(CL_PROGRAM_BINARY_SIZES)                                                                               \
    N(CL_PROGRAM_BINARIES)                                                                                   \
    N(CL_PROGRAM_BUILD_LOG)                                                                                  \
    N(CL_KERNEL_WORK_GROUP_SIZE)                                                                             \
    N(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)                                                          \
    N(CL_EVENT_COMMAND_EXECUTION_STATUS)                                                                     \
    N(CL_COMPLETE)                                                                                           \
    N(CL_PROFILING_COMMAND_END)

typedef struct number {
    const char *name;
    long long value;
} number;

static const number ours[] = {
#define OURS(name) {#name, name},
    NUMBERS(OURS)
#undef OURS
};
enum { COUNT = sizeof ours / sizeof ours[0] };

#if defined __has_include
#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* Behind the header the names are its own. */
static const long long theirs[] = {
#define THEIRS(name) name,
    NUMBERS(THEIRS)
#undef THEIRS
};

int main(void) {
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        if (ours[i].value == theirs[i]) continue;
        printf("%s is %lld, not %lld\n", ours[i].name, theirs[i], ours[i].value);
        wrong = 1;
    }
    printf("%d numbers compared\n", COUNT);
    return wrong;
}
#define HAS_HEADER
#endif
#endif

#ifndef HAS_HEADER
int main(void) {
    printf("skipped: CL/cl.h is not installed (%d numbers)\n", COUNT);
    return 77;
}
#endif
