/* Device memory from a pool that keeps what is freed (stream-ordered memory allocator), pinned host memory,
   and the buffers that kernels print to. A qn__memory is the address itself. All pool operations are on the
   device's service stream, which is idle otherwise: what a free gives back the next allocation can have. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

/* The service stream is in use: gpu->lock is held. */
static qn__cu_result allocate(qn__gpu *gpu, uint64_t size, qn__cu_address *address) {
    const qn__cu *cu = gpu->cu;
    if (!gpu->pool) return cu->mem_alloc(address, (size_t)size);
    qn__cu_result result = cu->pool_alloc(address, (size_t)size, gpu->pool, gpu->service);
    if (result) return result;
    result = cu->stream_synchronize(gpu->service); /* other streams use it at once */
    if (result) cu->pool_free(*address, gpu->service);
    return result;
}

static void give_back(qn__gpu *gpu, qn__cu_address address) {
    if (gpu->pool)
        gpu->cu->pool_free(address, gpu->service);
    else
        gpu->cu->mem_free(address);
}

static void trim(qn__gpu *gpu) {
    qn__cuda_prints_free(gpu);
    gpu->cu->stream_synchronize(gpu->service);
    if (gpu->pool) gpu->cu->pool_trim(gpu->pool, 0);
}

bool qn__cuda_make_room(qn__gpu *gpu, qn__cu_result result) {
    if (result != QN__CU_ERROR_OUT_OF_MEMORY) return false;
    pthread_mutex_lock(&gpu->lock);
    trim(gpu);
    pthread_mutex_unlock(&gpu->lock);
    return true;
}

static qn_status no_memory(qn__gpu *gpu, uint64_t size, char *why) {
    size_t free = 0, total = 0;
    if (gpu->cu->mem_info(&free, &total)) free = total = 0;
    snprintf(why, QN__WHY, "%llu bytes were wanted; %llu of the device's %llu are free",
             (unsigned long long)size, (unsigned long long)free, (unsigned long long)total);
    return QN_ERROR_DEVICE_MEMORY;
}

/* In the context. What is pooled is given back before giving up. */
static qn_status take(qn__gpu *gpu, uint64_t size, qn__cu_address *address, char *why) {
    if (size > SIZE_MAX) return no_memory(gpu, size, why);
    pthread_mutex_lock(&gpu->lock);
    qn__cu_result result = allocate(gpu, size, address);
    if (result == QN__CU_ERROR_OUT_OF_MEMORY) {
        trim(gpu);
        result = allocate(gpu, size, address);
    }
    pthread_mutex_unlock(&gpu->lock);
    if (!result) return QN_OK;
    if (result == QN__CU_ERROR_OUT_OF_MEMORY) return no_memory(gpu, size, why);
    return qn__cuda_fail(gpu, result, "allocating memory", why);
}

qn_status qn__cuda_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                 void **host, char *why) {
    *host = NULL;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn_status status = take(gpu, size, address, why);
    qn__cuda_leave(gpu, entered);
    if (!status) *memory = (qn__memory *)(uintptr_t)*address;
    return status;
}

/* ---- host memory that kernels see ---- */

static void note(qn__gpu *gpu, qn__cuda_seen *seen) {
    pthread_mutex_lock(&gpu->lock);
    seen->next = gpu->seen;
    gpu->seen = seen;
    pthread_mutex_unlock(&gpu->lock);
}

static qn__cuda_seen *take_note(qn__gpu *gpu, qn__cu_address address) {
    pthread_mutex_lock(&gpu->lock);
    qn__cuda_seen **link = &gpu->seen;
    while (*link && (*link)->address != address) link = &(*link)->next;
    qn__cuda_seen *found = *link;
    if (found) *link = found->next;
    pthread_mutex_unlock(&gpu->lock);
    return found;
}

/* In the context: notes the memory and tells the address that it has for kernels. */
static qn_status show(qn__gpu *gpu, void *host, qn__cu_address *address, char *why) {
    qn__cuda_seen *seen = qn__allocate_zeroed(gpu->services->allocator, sizeof *seen);
    if (!seen) return QN_ERROR_OUT_OF_MEMORY;
    qn__cu_result result = gpu->cu->host_address(&seen->address, host, 0);
    if (result) {
        qn__release(gpu->services->allocator, seen);
        return qn__cuda_fail(gpu, result, "showing host memory to the device", why);
    }
    seen->host = host;
    *address = seen->address;
    note(gpu, seen);
    return QN_OK;
}

