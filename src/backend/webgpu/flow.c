/* What is encoded, submitted and done. Callbacks come while this thread asks for them (qn__wg_advance), so that none
   needs a lock of its own. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"
#include "util/file.h"

/* ---- errors ---- */

typedef struct scope {
    bool done;
    uint32_t type;
    char message[QN__WHY];
} scope;

static void scope_ended(uint32_t status, uint32_t type, wg_text message, void *user, void *second) {
    scope *s = user;
    (void)status, (void)second;
    s->done = true;
    s->type = type;
    qn__wg_copy_text(s->message, sizeof s->message, message);
}

static void tick(const qn__gpu *gpu) {
    if (gpu->api->wgpuDevicePoll)
        gpu->api->wgpuDevicePoll(gpu->device, 0, NULL);
    else if (gpu->api->wgpuDeviceTick)
        gpu->api->wgpuDeviceTick(gpu->device);
    gpu->api->wgpuInstanceProcessEvents(gpu->instance);
}

void qn__wg_scope_begin(qn__gpu *gpu) {
    gpu->api->wgpuDevicePushErrorScope(gpu->device, WG_OUT_OF_MEMORY);
    gpu->api->wgpuDevicePushErrorScope(gpu->device, WG_VALIDATION);
}

bool qn__wg_scope_end(qn__gpu *gpu, char *why, size_t size) {
    bool failed = false;
    for (int i = 0; i < 2; i++) {
        scope s = {.done = false};
        const wg_callback callback = {
            .mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))scope_ended, .user = &s};
        gpu->api->wgpuDevicePopErrorScope(gpu->device, callback);
        while (!s.done) tick(gpu);
        if (s.type == WG_NO_ERROR || failed) continue;
        snprintf(why, size, "%s", s.message[0] ? s.message : "an error without a message");
        failed = true;
    }
    return failed;
}

/* An error that no scope catches: of what was encoded last. */
void qn__wg_note_error(wg_object const *device, uint32_t type, wg_text message, void *user, void *second) {
    qn__gpu *gpu = user;
    char text[QN__WHY], why[QN__WHY];
    (void)device, (void)second;
    qn__wg_copy_text(text, sizeof text, message);
    const char *kernel = gpu->last_queue ? qn__flight_first(&gpu->last_queue->flight) : NULL;
    snprintf(why, sizeof why, "%s%.100s%sthe WebGPU device says: %.300s", kernel ? "kernel " : "",
             kernel ? kernel : "", kernel ? ": " : "", text);
    if (gpu->last_queue)
        qn__sticky_set(&gpu->last_queue->failure,
                       type == WG_ERROR_MEMORY ? QN_ERROR_DEVICE_MEMORY : QN_ERROR_DRIVER, why);
    else
        gpu->services->log(gpu->services->log_user, QN_LOG_WARNING, why);
}

/* ---- encoding ---- */

qn_status qn__wg_encode(qn__gpu *gpu, bool pass, char *why) {
    if (!gpu->current) {
        gpu->current = qn__allocate_zeroed(gpu->services->allocator, sizeof *gpu->current);
        if (!gpu->current) return QN_ERROR_OUT_OF_MEMORY;
        gpu->current->gpu = gpu;
    }
    if (!gpu->encoder) gpu->encoder = gpu->api->wgpuDeviceCreateCommandEncoder(gpu->device, NULL);
    if (!gpu->encoder) {
        snprintf(why, QN__WHY, "the device gives no command encoder");
        return QN_ERROR_DRIVER;
    }
    if (gpu->pass && !pass) {
        gpu->api->wgpuComputePassEncoderEnd(gpu->pass);
        gpu->api->wgpuComputePassEncoderRelease(gpu->pass);
        gpu->pass = NULL;
    }
    if (pass && !gpu->pass) {
        gpu->pass = gpu->api->wgpuCommandEncoderBeginComputePass(gpu->encoder, NULL);
        gpu->pipeline_set = gpu->group_set = NULL;
    }
    gpu->encoded++;
    return QN_OK;
}

/* ---- reads ---- */

static void was_mapped(uint32_t status, wg_text message, void *user, void *second) {
    wg_read *read = user;
    qn__gpu *gpu = read->submission->gpu;
    (void)message, (void)second;
    read->submission->open--;
    if (status != WG_SUCCESS || !read->host) return;
    const char *from = gpu->api->wgpuBufferGetConstMappedRange(read->staging, 0, (size_t)read->room);
    if (from) memcpy(read->host, from + read->skip, (size_t)read->size);
    gpu->api->wgpuBufferUnmap(read->staging);
}

