/* Streams. Commands are recorded into a batch; batches go to the driver one after another, and each makes the
   stream's timeline semaphore reach the next value. When the device has nothing of the stream
   to do a batch is submitted at once, else commands gather until it has, until the batch is full, or until
   someone waits. A batch whose commands are done is "retired": what it read is copied to the host, what its
   kernels printed is printed, and its memory is given back. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"
#include "util/file.h"

enum { MAX_WAITS = 8, MAX_STAMPS = 8 };

typedef struct batch {
    struct batch *next;
    VkCommandPool pool;
    qn__vk_recorder recorder;        /* of its own commands */
    const qn__vk_recorder *recorded; /* what is submitted: its own, or a graph's */
    uint64_t value;                  /* that the timeline reaches with it */
    uint64_t last;                   /* number of its last command */
    uint32_t num_commands;
    uint32_t num_waits, num_stamps;
    qn__vk_timeline *waits[MAX_WAITS];
    uint64_t wait_values[MAX_WAITS];
    qn__vk_stamp *stamps[MAX_STAMPS];
    bool failed; /* never reached the device */
} batch;

/* A transfer to the host from memory that is the host's anyway: a copy once all before it is done. */
typedef struct late_read {
    struct late_read *next;
    qn__command command;
    uint64_t number;
} late_read;

struct qn__queue {
    qn__gpu *gpu;
    qn__vk_lane *lane;
    qn__vk_timeline *timeline;
    pthread_mutex_t lock;
    uint64_t submitted;           /* last number given */
    uint64_t values;              /* last value of the timeline given to a batch */
    atomic_uint_fast64_t retired; /* last number that is done in all respects */
    batch *open;                  /* gathers commands; or NULL */
    batch *first, *last;          /* with the device, oldest first */
    batch *free;
    late_read *late, *late_last; /* behind all batches; none while a batch is open */
    uint64_t staged;             /* bytes of staging memory of all batches */
    qn_status status;            /* first failure not yet reported */
    char why[QN__WHY];
};

/* ---- timelines ---- */

void qn__vk_timeline_drop(qn__vk_timeline *timeline) {
    if (atomic_fetch_sub(&timeline->references, 1) != 1) return;
    qn__gpu *gpu = timeline->gpu;
    if (timeline->semaphore) gpu->vk.DestroySemaphore(gpu->device, timeline->semaphore, NULL);
    pthread_mutex_destroy(&timeline->lock);
    qn__release(gpu->services->allocator, timeline);
}

static qn_status timeline_new(qn__queue *queue, char *why) {
    qn__gpu *gpu = queue->gpu;
    qn__vk_timeline *timeline = qn__allocate_zeroed(gpu->services->allocator, sizeof *timeline);
    if (!timeline) return QN_ERROR_OUT_OF_MEMORY;
    timeline->gpu = gpu;
    timeline->queue = queue;
    atomic_store(&timeline->references, 1);
    pthread_mutex_init(&timeline->lock, NULL);
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkFlagsCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkResult result = gpu->vk.CreateSemaphore(gpu->device, &info, NULL, &timeline->semaphore);
    if (result != VK_SUCCESS) {
        timeline->semaphore = 0;
        qn__vk_timeline_drop(timeline);
        return qn__vk_failed("vkCreateSemaphore", result, why);
    }
    queue->timeline = timeline;
    return QN_OK;
}

/* ---- a lost device ---- */

static void list_names(const qn__vk_recorder *r, char *out, size_t size) {
    out[0] = 0;
    for (uint32_t i = 0, length = 0; i < r->num_names && length + 1 < size; i++) {
        int wrote = snprintf(out + length, size - length, "%s%.80s", i ? " or " : "", r->names[i]);
        if (wrote > 0) length += (uint32_t)wrote;
    }
}

qn_status qn__vk_lost(qn__gpu *gpu, const char *kernels, char *why) {
    pthread_mutex_lock(&gpu->lock);
    if (!atomic_load(&gpu->lost)) {
        bool named = kernels && kernels[0];
        snprintf(gpu->lost_why, sizeof gpu->lost_why, "the device was lost%s%.400s",
                 named ? " while it ran kernel " : "", named ? kernels : "");
        atomic_store(&gpu->lost, true);
    }
    memcpy(why, gpu->lost_why, QN__WHY);
    pthread_mutex_unlock(&gpu->lock);
    return QN_ERROR_DEVICE_LOST;
}