static qn_status pin(qn__gpu *gpu, uint64_t size, void **host, char *why) {
    const unsigned flags = QN__CU_MEMHOSTALLOC_PORTABLE | QN__CU_MEMHOSTALLOC_DEVICEMAP;
    const size_t least = size < QN__CUDA_PINNED ? QN__CUDA_PINNED : (size_t)size;
    qn__cu_result result =
        size > SIZE_MAX ? QN__CU_ERROR_OUT_OF_MEMORY : gpu->cu->host_alloc(host, least, flags);
    if (!result) return QN_OK;
    *host = NULL;
    if (result != QN__CU_ERROR_OUT_OF_MEMORY) return qn__cuda_fail(gpu, result, "pinning memory", why);
    snprintf(why, QN__WHY, "the system pins no %llu bytes more", (unsigned long long)size);
    return QN_ERROR_DEVICE_MEMORY;
}

qn_status qn__cuda_memory_share(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                void **host, char *why) {
    *host = NULL;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn_status status = pin(gpu, size, host, why);
    if (!status) status = show(gpu, *host, address, why);
    if (status && *host) {
        qn__cuda_unpin(gpu, *host);
        *host = NULL;
    }
    qn__cuda_leave(gpu, entered);
    if (!status) *memory = (qn__memory *)(uintptr_t)*address;
    return status;
}

/* Memory of the caller's: the driver pins its pages. */
static qn_status import_failed(qn__gpu *gpu, qn__cu_result result, uint64_t size, bool read_only, char *why) {
    switch (result) {
    case QN__CU_ERROR_OUT_OF_MEMORY:
        snprintf(why, QN__WHY, "the system pins no %llu bytes more", (unsigned long long)size);
        return QN_ERROR_DEVICE_MEMORY;
    case QN__CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
        snprintf(why, QN__WHY, "a part of this host memory, or of its pages, is the driver's already");
        return QN_ERROR_ARGUMENT;
    case QN__CU_ERROR_NOT_SUPPORTED:
    case QN__CU_ERROR_INVALID_VALUE:
        snprintf(why, QN__WHY, "the driver does not take this host memory%s",
                 read_only
                     ? "; it may take what the host can write, such as a private mapping with PROT_WRITE"
                     : "; is it there, and can it be written?");
        return QN_ERROR_UNSUPPORTED;
    default: return qn__cuda_fail(gpu, result, "importing host memory", why);
    }
}

static void unregister(qn__gpu *gpu, qn__cuda_kept *kept) {
    gpu->cu->host_unregister(((qn__cuda_seen *)kept)->host);
    qn__release(gpu->services->allocator, kept);
}

/* In the context. */
static qn_status import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__cu_address *address,
                        char *why) {
    const unsigned flags = QN__CU_MEMHOSTREGISTER_PORTABLE | QN__CU_MEMHOSTREGISTER_DEVICEMAP |
                           (read_only ? QN__CU_MEMHOSTREGISTER_READ_ONLY : 0u);
    qn__cu_result result = gpu->cu->host_register(host, (size_t)size, flags);
    if (result) return import_failed(gpu, result, size, read_only, why);
    qn_status status = show(gpu, host, address, why);
    if (status) gpu->cu->host_unregister(host);
    return status;
}

qn_status qn__cuda_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **memory,
                               uint64_t *address, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn_status status = import(gpu, host, size, read_only, address, why);
    qn__cuda_leave(gpu, entered);
    if (!status) *memory = (qn__memory *)(uintptr_t)*address;
    return status;
}

/* Also when the device is lost. */
void qn__cuda_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size) {
    (void)host, (void)size;
    qn__cuda_seen *seen = take_note(gpu, (qn__cu_address)(uintptr_t)memory);
    const bool entered = qn__cuda_enter(gpu);
    qn__cuda_put_off(gpu, &seen->kept, unregister);
    qn__cuda_leave(gpu, entered);
}

static void free_seen(qn__gpu *gpu, qn__cuda_kept *kept) {
    gpu->cu->host_free(((qn__cuda_seen *)kept)->host);
    qn__release(gpu->services->allocator, kept);
}

/* Whether the address is of memory that was pinned for kernels, which then goes, also when the device is lost: the pages are
   the host's. */
static bool hide(qn__gpu *gpu, qn__cu_address address) {
    qn__cuda_seen *found = take_note(gpu, address);
    if (!found) return false;
    const bool entered = qn__cuda_enter(gpu);
    qn__cuda_put_off(gpu, &found->kept, free_seen);
    qn__cuda_leave(gpu, entered);
    return true;
}

void qn__cuda_memory_destroy(qn__gpu *gpu, qn__memory *memory) {
    if (hide(gpu, (qn__cu_address)(uintptr_t)memory)) return;
    if (qn__is_lost(&gpu->loss)) return; /* it went with the context */
    const bool entered = qn__cuda_enter(gpu);
    pthread_mutex_lock(&gpu->lock);
    give_back(gpu, (qn__cu_address)(uintptr_t)memory);
    pthread_mutex_unlock(&gpu->lock);
    qn__cuda_leave(gpu, entered);
}

