/* Streams: commands are recorded into batches. When the device is about to have nothing of the stream to do, a
   batch is submitted at once; else commands gather until it is, until the batch is full, or until someone
   waits. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/queue.h"
#include "util/file.h"

/* How long a wait looks again and again before it sleeps: a driver takes 0.2 ms to wake a thread, after which the
   device too has gone to rest and takes longer to start. */
enum { SPIN_NS = 1000000 };

/* Waits until transfers of the stream have staging memory again. */
static void make_room(qn__queue *queue) {
    while (queue->staged + (queue->open ? queue->open->recorder.staged : 0) > QN__VK_STAGING_LIMIT) {
        qn__vk_flush(queue);
        qn__vk_retire(queue);
        if (!queue->first) return;
        if (qn__vk_wait_value(queue, queue->first->value, QN_FOREVER) != VK_SUCCESS) return;
        qn__vk_retire(queue);
    }
}

/* ---- submission ---- */

/* Why there is none to record into. */
static qn_status no_batch(const qn__queue *queue) {
    return qn__is_lost(&queue->gpu->loss) ? QN_ERROR_DEVICE_LOST : QN_ERROR_OUT_OF_MEMORY;
}

static void note_command(qn__vk_batch *b, uint64_t number) {
    b->num_commands++;
    b->last = number;
}

static qn_status transfer(qn__queue *queue, const qn__command *command, char *why) {
    qn_status status = QN_OK;
    for (uint64_t at = 0, size; at < command->size && !status; at += size) {
        size = qn__vk_piece(command, command->size - at);
        make_room(queue);
        qn__vk_batch *b = qn__vk_batch_open(queue, why);
        if (!b) return no_batch(queue);
        status = command->kind == QN__COMMAND_WRITE
                     ? qn__vk_record_write(&b->recorder, command, at, size, why)
                     : qn__vk_record_read(&b->recorder, command, at, size, why);
        if (!status) note_command(b, queue->submitted - 1); /* not yet done with the piece */
    }
    return status;
}

static qn_status record_mark(qn__queue *queue, qn__vk_batch *b, const qn__command *command) {
    if (b->num_stamps == QN__VK_MAX_STAMPS) return QN_ERROR_STATE; /* the caller flushes before */
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
        (queue->open->num_commands > queue->open->num_waits || queue->open->num_waits == QN__VK_MAX_WAITS))
        qn__vk_flush(queue);
    qn__vk_batch *b = qn__vk_batch_open(queue, why);
    if (!b) return no_batch(queue);
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
    if (queue->open && queue->open->num_stamps == QN__VK_MAX_STAMPS) qn__vk_flush(queue);
    qn__vk_batch *b = qn__vk_batch_open(queue, why);
    if (!b) return no_batch(queue);
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
    if (c->host_pinned && !idle(queue)) return false; /* the device can write there itself */
    if (idle(queue)) {
        memcpy(c->host, qn__vk_mapped(c->from) + c->from_offset, (size_t)c->size);
        atomic_store(&queue->retired, queue->submitted);
        return true;
    }
    qn__vk_late_read *late = qn__allocate_zeroed(queue->gpu->services->allocator, sizeof *late);
    if (!late) return false;
    late->command = *c;
    late->number = queue->submitted;
    if (queue->late_last)
        queue->late_last->next = late;
    else
        queue->late = late;
    queue->late_last = late;
    qn__vk_flush(queue);
    return true;
}

static void wait_for_all(qn__queue *queue) {
    qn__vk_flush(queue);
    qn__vk_retire(queue);
    while (queue->first && qn__vk_wait_value(queue, queue->first->value, QN_FOREVER) == VK_SUCCESS)
        qn__vk_retire(queue);
}

/* Late reads cannot stay late when something comes behind them: they become copies by the device, or are waited for
   where that fails. They leave the list before, as making room for their staging memory may retire all there is. */
static qn_status settle_late_reads(qn__queue *queue, char *why) {
    qn__vk_retire(queue);
    qn__vk_late_read *late = queue->late, *late_last = queue->late_last, *next;
    const uint64_t last = queue->submitted;
    queue->late = queue->late_last = NULL;
    qn_status status = QN_OK;
    while (late) {
        next = late->next;
        queue->submitted = late->number;
        status = transfer(queue, &late->command, why);
        if (status) break;
        note_command(queue->open, late->number);
        qn__release(queue->gpu->services->allocator, late);
        late = next;
    }
    queue->submitted = last;
    queue->late = late;
    queue->late_last = late ? late_last : NULL;
    if (status) wait_for_all(queue);
    return queue->late ? status : QN_OK;
}

