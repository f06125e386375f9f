/* Buffers whose memory is shared by file descriptors (VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf). Each has
   an allocation of its own. The exporter's and the importer's agree in size and memory type, as the specification
   wants for opaque descriptors ("External Memory Handle Types Compatibility"); none is dedicated to its buffer, as that
   they would have to agree on too. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/vulkan/vulkan.h"
#include "util/file.h"

static uint32_t types_of(uint32_t kinds) {
    return (kinds & QN_HANDLE_OPAQUE_FD ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT : 0u) |
           (kinds & QN_HANDLE_DMA_BUF ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT : 0u);
}

/* The buffer over [0, size) of memory that is not there yet. */
static qn_status make_buffer(qn__gpu *gpu, qn__vk_block *block, uint32_t types, VkMemoryRequirements *needs,
                             char *why) {
    qn_status status = qn__vk_buffer_over(gpu, block, types, why);
    if (status) return status;
    VkBufferMemoryRequirementsInfo2 asked = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
                                             .buffer = block->buffer};
    VkMemoryDedicatedRequirements dedicated = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 all = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2, .pNext = &dedicated};
    gpu->vk.GetBufferMemoryRequirements2(gpu->device, &asked, &all);
    *needs = all.memoryRequirements;
    if (!dedicated.requiresDedicatedAllocation) return QN_OK;
    snprintf(why, QN__WHY, "the driver shares only memory that is dedicated to one buffer");
    return QN_ERROR_UNSUPPORTED;
}

static VkResult allocate(qn__gpu *gpu, qn__vk_block *block, uint64_t size, uint32_t type, const void *chain) {
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .pNext = chain,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags,
                                   .allocationSize = size,
                                   .memoryTypeIndex = type};
    VkResult result = gpu->vk.AllocateMemory(gpu->device, &memory, NULL, &block->memory);
    if (result != VK_SUCCESS) block->memory = 0;
    return result;
}

static bool is_mappable(qn__gpu *gpu, uint32_t type) {
    VkPhysicalDeviceMemoryProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    gpu->driver->vk.GetPhysicalDeviceMemoryProperties2(gpu->physical->handle, &all);
    return all.memoryProperties.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
}

/* The backend takes it for granted that it can map all memory where that is the host's. */
static qn_status bind(qn__gpu *gpu, qn__vk_block *block, uint32_t type, char *why) {
    VkResult result = gpu->vk.BindBufferMemory(gpu->device, block->buffer, block->memory, 0);
    if (result != VK_SUCCESS) return qn__vk_failed(gpu, "vkBindBufferMemory", result, why);
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = block->buffer};
    block->address = gpu->vk.GetBufferDeviceAddress(gpu->device, &address);
    if (!gpu->unified) return QN_OK;
    if (!is_mappable(gpu, type)) {
        snprintf(why, QN__WHY, "the host cannot map this memory");
        return QN_ERROR_UNSUPPORTED;
    }
    void *mapped = NULL;
    result = gpu->vk.MapMemory(gpu->device, block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    block->mapped = mapped;
    return result == VK_SUCCESS ? QN_OK : qn__vk_failed(gpu, "vkMapMemory", result, why);
}

/* A block with one piece, which begins at `offset`. NULL: out of memory. */
static qn__memory *new_memory(qn__gpu *gpu, uint64_t offset, uint64_t size) {
    const qn__allocator *allocator = gpu->services->allocator;
    qn__vk_block *block = qn__allocate_zeroed(allocator, sizeof *block);
    qn__memory *memory = qn__allocate_zeroed(allocator, sizeof *memory);
    if (!block || !memory) {
        qn__release(allocator, block);
        qn__release(allocator, memory);
        return NULL;
    }
    block->first = memory;
    block->size = offset + size;
    *memory = (qn__memory){.block = block, .offset = offset, .size = size, .used = true};
    return memory;
}

void qn__vk_external_destroy(qn__gpu *gpu, qn__memory *memory, uint32_t import) {
    (void)import;
    qn__vk_block_free(gpu, memory->block);
}

static qn_status finish(qn__gpu *gpu, qn_status status, qn__memory *memory, qn__memory **out,
                        uint64_t *address, void **host) {
    if (status) {
        qn__vk_block_free(gpu, memory->block);
        return status;
    }
    *out = memory;
    *address = qn__vk_address(memory);
    *host = gpu->unified ? qn__vk_mapped(memory) : NULL;
    return QN_OK;
}

/* ---- memory of ours ---- */

qn_status qn__vk_external_create(qn__gpu *gpu, uint64_t size, uint32_t kinds, qn__memory **out,
                                 uint64_t *address, void **host, char *why) {
    const uint32_t types = types_of(kinds), type = gpu->heaps[QN__VK_DEVICE_HEAP].type;
    VkMemoryRequirements needs = {0};
    VkExportMemoryAllocateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                           .handleTypes = types};
    qn__memory *memory = new_memory(gpu, 0, size);
    if (!memory) return QN_ERROR_OUT_OF_MEMORY;
    qn__vk_block *block = memory->block;
    qn_status status = make_buffer(gpu, block, types, &needs, why);
    if (!status && !(needs.memoryTypeBits >> type & 1)) {
        snprintf(why, QN__WHY, "the driver does not share the device's own memory");
        status = QN_ERROR_UNSUPPORTED;
    }
    if (!status) {
        VkResult result = allocate(gpu, block, needs.size, type, &exported);
        if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
            snprintf(why, QN__WHY, "%llu bytes are wanted", (unsigned long long)needs.size);
            status = QN_ERROR_DEVICE_MEMORY;
        } else if (result != VK_SUCCESS)
            status = qn__vk_failed(gpu, "vkAllocateMemory", result, why);
    }
    block->allocated = needs.size;
    if (!status) status = bind(gpu, block, type, why);
    return finish(gpu, status, memory, out, address, host);
}