uint64_t qn__cuda_pooled(const qn__gpu *gpu) {
    uint64_t reserved = 0, used = 0;
    if (!gpu->pool || qn__is_lost(&gpu->loss)) return 0;
    const bool entered = qn__cuda_enter(gpu);
    bool known = !gpu->cu->pool_get(gpu->pool, QN__CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) &&
                 !gpu->cu->pool_get(gpu->pool, QN__CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
    qn__cuda_leave(gpu, entered);
    return known && reserved > used ? reserved - used : 0;
}

void qn__cuda_trim(qn__gpu *gpu, uint64_t *pooled) {
    if (!qn__is_lost(&gpu->loss)) {
        const bool entered = qn__cuda_enter(gpu);
        pthread_mutex_lock(&gpu->lock);
        trim(gpu);
        pthread_mutex_unlock(&gpu->lock);
        qn__cuda_leave(gpu, entered);
    }
    *pooled = qn__cuda_pooled(gpu);
}

/* ---- host memory ---- */

/* Where no more can be pinned, ordinary memory does. */
qn_status qn__cuda_host_create(qn__gpu *gpu, uint64_t size, void **host, char *why) {
    *host = NULL;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    if (size > SIZE_MAX) return QN_OK;
    const bool entered = qn__cuda_enter(gpu);
    const size_t least = size < QN__CUDA_PINNED ? QN__CUDA_PINNED : (size_t)size;
    qn__cu_result result = gpu->cu->host_alloc(host, least, QN__CU_MEMHOSTALLOC_PORTABLE);
    qn__cuda_leave(gpu, entered);
    if (result)
        *host = NULL;
    else
        memset(*host, 0, (size_t)size);
    return QN_OK;
}

/* Also when the device is lost: the pages are the host's. */
void qn__cuda_host_destroy(qn__gpu *gpu, void *host) {
    const bool entered = qn__cuda_enter(gpu);
    qn__cuda_unpin(gpu, host);
    qn__cuda_leave(gpu, entered);
}

/* ---- print buffers ---- */

qn_status qn__cuda_print_new(qn__gpu *gpu, const qn__code_info *info, qn__cuda_print **out, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    pthread_mutex_lock(&gpu->lock);
    qn__cuda_print *print = (qn__cuda_print *)qn__prints_take(&gpu->free_prints, UINT64_MAX);
    pthread_mutex_unlock(&gpu->lock);
    qn_status status = QN_OK;
    if (!print) {
        print = qn__allocate_zeroed(allocator, sizeof *print);
        status = print ? take(gpu, QN__PRINT_SIZE, &print->buffer, why) : QN_ERROR_OUT_OF_MEMORY;
    }
    if (status) {
        qn__release(allocator, print);
        return status;
    }
    print->print.info = info;
    *out = print;
    return QN_OK;
}

void qn__cuda_print_drop(qn__gpu *gpu, qn__cuda_print *print) {
    pthread_mutex_lock(&gpu->lock);
    qn__prints_add(&gpu->free_prints, &print->print, 0);
    pthread_mutex_unlock(&gpu->lock);
}

/* A lost device's buffers went with the context. */
void qn__cuda_prints_free(qn__gpu *gpu) {
    for (qn__print *print; (print = qn__prints_take(&gpu->free_prints, UINT64_MAX));) {
        if (!qn__is_lost(&gpu->loss)) give_back(gpu, ((qn__cuda_print *)print)->buffer);
        qn__release(gpu->services->allocator, print);
    }
}

static bool fetch(qn__gpu *gpu, void *to, qn__cu_address from, size_t size) {
    pthread_mutex_lock(&gpu->lock);
    bool fetched =
        !gpu->cu->copy_to_host(to, from, size, gpu->service) && !gpu->cu->stream_synchronize(gpu->service);
    pthread_mutex_unlock(&gpu->lock);
    return fetched;
}

void qn__cuda_print_records(qn__gpu *gpu, const qn__cuda_print *print) {
    unsigned char header[QN__PRINT_HEADER];
    if (!print->print.info || !fetch(gpu, header, print->buffer, sizeof header)) return;
    const uint64_t filled = qn__print_filled(header);
    const size_t size = QN__PRINT_HEADER + (size_t)filled;
    if (filled == 0 || size > QN__PRINT_SIZE) return;
    unsigned char *records = qn__allocate(gpu->services->allocator, size);
    if (records && fetch(gpu, records, print->buffer, size))
        qn__print_records(gpu->services, print->print.info, records, size);
    qn__release(gpu->services->allocator, records);
}
