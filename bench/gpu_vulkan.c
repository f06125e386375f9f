/* The bare Vulkan driver with modules made by glslang: a workload is one command buffer, recorded once. Uses the system's
   headers where they were installed at build time; without them this peer says so. Buffers go by address (push
   constants), local sizes by specialisation constants, as bench/kernels/twin.glsl has it. */
#include "gpu.h"

#if defined(__has_include)
#if __has_include(<vulkan/vulkan.h>)
#define HAVE_VULKAN
#endif
#endif

#ifdef HAVE_VULKAN
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define INSTANCE_FUNCTIONS(X)                                                                                \
    X(vkEnumeratePhysicalDevices)                                                                            \
    X(vkGetPhysicalDeviceProperties)                                                                         \
    X(vkGetPhysicalDeviceFeatures2)                                                                          \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                   \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                              \
    X(vkCreateDevice)                                                                                        \
    X(vkDestroyDevice)                                                                                       \
    X(vkGetDeviceQueue)                                                                                      \
    X(vkDestroyInstance)                                                                                     \
    X(vkCreateCommandPool)                                                                                   \
    X(vkDestroyCommandPool)                                                                                  \
    X(vkAllocateCommandBuffers)                                                                              \
    X(vkBeginCommandBuffer)                                                                                  \
    X(vkEndCommandBuffer)                                                                                    \
    X(vkCmdBindPipeline)                                                                                     \
    X(vkCmdPushConstants)                                                                                    \
    X(vkCmdDispatch)                                                                                         \
    X(vkCmdCopyBuffer)                                                                                       \
    X(vkCmdPipelineBarrier)                                                                                  \
    X(vkQueueSubmit)                                                                                         \
    X(vkQueueWaitIdle)                                                                                       \
    X(vkCreateFence)                                                                                         \
    X(vkDestroyFence)                                                                                        \
    X(vkGetFenceStatus)                                                                                      \
    X(vkResetFences)                                                                                         \
    X(vkCreateBuffer)                                                                                        \
    X(vkDestroyBuffer)                                                                                       \
    X(vkGetBufferMemoryRequirements)                                                                         \
    X(vkGetBufferDeviceAddress)                                                                              \
    X(vkAllocateMemory)                                                                                      \
    X(vkFreeMemory)                                                                                          \
    X(vkBindBufferMemory)                                                                                    \
    X(vkMapMemory)                                                                                           \
    X(vkCreateShaderModule)                                                                                  \
    X(vkDestroyShaderModule)                                                                                 \
    X(vkCreatePipelineLayout)                                                                                \
    X(vkDestroyPipelineLayout)                                                                               \
    X(vkCreateComputePipelines)                                                                              \
    X(vkDestroyPipeline)

struct vulkan {
    void *library;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue, copy_queue;
    uint32_t family, copy_family;              /* that computes; that copies and nothing else, or the same */
    uint32_t memory_type, far_type, near_type; /* of buffers; of the host's memory; of the device's own */
    VkCommandPool pool;
    VkPipelineLayout layout;
    VkPhysicalDeviceProperties properties;
    PFN_vkGetInstanceProcAddr get;
#define MEMBER(name) PFN_##name name;
    INSTANCE_FUNCTIONS(MEMBER)
#undef MEMBER
};

enum { PUSH_BYTES = 128 };

struct vulkan_session {
    vulkan *v;
    const workload *load;
    VkBuffer buffers[MAX_BUFFERS];
    VkDeviceMemory memory[MAX_BUFFERS];
    void *mapped[MAX_BUFFERS];
    VkDeviceAddress address[MAX_BUFFERS];
    VkPipeline *pipelines; /* one a step */
    VkCommandBuffer commands;
};

static bool good(VkResult result, const char *what, char *why) {
    if (result != VK_SUCCESS) snprintf(why, WHY_SIZE, "%s: error %d", what, (int)result);
    return result == VK_SUCCESS;
}

static PFN_vkVoidFunction get(const vulkan *v, const char *name) { return v->get(v->instance, name); }

static bool make_instance(vulkan *v, char *why) {
    v->library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = v->library ? dlsym(v->library, "vkGetInstanceProcAddr") : NULL;
    memcpy(&v->get, &symbol, sizeof symbol);
    if (!symbol) {
        snprintf(why, WHY_SIZE, "there is no libvulkan.so.1");
        return false;
    }
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(v, "vkCreateInstance");
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    if (!good(create(&info, NULL, &v->instance), "vkCreateInstance", why)) return false;
#define LOAD(name) v->name = (PFN_##name)get(v, #name);
    INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    return true;
}