/* A command failed, and a part of it may be recorded: it counts with the batch, or goes with it if it is the batch's
   first. The pieces of a transfer are waited for: some may be with the device already, and the caller's memory need
   not stay. */
static qn_status give_up(qn__queue *queue, const qn__command *command, qn_status status) {
    if (queue->open && queue->open->num_commands)
        note_command(queue->open, queue->submitted);
    else
        queue->submitted--;
    if (command->kind == QN__COMMAND_READ || command->kind == QN__COMMAND_WRITE)
        wait_for_all(queue);
    else if (queue->open && queue->open->num_commands == 0)
        qn__vk_flush(queue);
    return status;
}

static qn_status submit_locked(qn__queue *queue, const qn__command *command, const qn__vk_reached *reached,
                               char *why) {
    bool direct =
        queue->gpu->unified && (command->kind == QN__COMMAND_WRITE || command->kind == QN__COMMAND_READ);
    if (queue->late || direct) qn__vk_retire(queue);
    if (command->kind != QN__COMMAND_READ || !queue->gpu->unified) {
        qn_status status = queue->late ? settle_late_reads(queue, why) : QN_OK;
        if (status) return status;
    }
    queue->submitted++;
    if (transfer_directly(queue, command)) return QN_OK;
    qn_status status = queue->late ? settle_late_reads(queue, why) : QN_OK;
    if (!status) status = record(queue, command, reached, why);
    if (status) return give_up(queue, command, status);
    note_command(queue->open, queue->submitted);
    qn__vk_flush_if_due(queue);
    return QN_OK;
}

/* Whether the queue is to be watched from now on, as commands gather in it. */
static bool wants_watch(qn__queue *queue) {
    if (!queue->open || queue->watched) return false;
    queue->watched = true;
    return true;
}

qn_status qn__vk_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    qn__vk_reached reached = {0};
    if (command->kind == QN__COMMAND_WAIT) reached = qn__vk_mark_get(command->mark);
    if (reached.timeline && reached.timeline != queue->timeline) qn__vk_timeline_flush(reached.timeline);
    pthread_mutex_lock(&queue->lock);
    qn_status status = submit_locked(queue, command, &reached, why);
    *number = queue->submitted;
    bool watch = wants_watch(queue);
    pthread_mutex_unlock(&queue->lock);
    if (watch) qn__vk_watch(queue);
    if (reached.timeline) qn__vk_timeline_drop(reached.timeline);
    return status;
}

/* The open batch if it is one of launches of this graph, else a new one. behind: what it waits for, then a new one
   always, or NULL. */
static qn__vk_batch *open_recorded(qn__queue *queue, const qn__vk_recorder *recorded,
                                   const qn__vk_reached *behind, char *why) {
    if (!behind && queue->open && queue->open->recorded == recorded) return queue->open;
    qn__vk_flush(queue);
    qn__vk_batch *b = qn__vk_batch_take(queue, why);
    if (!b) return NULL;
    b->recorded = recorded;
    b->value = ++queue->timeline->last;
    if (behind) {
        atomic_fetch_add(&behind->timeline->references, 1);
        b->waits[0] = behind->timeline;
        b->wait_values[0] = behind->value;
        b->num_waits = 1;
    }
    return queue->open = b;
}

static void note_launch(qn__queue *queue, const qn__vk_batch *b, qn__vk_reached *last) {
    if (last->timeline != queue->timeline) {
        if (last->timeline) qn__vk_timeline_drop(last->timeline);
        atomic_fetch_add(&queue->timeline->references, 1);
        last->timeline = queue->timeline;
    }
    last->value = b->value;
}

qn_status qn__vk_submit_recorded(qn__queue *queue, const qn__vk_recorder *recorded, qn__vk_reached *last,
                                 uint64_t *number, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    const bool elsewhere = last->timeline && last->timeline != queue->timeline;
    if (elsewhere) qn__vk_timeline_flush(last->timeline); /* both may be sent to one queue of the driver */
    pthread_mutex_lock(&queue->lock);
    qn_status status = queue->late ? settle_late_reads(queue, why) : QN_OK;
    qn__vk_batch *b = status ? NULL : open_recorded(queue, recorded, elsewhere ? last : NULL, why);
    if (b) {
        b->times++;
        note_command(b, *number = ++queue->submitted);
        note_launch(queue, b, last);
        qn__vk_flush_if_due(queue);
    } else if (!status)
        status = no_batch(queue);
    bool watch = wants_watch(queue);
    pthread_mutex_unlock(&queue->lock);
    if (watch) qn__vk_watch(queue);
    return status;
}

