/* Device memory: large blocks, each with a buffer over all of it, cut into pieces first fit; free neighbours
   are joined. Large pieces get blocks of their own. Empty blocks stay for reuse up to a limit. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"

enum {
    ALIGNMENT = 256,
    BLOCK_SIZE = 64 << 20,
    LEAST_BLOCK = 1 << 20,
    LEAST_POOL = 64 << 20,
    SINGLE_SHARE = 4 /* what needs more than this part of a block gets its own */
};

static uint64_t round_up(uint64_t size, uint64_t unit) { return (size + unit - 1) / unit * unit; }

VkBufferCreateInfo qn__vk_buffer_info(uint64_t size) {
    return (VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                .size = size,
                                .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                         VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
}

qn_status qn__vk_buffer_over(qn__gpu *gpu, qn__vk_block *block, uint32_t handle_types, char *why) {
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = handle_types};
    VkBufferCreateInfo info = qn__vk_buffer_info(block->size);
    info.pNext = &external;
    VkResult result = gpu->vk.CreateBuffer(gpu->device, &info, NULL, &block->buffer);
    if (result == VK_SUCCESS) return QN_OK;
    block->buffer = 0;
    return qn__vk_failed(gpu, "vkCreateBuffer", result, why);
}

/* ---- heaps ---- */

/* What memory a buffer needs, and whether the driver wants it to be for this buffer alone. */
static VkMemoryRequirements needs_of(qn__gpu *gpu, VkBuffer buffer, bool *alone) {
    VkBufferMemoryRequirementsInfo2 info = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
                                            .buffer = buffer};
    VkMemoryDedicatedRequirements dedicated = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 needs = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2, .pNext = &dedicated};
    gpu->vk.GetBufferMemoryRequirements2(gpu->device, &info, &needs);
    *alone = dedicated.prefersDedicatedAllocation || dedicated.requiresDedicatedAllocation;
    return needs.memoryRequirements;
}

/* The memory types that our buffers can lie in, as bits. */
static qn_status usable_types(qn__gpu *gpu, uint32_t *types, char *why) {
    VkBufferCreateInfo info = qn__vk_buffer_info(LEAST_BLOCK);
    VkBuffer buffer;
    VkResult result = gpu->vk.CreateBuffer(gpu->device, &info, NULL, &buffer);
    if (result != VK_SUCCESS) return qn__vk_failed(gpu, "vkCreateBuffer", result, why);
    bool alone;
    *types = needs_of(gpu, buffer, &alone).memoryTypeBits;
    gpu->vk.DestroyBuffer(gpu->device, buffer, NULL);
    return QN_OK;
}

/* Of the usable types, the first with all of `all` and most of `more`, and none of `none`. -1: none. */
static int find_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t usable, uint32_t all,
                     uint32_t more, uint32_t none) {
    int best = -1, best_score = -1;
    for (uint32_t i = 0; i < memory->memoryTypeCount && i < 32; i++) {
        uint32_t flags = memory->memoryTypes[i].propertyFlags;
        if (!(usable >> i & 1) || (flags & all) != all || (flags & none)) continue;
        if (flags > 15) continue; /* protected, lazily allocated or otherwise special */
        int score = 0;
        for (uint32_t bits = flags & more; bits; bits &= bits - 1) score++;
        if (score > best_score) {
            best = (int)i;
            best_score = score;
        }
    }
    return best;
}

/* Memory is the host's where the GPU is a part of the processor, or is the processor. */
static bool is_unified(const qn__gpu *gpu) {
    uint32_t type = gpu->physical->properties.deviceType;
    return type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
}

static void set_heap(qn__gpu *gpu, qn__vk_heap_kind kind, const VkPhysicalDeviceMemoryProperties *memory,
                     int type) {
    uint64_t size = memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size;
    uint64_t block = size / 8 < BLOCK_SIZE ? size / 8 : BLOCK_SIZE;
    if (kind == QN__VK_UPLOAD_HEAP && block > LEAST_BLOCK) block = LEAST_BLOCK;
    gpu->heaps[kind] = (qn__vk_heap){
        .type = (uint32_t)type,
        .host_visible =
            memory->memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT ? true : false,
        .block_size = round_up(block ? block : LEAST_BLOCK, ALIGNMENT),
        .pool_limit = kind == QN__VK_DEVICE_HEAP && size / 16 > LEAST_POOL ? size / 16 : LEAST_POOL,
    };
}