static qn_status take_read(qn__gpu *gpu, uint64_t size, wg_read **out, char *why) {
    char message[QN__WHY];
    const uint64_t room = size < 4096 ? 4096 : size;
    for (wg_read **link = &gpu->free_reads; *link; link = &(*link)->next) {
        wg_read *read = *link;
        if (read->room < room || read->room > 4 * room) continue;
        *link = read->next;
        *out = read;
        return QN_OK;
    }
    wg_read *read = qn__allocate_zeroed(gpu->services->allocator, sizeof *read);
    if (!read) return QN_ERROR_OUT_OF_MEMORY;
    read->room = room;
    read->staging = qn__wg_buffer(gpu, WG_USE_MAP_READ | WG_USE_COPY_TO, read->room, message);
    *out = read;
    if (read->staging) return QN_OK;
    qn__release(gpu->services->allocator, read);
    snprintf(why, QN__WHY, "no %llu bytes of memory that the host can read%s%.200s", (unsigned long long)room,
             message[0] ? ": " : "", message);
    return QN_ERROR_DEVICE_MEMORY;
}

qn_status qn__wg_read(qn__gpu *gpu, wg_object buffer, uint64_t offset, uint64_t size, void *host,
                      const qn__code_info *info, char *why) {
    const uint64_t begin = offset / 4 * 4, room = (offset + size - begin + 3) / 4 * 4;
    qn_status status = qn__wg_encode(gpu, false, why);
    wg_read *read;
    if (!status) status = take_read(gpu, room, &read, why);
    if (status) return status;
    read->skip = offset - begin;
    read->size = size;
    read->host = host;
    read->info = info;
    read->submission = gpu->current;
    gpu->api->wgpuCommandEncoderCopyBufferToBuffer(gpu->encoder, buffer, begin, read->staging, 0, room);
    wg_read **link = &gpu->current->reads;
    while (*link) link = &(*link)->next;
    read->next = NULL;
    *link = read;
    return QN_OK;
}

/* ---- submissions ---- */

static void was_done(uint32_t status, void *user, void *second) {
    wg_submission *s = user;
    (void)second;
    s->failed |= status != WG_SUCCESS;
    s->open--;
}

static void was_done_with_message(uint32_t status, wg_text message, void *user, void *second) {
    (void)message;
    was_done(status, user, second);
}

static void add_markers(qn__gpu *gpu, uint64_t serial) {
    for (qn__queue *queue = gpu->queues; queue; queue = queue->next) {
        const uint64_t number = atomic_load(&queue->flight.submitted);
        const uint32_t last = (queue->first_marker + queue->num_markers - 1) % QN__WG_MARKERS;
        if (queue->num_markers ? queue->markers[last].number >= number
                               : atomic_load(&queue->flight.completed) >= number)
            continue;
        if (queue->num_markers == QN__WG_MARKERS) { /* joined with the last */
            queue->markers[last].number = number;
            queue->markers[last].serial = serial;
            continue;
        }
        const uint32_t at = (queue->first_marker + queue->num_markers++) % QN__WG_MARKERS;
        queue->markers[at].number = number;
        queue->markers[at].serial = serial;
    }
}

void qn__wg_flush(qn__gpu *gpu) {
    char why[QN__WHY];
    if (!gpu->encoder || !gpu->current) return;
    qn__wg_encode(gpu, false, why);
    wg_submission *s = gpu->current;
    qn__wg_times_resolve(gpu);
    wg_object commands = gpu->api->wgpuCommandEncoderFinish(gpu->encoder, NULL);
    gpu->api->wgpuCommandEncoderRelease(gpu->encoder);
    gpu->encoder = NULL;
    gpu->current = NULL;
    gpu->encoded = 0;
    qn__wg_put_params(gpu);
    if (commands) {
        gpu->api->wgpuQueueSubmit(gpu->queue, 1, &commands);
        gpu->api->wgpuCommandBufferRelease(commands);
    }
    s->serial = gpu->serial++;
    s->open = 1;
    if (gpu->last)
        gpu->last->next = s;
    else
        gpu->first = s;
    gpu->last = s;
    add_markers(gpu, s->serial);
    const wg_callback done = {.mode = WG_ALLOW_PROCESS_EVENTS,
                              .call = gpu->dialect->message_when_done ? (void (*)(void))was_done_with_message
                                                                      : (void (*)(void))was_done,
                              .user = s};
    gpu->api->wgpuQueueOnSubmittedWorkDone(gpu->queue, done);
    for (wg_read *read = s->reads; read; read = read->next) {
        s->open++;
        const wg_callback mapped = {
            .mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))was_mapped, .user = read};
        gpu->api->wgpuBufferMapAsync(read->staging, WG_MAP_READ, 0, (size_t)read->room, mapped);
    }
}