/* ---- waiting ---- */

static const qn__kernel_names *kernels_of(const qn__vk_batch *b) {
    return b && b->recorded->kernels.count ? &b->recorded->kernels : NULL;
}

/* Those of the first batch that has any. */
void qn__vk_unfinished(qn__queue *queue, char *names, size_t size) {
    pthread_mutex_lock(&queue->lock);
    qn__vk_retire(queue);
    static const qn__kernel_names none = {.count = 0};
    const qn__kernel_names *found = NULL;
    for (const qn__vk_batch *b = queue->first; b && !found; b = b->next) found = kernels_of(b);
    if (!found) found = kernels_of(queue->open);
    qn__kernel_names_print(found ? found : &none, "", names, size);
    pthread_mutex_unlock(&queue->lock);
}

/* The value to wait for so that command `number` can be retired. */
static uint64_t next_goal(const qn__queue *queue, uint64_t number) {
    for (const qn__vk_batch *b = queue->first; b; b = b->next)
        if (b->last >= number || !b->next) return b->value;
    return 0;
}

/* Short work is done before the driver has put the thread to sleep and woken it. Not where the work is done by
   processors that this thread would keep from it. */
static bool done_soon(qn__queue *queue, uint64_t goal, uint64_t timeout_ns) {
    qn__gpu *gpu = queue->gpu;
    if (gpu->physical->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) return false;
    uint64_t until = qn__now_ns() + (timeout_ns < SPIN_NS ? timeout_ns : SPIN_NS), reached = 0;
    do {
        if (gpu->vk.GetSemaphoreCounterValue(gpu->device, queue->timeline->semaphore, &reached) != VK_SUCCESS)
            return false;
        if (reached >= goal) return true;
    } while (qn__now_ns() < until);
    return false;
}

qn_status qn__vk_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    uint64_t start = qn__now_ns();
    qn_status status = QN_OK;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        if (atomic_load(&queue->retired) < number) {
            qn__vk_flush(queue);
            qn__vk_retire(queue);
        }
        if (atomic_load(&queue->retired) >= number || !queue->first) break;
        uint64_t goal = next_goal(queue, number), left = qn__time_left(start, timeout_ns);
        pthread_mutex_unlock(&queue->lock);
        VkResult result = done_soon(queue, goal, left) ? VK_SUCCESS : qn__vk_wait_value(queue, goal, left);
        pthread_mutex_lock(&queue->lock);
        if (result == VK_ERROR_DEVICE_LOST)
            status = qn__vk_queue_lost(queue, why);
        else if (result == VK_TIMEOUT) {
            qn__vk_retire(queue);
            if (atomic_load(&queue->retired) < number) status = QN_ERROR_TIMEOUT;
        } else if (result != VK_SUCCESS)
            status = qn__vk_failed(queue->gpu, "vkWaitSemaphores", result, why);
        if (status) break;
    }
    if (status == QN_ERROR_DEVICE_LOST) qn__vk_retire(queue);
    if (!status && qn__is_lost(&queue->gpu->loss)) status = qn__lost(&queue->gpu->loss, why);
    if (!status) status = qn__sticky_take(&queue->failure, why);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