/* maxMemoryAllocationSize is what the driver promises; where it states a larger limit for buffers, larger
   allocations are tried, and fail as any allocation may. */
static uint64_t max_buffer(const qn__gpu *gpu, uint64_t heap) {
    uint64_t limit = gpu->physical->properties_11.maxMemoryAllocationSize;
    if (gpu->can.api_version >= VK_API_VERSION_1_3) {
        VkPhysicalDeviceMaintenance4Properties more = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
        VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                           .pNext = &more};
        gpu->driver->vk.GetPhysicalDeviceProperties2(gpu->physical->handle, &all);
        bool larger = !gpu->unified && more.maxBufferSize > limit;
        if (more.maxBufferSize && (larger || more.maxBufferSize < limit)) limit = more.maxBufferSize;
    }
    return limit && limit < heap ? limit / ALIGNMENT * ALIGNMENT : heap;
}

qn_status qn__vk_heaps_init(qn__gpu *gpu, char *why) {
    enum {
        LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        HOST = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT
    };
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    gpu->driver->vk.GetPhysicalDeviceMemoryProperties2(gpu->physical->handle, &properties);
    const VkPhysicalDeviceMemoryProperties *memory = &properties.memoryProperties;
    uint32_t usable = 0;
    qn_status status = usable_types(gpu, &usable, why);
    if (status) return status;
    int shared = is_unified(gpu) ? find_type(memory, usable, LOCAL | HOST, CACHED, 0) : -1;
    gpu->unified = shared >= 0;
    int device =
        gpu->unified ? shared : find_type(memory, usable, LOCAL, 0, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
    if (device < 0) device = find_type(memory, usable, LOCAL, 0, 0);
    int host = gpu->unified ? shared : find_type(memory, usable, HOST, CACHED, LOCAL);
    if (host < 0) host = find_type(memory, usable, HOST, CACHED, 0);
    int upload = gpu->unified ? shared : find_type(memory, usable, HOST | LOCAL, 0, 0);
    /* What kernels read over the bus may be stale while they run: only device memory that the host sees is shared. */
    if (upload < 0) gpu->can.coherent = false;
    if (upload < 0) upload = host;
    if (device < 0 || host < 0) {
        snprintf(why, QN__WHY, "the device has no memory that the host can see, or none of its own");
        return QN_ERROR_NO_DEVICE;
    }
    set_heap(gpu, QN__VK_DEVICE_HEAP, memory, device);
    set_heap(gpu, QN__VK_UPLOAD_HEAP, memory, upload);
    set_heap(gpu, QN__VK_HOST_HEAP, memory, host);
    gpu->memory_size = memory->memoryHeaps[memory->memoryTypes[device].heapIndex].size;
    gpu->max_buffer = max_buffer(gpu, gpu->memory_size);
    return QN_OK;
}

/* ---- blocks ---- */

void qn__vk_block_free(qn__gpu *gpu, qn__vk_block *block) {
    const qn__allocator *allocator = gpu->services->allocator;
    for (qn__memory *piece = block->first, *next; piece; piece = next) {
        next = piece->behind;
        qn__release(allocator, piece);
    }
    if (block->buffer) gpu->vk.DestroyBuffer(gpu->device, block->buffer, NULL);
    if (block->memory) gpu->vk.FreeMemory(gpu->device, block->memory, NULL);
    qn__release(allocator, block);
}

static VkResult create_buffer(qn__gpu *gpu, const qn__vk_heap *heap, qn__vk_block *block) {
    VkBufferCreateInfo info = qn__vk_buffer_info(block->size);
    VkResult result = gpu->vk.CreateBuffer(gpu->device, &info, NULL, &block->buffer);
    if (result != VK_SUCCESS) return result;
    bool alone;
    VkMemoryRequirements needs = needs_of(gpu, block->buffer, &alone);
    if (!(needs.memoryTypeBits >> heap->type & 1)) return VK_ERROR_FEATURE_NOT_PRESENT;
    VkMemoryDedicatedAllocateInfo dedicated = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                               .buffer = block->buffer};
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .pNext = alone ? &dedicated : NULL,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = heap->type};
    result = gpu->vk.AllocateMemory(gpu->device, &memory, NULL, &block->memory);
    if (result != VK_SUCCESS) {
        block->memory = 0;
        return result;
    }
    result = gpu->vk.BindBufferMemory(gpu->device, block->buffer, block->memory, 0);
    if (result != VK_SUCCESS) return result;
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = block->buffer};
    block->address = gpu->vk.GetBufferDeviceAddress(gpu->device, &address);
    if (!heap->host_visible) return VK_SUCCESS;
    void *mapped = NULL;
    result = gpu->vk.MapMemory(gpu->device, block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    block->mapped = mapped;
    return result;
}