/* The device whose name is part of the description, else the first. */
static bool choose_physical(vulkan *v, const char *description, char *why) {
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    VkResult result = v->vkEnumeratePhysicalDevices(v->instance, &count, all);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0) {
        snprintf(why, WHY_SIZE, "Vulkan has no device");
        return false;
    }
    v->physical = all[0];
    for (uint32_t i = count; i-- > 0;) {
        v->vkGetPhysicalDeviceProperties(all[i], &v->properties);
        if (strstr(description, v->properties.deviceName)) v->physical = all[i];
    }
    v->vkGetPhysicalDeviceProperties(v->physical, &v->properties);
    VkQueueFamilyProperties families[16];
    count = 16;
    v->vkGetPhysicalDeviceQueueFamilyProperties(v->physical, &count, families);
    v->family = 0;
    while (v->family < count && !(families[v->family].queueFlags & VK_QUEUE_COMPUTE_BIT)) v->family++;
    v->copy_family = v->family;
    for (uint32_t i = 0; i < count; i++)
        if ((families[i].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
                                       VK_QUEUE_TRANSFER_BIT)) == VK_QUEUE_TRANSFER_BIT) {
            v->copy_family = i;
            break;
        }
    if (v->family == count) snprintf(why, WHY_SIZE, "no queue computes");
    return v->family < count;
}

static uint32_t find_memory(const VkPhysicalDeviceMemoryProperties *memory, VkMemoryPropertyFlags all,
                            VkMemoryPropertyFlags none, uint32_t otherwise) {
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
        if ((flags & all) == all && !(flags & none)) return i;
    }
    return otherwise;
}

/* For buffers what the host sees, on the device if that can be. */
static void choose_memory(vulkan *v) {
    enum {
        SEEN = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
    };
    VkPhysicalDeviceMemoryProperties memory;
    v->vkGetPhysicalDeviceMemoryProperties(v->physical, &memory);
    const uint32_t seen = find_memory(&memory, SEEN, 0, 0);
    v->memory_type = find_memory(&memory, SEEN | LOCAL, 0, seen);
    v->far_type = find_memory(&memory, SEEN | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, LOCAL, seen);
    v->near_type = find_memory(&memory, LOCAL, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, v->memory_type);
}

static bool make_device(vulkan *v, char *why) {
    VkPhysicalDeviceVulkan12Features has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &has};
    v->vkGetPhysicalDeviceFeatures2(v->physical, &all);
    VkPhysicalDeviceVulkan12Features use = {.sType = has.sType,
                                            .bufferDeviceAddress = has.bufferDeviceAddress,
                                            .storageBuffer8BitAccess = has.storageBuffer8BitAccess,
                                            .shaderInt8 = has.shaderInt8};
    float priority = 1;
    VkDeviceQueueCreateInfo queues[2] = {{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = v->family,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority}};
    queues[1] = queues[0];
    queues[1].queueFamilyIndex = v->copy_family;
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &use,
                               .queueCreateInfoCount = v->copy_family == v->family ? 1 : 2,
                               .pQueueCreateInfos = queues};
    if (!good(v->vkCreateDevice(v->physical, &info, NULL, &v->device), "vkCreateDevice", why)) return false;
    v->vkGetDeviceQueue(v->device, v->family, 0, &v->queue);
    v->vkGetDeviceQueue(v->device, v->copy_family, 0, &v->copy_queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = v->family};
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSH_BYTES};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    return good(v->vkCreateCommandPool(v->device, &pool, NULL, &v->pool), "vkCreateCommandPool", why) &&
           good(v->vkCreatePipelineLayout(v->device, &layout, NULL, &v->layout), "vkCreatePipelineLayout",
                why);
}

vulkan *vulkan_open(const char *description, char *why) {
    vulkan *v = bench_alloc(sizeof *v);
    if (make_instance(v, why) && choose_physical(v, description, why) && make_device(v, why)) {
        choose_memory(v);
        return v;
    }
    vulkan_close(v);
    return NULL;
}

const char *vulkan_device(const vulkan *v) { return v->properties.deviceName; }