qn_status qn__vk_external_export(qn__gpu *gpu, const qn__memory *memory, qn_handle_kind kind, qn_export *out,
                                 char *why) {
    VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                 .memory = memory->block->memory,
                                 .handleType = types_of((uint32_t)kind)};
    int fd = -1;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    VkResult result = gpu->get_memory_fd(gpu->device, &info, &fd);
    if (result != VK_SUCCESS) {
        qn_status status = qn__vk_failed(gpu, "vkGetMemoryFdKHR", result, why);
        return status == QN_ERROR_DEVICE_MEMORY ? QN_ERROR_DRIVER : status;
    }
    *out = (qn_export){.handle = (uint64_t)fd, .memory_size = memory->block->allocated};
    return QN_OK;
}

/* ---- memory of others ---- */

/* A driver may map what it is given without a look at its size. Opaque memory that is a file of the system's has one. */
static qn_status check_size(int fd, uint64_t size, char *why) {
    struct stat info;
    if (fstat(fd, &info)) {
        snprintf(why, QN__WHY, "descriptor %d: %s", fd, strerror(errno));
        return QN_ERROR_ARGUMENT;
    }
    /* NVIDIA's driver allocates nothing for others any more after it was given /dev/null. */
    if (!qn__file_may_be_memory(fd)) {
        snprintf(why, QN__WHY, "descriptor %d is no memory's", fd);
        return QN_ERROR_ARGUMENT;
    }
    if (!S_ISREG(info.st_mode) || info.st_size <= 0 || (uint64_t)info.st_size >= size) return QN_OK;
    snprintf(why, QN__WHY, "the descriptor's memory has %lld bytes; %llu are wanted", (long long)info.st_size,
             (unsigned long long)size);
    return QN_ERROR_RANGE;
}

/* Of opaque memory the type is that of its exporter, which is taken to be the device's own as well. */
static qn_status choose_type(qn__gpu *gpu, const qn_import_desc *desc, uint32_t usable, uint32_t *type,
                             char *why) {
    *type = gpu->heaps[QN__VK_DEVICE_HEAP].type;
    if (desc->kind == QN_HANDLE_OPAQUE_FD && usable >> *type & 1) return QN_OK;
    VkMemoryFdPropertiesKHR of = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    VkResult result = VK_SUCCESS;
    if (desc->kind != QN_HANDLE_OPAQUE_FD)
        result = gpu->get_fd_properties(gpu->device, types_of((uint32_t)desc->kind), (int)desc->handle, &of);
    if (result != VK_SUCCESS) {
        snprintf(why, QN__WHY, "the descriptor is none of memory that this driver knows (%s)",
                 qn__vk_text(result));
        return QN_ERROR_ARGUMENT;
    }
    for (*type = 0; *type < 32; ++*type)
        if ((of.memoryTypeBits & usable) >> *type & 1) return QN_OK;
    snprintf(why, QN__WHY, "the driver has no memory type for this descriptor's memory");
    return QN_ERROR_UNSUPPORTED;
}

/* The driver takes its descriptor over when it succeeds; llvmpipe closes it also when it fails. */
static qn_status import_memory(qn__gpu *gpu, qn__vk_block *block, const qn_import_desc *desc, uint64_t size,
                               uint32_t type, char *why) {
    const bool closes = gpu->can.closes_failed;
    VkImportMemoryFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                      .handleType = types_of((uint32_t)desc->kind),
                                      .fd = qn__file_duplicate((int)desc->handle)};
    if (import.fd < 0) {
        snprintf(why, QN__WHY, "descriptor %d: %s", (int)desc->handle, strerror(errno));
        return errno == EBADF ? QN_ERROR_ARGUMENT : QN_ERROR_DRIVER;
    }
    VkResult result = allocate(gpu, block, size, type, &import);
    if (result == VK_SUCCESS) return QN_OK;
    if (!closes) qn__file_close(import.fd);
    if (result == VK_ERROR_DEVICE_LOST) return qn__vk_lost(gpu, NULL, why);
    snprintf(why, QN__WHY, "the driver does not take the descriptor (%s)", qn__vk_text(result));
    return QN_ERROR_ARGUMENT;
}

qn_status qn__vk_external_import(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **out,
                                 uint64_t *address, void **host, char *why) {
    VkMemoryRequirements needs;
    uint32_t type;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__memory *memory = new_memory(gpu, desc->offset, desc->size);
    if (!memory) return QN_ERROR_OUT_OF_MEMORY;
    qn__vk_block *block = memory->block;
    qn_status status = make_buffer(gpu, block, types_of((uint32_t)desc->kind), &needs, why);
    const uint64_t size = desc->memory_size ? desc->memory_size : needs.size;
    if (!status && needs.size > size) {
        snprintf(why, QN__WHY, "a buffer up to byte %llu needs %llu bytes of memory; there are %llu",
                 (unsigned long long)block->size, (unsigned long long)needs.size, (unsigned long long)size);
        status = QN_ERROR_RANGE;
    }
    if (!status) status = check_size((int)desc->handle, size, why);
    if (!status) status = choose_type(gpu, desc, needs.memoryTypeBits, &type, why);
    if (!status) status = import_memory(gpu, block, desc, size, type, why);
    if (!status) status = bind(gpu, block, type, why);
    return finish(gpu, status, memory, out, address, host);
}