static qn__vk_block *new_block(qn__gpu *gpu, qn__vk_heap *heap, uint64_t size, bool single,
                               VkResult *result) {
    const qn__allocator *allocator = gpu->services->allocator;
    qn__vk_block *block = qn__allocate_zeroed(allocator, sizeof *block);
    qn__memory *piece = qn__allocate_zeroed(allocator, sizeof *piece);
    *result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (block && piece) {
        block->size = size;
        block->single = single;
        *result = create_buffer(gpu, heap, block);
    }
    if (*result != VK_SUCCESS) {
        qn__release(allocator, piece);
        if (block) qn__vk_block_free(gpu, block);
        return NULL;
    }
    *piece = (qn__memory){.block = block, .size = size};
    block->first = block->first_free = piece;
    block->next = heap->blocks;
    heap->blocks = block;
    heap->pooled += size;
    return block;
}

/* Gives empty blocks back until at most `keep` bytes of them are left. */
static void shrink(qn__gpu *gpu, qn__vk_heap *heap, uint64_t keep) {
    for (qn__vk_block **link = &heap->blocks; *link && heap->pooled > keep;) {
        qn__vk_block *block = *link;
        if (block->used) {
            link = &block->next;
            continue;
        }
        *link = block->next;
        heap->pooled -= block->size;
        qn__vk_block_free(gpu, block);
    }
}

/* ---- pieces ---- */

static void unlink_free(qn__memory *piece) {
    if (piece->free_before)
        piece->free_before->free_behind = piece->free_behind;
    else
        piece->block->first_free = piece->free_behind;
    if (piece->free_behind) piece->free_behind->free_before = piece->free_before;
    piece->free_before = piece->free_behind = NULL;
}

static void link_free(qn__memory *piece) {
    qn__vk_block *block = piece->block;
    piece->free_before = NULL;
    piece->free_behind = block->first_free;
    if (block->first_free) block->first_free->free_before = piece;
    block->first_free = piece;
}

/* Joins a piece with the one behind it, which goes. */
static void join(qn__gpu *gpu, qn__memory *piece) {
    qn__memory *gone = piece->behind;
    piece->size += gone->size;
    piece->behind = gone->behind;
    if (gone->behind) gone->behind->before = piece;
    qn__release(gpu->services->allocator, gone);
}

static qn__vk_heap *heap_of(qn__gpu *gpu, const qn__vk_block *block) {
    for (int i = 0; i < QN__VK_HEAP_COUNT; i++)
        for (qn__vk_block *b = gpu->heaps[i].blocks; b; b = b->next)
            if (b == block) return &gpu->heaps[i];
    return NULL;
}

/* Takes `size` bytes from a free piece, which is at least as large. */
static bool cut(qn__gpu *gpu, qn__vk_heap *heap, qn__memory *piece, uint64_t size) {
    qn__vk_block *block = piece->block;
    if (piece->size > size && !block->single) {
        qn__memory *rest = qn__allocate_zeroed(gpu->services->allocator, sizeof *rest);
        if (!rest) return false;
        *rest = (qn__memory){.block = block,
                             .offset = piece->offset + size,
                             .size = piece->size - size,
                             .before = piece,
                             .behind = piece->behind};
        if (piece->behind) piece->behind->before = rest;
        piece->behind = rest;
        piece->size = size;
        link_free(rest);
    }
    unlink_free(piece);
    piece->used = true;
    if (block->used == 0) heap->pooled -= block->size;
    block->used += piece->size;
    return true;
}

/* A free piece of at least `size` bytes; one with a block of its own may be a quarter too large. */
static qn__memory *find_piece(const qn__vk_heap *heap, uint64_t size, bool single) {
    for (qn__vk_block *block = heap->blocks; block; block = block->next) {
        if (block->single != single || block->size - block->used < size) continue;
        if (single && (block->used || block->size > size + size / 4)) continue;
        for (qn__memory *piece = block->first_free; piece; piece = piece->free_behind)
            if (piece->size >= size) return piece;
    }
    return NULL;
}