void vulkan_close(vulkan *v) {
    if (v->layout) v->vkDestroyPipelineLayout(v->device, v->layout, NULL);
    if (v->pool) v->vkDestroyCommandPool(v->device, v->pool, NULL);
    if (v->device) v->vkDestroyDevice(v->device, NULL);
    if (v->instance) v->vkDestroyInstance(v->instance, NULL);
    free(v);
}

/* ---- workloads ---- */

static bool make_buffer(vulkan_session *s, unsigned index, char *why) {
    vulkan *v = s->v;
    const bench_buffer *b = &s->load->buffers[index];
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = b->size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    if (!good(v->vkCreateBuffer(v->device, &info, NULL, &s->buffers[index]), "vkCreateBuffer", why))
        return false;
    VkMemoryRequirements needs;
    v->vkGetBufferMemoryRequirements(v->device, s->buffers[index], &needs);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = v->memory_type};
    bool fine =
        good(v->vkAllocateMemory(v->device, &memory, NULL, &s->memory[index]), "vkAllocateMemory", why) &&
        good(v->vkBindBufferMemory(v->device, s->buffers[index], s->memory[index], 0), "vkBindBufferMemory",
             why) &&
        good(v->vkMapMemory(v->device, s->memory[index], 0, VK_WHOLE_SIZE, 0, &s->mapped[index]),
             "vkMapMemory", why);
    if (!fine) return false;
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = s->buffers[index]};
    s->address[index] = v->vkGetBufferDeviceAddress(v->device, &address);
    if (b->data)
        memcpy(s->mapped[index], b->data, b->size);
    else
        memset(s->mapped[index], 0, b->size);
    return true;
}

static bool make_pipeline(vulkan_session *s, unsigned index, const char *module, size_t size, char *why) {
    vulkan *v = s->v;
    const bench_step *step = &s->load->steps[index];
    uint32_t values[4] = {step->local[0], step->local[1] ? step->local[1] : 1, 1, 1};
    VkSpecializationMapEntry entries[4];
    for (uint32_t i = 0; i < 4; i++) entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
    for (unsigned a = 0; a < step->num_args; a++)
        if (step->args[a].kind == ARG_LOCAL) values[3] = step->args[a].value.u / 4;
    VkSpecializationInfo special = {4, entries, sizeof values, values};
    VkShaderModuleCreateInfo shader = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = size,
                                       .pCode = (const uint32_t *)(const void *)module};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &special},
        .layout = v->layout};
    if (!good(v->vkCreateShaderModule(v->device, &shader, NULL, &info.stage.module), "vkCreateShaderModule",
              why))
        return false;
    VkResult made =
        v->vkCreateComputePipelines(v->device, VK_NULL_HANDLE, 1, &info, NULL, &s->pipelines[index]);
    v->vkDestroyShaderModule(v->device, info.stage.module, NULL);
    return good(made, "vkCreateComputePipelines", why);
}

