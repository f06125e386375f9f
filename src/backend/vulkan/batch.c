/* Batches of commands: recorded, handed to the driver, and retired when the device is done with them: what they
   read is copied to the host, what their kernels printed is printed, and their memory is given back. A batch
   makes the stream's timeline semaphore reach the next value. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/queue.h"
#include "util/file.h"

enum {
    MAX_FREE = 16,
    /* Between two batches, unless the device has nothing to do: handing one to the driver takes 3 us on an H200's host,
       in which two launches can be recorded, and the device some 5 us for what stands between batches. */
    PAUSE_NS = 10000
};

qn_status qn__vk_queue_lost(qn__queue *queue, char *why) {
    return qn__vk_lost(queue->gpu, queue->first ? &queue->first->recorded->kernels : NULL, why);
}

/* ---- batches ---- */

static void batch_delete(qn__gpu *gpu, qn__vk_batch *b) {
    if (b->pool) gpu->vk.DestroyCommandPool(gpu->device, b->pool, NULL);
    qn__release(gpu->services->allocator, b);
}

void qn__vk_batches_free(qn__queue *queue) {
    for (qn__vk_batch *b = queue->free, *next; b; b = next) {
        next = b->next;
        batch_delete(queue->gpu, b);
    }
    queue->free = NULL;
}

static qn__vk_batch *batch_new(qn__gpu *gpu, char *why) {
    qn__vk_batch *b = qn__allocate_zeroed(gpu->services->allocator, sizeof *b);
    if (!b) return NULL;
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                    .queueFamilyIndex = gpu->family};
    VkResult result = gpu->vk.CreateCommandPool(gpu->device, &info, NULL, &b->pool);
    if (result != VK_SUCCESS) b->pool = 0;
    VkCommandBufferAllocateInfo buffers = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = b->pool,
                                           .commandBufferCount = 1};
    if (b->pool) result = gpu->vk.AllocateCommandBuffers(gpu->device, &buffers, &b->recorder.commands);
    if (result == VK_SUCCESS) return b;
    qn__vk_failed(gpu, "vkAllocateCommandBuffers", result, why);
    batch_delete(gpu, b);
    return NULL;
}

qn__vk_batch *qn__vk_batch_take(qn__queue *queue, char *why) {
    qn__vk_batch *b = queue->free;
    if (!b) return batch_new(queue->gpu, why);
    queue->free = b->next;
    queue->num_free--;
    return b;
}

static void free_batch(qn__queue *queue, qn__vk_batch *b) {
    qn__gpu *gpu = queue->gpu;
    for (uint32_t i = 0; i < b->num_waits; i++) qn__vk_timeline_drop(b->waits[i]);
    for (uint32_t i = 0; i < b->num_stamps; i++) qn__vk_stamp_drop(gpu, b->stamps[i]);
    VkCommandBuffer commands = b->recorder.commands;
    VkCommandPool pool = b->pool;
    *b = (qn__vk_batch){.pool = pool, .recorder.commands = commands, .next = queue->free};
    if (queue->num_free == MAX_FREE) {
        batch_delete(gpu, b);
        return;
    }
    queue->free = b;
    queue->num_free++;
}

/* Whether commands can be recorded into it: it is not a graph's. */
static bool takes_commands(const qn__vk_batch *b) { return b->recorded == &b->recorder; }

qn__vk_batch *qn__vk_batch_open(qn__queue *queue, char *why) {
    if (queue->open && takes_commands(queue->open)) return queue->open;
    qn__vk_flush(queue);
    qn__gpu *gpu = queue->gpu;
    qn__vk_batch *b = qn__vk_batch_take(queue, why);
    if (!b) return NULL;
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = gpu->vk.ResetCommandPool(gpu->device, b->pool, 0);
    if (result == VK_SUCCESS) result = gpu->vk.BeginCommandBuffer(b->recorder.commands, &info);
    if (result != VK_SUCCESS) {
        qn__vk_failed(gpu, "vkBeginCommandBuffer", result, why);
        free_batch(queue, b);
        return NULL;
    }
    qn__vk_recorder_begin(&b->recorder, gpu, b->recorder.commands, QN__VK_WORK_STAGES);
    b->recorded = &b->recorder;
    b->times = 1;
    b->value = ++queue->timeline->last;
    return queue->open = b;
}