static qn_status no_memory(qn__gpu *gpu, const qn__vk_heap *heap, uint64_t size, VkResult result, char *why) {
    if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY && result != VK_ERROR_OUT_OF_HOST_MEMORY &&
        result != VK_ERROR_TOO_MANY_OBJECTS)
        return qn__vk_failed(gpu, "vkAllocateMemory", result, why);
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {.sType =
                                                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                                    .pNext = gpu->can.budget ? &budget : NULL};
    gpu->driver->vk.GetPhysicalDeviceMemoryProperties2(gpu->physical->handle, &properties);
    uint32_t index = properties.memoryProperties.memoryTypes[heap->type].heapIndex;
    uint64_t total = properties.memoryProperties.memoryHeaps[index].size;
    if (gpu->can.budget) {
        uint64_t most = budget.heapBudget[index], used = budget.heapUsage[index];
        snprintf(why, QN__WHY, "%llu bytes are wanted; about %llu of %llu are free", (unsigned long long)size,
                 (unsigned long long)(most > used ? most - used : 0), (unsigned long long)total);
    } else
        snprintf(why, QN__WHY, "%llu bytes are wanted; the device has %llu in all", (unsigned long long)size,
                 (unsigned long long)total);
    return QN_ERROR_DEVICE_MEMORY;
}

static qn_status allocate_locked(qn__gpu *gpu, qn__vk_heap *heap, uint64_t size, qn__memory **out,
                                 char *why) {
    bool single = size > heap->block_size / SINGLE_SHARE;
    VkResult result = VK_SUCCESS;
    qn__memory *piece = find_piece(heap, size, single);
    if (!piece) {
        uint64_t block_size = single ? size : heap->block_size;
        qn__vk_block *block = new_block(gpu, heap, block_size, single, &result);
        if (!block) { /* what is pooled may be what is missing */
            for (int i = 0; i < QN__VK_HEAP_COUNT; i++) shrink(gpu, &gpu->heaps[i], 0);
            block = new_block(gpu, heap, single ? size : LEAST_BLOCK * 8, single, &result);
            if (!block && !single && size <= LEAST_BLOCK)
                block = new_block(gpu, heap, LEAST_BLOCK, false, &result);
        }
        if (!block || block->size < size) return no_memory(gpu, heap, size, result, why);
        piece = block->first;
    }
    if (!cut(gpu, heap, piece, size)) {
        snprintf(why, QN__WHY, "out of host memory");
        return QN_ERROR_OUT_OF_MEMORY;
    }
    *out = piece;
    return QN_OK;
}