static void record_step(vulkan_session *s, unsigned index) {
    vulkan *v = s->v;
    const bench_step *step = &s->load->steps[index];
    unsigned char block[PUSH_BYTES] = {0};
    size_t used = 0;
    for (unsigned a = 0; a < step->num_args; a++) {
        const bench_arg *arg = &step->args[a];
        size_t size = arg->kind == ARG_BUFFER ? 8 : 4;
        if (arg->kind == ARG_LOCAL) continue;
        used = (used + size - 1) / size * size;
        memcpy(block + used, arg->kind == ARG_BUFFER ? (const void *)&s->address[arg->value.u] : &arg->value,
               size);
        used += size;
    }
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    v->vkCmdPipelineBarrier(s->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    v->vkCmdBindPipeline(s->commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->pipelines[index]);
    v->vkCmdPushConstants(s->commands, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSH_BYTES, block);
    v->vkCmdDispatch(s->commands, (uint32_t)(step->global[0] / step->local[0]),
                     step->global[1] ? (uint32_t)(step->global[1] / step->local[1]) : 1, 1);
}

static bool record(vulkan_session *s, char *why) {
    vulkan *v = s->v;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v->pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    if (!good(v->vkAllocateCommandBuffers(v->device, &info, &s->commands), "vkAllocateCommandBuffers", why) ||
        !good(v->vkBeginCommandBuffer(s->commands, &begin), "vkBeginCommandBuffer", why))
        return false;
    for (unsigned i = 0; i < s->load->num_steps; i++) record_step(s, i);
    return good(v->vkEndCommandBuffer(s->commands), "vkEndCommandBuffer", why);
}

vulkan_session *vulkan_prepare(vulkan *v, const char *const *modules, const size_t *sizes,
                               const workload *load, char *why) {
    vulkan_session *s = bench_alloc(sizeof *s);
    *s = (vulkan_session){.v = v, .load = load};
    s->pipelines = bench_alloc(load->num_steps * sizeof *s->pipelines);
    bool fine = true;
    for (unsigned i = 0; i < load->num_buffers && fine; i++) fine = make_buffer(s, i, why);
    for (unsigned i = 0; i < load->num_steps && fine; i++)
        fine = make_pipeline(s, i, modules[i], sizes[i], why);
    if (fine && record(s, why)) return s;
    vulkan_release(s);
    return NULL;
}

bool vulkan_reset(vulkan_session *s) {
    for (unsigned i = 0; i < s->load->num_buffers; i++) {
        const bench_buffer *b = &s->load->buffers[i];
        if (b->changing && b->data) memcpy(s->mapped[i], b->data, b->size);
        if (b->changing && !b->data) memset(s->mapped[i], 0, b->size);
    }
    return true;
}

bool vulkan_submit(vulkan_session *s, char *why) {
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &s->commands};
    return good(s->v->vkQueueSubmit(s->v->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit", why);
}

bool vulkan_wait(vulkan_session *s, char *why) {
    return good(s->v->vkQueueWaitIdle(s->v->queue), "vkQueueWaitIdle", why);
}

bool vulkan_run(vulkan_session *s, char *why) { return vulkan_submit(s, why) && vulkan_wait(s, why); }

bool vulkan_read(vulkan_session *s, unsigned buffer, void *out) {
    memcpy(out, s->mapped[buffer], s->load->buffers[buffer].size);
    return true;
}

void vulkan_release(vulkan_session *s) {
    vulkan *v = s->v;
    v->vkQueueWaitIdle(v->queue);
    for (unsigned i = 0; i < s->load->num_steps; i++)
        if (s->pipelines[i]) v->vkDestroyPipeline(v->device, s->pipelines[i], NULL);
    for (unsigned i = 0; i < s->load->num_buffers; i++) {
        if (s->buffers[i]) v->vkDestroyBuffer(v->device, s->buffers[i], NULL);
        if (s->memory[i]) v->vkFreeMemory(v->device, s->memory[i], NULL);
    }
    free(s->pipelines);
    free(s);
}

/* ---- copies between pinned memory and the device ---- */

enum { UP, DOWN, NUM_DIRECTIONS, NUM_FAMILIES = 2 };

struct vulkan_copies {
    vulkan *v;
    VkBuffer buffers[2]; /* the host's, the device's */
    VkDeviceMemory memory[2];
    VkCommandPool pools[NUM_FAMILIES];
    VkCommandBuffer commands[NUM_FAMILIES][NUM_DIRECTIONS];
    VkFence fence;
};

static bool make_copy_buffer(vulkan_copies *c, int which, uint64_t size, char *why) {
    vulkan *v = c->v;
    const uint32_t families[NUM_FAMILIES] = {v->family, v->copy_family};
    const bool shared = v->family != v->copy_family;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                               .sharingMode = shared ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
                               .queueFamilyIndexCount = shared ? NUM_FAMILIES : 0,
                               .pQueueFamilyIndices = families};
    if (!good(v->vkCreateBuffer(v->device, &info, NULL, &c->buffers[which]), "vkCreateBuffer", why))
        return false;
    VkMemoryRequirements needs;
    v->vkGetBufferMemoryRequirements(v->device, c->buffers[which], &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = which ? v->near_type : v->far_type};
    return good(v->vkAllocateMemory(v->device, &memory, NULL, &c->memory[which]), "vkAllocateMemory", why) &&
           good(v->vkBindBufferMemory(v->device, c->buffers[which], c->memory[which], 0),
                "vkBindBufferMemory", why);
}

static bool record_copies(vulkan_copies *c, int family, uint64_t size, char *why) {
    vulkan *v = c->v;
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = family ? v->copy_family : v->family};
    if (!good(v->vkCreateCommandPool(v->device, &pool, NULL, &c->pools[family]), "vkCreateCommandPool", why))
        return false;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = c->pools[family],
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = NUM_DIRECTIONS};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBufferCopy all = {.size = size};
    VkCommandBuffer *commands = c->commands[family];
    bool fine =
        good(v->vkAllocateCommandBuffers(v->device, &info, commands), "vkAllocateCommandBuffers", why);
    for (int d = 0; d < NUM_DIRECTIONS && fine; d++) {
        fine = good(v->vkBeginCommandBuffer(commands[d], &begin), "vkBeginCommandBuffer", why);
        if (!fine) return false;
        v->vkCmdCopyBuffer(commands[d], c->buffers[d == DOWN], c->buffers[d == UP], 1, &all);
        fine = good(v->vkEndCommandBuffer(commands[d]), "vkEndCommandBuffer", why);
    }
    return fine;
}

