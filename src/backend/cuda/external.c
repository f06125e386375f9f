/* Buffers in memory of others, and memory that others can have. A pointer is used as it is. A descriptor is of Vulkan's
   memory, which the driver imports as external memory, or of an allocation of CUDA's own virtual memory management, as
   ours are that can be exported. A qn__memory is the address, as of all memory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "util/file.h"

/* What belongs to an address; those of pointers have none. */
typedef struct qn__cuda_external {
    struct qn__cuda_external *next;
    qn__cu_address address; /* of the buffer */
    qn__cu_address base;
    size_t size;                  /* bytes from there that are mapped */
    qn__cu_external external;     /* or NULL: an allocation */
    qn__cu_allocation allocation; /* kept for exports */
} external;

/* ---- undoing; in the context ---- */

static void release(qn__gpu *gpu, external *e) {
    const qn__cu *cu = gpu->cu;
    if (e->external) {
        if (e->base) cu->mem_free(e->base);
        cu->external_destroy(e->external);
    } else {
        if (e->base) {
            cu->range_unmap(e->base, e->size);
            cu->range_free(e->base, e->size);
        }
        if (e->allocation) cu->allocation_release(e->allocation);
    }
    qn__release(gpu->services->allocator, e);
}

static external *find(qn__gpu *gpu, qn__cu_address address, bool take) {
    pthread_mutex_lock(&gpu->lock);
    external **link = &gpu->externals;
    while (*link && (*link)->address != address) link = &(*link)->next;
    external *found = *link;
    if (found && take) *link = found->next;
    pthread_mutex_unlock(&gpu->lock);
    return found;
}

void qn__cuda_external_destroy(qn__gpu *gpu, qn__memory *memory, uint32_t import) {
    if (import == QN_HANDLE_CUDA_POINTER) return; /* its memory is the caller's */
    external *e = find(gpu, (qn__cu_address)(uintptr_t)memory, true);
    const bool entered = qn__cuda_enter(gpu);
    release(gpu, e);
    qn__cuda_leave(gpu, entered);
}

static qn_status finish(qn__gpu *gpu, qn_status status, external *e, uint64_t offset, qn__memory **memory,
                        uint64_t *address) {
    if (status) {
        release(gpu, e);
        return status;
    }
    *address = e->address = e->base + offset;
    *memory = (qn__memory *)(uintptr_t)e->address;
    pthread_mutex_lock(&gpu->lock);
    e->next = gpu->externals;
    gpu->externals = e;
    pthread_mutex_unlock(&gpu->lock);
    return QN_OK;
}

/* ---- allocations with descriptors ---- */

static qn__cu_allocation_props props_of(const qn__gpu *gpu) {
    return (qn__cu_allocation_props){.type = QN__CU_MEM_ALLOCATION_TYPE_PINNED,
                                     .handle_types = QN__CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                     .location = {QN__CU_MEM_LOCATION_TYPE_DEVICE, gpu->device}};
}

/* Bytes as the driver allocates them. */
static qn__cu_result round_up(const qn__gpu *gpu, uint64_t size, size_t *rounded) {
    const qn__cu_allocation_props props = props_of(gpu);
    size_t unit = 0;
    qn__cu_result result = gpu->cu->granularity(&unit, &props, QN__CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result) return result;
    if (!unit || size > SIZE_MAX - unit) return QN__CU_ERROR_OUT_OF_MEMORY;
    *rounded = ((size_t)size + unit - 1) / unit * unit;
    return QN__CU_SUCCESS;
}