static qn_status lost(qn__queue *queue, char *why) {
    char names[400] = "";
    if (queue->first) list_names(queue->first->recorded, names, sizeof names);
    return qn__vk_lost(queue->gpu, names, why);
}

/* ---- batches ---- */

static void batch_delete(qn__gpu *gpu, batch *b) {
    if (b->pool) gpu->vk.DestroyCommandPool(gpu->device, b->pool, NULL);
    qn__release(gpu->services->allocator, b);
}

static batch *batch_new(qn__gpu *gpu, char *why) {
    batch *b = qn__allocate_zeroed(gpu->services->allocator, sizeof *b);
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
    qn__vk_failed("vkAllocateCommandBuffers", result, why);
    batch_delete(gpu, b);
    return NULL;
}

static batch *take_batch(qn__queue *queue, char *why) {
    batch *b = queue->free;
    if (!b) return batch_new(queue->gpu, why);
    queue->free = b->next;
    return b;
}

static void free_batch(qn__queue *queue, batch *b) {
    qn__gpu *gpu = queue->gpu;
    for (uint32_t i = 0; i < b->num_waits; i++) qn__vk_timeline_drop(b->waits[i]);
    for (uint32_t i = 0; i < b->num_stamps; i++) qn__vk_stamp_drop(gpu, b->stamps[i]);
    VkCommandBuffer commands = b->recorder.commands;
    VkCommandPool pool = b->pool;
    *b = (batch){.pool = pool, .recorder.commands = commands, .next = queue->free};
    queue->free = b;
}

/* The batch that commands are recorded into; NULL: failed. */
static batch *open_batch(qn__queue *queue, char *why) {
    if (queue->open) return queue->open;
    qn__gpu *gpu = queue->gpu;
    batch *b = take_batch(queue, why);
    if (!b) return NULL;
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = gpu->vk.ResetCommandPool(gpu->device, b->pool, 0);
    if (result == VK_SUCCESS) result = gpu->vk.BeginCommandBuffer(b->recorder.commands, &info);
    if (result != VK_SUCCESS) {
        qn__vk_failed("vkBeginCommandBuffer", result, why);
        free_batch(queue, b);
        return NULL;
    }
    qn__vk_recorder_begin(&b->recorder, gpu, b->recorder.commands);
    b->recorded = &b->recorder;
    b->value = ++queue->values;
    return queue->open = b;
}

/* ---- to the driver ---- */

static void append(qn__queue *queue, batch *b) {
    b->next = NULL;
    if (queue->last)
        queue->last->next = b;
    else
        queue->first = b;
    queue->last = b;
}

static VkResult hand_over(qn__queue *queue, batch *b) {
    uint32_t stages[MAX_WAITS];
    VkSemaphore semaphores[MAX_WAITS];
    for (uint32_t i = 0; i < b->num_waits; i++) {
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        semaphores[i] = b->waits[i]->semaphore;
    }
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
                           .commandBufferCount = 1,
                           .pCommandBuffers = &b->recorded->commands,
                           .signalSemaphoreCount = 1,
                           .pSignalSemaphores = &queue->timeline->semaphore};
    pthread_mutex_lock(&queue->lane->lock);
    VkResult result = queue->gpu->vk.QueueSubmit(queue->lane->queue, 1, &submit, 0);
    pthread_mutex_unlock(&queue->lane->lock);
    return result;
}

/* A batch that the driver did not take counts as done; the failure is reported by the next wait. */
static void note_failure(qn__queue *queue, batch *b, const char *function, VkResult result) {
    char why[QN__WHY];
    b->failed = true;
    if (result == VK_ERROR_DEVICE_LOST) {
        lost(queue, why);
        return;
    }
    qn_status status = qn__vk_failed(function, result, why);
    if (queue->status) return;
    queue->status = status;
    memcpy(queue->why, why, sizeof queue->why);
}