qn_status qn__vk_allocate(qn__gpu *gpu, qn__vk_heap_kind kind, uint64_t size, qn__memory **memory,
                          char *why) {
    *memory = NULL;
    uint64_t rounded = round_up(size ? size : 1, ALIGNMENT);
    if (rounded < size || rounded > gpu->max_buffer + ALIGNMENT) {
        snprintf(why, QN__WHY, "%llu bytes are wanted; the driver gives %llu at once at most",
                 (unsigned long long)size, (unsigned long long)gpu->max_buffer);
        return QN_ERROR_DEVICE_MEMORY;
    }
    pthread_mutex_lock(&gpu->lock);
    qn_status status = allocate_locked(gpu, &gpu->heaps[kind], rounded, memory, why);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

void qn__vk_release(qn__gpu *gpu, qn__memory *memory) {
    if (!memory) return;
    pthread_mutex_lock(&gpu->lock);
    qn__vk_block *block = memory->block;
    block->used -= memory->size;
    memory->used = false;
    if (memory->behind && !memory->behind->used) {
        unlink_free(memory->behind);
        join(gpu, memory);
    }
    if (memory->before && !memory->before->used) {
        memory = memory->before;
        unlink_free(memory);
        join(gpu, memory);
    }
    link_free(memory);
    if (block->used == 0) {
        qn__vk_heap *heap = heap_of(gpu, block);
        heap->pooled += block->size;
        shrink(gpu, heap, heap->pool_limit);
    }
    pthread_mutex_unlock(&gpu->lock);
}

void qn__vk_trim(qn__gpu *gpu, uint64_t *pooled) {
    pthread_mutex_lock(&gpu->lock);
    *pooled = 0;
    for (int i = 0; i < QN__VK_HEAP_COUNT; i++) {
        shrink(gpu, &gpu->heaps[i], 0);
        *pooled += gpu->heaps[i].pooled;
    }
    pthread_mutex_unlock(&gpu->lock);
}

uint64_t qn__vk_pooled(const qn__gpu *const_gpu) {
    qn__gpu *gpu = (qn__gpu *)const_gpu; /* for its lock */
    uint64_t pooled = 0;
    pthread_mutex_lock(&gpu->lock);
    for (int i = 0; i < QN__VK_HEAP_COUNT; i++) pooled += gpu->heaps[i].pooled;
    pthread_mutex_unlock(&gpu->lock);
    return pooled;
}

/* All that is left: nothing is in use any more. */
void qn__vk_heaps_free(qn__gpu *gpu) {
    for (int i = 0; i < QN__VK_HEAP_COUNT; i++)
        for (qn__vk_block *block = gpu->heaps[i].blocks, *next; block; block = next) {
            next = block->next;
            qn__vk_block_free(gpu, block);
        }
    for (qn__vk_pinned *pinned = gpu->pinned, *next; pinned; pinned = next) {
        next = pinned->next;
        qn__release(gpu->services->allocator, pinned);
    }
}

/* ---- what the runtime asks for ---- */

qn_status qn__vk_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                               void **host, char *why) {
    qn_status status = qn__vk_allocate(gpu, QN__VK_DEVICE_HEAP, size, memory, why);
    if (status) return status;
    *address = qn__vk_address(*memory);
    *host = gpu->unified ? qn__vk_mapped(*memory) : NULL;
    return QN_OK;
}

/* Device memory that the host reaches over the bus. */
qn_status qn__vk_memory_share(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                              void **host, char *why) {
    qn_status status = qn__vk_allocate(gpu, QN__VK_UPLOAD_HEAP, size, memory, why);
    if (status) return status;
    *address = qn__vk_address(*memory);
    *host = qn__vk_mapped(*memory);
    atomic_store(&gpu->host_looks, true);
    return QN_OK;
}

qn_status qn__vk_host_create(qn__gpu *gpu, uint64_t size, void **host, char *why) {
    *host = NULL;
    qn__vk_pinned *pinned = qn__allocate_zeroed(gpu->services->allocator, sizeof *pinned);
    if (!pinned) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = qn__vk_allocate(gpu, QN__VK_HOST_HEAP, size, &pinned->memory, why);
    if (status) {
        qn__release(gpu->services->allocator, pinned);
        return status;
    }
    *host = memset(qn__vk_mapped(pinned->memory), 0, size);
    pthread_mutex_lock(&gpu->lock);
    pinned->next = gpu->pinned;
    gpu->pinned = pinned;
    pthread_mutex_unlock(&gpu->lock);
    return QN_OK;
}

void qn__vk_host_destroy(qn__gpu *gpu, void *host) {
    pthread_mutex_lock(&gpu->lock);
    qn__vk_pinned **link = &gpu->pinned;
    while (*link && qn__vk_mapped((*link)->memory) != host) link = &(*link)->next;
    qn__vk_pinned *found = *link;
    if (found) *link = found->next;
    pthread_mutex_unlock(&gpu->lock);
    if (!found) return;
    qn__vk_release(gpu, found->memory);
    qn__release(gpu->services->allocator, found);
}

qn__memory *qn__vk_find_pinned(qn__gpu *gpu, const void *host, uint64_t size, uint64_t *offset) {
    qn__memory *memory = NULL;
    uintptr_t wanted = (uintptr_t)host;
    pthread_mutex_lock(&gpu->lock);
    for (qn__vk_pinned *pinned = gpu->pinned; pinned && !memory; pinned = pinned->next) {
        uintptr_t start = (uintptr_t)qn__vk_mapped(pinned->memory);
        if (wanted < start || wanted - start > pinned->memory->size ||
            size > pinned->memory->size - (wanted - start))
            continue;
        memory = pinned->memory;
        *offset = wanted - start;
    }
    pthread_mutex_unlock(&gpu->lock);
    return memory;
}