/* ---- to the driver ---- */

static void append(qn__queue *queue, qn__vk_batch *b) {
    b->next = NULL;
    if (queue->last)
        queue->last->next = b;
    else
        queue->first = b;
    queue->last = b;
}

static VkResult hand_over(qn__queue *queue, qn__vk_batch *b) {
    uint32_t stages[QN__VK_MAX_WAITS];
    VkSemaphore semaphores[QN__VK_MAX_WAITS];
    for (uint32_t i = 0; i < b->num_waits; i++) {
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        semaphores[i] = b->waits[i]->semaphore;
    }
    VkCommandBuffer commands[QN__VK_MOST_TIMES];
    for (uint32_t i = 0; i < b->times; i++) commands[i] = b->recorded->commands;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = b->num_waits,
                                            .pWaitSemaphoreValues = b->wait_values,
                                            .signalSemaphoreValueCount = 1,
                                            .pSignalSemaphoreValues = &b->value};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .pNext = &values,
                           .waitSemaphoreCount = b->num_waits,
                           .pWaitSemaphores = semaphores,
                           .pWaitDstStageMask = stages,
                           .commandBufferCount = b->times,
                           .pCommandBuffers = commands,
                           .signalSemaphoreCount = 1,
                           .pSignalSemaphores = &queue->timeline->semaphore};
    pthread_mutex_lock(&queue->lane->lock);
    VkResult result = queue->gpu->vk.QueueSubmit(queue->lane->queue, 1, &submit, 0);
    pthread_mutex_unlock(&queue->lane->lock);
    return result;
}

/* A batch that the driver did not take counts as done; the failure is reported by the next wait. */
static void note_failure(qn__queue *queue, qn__vk_batch *b, const char *function, VkResult result) {
    char why[QN__WHY];
    b->failed = true;
    if (result == VK_ERROR_DEVICE_LOST) {
        qn__vk_queue_lost(queue, why);
        return;
    }
    qn_status status = qn__vk_failed(queue->gpu, function, result, why);
    qn__sticky_set(&queue->failure, status, why);
}

static void send(qn__queue *queue, qn__vk_batch *b) {
    append(queue, b);
    VkResult result = hand_over(queue, b);
    queue->sent_ns = qn__now_ns();
    if (result != VK_SUCCESS) note_failure(queue, b, "vkQueueSubmit", result);
}

void qn__vk_flush(qn__queue *queue) {
    qn__vk_batch *b = queue->open;
    if (!b) return;
    queue->open = NULL;
    queue->staged += b->recorder.staged;
    if (b->num_commands == 0) { /* recording its first command failed */
        qn__vk_recorder_finish(&b->recorder, true);
        queue->staged -= b->recorder.staged;
        free_batch(queue, b);
        return;
    }
    VkResult result = VK_SUCCESS;
    if (takes_commands(b)) {
        qn__vk_recorder_end(&b->recorder);
        result = queue->gpu->vk.EndCommandBuffer(b->recorder.commands);
    }
    if (result == VK_SUCCESS) {
        send(queue, b);
        return;
    }
    append(queue, b);
    note_failure(queue, b, "vkEndCommandBuffer", result);
}

void qn__vk_flush_if_due(qn__queue *queue) {
    const qn__vk_batch *b = queue->open;
    if (!b) return;
    const bool power_of_two = (b->num_commands & (b->num_commands - 1)) == 0;
    if (queue->first != queue->last && power_of_two) qn__vk_retire(queue); /* a call to the driver: seldom */
    const bool full = b->num_commands >= QN__VK_BATCH || b->times == QN__VK_MOST_TIMES;
    bool due = full || !queue->first;
    if (!due && queue->first == queue->last) due = qn__now_ns() >= queue->sent_ns + PAUSE_NS;
    if (due) qn__vk_flush(queue);
}