static void send(qn__queue *queue, batch *b) {
    append(queue, b);
    VkResult result = hand_over(queue, b);
    if (result != VK_SUCCESS) note_failure(queue, b, "vkQueueSubmit", result);
}

/* Submits what has gathered. The lock is held. */
static void flush(qn__queue *queue) {
    batch *b = queue->open;
    if (!b) return;
    queue->open = NULL;
    queue->staged += b->recorder.staged;
    if (b->num_commands == 0) { /* recording its first command failed */
        qn__vk_recorder_finish(&b->recorder, true);
        queue->staged -= b->recorder.staged;
        free_batch(queue, b);
        return;
    }
    qn__vk_recorder_end(&b->recorder);
    VkResult result = queue->gpu->vk.EndCommandBuffer(b->recorder.commands);
    if (result == VK_SUCCESS) {
        send(queue, b);
        return;
    }
    append(queue, b);
    note_failure(queue, b, "vkEndCommandBuffer", result);
}

void qn__vk_timeline_flush(qn__vk_timeline *timeline) {
    pthread_mutex_lock(&timeline->lock);
    qn__queue *queue = timeline->queue;
    if (queue) {
        pthread_mutex_lock(&queue->lock);
        flush(queue);
        pthread_mutex_unlock(&queue->lock);
    }
    pthread_mutex_unlock(&timeline->lock);
}

/* ---- retiring ---- */

static bool is_done(qn__queue *queue, const batch *b) {
    if (b->failed || atomic_load(&queue->gpu->lost)) return true;
    uint64_t reached = 0;
    VkResult result =
        queue->gpu->vk.GetSemaphoreCounterValue(queue->gpu->device, queue->timeline->semaphore, &reached);
    if (result == VK_ERROR_DEVICE_LOST) {
        char why[QN__WHY];
        lost(queue, why);
        return true;
    }
    return result == VK_SUCCESS && reached >= b->value;
}

/* Others may wait for the number of a batch that failed. */
static void signal_failed(qn__queue *queue, const batch *b) {
    VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                  .semaphore = queue->timeline->semaphore,
                                  .value = b->value};
    uint64_t reached = 0;
    if (!b->failed || atomic_load(&queue->gpu->lost)) return;
    qn__gpu *gpu = queue->gpu;
    if (gpu->vk.GetSemaphoreCounterValue(gpu->device, queue->timeline->semaphore, &reached) == VK_SUCCESS &&
        reached < b->value)
        gpu->vk.SignalSemaphore(gpu->device, &info);
}

static void do_late_reads(qn__queue *queue, bool copy) {
    for (late_read *late = queue->late, *next; late; late = next) {
        next = late->next;
        const qn__command *c = &late->command;
        if (copy) memcpy(c->host, qn__vk_mapped(c->from) + c->from_offset, (size_t)c->size);
        atomic_store(&queue->retired, late->number);
        qn__release(queue->gpu->services->allocator, late);
    }
    queue->late = queue->late_last = NULL;
}

/* The lock is held. */
static void retire(qn__queue *queue) {
    while (queue->first && is_done(queue, queue->first)) {
        batch *b = queue->first;
        bool gone = b->failed || atomic_load(&queue->gpu->lost);
        signal_failed(queue, b);
        queue->first = b->next;
        if (!queue->first) queue->last = NULL;
        queue->staged -= b->recorder.staged;
        uint64_t number = b->last;
        if (b->recorded == &b->recorder) qn__vk_recorder_finish(&b->recorder, gone);
        free_batch(queue, b);
        atomic_store(&queue->retired, number);
    }
    if (!queue->first && !queue->open && queue->late) do_late_reads(queue, !atomic_load(&queue->gpu->lost));
}

static VkResult wait_value(qn__queue *queue, uint64_t value, uint64_t timeout_ns) {
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &queue->timeline->semaphore,
                                .pValues = &value};
    return queue->gpu->vk.WaitSemaphores(queue->gpu->device, &info, timeout_ns);
}

/* Waits until transfers of the stream have staging memory again. */
static void make_room(qn__queue *queue) {
    while (queue->staged + (queue->open ? queue->open->recorder.staged : 0) > QN__VK_STAGING_LIMIT) {
        flush(queue);
        retire(queue);
        if (!queue->first) return;
        if (wait_value(queue, queue->first->value, QN_FOREVER) != VK_SUCCESS) return;
        retire(queue);
    }
}

