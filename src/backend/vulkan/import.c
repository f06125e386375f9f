/* Buffers in memory of the caller's (VK_EXT_external_memory_host). Whole pages are given to the driver; the buffer is over
   all of them, and what the caller has named is a piece of it. */
#include <stdio.h>

#include "backend/vulkan/vulkan.h"

enum { HANDLE = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT };

/* NVIDIA's driver calls it out of memory, though an import takes none. */
static qn_status refused(qn__gpu *gpu, const char *function, VkResult result, char *why) {
    if (result != VK_ERROR_INVALID_EXTERNAL_HANDLE && result != VK_ERROR_OUT_OF_DEVICE_MEMORY)
        return qn__vk_failed(gpu, function, result, why);
    snprintf(why, QN__WHY,
             "the driver does not take this host memory; read-only mappings of files may be a reason");
    return QN_ERROR_UNSUPPORTED;
}

/* The memory type for pages that begin there: one that needs no flushes. */
static qn_status choose_type(qn__gpu *gpu, void *pages, uint32_t usable, uint32_t *type, char *why) {
    enum { COHERENT = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT };
    VkMemoryHostPointerPropertiesEXT of = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    VkResult result = gpu->get_host_pointer_properties(gpu->device, HANDLE, pages, &of);
    if (result != VK_SUCCESS) return refused(gpu, "vkGetMemoryHostPointerPropertiesEXT", result, why);
    gpu->driver->vk.GetPhysicalDeviceMemoryProperties2(gpu->physical->handle, &all);
    const VkPhysicalDeviceMemoryProperties *memory = &all.memoryProperties;
    for (*type = 0; *type < memory->memoryTypeCount; ++*type) {
        const bool fits = (of.memoryTypeBits & usable) >> *type & 1;
        if (fits && (memory->memoryTypes[*type].propertyFlags & COHERENT) == COHERENT) return QN_OK;
    }
    snprintf(why, QN__WHY, "the driver has no coherent memory type for this host memory");
    return QN_ERROR_UNSUPPORTED;
}

static qn_status bind(qn__gpu *gpu, qn__vk_block *block, void *pages, char *why) {
    VkBufferMemoryRequirementsInfo2 asked = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
                                             .buffer = block->buffer};
    VkMemoryRequirements2 needs = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    gpu->vk.GetBufferMemoryRequirements2(gpu->device, &asked, &needs);
    uint32_t type = 0;
    qn_status status = choose_type(gpu, pages, needs.memoryRequirements.memoryTypeBits, &type, why);
    if (status) return status;
    VkImportMemoryHostPointerInfoEXT import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                               .handleType = HANDLE,
                                               .pHostPointer = pages};
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .pNext = &import,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags,
                                   .allocationSize = block->size,
                                   .memoryTypeIndex = type};
    VkResult result = gpu->vk.AllocateMemory(gpu->device, &memory, NULL, &block->memory);
    if (result != VK_SUCCESS) {
        block->memory = 0;
        return refused(gpu, "vkAllocateMemory", result, why);
    }
    result = gpu->vk.BindBufferMemory(gpu->device, block->buffer, block->memory, 0);
    return result == VK_SUCCESS ? QN_OK : qn__vk_failed(gpu, "vkBindBufferMemory", result, why);
}

static qn_status make_buffer(qn__gpu *gpu, qn__vk_block *block, void *pages, char *why) {
    qn_status status = qn__vk_buffer_over(gpu, block, HANDLE, why);
    if (!status) status = bind(gpu, block, pages, why);
    if (status) return status;
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = block->buffer};
    block->address = gpu->vk.GetBufferDeviceAddress(gpu->device, &address);
    block->mapped = pages;
    return QN_OK;
}

qn_status qn__vk_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **out,
                             uint64_t *address, char *why) {
    (void)read_only;
    const uint64_t page = gpu->can.import_alignment, offset = (uintptr_t)host % page;
    const qn__allocator *allocator = gpu->services->allocator;
    qn__vk_block *block = qn__allocate_zeroed(allocator, sizeof *block);
    qn__memory *memory = qn__allocate_zeroed(allocator, sizeof *memory);
    qn_status status = block && memory ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    if (!status) {
        *memory = (qn__memory){.block = block, .offset = offset, .size = size, .used = true};
        block->size = (offset + size + page - 1) / page * page;
        status = make_buffer(gpu, block, (unsigned char *)host - offset, why);
    }
    if (status) {
        if (block) qn__vk_block_free(gpu, block);
        qn__release(allocator, memory);
        return status;
    }
    block->first = memory;
    atomic_store(&gpu->host_looks, true);
    *address = qn__vk_address(memory);
    *out = memory;
    return QN_OK;
}

void qn__vk_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size) {
    (void)host, (void)size;
    qn__vk_block_free(gpu, memory->block);
}