void qn__vk_timeline_flush(qn__vk_timeline *timeline) {
    pthread_mutex_lock(&timeline->lock);
    qn__queue *queue = timeline->queue;
    if (queue) {
        pthread_mutex_lock(&queue->lock);
        qn__vk_flush(queue);
        pthread_mutex_unlock(&queue->lock);
    }
    pthread_mutex_unlock(&timeline->lock);
}

/* ---- retiring ---- */

static bool is_done(qn__queue *queue, const qn__vk_batch *b) {
    if (b->failed || qn__is_lost(&queue->gpu->loss)) return true;
    uint64_t reached = 0;
    VkResult result =
        queue->gpu->vk.GetSemaphoreCounterValue(queue->gpu->device, queue->timeline->semaphore, &reached);
    if (result == VK_ERROR_DEVICE_LOST) {
        char why[QN__WHY];
        qn__vk_queue_lost(queue, why);
        return true;
    }
    return result == VK_SUCCESS && reached >= b->value;
}

/* Others may wait for the number of a batch that failed. One behind it that the driver took reaches it by itself, at a
   time that is not known here, and a semaphore must not be signalled backwards. */
static void signal_failed(qn__queue *queue, const qn__vk_batch *b) {
    VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                  .semaphore = queue->timeline->semaphore,
                                  .value = b->value};
    uint64_t reached = 0;
    if (!b->failed || qn__is_lost(&queue->gpu->loss)) return;
    for (const qn__vk_batch *later = b->next; later; later = later->next)
        if (!later->failed) return;
    qn__gpu *gpu = queue->gpu;
    if (gpu->vk.GetSemaphoreCounterValue(gpu->device, queue->timeline->semaphore, &reached) == VK_SUCCESS &&
        reached < b->value)
        gpu->vk.SignalSemaphore(gpu->device, &info);
}

static void do_late_reads(qn__queue *queue, bool copy) {
    for (qn__vk_late_read *late = queue->late, *next; late; late = next) {
        next = late->next;
        const qn__command *c = &late->command;
        if (copy) memcpy(c->host, qn__vk_mapped(c->from) + c->from_offset, (size_t)c->size);
        atomic_store(&queue->retired, late->number);
        qn__release(queue->gpu->services->allocator, late);
    }
    queue->late = queue->late_last = NULL;
}

void qn__vk_late_reads_drop(qn__queue *queue) { do_late_reads(queue, false); }

void qn__vk_retire(qn__queue *queue) {
    while (queue->first && is_done(queue, queue->first)) {
        qn__vk_batch *b = queue->first;
        bool gone = b->failed || qn__is_lost(&queue->gpu->loss);
        signal_failed(queue, b);
        queue->first = b->next;
        if (!queue->first) queue->last = NULL;
        queue->staged -= b->recorder.staged;
        uint64_t number = b->last;
        if (b->recorded == &b->recorder) qn__vk_recorder_finish(&b->recorder, gone);
        free_batch(queue, b);
        atomic_store(&queue->retired, number);
    }
    if (!queue->first && !queue->open && queue->late) do_late_reads(queue, !qn__is_lost(&queue->gpu->loss));
}

uint64_t qn__vk_completed(qn__queue *queue) {
    pthread_mutex_lock(&queue->lock);
    qn__vk_retire(queue);
    uint64_t number = atomic_load(&queue->retired);
    pthread_mutex_unlock(&queue->lock);
    return number;
}

VkResult qn__vk_wait_value(qn__queue *queue, uint64_t value, uint64_t timeout_ns) {
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &queue->timeline->semaphore,
                                .pValues = &value};
    return queue->gpu->vk.WaitSemaphores(queue->gpu->device, &info, timeout_ns);
}
