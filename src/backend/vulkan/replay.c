/* Graphs: command buffers recorded once and submitted again and again, by any stream, but not by two at the same time: a
   launch waits for the one before on another stream, as CUDA's graphs do. (NVIDIA's driver 580 hangs where one command
   buffer is pending on several of its queues that only compute.) A graph whose kernels print, or that holds events, is
   kept as a list of commands instead. */
#include <string.h>

#include "backend/vulkan/vulkan.h"

struct qn__replay {
    VkCommandPool pool;
    qn__vk_recorder recorder;
    pthread_mutex_t lock;  /* of `last` */
    qn__vk_reached last;   /* the newest launch; holds a reference of its timeline */
    qn__commands commands; /* empty where a command buffer was recorded */
};

void qn__vk_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    const qn__allocator *allocator = gpu->services->allocator;
    if (replay->pool) gpu->vk.DestroyCommandPool(gpu->device, replay->pool, NULL);
    if (replay->recorder.gpu) qn__vk_recorder_finish(&replay->recorder, true);
    if (replay->last.timeline) qn__vk_timeline_drop(replay->last.timeline);
    pthread_mutex_destroy(&replay->lock);
    qn__commands_free(allocator, &replay->commands);
    qn__release(allocator, replay);
}

static bool can_be_recorded(const qn__command *c) {
    switch (c->kind) {
    case QN__COMMAND_WRITE:
    case QN__COMMAND_COPY:
    case QN__COMMAND_FILL: return true;
    case QN__COMMAND_LAUNCH: return !c->code->info->kernels[c->kernel].uses_printf;
    case QN__COMMAND_READ:
    case QN__COMMAND_RECORD:
    case QN__COMMAND_WAIT: break;
    }
    return false;
}

static qn_status record_write(qn__vk_recorder *r, const qn__command *command, char *why) {
    qn_status status = QN_OK;
    qn__command copied = *command; /* the host memory may change before the graph is launched */
    copied.host_stays = copied.host_pinned = false;
    for (uint64_t at = 0, size; at < command->size && !status; at += size) {
        size = qn__vk_piece(&copied, command->size - at);
        status = qn__vk_record_write(r, &copied, at, size, why);
    }
    return status;
}

static qn_status record(qn__vk_recorder *r, const qn__command *command, char *why) {
    switch (command->kind) {
    case QN__COMMAND_WRITE: return record_write(r, command, why);
    case QN__COMMAND_COPY: return qn__vk_record_copy(r, command);
    case QN__COMMAND_FILL: return qn__vk_record_fill(r, command, why);
    default: return qn__vk_record_launch(r, command, why);
    }
}

/* A barrier between kernels alone is less than one that copies take part in. */
static uint32_t stages_of(const qn__command *commands, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (commands[i].kind != QN__COMMAND_LAUNCH) return QN__VK_WORK_STAGES;
    return VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
}

static qn_status record_all(qn__gpu *gpu, qn__replay *replay, const qn__command *commands, size_t count,
                            char *why) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = gpu->family};
    VkResult result = gpu->vk.CreateCommandPool(gpu->device, &pool, NULL, &replay->pool);
    if (result != VK_SUCCESS) {
        replay->pool = 0;
        return qn__vk_failed(gpu, "vkCreateCommandPool", result, why);
    }
    VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = replay->pool,
                                          .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkCommandBuffer handle = NULL;
    result = gpu->vk.AllocateCommandBuffers(gpu->device, &buffer, &handle);
    if (result == VK_SUCCESS) result = gpu->vk.BeginCommandBuffer(handle, &begin);
    if (result != VK_SUCCESS) return qn__vk_failed(gpu, "vkBeginCommandBuffer", result, why);
    qn__vk_recorder_begin(&replay->recorder, gpu, handle, stages_of(commands, count));
    qn_status status = QN_OK;
    for (size_t i = 0; i < count && !status; i++) status = record(&replay->recorder, &commands[i], why);
    if (status) return status;
    qn__vk_recorder_end(&replay->recorder);
    result = gpu->vk.EndCommandBuffer(handle);
    return result == VK_SUCCESS ? QN_OK : qn__vk_failed(gpu, "vkEndCommandBuffer", result, why);
}

qn_status qn__vk_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **out,
                               char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__replay *replay = qn__allocate_zeroed(gpu->services->allocator, sizeof *replay);
    if (!replay) return QN_ERROR_OUT_OF_MEMORY;
    pthread_mutex_init(&replay->lock, NULL);
    bool recorded = true;
    for (size_t i = 0; i < count; i++) recorded = recorded && can_be_recorded(&commands[i]);
    qn_status status = recorded
                           ? record_all(gpu, replay, commands, count, why)
                           : qn__commands_copy(gpu->services->allocator, commands, count, &replay->commands);
    if (status)
        qn__vk_replay_destroy(gpu, replay);
    else
        *out = replay;
    return status;
}

static qn_status submit_recorded(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    pthread_mutex_lock(&replay->lock);
    qn_status status = qn__vk_submit_recorded(queue, &replay->recorder, &replay->last, number, why);
    pthread_mutex_unlock(&replay->lock);
    return status;
}

qn_status qn__vk_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    if (!replay->commands.count) return submit_recorded(queue, replay, number, why);
    qn_status status = QN_OK;
    for (size_t i = 0; i < replay->commands.count && !status; i++)
        status = qn__vk_submit(queue, replay->commands.list[i], number, why);
    return status;
}