vulkan_copies *vulkan_copies_open(vulkan *v, uint64_t size, char *why) {
    vulkan_copies *c = bench_alloc(sizeof *c);
    *c = (vulkan_copies){.v = v};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    bool fine = good(v->vkCreateFence(v->device, &fence, NULL, &c->fence), "vkCreateFence", why) &&
                make_copy_buffer(c, 0, size, why) && make_copy_buffer(c, 1, size, why) &&
                record_copies(c, 0, size, why) && record_copies(c, 1, size, why);
    if (fine) return c;
    vulkan_copies_close(c);
    return NULL;
}

void vulkan_copies_close(vulkan_copies *c) {
    vulkan *v = c->v;
    for (int i = 0; i < NUM_FAMILIES; i++)
        if (c->pools[i]) v->vkDestroyCommandPool(v->device, c->pools[i], NULL);
    for (int i = 0; i < 2; i++) {
        if (c->buffers[i]) v->vkDestroyBuffer(v->device, c->buffers[i], NULL);
        if (c->memory[i]) v->vkFreeMemory(v->device, c->memory[i], NULL);
    }
    if (c->fence) v->vkDestroyFence(v->device, c->fence, NULL);
    free(c);
}

double vulkan_copies_time(vulkan_copies *c, bool up, bool copy_queue) {
    vulkan *v = c->v;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &c->commands[copy_queue][up ? UP : DOWN]};
    int64_t begin = bench_now();
    VkResult result = v->vkQueueSubmit(copy_queue ? v->copy_queue : v->queue, 1, &info, c->fence);
    if (result != VK_SUCCESS) return -1;
    while ((result = v->vkGetFenceStatus(v->device, c->fence)) == VK_NOT_READY) {
    }
    double ms = (double)(bench_now() - begin) * 1e-6;
    return result == VK_SUCCESS && v->vkResetFences(v->device, 1, &c->fence) == VK_SUCCESS ? ms : -1;
}

#else

vulkan *vulkan_open(const char *description, char *why) {
    (void)description;
    snprintf(why, WHY_SIZE, "built without Vulkan's headers");
    return NULL;
}

/* Without vulkan_open none of these is reached. */
const char *vulkan_device(const vulkan *v) { return (void)v, ""; }
void vulkan_close(vulkan *v) { (void)v; }
vulkan_session *vulkan_prepare(vulkan *v, const char *const *modules, const size_t *sizes,
                               const workload *load, char *why) {
    return (void)v, (void)modules, (void)sizes, (void)load, (void)why, NULL;
}
bool vulkan_reset(vulkan_session *s) { return (void)s, false; }
bool vulkan_submit(vulkan_session *s, char *why) { return (void)s, (void)why, false; }
bool vulkan_wait(vulkan_session *s, char *why) { return (void)s, (void)why, false; }
bool vulkan_run(vulkan_session *s, char *why) { return (void)s, (void)why, false; }
bool vulkan_read(vulkan_session *s, unsigned buffer, void *out) {
    return (void)s, (void)buffer, (void)out, false;
}
void vulkan_release(vulkan_session *s) { (void)s; }
vulkan_copies *vulkan_copies_open(vulkan *v, uint64_t size, char *why) {
    return (void)v, (void)size, (void)why, NULL;
}
void vulkan_copies_close(vulkan_copies *c) { (void)c; }
double vulkan_copies_time(vulkan_copies *c, bool up, bool copy_queue) {
    return (void)c, (void)up, (void)copy_queue, -1.0;
}

#endif
