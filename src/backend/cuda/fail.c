/* From the driver's results to statuses with a sentence, and names of kernels that outlive their code. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

void qn__cuda_error_text(const qn__cu *cu, qn__cu_result result, char *out, size_t size) {
    const char *name = NULL, *text = NULL;
    if (cu->error_name(result, &name) || !name) name = "an unknown CUDA error";
    if (cu->error_string(result, &text) || !text) text = "no description";
    snprintf(out, size, "%s (%d): %s", name, result, text);
}

/* Results after which the context is of no use any more. */
static bool loses_device(qn__cu_result result) {
    static const short losses[] = {QN__CU_ERROR_DEINITIALIZED,
                                   QN__CU_ERROR_DEVICE_UNAVAILABLE,
                                   QN__CU_ERROR_ECC_UNCORRECTABLE,
                                   QN__CU_ERROR_NVLINK_UNCORRECTABLE,
                                   QN__CU_ERROR_CONTAINED,
                                   QN__CU_ERROR_ILLEGAL_ADDRESS,
                                   QN__CU_ERROR_LAUNCH_TIMEOUT,
                                   QN__CU_ERROR_CONTEXT_IS_DESTROYED,
                                   QN__CU_ERROR_ASSERT,
                                   QN__CU_ERROR_HARDWARE_STACK_ERROR,
                                   QN__CU_ERROR_ILLEGAL_INSTRUCTION,
                                   QN__CU_ERROR_MISALIGNED_ADDRESS,
                                   QN__CU_ERROR_INVALID_ADDRESS_SPACE,
                                   QN__CU_ERROR_INVALID_PC,
                                   QN__CU_ERROR_LAUNCH_FAILED,
                                   QN__CU_ERROR_TENSOR_MEMORY_LEAK,
                                   QN__CU_ERROR_EXTERNAL_DEVICE,
                                   QN__CU_ERROR_UNKNOWN};
    for (size_t i = 0; i < QN__COUNT(losses); i++)
        if (losses[i] == result) return true;
    return false;
}

/* On whichever stream it shows. */
static void name_running(qn__gpu *gpu, char *out, size_t size) {
    qn__kernel_names found = {.count = 0};
    pthread_mutex_lock(&gpu->lock);
    for (const qn__queue *queue = gpu->queues; queue; queue = queue->next)
        qn__flight_names(&queue->flight, &found);
    pthread_mutex_unlock(&gpu->lock);
    qn__kernel_names_print(&found, "kernel ", out, size);
}

qn_status qn__cuda_fail(qn__gpu *gpu, qn__cu_result result, const char *what, char *why) {
    char error[256], running[160];
    qn__cuda_error_text(gpu->cu, result, error, sizeof error);
    if (!loses_device(result)) {
        snprintf(why, QN__WHY, "%s: %s", what, error);
        return result == QN__CU_ERROR_OUT_OF_MEMORY ? QN_ERROR_DEVICE_MEMORY : QN_ERROR_DRIVER;
    }
    name_running(gpu, running, sizeof running);
    return qn__lose(&gpu->loss, why, "%s failed: %s; the device cannot be used any more",
                    running[0] ? running : what, error);
}

const char *qn__cuda_intern(qn__gpu *gpu, const char *name) {
    pthread_mutex_lock(&gpu->lock);
    qn__cuda_name *found = gpu->names;
    while (found && strcmp(found->text, name) != 0) found = found->next;
    size_t size = strlen(name) + 1;
    if (!found && (found = qn__allocate(gpu->services->allocator, sizeof *found + size))) {
        memcpy(found->text, name, size);
        found->next = gpu->names;
        gpu->names = found;
    }
    pthread_mutex_unlock(&gpu->lock);
    return found ? found->text : NULL;
}