/* ---- submission ---- */

static void note_command(batch *b, uint64_t number) {
    b->num_commands++;
    b->last = number;
}

static qn_status transfer(qn__queue *queue, const qn__command *command, char *why) {
    qn_status status = QN_OK;
    for (uint64_t at = 0, size; at < command->size && !status; at += size) {
        size = qn__vk_piece(queue->gpu, command, command->size - at);
        make_room(queue);
        batch *b = open_batch(queue, why);
        if (!b) return QN_ERROR_OUT_OF_MEMORY;
        status = command->kind == QN__COMMAND_WRITE
                     ? qn__vk_record_write(&b->recorder, command, at, size, why)
                     : qn__vk_record_read(&b->recorder, command, at, size, why);
        if (!status) note_command(b, queue->submitted - 1); /* not yet done with the piece */
    }
    return status;
}

static qn_status record_mark(qn__queue *queue, batch *b, const qn__command *command) {
    if (b->num_stamps == MAX_STAMPS) return QN_ERROR_STATE; /* the caller flushes before */
    qn__vk_stamp *stamp = qn__vk_stamp_new(queue->gpu);
    if (stamp) {
        qn__vk_record_stamp(&b->recorder, stamp);
        b->stamps[b->num_stamps++] = stamp;
    }
    qn__vk_mark_set(command->mark, command->mark_version, queue->timeline, b->value, queue->submitted, stamp);
    return QN_OK;
}

/* All later commands of the stream wait: they go into a batch behind those before. */
static qn_status record_wait(qn__queue *queue, const qn__vk_reached *reached, char *why) {
    if (queue->open &&
        (queue->open->num_commands > queue->open->num_waits || queue->open->num_waits == MAX_WAITS))
        flush(queue);
    batch *b = open_batch(queue, why);
    if (!b) return QN_ERROR_OUT_OF_MEMORY;
    if (!reached->timeline || reached->timeline == queue->timeline) return QN_OK; /* in order already */
    atomic_fetch_add(&reached->timeline->references, 1);
    b->waits[b->num_waits] = reached->timeline;
    b->wait_values[b->num_waits++] = reached->value;
    return QN_OK;
}

static qn_status record(qn__queue *queue, const qn__command *command, const qn__vk_reached *reached,
                        char *why) {
    if (command->kind == QN__COMMAND_WAIT) return record_wait(queue, reached, why);
    if (command->kind == QN__COMMAND_WRITE || command->kind == QN__COMMAND_READ)
        return transfer(queue, command, why);
    if (queue->open && queue->open->num_stamps == MAX_STAMPS) flush(queue);
    batch *b = open_batch(queue, why);
    if (!b) return QN_ERROR_OUT_OF_MEMORY;
    switch (command->kind) {
    case QN__COMMAND_COPY: return qn__vk_record_copy(&b->recorder, command);
    case QN__COMMAND_FILL: return qn__vk_record_fill(&b->recorder, command, why);
    case QN__COMMAND_LAUNCH: return qn__vk_record_launch(&b->recorder, command, why);
    case QN__COMMAND_RECORD: return record_mark(queue, b, command);
    default: return QN_ERROR_INTERNAL;
    }
}

static bool idle(const qn__queue *queue) { return !queue->first && !queue->open && !queue->late; }

/* With shared memory, host transfers need no device: writes when there is nothing before them, reads when all
   before them is done, which is looked at later. True if that is how the command is done. */
static bool transfer_directly(qn__queue *queue, const qn__command *c) {
    if (!queue->gpu->unified) return false;
    if (c->kind == QN__COMMAND_WRITE && idle(queue)) {
        memcpy(qn__vk_mapped(c->to) + c->to_offset, c->host, (size_t)c->size);
        atomic_store(&queue->retired, queue->submitted);
        return true;
    }
    if (c->kind != QN__COMMAND_READ) return false;
    if (idle(queue)) {
        memcpy(c->host, qn__vk_mapped(c->from) + c->from_offset, (size_t)c->size);
        atomic_store(&queue->retired, queue->submitted);
        return true;
    }
    late_read *late = qn__allocate_zeroed(queue->gpu->services->allocator, sizeof *late);
    if (!late) return false;
    late->command = *c;
    late->number = queue->submitted;
    if (queue->late_last)
        queue->late_last->next = late;
    else
        queue->late = late;
    queue->late_last = late;
    flush(queue);
    return true;
}

