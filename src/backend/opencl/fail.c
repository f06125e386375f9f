/* From OpenCL's errors to statuses with a sentence. */
#include <stdio.h>

#include "backend/opencl/opencl.h"

const char *qn__cl_error_name(int32_t error) {
    static const struct {
        int32_t code;
        const char *name;
    } names[] = {{-1, "CL_DEVICE_NOT_FOUND"},
                 {-2, "CL_DEVICE_NOT_AVAILABLE"},
                 {-3, "CL_COMPILER_NOT_AVAILABLE"},
                 {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
                 {-5, "CL_OUT_OF_RESOURCES"},
                 {-6, "CL_OUT_OF_HOST_MEMORY"},
                 {-11, "CL_BUILD_PROGRAM_FAILURE"},
                 {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
                 {-30, "CL_INVALID_VALUE"},
                 {-34, "CL_INVALID_CONTEXT"},
                 {-36, "CL_INVALID_COMMAND_QUEUE"},
                 {-38, "CL_INVALID_MEM_OBJECT"},
                 {-42, "CL_INVALID_BINARY"},
                 {-43, "CL_INVALID_BUILD_OPTIONS"},
                 {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
                 {-46, "CL_INVALID_KERNEL_NAME"},
                 {-49, "CL_INVALID_ARG_INDEX"},
                 {-50, "CL_INVALID_ARG_VALUE"},
                 {-51, "CL_INVALID_ARG_SIZE"},
                 {-52, "CL_INVALID_KERNEL_ARGS"},
                 {-54, "CL_INVALID_WORK_GROUP_SIZE"},
                 {-55, "CL_INVALID_WORK_ITEM_SIZE"},
                 {-56, "CL_INVALID_GLOBAL_OFFSET"},
                 {-61, "CL_INVALID_BUFFER_SIZE"},
                 {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
                 {-9999, "an illegal read or write of a buffer (NVIDIA's -9999)"}};
    for (size_t i = 0; i < QN__COUNT(names); i++)
        if (names[i].code == error) return names[i].name;
    return "an OpenCL error";
}

qn_status qn__cl_failed(qn__gpu *gpu, cl_object queue, int32_t error, const char *what, const char *kernel,
                        char *why) {
    bool suspicious = error == CL_OUT_OF_RESOURCES || error == CL_INVALID_COMMAND_QUEUE ||
                      error == CL_INVALID_CONTEXT || error == CL_DEVICE_NOT_AVAILABLE || error == -9999;
    if (suspicious && (error == CL_DEVICE_NOT_AVAILABLE || gpu->cl->clFinish(queue ? queue : gpu->service)))
        return qn__lose(&gpu->loss, why, "the device stopped with %s%s%.120s", qn__cl_error_name(error),
                        kernel ? " in kernel " : "", kernel ? kernel : "");
    snprintf(why, QN__WHY, "%s%s%s: the driver says %s (%d)", what, kernel ? " of kernel " : "",
             kernel ? kernel : "", qn__cl_error_name(error), (int)error);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
        snprintf(why, QN__WHY,
                 "%s%s%s: the driver has no memory for its buffers; the device has %llu bytes in all, "
                 "%llu of them in quern's buffers",
                 what, kernel ? " of kernel " : "", kernel ? kernel : "", (unsigned long long)gpu->memory,
                 (unsigned long long)atomic_load(&gpu->used));
        return QN_ERROR_DEVICE_MEMORY;
    }
    if (error == CL_OUT_OF_HOST_MEMORY) return QN_ERROR_OUT_OF_MEMORY;
    return kernel ? QN_ERROR_KERNEL_FAILED : QN_ERROR_DRIVER;
}
