/* What kernels print (emit/gpu_abi.h): each launch that prints has a buffer, which is read back behind it and
   printed when the launch is known to be done, in the order of the launches. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

static cl_print *new_print(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    int32_t error = 0;
    cl_print *print = qn__allocate_zeroed(gpu->services->allocator, sizeof *print);
    if (!print) return NULL;
    print->host = qn__allocate_zeroed(gpu->services->allocator, QN__PRINT_SIZE);
    if (print->host)
        print->buffer =
            gpu->cl->clCreateBuffer(gpu->context, CL_MEM_READ_WRITE, QN__PRINT_SIZE, NULL, &error);
    print->dirty = QN__PRINT_CAPACITY;
    if (print->buffer && !error) return print;
    qn__release(gpu->services->allocator, print->host);
    qn__release(gpu->services->allocator, print);
    return NULL;
}

/* Where too many wait to be printed, the first of them is waited for. */
static void make_room(qn__queue *queue) {
    queue->gpu->cl->clFinish(queue->queue);
    qn__flight_reach(&queue->flight, atomic_load(&queue->flight.submitted));
    pthread_mutex_unlock(&queue->lock);
    qn__cl_print_done(queue);
    pthread_mutex_lock(&queue->lock);
}

qn_status qn__cl_print_begin(qn__queue *queue, const qn__code *code, cl_print **out, char *why) {
    const qn__cl *cl = queue->gpu->cl;
    const uint32_t header[2] = {QN__PRINT_CAPACITY, 0}, zero = 0;
    if (!queue->free_prints.count && queue->num_prints >= QN__CL_PRINTS) make_room(queue);
    cl_print *print = (cl_print *)qn__prints_take(&queue->free_prints, UINT64_MAX);
    if (!print && (print = new_print(queue))) queue->num_prints++;
    if (!print) {
        snprintf(why, QN__WHY, "no memory for what the kernel prints");
        return QN_ERROR_DEVICE_MEMORY;
    }
    print->print.info = code->info;
    int32_t error = cl->clEnqueueFillBuffer(queue->queue, print->buffer, header, sizeof header, 0,
                                            sizeof header, 0, NULL, NULL);
    if (!error && print->dirty)
        error = cl->clEnqueueFillBuffer(queue->queue, print->buffer, &zero, sizeof zero, QN__PRINT_HEADER,
                                        (size_t)print->dirty, 0, NULL, NULL);
    *out = print;
    return error ? qn__cl_failed(queue->gpu, queue->queue, error, "a print buffer", NULL, why) : QN_OK;
}

qn_status qn__cl_print_end(qn__queue *queue, cl_print *print, uint64_t number, char *why) {
    int32_t error = queue->gpu->cl->clEnqueueReadBuffer(queue->queue, print->buffer, 0, 0, QN__PRINT_SIZE,
                                                        print->host, 0, NULL, NULL);
    qn__prints_add(&queue->prints, &print->print, number);
    return error ? qn__cl_failed(queue->gpu, queue->queue, error, "reading a print buffer", NULL, why)
                 : QN_OK;
}

void qn__cl_print_done(qn__queue *queue) {
    pthread_mutex_lock(&queue->print_lock);
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        cl_print *print = (cl_print *)qn__prints_take(&queue->prints, atomic_load(&queue->flight.completed));
        pthread_mutex_unlock(&queue->lock);
        if (!print) break;
        print->dirty = (qn__print_filled(print->host) + 7) / 8 * 8;
        if (print->dirty > QN__PRINT_CAPACITY) print->dirty = QN__PRINT_CAPACITY;
        if (print->print.info && !qn__is_lost(&queue->gpu->loss))
            qn__print_records(queue->gpu->services, print->print.info, print->host, QN__PRINT_SIZE);
        pthread_mutex_lock(&queue->lock);
        qn__prints_add(&queue->free_prints, &print->print, 0);
        pthread_mutex_unlock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->print_lock);
}

static void release_list(qn__queue *queue, qn__prints *prints) {
    for (cl_print *print; (print = (cl_print *)qn__prints_take(prints, UINT64_MAX));) {
        queue->gpu->cl->clReleaseMemObject(print->buffer);
        qn__release(queue->gpu->services->allocator, print->host);
        qn__release(queue->gpu->services->allocator, print);
    }
}

void qn__cl_print_free(qn__queue *queue) {
    release_list(queue, &queue->prints);
    release_list(queue, &queue->free_prints);
}
