/* Buffers of an OpenCL device, and host memory that it copies from and to fast.
   A buffer's address is a number of our own: OpenCL 1.2 does not tell the real one, and launches bind the memory
   object itself. On a processor a buffer is host memory of ours (CL_MEM_USE_HOST_PTR), which both sides see. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

enum { PAGE = 4096 };

struct cl_pinned {
    cl_pinned *next;
    cl_object buffer;
    void *host;
};

static qn_status no_memory(const qn__gpu *gpu, uint64_t size, int32_t error, char *why) {
    snprintf(why, QN__WHY,
             "the driver has no %llu bytes (%s); the device has %llu in all, %llu of them in quern's buffers",
             (unsigned long long)size, qn__cl_error_name(error), (unsigned long long)gpu->memory,
             (unsigned long long)atomic_load(&gpu->used));
    return QN_ERROR_DEVICE_MEMORY;
}

/* Some drivers allocate when memory is first used: it must fail here and not in the middle of a stream. */
static int32_t touch(qn__gpu *gpu, cl_object buffer) {
    const unsigned char zero = 0;
    int32_t error = gpu->cl->clEnqueueFillBuffer(gpu->service, buffer, &zero, 1, 0, 1, 0, NULL, NULL);
    int32_t finished = gpu->cl->clFinish(gpu->service);
    return error ? error : finished;
}

static void *own_memory(const qn__gpu *gpu, uint64_t size, void **host) {
    unsigned char *base = qn__allocate(gpu->services->allocator, (size_t)size + 2 * PAGE);
    if (!base) return NULL;
    *host = base + (PAGE - (uintptr_t)base % PAGE) % PAGE;
    return base;
}

static cl_object create_buffer(qn__gpu *gpu, uint64_t size, void *host, int32_t *error) {
    uint64_t flags = CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0);
    cl_object buffer = gpu->cl->clCreateBuffer(gpu->context, flags, (size_t)size, host, error);
    if (!*error && buffer && !host) *error = touch(gpu, buffer);
    if (*error && buffer) {
        gpu->cl->clReleaseMemObject(buffer);
        buffer = NULL;
    }
    return buffer;
}

static void release_memory(qn__gpu *gpu, qn__memory *memory) {
    if (memory->buffer) gpu->cl->clReleaseMemObject(memory->buffer);
    if (memory->svm) gpu->cl->clSVMFree(gpu->context, memory->svm);
    qn__release(gpu->services->allocator, memory->base);
    qn__release(gpu->services->allocator, memory);
}

/* Its address is never given again, so that a kernel's last arguments can be compared by it. */
static void note_memory(qn__gpu *gpu, qn__memory *memory, uint64_t size, uint64_t *address) {
    memory->address = atomic_fetch_add(&gpu->next_address, (size + 2 * PAGE - 1) / PAGE * PAGE);
    memory->size = size;
    atomic_fetch_add(&gpu->used, size);
    *address = memory->address;
}

/* The buffer over `host`, or in memory of the driver's where that is NULL; the struct is taken over. */
static qn_status make_buffer(qn__gpu *gpu, qn__memory *memory, uint64_t size, void *host, qn__memory **out,
                             uint64_t *address, char *why) {
    int32_t error = 0;
    memory->buffer = create_buffer(gpu, size, host, &error);
    if (!memory->buffer) {
        release_memory(gpu, memory);
        return no_memory(gpu, size, error, why);
    }
    note_memory(gpu, memory, size, address);
    *out = memory;
    return QN_OK;
}

static qn_status begin(qn__gpu *gpu, uint64_t size, qn__memory **memory, char *why) {
    *memory = NULL;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    if (size > SIZE_MAX - 4 * PAGE) return no_memory(gpu, size, CL_INVALID_BUFFER_SIZE, why);
    *memory = qn__allocate_zeroed(gpu->services->allocator, sizeof **memory);
    return *memory ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

static uint64_t rounded(uint64_t size) { return (size + 63) / 64 * 64; }

qn_status qn__cl_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **out, uint64_t *address, void **host,
                               char *why) {
    qn__memory *memory;
    *host = NULL;
    qn_status status = begin(gpu, size, &memory, why);
    if (status) return status;
    if (gpu->is_cpu) memory->base = own_memory(gpu, rounded(size), host);
    if (gpu->is_cpu && !memory->base) {
        release_memory(gpu, memory);
        return no_memory(gpu, size, CL_MEM_OBJECT_ALLOCATION_FAILURE, why);
    }
    status = make_buffer(gpu, memory, gpu->is_cpu ? rounded(size) : size, *host, out, address, why);
    if (status) *host = NULL;
    return status;
}

/* Shared virtual memory, with a buffer over it that works on it at the same granularity (OpenCL API specification,
   clCreateBuffer): launches bind it as any other. */
qn_status qn__cl_memory_share(qn__gpu *gpu, uint64_t size, qn__memory **out, uint64_t *address, void **host,
                              char *why) {
    const uint64_t flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    qn__memory *memory;
    *host = NULL;
    qn_status status = begin(gpu, size, &memory, why);
    if (status) return status;
    memory->svm = gpu->cl->clSVMAlloc(gpu->context, flags, (size_t)rounded(size), 0);
    if (!memory->svm) {
        release_memory(gpu, memory);
        return no_memory(gpu, size, CL_MEM_OBJECT_ALLOCATION_FAILURE, why);
    }
    void *const svm = memory->svm;
    status = make_buffer(gpu, memory, rounded(size), svm, out, address, why);
    if (!status) *host = svm;
    return status;
}