/* Late reads cannot stay late when something comes behind them: they become copies by the device. */
static qn_status settle_late_reads(qn__queue *queue, char *why) {
    retire(queue);
    qn_status status = QN_OK;
    while (queue->late && !status) {
        late_read *late = queue->late;
        uint64_t last = queue->submitted;
        queue->submitted = late->number;
        status = transfer(queue, &late->command, why);
        if (!status) {
            note_command(queue->open, late->number);
            queue->late = late->next;
            if (!queue->late) queue->late_last = NULL;
            qn__release(queue->gpu->services->allocator, late);
        }
        queue->submitted = last;
    }
    return status;
}

static void flush_if_due(qn__queue *queue) {
    const batch *b = queue->open;
    if (b && (!queue->first || queue->first == queue->last || b->num_commands >= QN__VK_BATCH)) flush(queue);
}

static qn_status submit_locked(qn__queue *queue, const qn__command *command, const qn__vk_reached *reached,
                               char *why) {
    retire(queue);
    if (command->kind != QN__COMMAND_READ || !queue->gpu->unified) {
        qn_status status = queue->late ? settle_late_reads(queue, why) : QN_OK;
        if (status) return status;
    }
    queue->submitted++;
    if (transfer_directly(queue, command)) return QN_OK;
    qn_status status = queue->late ? settle_late_reads(queue, why) : QN_OK;
    if (!status) status = record(queue, command, reached, why);
    if (status) {
        queue->submitted--;
        if (queue->open && queue->open->num_commands == 0) flush(queue);
        return status;
    }
    note_command(queue->open, queue->submitted);
    flush_if_due(queue);
    return QN_OK;
}

qn_status qn__vk_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    if (atomic_load(&queue->gpu->lost)) return qn__vk_lost(queue->gpu, NULL, why);
    qn__vk_reached reached = {0};
    if (command->kind == QN__COMMAND_WAIT) reached = qn__vk_mark_get(command->mark);
    if (reached.timeline && reached.timeline != queue->timeline) qn__vk_timeline_flush(reached.timeline);
    pthread_mutex_lock(&queue->lock);
    qn_status status = submit_locked(queue, command, &reached, why);
    *number = queue->submitted;
    pthread_mutex_unlock(&queue->lock);
    if (reached.timeline) qn__vk_timeline_drop(reached.timeline);
    return status;
}

