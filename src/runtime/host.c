/* Pinned host memory. A device keeps its pieces sorted by their addresses, so that a transfer finds the one that it
   lies in. A piece is an object: commands in flight hold references, and freed memory goes when they are done. */
#include <string.h>

#include "runtime/runtime.h"

enum { ALIGNMENT = 64, LEAST_ROOM = 16 };

/* How many begin at or before the address; the lock is held. */
static size_t count_up_to(const qn_device *device, const void *address) {
    size_t low = 0, high = device->num_hosts;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)device->hosts[middle]->begin <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

qn__host *qn__host_find(qn_device *device, const void *memory, uint64_t size) {
    qn__host *found = NULL;
    pthread_mutex_lock(&device->host_lock);
    size_t count = count_up_to(device, memory);
    if (count) {
        qn__host *host = device->hosts[count - 1];
        uint64_t offset = (uintptr_t)memory - (uintptr_t)host->begin;
        if (offset <= host->size && size <= host->size - offset) found = host;
    }
    if (found) qn__retain(&found->object); /* what is in the list has a reference */
    pthread_mutex_unlock(&device->host_lock);
    return found;
}

static bool add_to_list(qn_device *device, qn__host *host) {
    const qn__allocator *allocator = &device->object.context->allocator;
    pthread_mutex_lock(&device->host_lock);
    if (device->num_hosts == device->cap_hosts) {
        size_t cap = device->cap_hosts ? 2 * device->cap_hosts : LEAST_ROOM;
        void *grown = qn__reallocate(allocator, device->hosts, cap * sizeof(qn__host *));
        if (grown) {
            device->hosts = grown;
            device->cap_hosts = cap;
        }
    }
    bool fits = device->num_hosts < device->cap_hosts;
    if (fits) {
        size_t at = count_up_to(device, host->begin);
        memmove(&device->hosts[at + 1], &device->hosts[at], (device->num_hosts - at) * sizeof(qn__host *));
        device->hosts[at] = host;
        device->num_hosts++;
    }
    pthread_mutex_unlock(&device->host_lock);
    return fits;
}

static qn__host *take_from_list(qn_device *device, const void *memory) {
    pthread_mutex_lock(&device->host_lock);
    size_t count = count_up_to(device, memory);
    qn__host *host = count ? device->hosts[count - 1] : NULL;
    if (host && host->begin == memory) {
        device->num_hosts--;
        memmove(&device->hosts[count - 1], &device->hosts[count],
                (device->num_hosts - (count - 1)) * sizeof(qn__host *));
    } else
        host = NULL;
    pthread_mutex_unlock(&device->host_lock);
    return host;
}

static qn_status refuse(const qn_device *device, qn_status status, uint64_t size, const char *why) {
    if (status == QN_ERROR_DEVICE_MEMORY) status = QN_ERROR_OUT_OF_MEMORY;
    return qn__fail(device->object.context, status, "qn_host_alloc: %llu bytes on %s: %s",
                    (unsigned long long)size, device->name,
                    why[0] ? why : "the system has no more memory that can be pinned");
}

/* Where the device has nothing faster, it is ordinary memory. */
static qn_status fill_in(qn__host *host) {
    qn_device *device = host->device;
    const qn__allocator *allocator = &device->object.context->allocator;
    char why[QN__WHY] = "";
    void *memory = NULL;
    if (device->backend->host_create) {
        qn_status status = device->backend->host_create(device->gpu, host->size, &memory, why);
        if (!status && !memory) status = QN_ERROR_OUT_OF_MEMORY;
        if (status) return refuse(device, status, host->size, why);
        host->begin = memory;
        return QN_OK;
    }
    if (host->size <= SIZE_MAX - ALIGNMENT)
        host->base = qn__allocate_zeroed(allocator, (size_t)host->size + ALIGNMENT);
    if (!host->base)
        return refuse(device, QN_ERROR_OUT_OF_MEMORY, host->size, "the system has no more memory");
    host->begin = host->base + (ALIGNMENT - (uintptr_t)host->base % ALIGNMENT) % ALIGNMENT;
    return QN_OK;
}

/* Counted, and had; where the second fails, the first is taken back. */
static qn_status take(qn__host *host) {
    qn_status status = qn__host_take(host->device, host->pool, host->size);
    if (status) return status;
    status = fill_in(host);
    if (status)
        qn__host_give(host->device, host->pool, host->size, false);
    else if (!host->base)
        qn__host_pinned(host->device, host->pool, host->size);
    return status;
}

static qn_status host_alloc(qn_device *device, qn_memory_pool *pool, uint64_t size, void **memory,
                            const char *function) {
    qn_context *context = device->object.context;
    if (!memory) return qn__fail_null(context, function, "memory");
    if (size == 0) return qn__fail(context, QN_ERROR_RANGE, "%s: the size is 0", function);
    qn_status status = qn__device_ready(device);
    if (status) return status;
    qn__host *host = qn__object_new(context, QN__OBJECT_HOST);
    if (!host) return QN_ERROR_OUT_OF_MEMORY;
    host->device = device;
    host->size = size;
    host->pool = pool;
    if (pool) qn__retain(&pool->object);
    status = take(host);
    if (!status && !add_to_list(device, host)) status = qn__fail_memory(context, sizeof host);
    if (status)
        qn__object_destroy(&host->object, QN__OBJECT_HOST);
    else
        *memory = host->begin;
    return status;
}

qn_status qn_host_alloc(qn_device *device, uint64_t size, void **memory) {
    if (memory) *memory = NULL;
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_host_alloc", "device");
    return status ? status : host_alloc(device, NULL, size, memory, "qn_host_alloc");
}

qn_status qn_memory_pool_host_alloc(qn_memory_pool *pool, uint64_t size, void **memory) {
    if (memory) *memory = NULL;
    qn_status status = qn__check(pool, QN__OBJECT_POOL, "qn_memory_pool_host_alloc", "pool");
    return status ? status : host_alloc(pool->device, pool, size, memory, "qn_memory_pool_host_alloc");
}

void qn__hosts_clear(qn_memory_pool *pool) {
    qn_device *device = pool->device;
    for (qn__host *host = NULL;; qn__object_destroy(&host->object, QN__OBJECT_HOST)) {
        const void *memory = NULL;
        pthread_mutex_lock(&device->host_lock);
        for (size_t i = 0; i < device->num_hosts && !memory; i++)
            if (device->hosts[i]->pool == pool) memory = device->hosts[i]->begin;
        pthread_mutex_unlock(&device->host_lock);
        host = memory ? take_from_list(device, memory) : NULL;
        if (!host) return;
    }
}

void qn_host_free(qn_device *device, void *memory) {
    if (!memory || qn__check(device, QN__OBJECT_DEVICE, "qn_host_free", "device")) return;
    qn__host *host = take_from_list(device, memory);
    if (host)
        qn__object_destroy(&host->object, QN__OBJECT_HOST);
    else
        qn__fail(device->object.context, QN_ERROR_ARGUMENT,
                 "qn_host_free: %p is not memory that qn_host_alloc gave for %s, or has been freed", memory,
                 device->name);
}

static void release(qn__host *host) {
    qn_device *device = host->device;
    if (host->base)
        qn__release(&device->object.context->allocator, host->base);
    else
        device->backend->host_destroy(device->gpu, host->begin);
}

void qn__host_finalise(qn__host *host) {
    qn_device *device = host->device;
    if (host->begin) {
        release(host);
        qn__host_give(device, host->pool, host->size, !host->base);
    }
    if (host->pool) qn__drop(&host->pool->object);
}