/* Processors work on it where it is. */
qn_status qn__cl_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **out,
                             uint64_t *address, char *why) {
    (void)read_only;
    qn__memory *memory;
    qn_status status = begin(gpu, size, &memory, why);
    return status ? status : make_buffer(gpu, memory, size, host, out, address, why);
}

void qn__cl_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size) {
    (void)host, (void)size;
    qn__cl_memory_destroy(gpu, memory);
}

/* ---- memory objects of others ---- */

static qn_status check_object(const qn__gpu *gpu, const qn_import_desc *desc, cl_object object, char *why) {
    const qn__cl *cl = gpu->cl;
    uint32_t type = 0;
    size_t size = 0;
    cl_object context = NULL;
    int32_t error = cl->clGetMemObjectInfo(object, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (!error) error = cl->clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (!error)
        error = cl->clGetMemObjectInfo(object, CL_MEM_CONTEXT, sizeof context, (void *)&context, NULL);
    if (error || type != CL_MEM_OBJECT_BUFFER) {
        snprintf(why, QN__WHY, "the handle is no cl_mem of a buffer%s%s", error ? ": " : "",
                 error ? qn__cl_error_name(error) : "");
        return QN_ERROR_ARGUMENT;
    }
    if (context != gpu->context) {
        snprintf(why, QN__WHY,
                 "the cl_mem is of another cl_context than the device's (QN_NATIVE_OPENCL_CONTEXT)");
        return QN_ERROR_ARGUMENT;
    }
    if (desc->offset) {
        snprintf(why, QN__WHY, "the offset of a cl_mem has to be 0; import it whole and take a view");
        return QN_ERROR_ARGUMENT;
    }
    if (desc->size <= size) return QN_OK;
    snprintf(why, QN__WHY, "%llu bytes of a cl_mem of %llu", (unsigned long long)desc->size,
             (unsigned long long)size);
    return QN_ERROR_RANGE;
}

qn_status qn__cl_external_import(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **out,
                                 uint64_t *address, void **host, char *why) {
    cl_object object = (cl_object)(uintptr_t)desc->handle;
    qn__memory *memory;
    *host = NULL;
    qn_status status = begin(gpu, desc->size, &memory, why);
    if (status) return status;
    status = check_object(gpu, desc, object, why);
    if (!status && gpu->cl->clRetainMemObject(object)) {
        snprintf(why, QN__WHY, "the cl_mem cannot be retained");
        status = QN_ERROR_DRIVER;
    }
    if (status) {
        release_memory(gpu, memory);
        return status;
    }
    memory->buffer = object;
    note_memory(gpu, memory, desc->size, address);
    *out = memory;
    return QN_OK;
}

void qn__cl_memory_destroy(qn__gpu *gpu, qn__memory *memory) {
    atomic_fetch_sub(&gpu->used, memory->size);
    release_memory(gpu, memory);
}

void qn__cl_external_destroy(qn__gpu *gpu, qn__memory *memory, uint32_t import) {
    (void)import;
    qn__cl_memory_destroy(gpu, memory);
}

/* ---- pinned host memory: a buffer that the driver keeps on the host, mapped for good ---- */

static void release_pinned(qn__gpu *gpu, cl_pinned *pinned) {
    if (pinned->host)
        gpu->cl->clEnqueueUnmapMemObject(gpu->service, pinned->buffer, pinned->host, 0, NULL, NULL);
    if (pinned->host) gpu->cl->clFinish(gpu->service);
    if (pinned->buffer) gpu->cl->clReleaseMemObject(pinned->buffer);
    qn__release(gpu->services->allocator, pinned);
}

qn_status qn__cl_host_create(qn__gpu *gpu, uint64_t size, void **host, char *why) {
    const qn__cl *cl = gpu->cl;
    int32_t error = 0;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    cl_pinned *pinned = qn__allocate_zeroed(gpu->services->allocator, sizeof *pinned);
    if (!pinned) return QN_ERROR_OUT_OF_MEMORY;
    pinned->buffer = cl->clCreateBuffer(gpu->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, (size_t)size,
                                        NULL, &error);
    if (!error)
        pinned->host = cl->clEnqueueMapBuffer(gpu->service, pinned->buffer, 1, CL_MAP_READ | CL_MAP_WRITE, 0,
                                              (size_t)size, 0, NULL, NULL, &error);
    if (error || !pinned->host) {
        release_pinned(gpu, pinned);
        snprintf(why, QN__WHY, "no %llu bytes of pinned memory: %s", (unsigned long long)size,
                 qn__cl_error_name(error));
        return QN_ERROR_OUT_OF_MEMORY;
    }
    memset(pinned->host, 0, (size_t)size);
    *host = pinned->host;
    pthread_mutex_lock(&gpu->lock);
    pinned->next = gpu->pinned;
    gpu->pinned = pinned;
    pthread_mutex_unlock(&gpu->lock);
    return QN_OK;
}

void qn__cl_host_destroy(qn__gpu *gpu, void *host) {
    pthread_mutex_lock(&gpu->lock);
    cl_pinned **link = &gpu->pinned;
    while (*link && (*link)->host != host) link = &(*link)->next;
    cl_pinned *pinned = *link;
    if (pinned) *link = pinned->next;
    pthread_mutex_unlock(&gpu->lock);
    if (pinned) release_pinned(gpu, pinned);
}
