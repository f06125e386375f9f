/* What kernels print (emit/gpu_abi.h): each launch that prints has a buffer, which is read back behind it and
   printed when the launch is known to be done, in the order of the launches. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

enum { BUFFER_SIZE = QN__PRINT_HEADER + QN__PRINT_CAPACITY };

static cl_print *new_print(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    int32_t error = 0;
    cl_print *print = qn__allocate_zeroed(gpu->services->allocator, sizeof *print);
    if (!print) return NULL;
    print->host = qn__allocate_zeroed(gpu->services->allocator, BUFFER_SIZE);
    if (print->host)
        print->buffer = gpu->cl->clCreateBuffer(gpu->context, CL_MEM_READ_WRITE, BUFFER_SIZE, NULL, &error);
    print->dirty = QN__PRINT_CAPACITY;
    if (print->buffer && !error) return print;
    qn__release(gpu->services->allocator, print->host);
    qn__release(gpu->services->allocator, print);
    return NULL;
}

/* Where too many wait to be printed, the first of them is waited for. */
static void make_room(qn__queue *queue) {
    queue->gpu->cl->clFinish(queue->queue);
    atomic_store(&queue->completed, queue->submitted);
    pthread_mutex_unlock(&queue->lock);
    qn__cl_print_done(queue);
    pthread_mutex_lock(&queue->lock);
}

qn_status qn__cl_print_begin(qn__queue *queue, qn__code *code, uint64_t number, cl_print **out, char *why) {
    const qn__cl *cl = queue->gpu->cl;
    const uint32_t header[2] = {QN__PRINT_CAPACITY, 0}, zero = 0;
    if (!queue->free_prints && queue->num_prints >= QN__CL_PRINTS) make_room(queue);
    cl_print *print = queue->free_prints;
    if (print)
        queue->free_prints = print->next;
    else if ((print = new_print(queue)))
        queue->num_prints++;
    if (!print) {
        snprintf(why, QN__WHY, "no memory for what the kernel prints");
        return QN_ERROR_DEVICE_MEMORY;
    }
    print->next = NULL;
    print->number = number;
    print->code = code;
    int32_t error = cl->clEnqueueFillBuffer(queue->queue, print->buffer, header, sizeof header, 0,
                                            sizeof header, 0, NULL, NULL);
    if (!error && print->dirty)
        error = cl->clEnqueueFillBuffer(queue->queue, print->buffer, &zero, sizeof zero, QN__PRINT_HEADER,
                                        (size_t)print->dirty, 0, NULL, NULL);
    *out = print;
    return error ? qn__cl_failed(queue->gpu, queue->queue, error, "a print buffer", NULL, why) : QN_OK;
}

qn_status qn__cl_print_end(qn__queue *queue, cl_print *print, char *why) {
    int32_t error = queue->gpu->cl->clEnqueueReadBuffer(queue->queue, print->buffer, 0, 0, BUFFER_SIZE,
                                                        print->host, 0, NULL, NULL);
    if (queue->last_print)
        queue->last_print->next = print;
    else
        queue->prints = print;
    queue->last_print = print;
    return error ? qn__cl_failed(queue->gpu, queue->queue, error, "reading a print buffer", NULL, why)
                 : QN_OK;
}

static cl_print *take_done(qn__queue *queue) {
    cl_print *print = queue->prints;
    if (!print || print->number > atomic_load(&queue->completed)) return NULL;
    queue->prints = print->next;
    if (!queue->prints) queue->last_print = NULL;
    return print;
}

void qn__cl_print_done(qn__queue *queue) {
    if (!queue->num_prints) return;
    pthread_mutex_lock(&queue->print_lock);
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        cl_print *print = take_done(queue);
        pthread_mutex_unlock(&queue->lock);
        if (!print) break;
        uint32_t asked;
        memcpy(&asked, print->host + 4, sizeof asked);
        print->dirty = asked < QN__PRINT_CAPACITY ? ((uint64_t)asked + 7) / 8 * 8 : QN__PRINT_CAPACITY;
        if (print->code && !atomic_load(&queue->gpu->lost))
            qn__print_records(queue->gpu->services, print->code->info, print->host, BUFFER_SIZE);
        pthread_mutex_lock(&queue->lock);
        print->next = queue->free_prints;
        queue->free_prints = print;
        pthread_mutex_unlock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->print_lock);
}

static void release_list(qn__queue *queue, cl_print *print) {
    for (cl_print *next; print; print = next) {
        next = print->next;
        queue->gpu->cl->clReleaseMemObject(print->buffer);
        qn__release(queue->gpu->services->allocator, print->host);
        qn__release(queue->gpu->services->allocator, print);
    }
}

void qn__cl_print_free(qn__queue *queue) {
    release_list(queue, queue->prints);
    release_list(queue, queue->free_prints);
}