/* The allocation gets an address, for this device to read and write. */
static qn__cu_result map(qn__gpu *gpu, external *e) {
    const qn__cu *cu = gpu->cu;
    const qn__cu_access access = {.location = {QN__CU_MEM_LOCATION_TYPE_DEVICE, gpu->device},
                                  .flags = QN__CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    qn__cu_address base = 0;
    qn__cu_result result = cu->range_reserve(&base, e->size, 0, 0, 0);
    if (result) return result;
    result = cu->range_map(base, e->size, 0, e->allocation, 0);
    if (result) {
        cu->range_free(base, e->size);
        return result;
    }
    e->base = base;
    return cu->range_set_access(base, e->size, &access, 1);
}

qn_status qn__cuda_external_create(qn__gpu *gpu, uint64_t size, uint32_t kinds, qn__memory **memory,
                                   uint64_t *address, void **host, char *why) {
    (void)kinds; /* there is one */
    *host = NULL;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    external *e = qn__allocate_zeroed(gpu->services->allocator, sizeof *e);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    const qn__cu_allocation_props props = props_of(gpu);
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result = round_up(gpu, size, &e->size);
    if (!result) result = gpu->cu->allocation_create(&e->allocation, e->size, &props, 0);
    if (!result) result = map(gpu, e);
    qn_status status = result ? qn__cuda_fail(gpu, result, "allocating memory to export", why) : QN_OK;
    status = finish(gpu, status, e, 0, memory, address);
    qn__cuda_leave(gpu, entered);
    return status;
}

qn_status qn__cuda_external_export(qn__gpu *gpu, const qn__memory *memory, qn_handle_kind kind,
                                   qn_export *out, char *why) {
    (void)kind;
    int fd = -1;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const external *e = find(gpu, (qn__cu_address)(uintptr_t)memory, false);
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result =
        gpu->cu->allocation_export(&fd, e->allocation, QN__CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    qn__cuda_leave(gpu, entered);
    if (result) return qn__cuda_fail(gpu, result, "exporting memory", why);
    qn__file_keep(fd);
    *out = (qn_export){.handle = (uint64_t)fd, .memory_size = e->size};
    return QN_OK;
}

/* ---- imports ---- */

/* Memory of Vulkan. The driver takes its descriptor over when it succeeds. */
static qn__cu_result import_external(qn__gpu *gpu, external *e, int fd, uint64_t memory_size) {
    const qn__cu *cu = gpu->cu;
    const qn__cu_external_desc desc = {
        .type = QN__CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle = {.fd = fd}, .size = memory_size};
    const qn__cu_external_range range = {.size = e->size};
    qn__cu_result result = cu->external_import(&e->external, &desc);
    if (result) {
        e->external = NULL;
        qn__file_close(fd);
        return result;
    }
    return cu->external_map(&e->base, e->external, &range);
}

/* An allocation of CUDA's, by its size as it was exported. */
static qn__cu_result import_allocation(qn__gpu *gpu, external *e, int fd, uint64_t memory_size) {
    qn__cu_result result = round_up(gpu, memory_size, &e->size);
    if (!result)
        result = gpu->cu->allocation_import(&e->allocation, (void *)(intptr_t)fd,
                                            QN__CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result) {
        e->allocation = 0;
        return result;
    }
    return map(gpu, e);
}

static qn_status import_descriptor(qn__gpu *gpu, const qn_import_desc *desc, external *e, char *why) {
    const uint64_t memory_size = desc->memory_size ? desc->memory_size : desc->offset + desc->size;
    const int fd = qn__file_duplicate((int)desc->handle);
    char text[256];
    if (fd < 0) {
        snprintf(why, QN__WHY, "descriptor %d: %s", (int)desc->handle, strerror(errno));
        return errno == EBADF ? QN_ERROR_ARGUMENT : QN_ERROR_DRIVER;
    }
    e->size = (size_t)(desc->offset + desc->size);
    qn__cu_result result = import_external(gpu, e, fd, memory_size), first = result;
    if (result && !e->external) result = import_allocation(gpu, e, (int)desc->handle, memory_size);
    if (!result) return QN_OK;
    if (result == QN__CU_ERROR_OUT_OF_MEMORY) return qn__cuda_fail(gpu, result, "importing memory", why);
    /* "unknown error" is what the driver says of a file that it does not know; the device is not lost by it */
    qn_status status = QN_ERROR_ARGUMENT;
    if (first != QN__CU_ERROR_UNKNOWN) status = qn__cuda_fail(gpu, first, "importing memory", why);
    if (status == QN_ERROR_DEVICE_LOST) return status;
    qn__cuda_error_text(gpu->cu, first, text, sizeof text);
    snprintf(why, QN__WHY, "the descriptor is none of memory that the driver takes (%s)", text);
    return QN_ERROR_ARGUMENT;
}

/* It has to lie in one allocation of this device. */
static qn_status check_pointer(qn__gpu *gpu, const qn_import_desc *desc, char *why) {
    const qn__cu *cu = gpu->cu;
    const qn__cu_address address = desc->handle;
    qn__cu_address start = 0;
    size_t size = 0;
    int device = -1;
    qn__cu_result result = cu->pointer_get(&device, QN__CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
    if (!result) result = cu->pointer_get(&start, QN__CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address);
    if (!result) result = cu->pointer_get(&size, QN__CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
    if (result || device != gpu->device) {
        snprintf(why, QN__WHY, "0x%llx is no memory of this device%s", (unsigned long long)address,
                 result ? "" : ", but of another one");
        return QN_ERROR_ARGUMENT;
    }
    const uint64_t room = size - (address - start);
    if (desc->offset <= room && desc->size <= room - desc->offset) return QN_OK;
    snprintf(why, QN__WHY, "%llu bytes at %llu behind 0x%llx, of an allocation of %llu at 0x%llx",
             (unsigned long long)desc->size, (unsigned long long)desc->offset, (unsigned long long)address,
             (unsigned long long)size, (unsigned long long)start);
    return QN_ERROR_RANGE;
}

static qn_status import(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **memory, uint64_t *address,
                        char *why) {
    if (desc->kind == QN_HANDLE_CUDA_POINTER) {
        qn_status status = check_pointer(gpu, desc, why);
        *address = desc->handle + desc->offset;
        *memory = (qn__memory *)(uintptr_t)*address;
        return status;
    }
    external *e = qn__allocate_zeroed(gpu->services->allocator, sizeof *e);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = import_descriptor(gpu, desc, e, why);
    return finish(gpu, status, e, desc->offset, memory, address);
}

qn_status qn__cuda_external_import(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **memory,
                                   uint64_t *address, void **host, char *why) {
    *host = NULL;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn_status status = import(gpu, desc, memory, address, why);
    qn__cuda_leave(gpu, entered);
    return status;
}