qn_status qn__vk_failure(qn__queue *queue, uint32_t *since, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    pthread_mutex_lock(&queue->lock);
    const qn_status status = qn__sticky_look(&queue->failure, since, why);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* ---- streams ---- */

static qn__vk_lane *shared_lane(qn__gpu *gpu) {
    return &gpu->lanes[atomic_fetch_add(&gpu->next_lane, 1) % gpu->num_lanes];
}

/* A lane for the stream alone; NULL: there is none left. */
static qn__vk_lane *take_lane(qn__gpu *gpu) {
    qn__vk_lane *lane = NULL;
    pthread_mutex_lock(&gpu->lock);
    for (uint32_t i = gpu->num_lanes; i < gpu->all_lanes && !lane; i++)
        if (!gpu->lanes[i].taken) lane = &gpu->lanes[i];
    if (lane) lane->taken = true;
    pthread_mutex_unlock(&gpu->lock);
    return lane;
}

static void give_lane(qn__gpu *gpu, qn__vk_lane *lane) {
    pthread_mutex_lock(&gpu->lock);
    lane->taken = false;
    pthread_mutex_unlock(&gpu->lock);
}

/* In a queue that it shared, what others submit would be done behind it. */
qn_status qn__vk_set_persistent(qn__queue *queue, bool persistent, char *why) {
    qn__gpu *gpu = queue->gpu;
    qn__vk_lane *lane = persistent ? take_lane(gpu) : shared_lane(gpu);
    if (!lane) {
        snprintf(why, QN__WHY,
                 gpu->num_lanes < gpu->all_lanes
                     ? "all queues of the driver's that a stream can have alone are taken"
                     : "the driver has one queue only, which all streams share");
        return QN_ERROR_UNSUPPORTED;
    }
    pthread_mutex_lock(&queue->lock);
    qn__vk_lane *before = queue->lane;
    queue->lane = lane;
    pthread_mutex_unlock(&queue->lock);
    if (before->taken) give_lane(gpu, before);
    return QN_OK;
}

void qn__vk_queue_destroy(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    qn__vk_unwatch(queue);
    if (queue->timeline) {
        pthread_mutex_lock(&queue->timeline->lock);
        queue->timeline->queue = NULL;
        pthread_mutex_unlock(&queue->timeline->lock);
    }
    pthread_mutex_lock(&queue->lock);
    qn__vk_flush(queue);
    while (queue->first && !qn__is_lost(&gpu->loss)) { /* nothing, as the runtime has waited */
        if (qn__vk_wait_value(queue, queue->first->value, QN_FOREVER) != VK_SUCCESS) break;
        qn__vk_retire(queue);
    }
    qn__vk_retire(queue);
    qn__vk_late_reads_drop(queue);
    qn__vk_batches_free(queue);
    pthread_mutex_unlock(&queue->lock);
    if (queue->timeline) qn__vk_timeline_drop(queue->timeline);
    if (queue->lane->taken) give_lane(gpu, queue->lane);
    pthread_mutex_destroy(&queue->lock);
    qn__release(gpu->services->allocator, queue);
}

qn_status qn__vk_queue_create(qn__gpu *gpu, qn__queue **out, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__queue *queue = qn__allocate_zeroed(gpu->services->allocator, sizeof *queue);
    if (!queue) return QN_ERROR_OUT_OF_MEMORY;
    queue->gpu = gpu;
    queue->lane = shared_lane(gpu);
    pthread_mutex_init(&queue->lock, NULL);
    qn_status status = qn__vk_timeline_new(gpu, queue, &queue->timeline, why);
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

/* ---- work of others on the driver's queue ---- */

uint64_t qn__vk_native(const qn__gpu *gpu, const qn__queue *queue, const qn__memory *memory,
                       qn_native_kind kind) {
    switch (kind) {
    case QN_NATIVE_VULKAN_INSTANCE: return (uint64_t)(uintptr_t)gpu->driver->instance;
    case QN_NATIVE_VULKAN_PHYSICAL_DEVICE: return (uint64_t)(uintptr_t)gpu->physical->handle;
    case QN_NATIVE_VULKAN_DEVICE: return (uint64_t)(uintptr_t)gpu->device;
    case QN_NATIVE_VULKAN_QUEUE_FAMILY: return gpu->family;
    case QN_NATIVE_VULKAN_QUEUE: return (uint64_t)(uintptr_t)queue->lane->queue;
    case QN_NATIVE_VULKAN_BUFFER: return (uint64_t)memory->block->buffer;
    case QN_NATIVE_VULKAN_ADDRESS: return qn__vk_address(memory);
    default: return memory->offset; /* QN_NATIVE_OFFSET */
    }
}

/* Reads that are still to be done must not see what comes now. */
qn_status qn__vk_lend(qn__queue *queue, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    pthread_mutex_lock(&queue->lock);
    qn_status status = queue->late ? settle_late_reads(queue, why) : QN_OK;
    if (!status) qn__vk_flush(queue);
    pthread_mutex_unlock(&queue->lock);
    if (!status) pthread_mutex_lock(&queue->lane->lock);
    return status;
}

/* A batch without commands: its signal comes behind all that is in the driver's queue (specification, "Semaphore
   Signaling"). */
qn_status qn__vk_take_back(qn__queue *queue, uint64_t *number, char *why) {
    pthread_mutex_unlock(&queue->lane->lock);
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    pthread_mutex_lock(&queue->lock);
    qn__vk_batch *b = qn__vk_batch_open(queue, why);
    if (b) {
        note_command(b, *number = ++queue->submitted);
        qn__vk_flush(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    return b ? QN_OK : no_batch(queue);
}