/* ---- done ---- */

/* Printed without the lock, since a callback of the user's may call. */
static void print(qn__gpu *gpu, const wg_read *read) {
    const unsigned char *records =
        gpu->api->wgpuBufferGetConstMappedRange(read->staging, 0, (size_t)read->room);
    if (records) {
        pthread_mutex_unlock(&gpu->lock);
        qn__print_records(gpu->services, read->info, records, read->size);
        pthread_mutex_lock(&gpu->lock);
    }
    gpu->api->wgpuBufferUnmap(read->staging);
}

static void finish(qn__gpu *gpu, wg_submission *s) {
    for (wg_read *read = s->reads, *next; read; read = next) {
        next = read->next;
        if (read->info && !qn__is_lost(&gpu->loss)) print(gpu, read);
        read->next = gpu->free_reads;
        gpu->free_reads = read;
    }
}

static void reach(qn__gpu *gpu, const wg_submission *s) {
    const uint64_t serial = s->serial;
    atomic_store(&gpu->completed, serial);
    qn__wg_reach_marks(gpu, serial, s->times);
    for (qn__queue *queue = gpu->queues; queue; queue = queue->next)
        while (queue->num_markers && queue->markers[queue->first_marker].serial <= serial) {
            qn__flight_reach(&queue->flight, queue->markers[queue->first_marker].number);
            queue->first_marker = (queue->first_marker + 1) % QN__WG_MARKERS;
            queue->num_markers--;
        }
}

/* One thread at a time takes what is done off the list, so that output comes in order. */
void qn__wg_advance(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->lock);
    tick(gpu);
    if (gpu->first && gpu->first->failed && !qn__is_lost(&gpu->loss))
        qn__wg_was_lost(gpu, "it gives work back that is not done");
    const bool lost = qn__is_lost(&gpu->loss);
    if (!gpu->advancing) {
        gpu->advancing = true;
        while (gpu->first && (!gpu->first->open || lost)) {
            wg_submission *s = gpu->first;
            finish(gpu, s);
            gpu->first = s->next;
            if (!gpu->first) gpu->last = NULL;
            if (!lost) reach(gpu, s);
            if (!s->open) { /* else a callback may still come */
                qn__release(gpu->services->allocator, s->times);
                qn__release(gpu->services->allocator, s);
            }
        }
        gpu->advancing = false;
    }
    const bool is_beside =
        gpu->emulated && gpu->first; /* whoever asks has the processor that its work needs */
    pthread_mutex_unlock(&gpu->lock);
    if (is_beside) sched_yield();
}

typedef struct waiting {
    qn__gpu *gpu;
    uint64_t serial;
} waiting;

static bool is_done(void *user) {
    const waiting *w = user;
    qn__wg_advance(w->gpu);
    return atomic_load(&w->gpu->completed) >= w->serial || qn__is_lost(&w->gpu->loss);
}

qn_status qn__wg_wait_serial(qn__gpu *gpu, uint64_t serial, uint64_t timeout_ns) {
    waiting w = {gpu, serial};
    return qn__poll(is_done, &w, timeout_ns, true) ? QN_OK : QN_ERROR_TIMEOUT;
}

void qn__wg_drain(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->lock);
    qn__wg_flush(gpu);
    const uint64_t serial = gpu->serial - 1;
    pthread_mutex_unlock(&gpu->lock);
    if (serial) qn__wg_wait_serial(gpu, serial, QN_FOREVER);
    for (wg_read *read = gpu->free_reads, *next; read; read = next) {
        next = read->next;
        gpu->api->wgpuBufferDestroy(read->staging);
        gpu->api->wgpuBufferRelease(read->staging);
        qn__release(gpu->services->allocator, read);
    }
    gpu->free_reads = NULL;
}