qn_status qn__vk_submit_recorded(qn__queue *queue, const qn__vk_recorder *recorded, uint64_t *number,
                                 char *why) {
    if (atomic_load(&queue->gpu->lost)) return qn__vk_lost(queue->gpu, NULL, why);
    pthread_mutex_lock(&queue->lock);
    retire(queue);
    qn_status status = queue->late ? settle_late_reads(queue, why) : QN_OK;
    batch *b = NULL;
    if (!status) {
        flush(queue);
        b = take_batch(queue, why);
        if (!b) status = QN_ERROR_OUT_OF_MEMORY;
    }
    if (!status) {
        b->recorded = recorded;
        b->value = ++queue->values;
        b->last = *number = ++queue->submitted;
        send(queue, b);
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* ---- waiting ---- */

uint64_t qn__vk_completed(qn__queue *queue) {
    pthread_mutex_lock(&queue->lock);
    retire(queue);
    uint64_t number = atomic_load(&queue->retired);
    pthread_mutex_unlock(&queue->lock);
    return number;
}

static qn_status report(qn__queue *queue, char *why) {
    if (atomic_load(&queue->gpu->lost)) return qn__vk_lost(queue->gpu, NULL, why);
    qn_status status = queue->status;
    if (status) memcpy(why, queue->why, sizeof queue->why);
    queue->status = QN_OK;
    return status;
}

static qn_status timed_out(qn__queue *queue, uint64_t timeout_ns, char *why) {
    char names[400] = "";
    if (queue->first) list_names(queue->first->recorded, names, sizeof names);
    snprintf(why, QN__WHY, "not done in %.3g ms%s%s", (double)timeout_ns / 1e6,
             names[0] ? ": running kernel " : "", names);
    return QN_ERROR_TIMEOUT;
}

/* The value to wait for so that command `number` can be retired. */
static uint64_t next_goal(const qn__queue *queue, uint64_t number) {
    for (const batch *b = queue->first; b; b = b->next)
        if (b->last >= number || !b->next) return b->value;
    return 0;
}

qn_status qn__vk_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    uint64_t start = qn__now_ns();
    qn_status status = QN_OK;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        if (atomic_load(&queue->retired) < number) {
            flush(queue);
            retire(queue);
        }
        if (atomic_load(&queue->retired) >= number || !queue->first) break;
        uint64_t goal = next_goal(queue, number), passed = qn__now_ns() - start;
        uint64_t left = timeout_ns == QN_FOREVER ? QN_FOREVER : timeout_ns > passed ? timeout_ns - passed : 0;
        pthread_mutex_unlock(&queue->lock);
        VkResult result = wait_value(queue, goal, left);
        pthread_mutex_lock(&queue->lock);
        if (result == VK_ERROR_DEVICE_LOST)
            status = lost(queue, why);
        else if (result == VK_TIMEOUT) {
            retire(queue);
            if (atomic_load(&queue->retired) < number) status = timed_out(queue, timeout_ns, why);
        } else if (result != VK_SUCCESS)
            status = qn__vk_failed("vkWaitSemaphores", result, why);
        if (status) break;
    }
    if (status == QN_ERROR_DEVICE_LOST) retire(queue);
    if (!status) status = report(queue, why);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* ---- streams ---- */

void qn__vk_queue_destroy(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    if (queue->timeline) {
        pthread_mutex_lock(&queue->timeline->lock);
        queue->timeline->queue = NULL;
        pthread_mutex_unlock(&queue->timeline->lock);
    }
    pthread_mutex_lock(&queue->lock);
    flush(queue);
    while (queue->first && !atomic_load(&gpu->lost)) { /* nothing, as the runtime has waited */
        if (wait_value(queue, queue->first->value, QN_FOREVER) != VK_SUCCESS) break;
        retire(queue);
    }
    retire(queue);
    do_late_reads(queue, false);
    for (batch *b = queue->free, *next; b; b = next) {
        next = b->next;
        batch_delete(gpu, b);
    }
    pthread_mutex_unlock(&queue->lock);
    if (queue->timeline) qn__vk_timeline_drop(queue->timeline);
    pthread_mutex_destroy(&queue->lock);
    qn__release(gpu->services->allocator, queue);
}

qn_status qn__vk_queue_create(qn__gpu *gpu, qn__queue **out, char *why) {
    if (atomic_load(&gpu->lost)) return qn__vk_lost(gpu, NULL, why);
    qn__queue *queue = qn__allocate_zeroed(gpu->services->allocator, sizeof *queue);
    if (!queue) return QN_ERROR_OUT_OF_MEMORY;
    queue->gpu = gpu;
    queue->lane = &gpu->lanes[atomic_fetch_add(&gpu->next_lane, 1) % gpu->num_lanes];
    pthread_mutex_init(&queue->lock, NULL);
    qn_status status = timeline_new(queue, why);
    if (status)
        qn__vk_queue_destroy(queue);
    else
        *out = queue;
    return status;
}

qn_status qn__vk_upload_now(qn__gpu *gpu, qn__memory *to, const void *data, uint64_t size, char *why) {
    if (gpu->unified) {
        memcpy(qn__vk_mapped(to), data, (size_t)size);
        return QN_OK;
    }
    qn__queue *queue;
    qn_status status = qn__vk_queue_create(gpu, &queue, why);
    if (status) return status;
    qn__command command = {.kind = QN__COMMAND_WRITE, .to = to, .size = size, .host = (void *)data};
    uint64_t number = 0;
    status = qn__vk_submit(queue, &command, &number, why);
    if (!status) status = qn__vk_wait(queue, number, QN_FOREVER, why);
    qn__vk_queue_destroy(queue);
    return status;
}
