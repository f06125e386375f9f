/* Streams: an in-order command queue each. Commands have no events of their own, which would make launches slower;
   how far the queue has come is learnt from a marker that is put in when somebody asks, and every MARK_EVERY
   commands. Events are polled where there is a deadline. A queue that keeps time does so for every command, at the
   driver's cost: a stream gets one with its first event. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

enum { MARK_EVERY = 256, FLUSH_EVERY = 64 };

static void note_failure(qn__queue *queue, int32_t error) {
    char why[QN__WHY];
    const char *kernel = qn__flight_first(&queue->flight);
    qn_status status = qn__cl_failed(queue->gpu, queue->queue, error, "a command", kernel, why);
    qn__sticky_set(&queue->failure, status, why);
}

/* ---- how far it has come; the lock is held ---- */

static void give_back(qn__queue *queue) {
    uint64_t completed = atomic_load(&queue->flight.completed);
    while (queue->pending && queue->pending->number <= completed) {
        cl_pending *done = queue->pending;
        queue->pending = done->next;
        if (!queue->pending) queue->last_pending = NULL;
        qn__release(queue->gpu->services->allocator, done->memory);
        qn__release(queue->gpu->services->allocator, done);
    }
}

static void add_marker(qn__queue *queue) {
    cl_object event = NULL;
    if (queue->num_markers == QN__CL_MARKERS) return;
    int32_t error = queue->gpu->cl->clEnqueueMarkerWithWaitList(queue->queue, 0, NULL, &event);
    if (error) {
        note_failure(queue, error);
        return;
    }
    queue->unflushed++;
    uint32_t at = (queue->first_marker + queue->num_markers++) % QN__CL_MARKERS;
    queue->markers[at] = (cl_marker){atomic_load(&queue->flight.submitted), event};
}

static bool has_marker(const qn__queue *queue, uint64_t number) {
    uint32_t last = (queue->first_marker + queue->num_markers - 1) % QN__CL_MARKERS;
    return queue->num_markers && queue->markers[last].number >= number;
}

static void reach(qn__queue *queue, uint64_t number) {
    qn__flight_reach(&queue->flight, number);
    while (queue->num_markers && queue->markers[queue->first_marker].number <= number) {
        queue->gpu->cl->clReleaseEvent(queue->markers[queue->first_marker].event);
        queue->first_marker = (queue->first_marker + 1) % QN__CL_MARKERS;
        queue->num_markers--;
    }
    give_back(queue);
}

/* Takes over which markers were reached. After a failure nothing more comes: all counts as done. */
static void look(qn__queue *queue) {
    while (queue->num_markers) {
        const cl_marker *first = &queue->markers[queue->first_marker];
        int32_t status = 1;
        if (queue->gpu->cl->clGetEventInfo(first->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                           &status, NULL))
            status = CL_INVALID_COMMAND_QUEUE;
        if (status > CL_COMPLETE) return;
        if (status < 0) note_failure(queue, status);
        reach(queue, first->number);
    }
    if (qn__is_lost(&queue->gpu->loss)) reach(queue, atomic_load(&queue->flight.submitted));
}

static void flush(qn__queue *queue) {
    if (queue->unflushed) queue->gpu->cl->clFlush(queue->queue);
    queue->unflushed = 0;
}

/* ---- streams ---- */

qn_status qn__cl_queue_create(qn__gpu *gpu, qn__queue **out, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__queue *queue = qn__allocate_zeroed(gpu->services->allocator, sizeof *queue);
    if (!queue) return QN_ERROR_OUT_OF_MEMORY;
    int32_t error = 0;
    queue->gpu = gpu;
    queue->queue = gpu->cl->clCreateCommandQueue(gpu->context, gpu->device, 0, &error);
    if (error || !queue->queue) {
        qn__release(gpu->services->allocator, queue);
        return qn__cl_failed(gpu, NULL, error, "a stream", NULL, why);
    }
    pthread_mutex_init(&queue->lock, NULL);
    pthread_mutex_init(&queue->print_lock, NULL);
    *out = queue;
    return QN_OK;
}

void qn__cl_queue_destroy(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    qn__cl_forget_queue(queue);
    reach(queue, atomic_load(&queue->flight.submitted));
    qn__cl_print_free(queue);
    gpu->cl->clReleaseCommandQueue(queue->queue);
    if (queue->untimed) gpu->cl->clReleaseCommandQueue(queue->untimed);
    pthread_mutex_destroy(&queue->lock);
    pthread_mutex_destroy(&queue->print_lock);
    qn__release(gpu->services->allocator, queue);
}

/* What comes behind in `to` waits for what is in `from`. */
static int32_t join(const qn__cl *cl, cl_object from, cl_object to) {
    cl_object event = NULL;
    int32_t error = cl->clEnqueueMarkerWithWaitList(from, 0, NULL, &event);
    if (error) return error;
    error = cl->clFlush(from);
    if (!error) error = cl->clEnqueueBarrierWithWaitList(to, 1, &event, NULL);
    cl->clReleaseEvent(event);
    return error;
}

/* From here on events tell the time; 0, or OpenCL's error. The old queue stays until the stream goes: to release it
   may take until it is done. */
static int32_t keep_time(qn__queue *queue) {
    const qn__gpu *gpu = queue->gpu;
    int32_t error = 0;
    if (queue->untimed) return 0;
    cl_object timed =
        gpu->cl->clCreateCommandQueue(gpu->context, gpu->device, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error) return error;
    error = join(gpu->cl, queue->queue, timed);
    if (error) {
        gpu->cl->clReleaseCommandQueue(timed);
        return error;
    }
    queue->untimed = queue->queue;
    queue->queue = timed;
    return 0;
}

/* ---- commands ---- */

/* A copy of what is written, kept until that is done. */
static const void *stage(qn__queue *queue, const qn__command *command, uint64_t number) {
    const qn__allocator *allocator = queue->gpu->services->allocator;
    cl_pending *pending = qn__allocate_zeroed(allocator, sizeof *pending);
    void *copy = pending ? qn__allocate(allocator, (size_t)command->size) : NULL;
    if (!copy) {
        qn__release(allocator, pending);
        return NULL;
    }
    memcpy(copy, command->host, (size_t)command->size);
    *pending = (cl_pending){.number = number, .memory = copy};
    if (queue->last_pending)
        queue->last_pending->next = pending;
    else
        queue->pending = pending;
    queue->last_pending = pending;
    return copy;
}

static qn_status write(qn__queue *queue, const qn__command *command, uint64_t number, char *why) {
    const void *data = command->host_stays ? command->host : stage(queue, command, number);
    if (!data) return QN_ERROR_OUT_OF_MEMORY;
    int32_t error =
        queue->gpu->cl->clEnqueueWriteBuffer(queue->queue, command->to->buffer, 0, (size_t)command->to_offset,
                                             (size_t)command->size, data, 0, NULL, NULL);
    return error ? qn__cl_failed(queue->gpu, queue->queue, error, "a copy to the device", NULL, why) : QN_OK;
}

/* Ranges of one buffer that overlap go through another. */
static int32_t copy(qn__queue *queue, const qn__command *c) {
    const qn__cl *cl = queue->gpu->cl;
    const size_t from = (size_t)c->from_offset, to = (size_t)c->to_offset, size = (size_t)c->size;
    if (c->from != c->to || from + size <= to || to + size <= from)
        return cl->clEnqueueCopyBuffer(queue->queue, c->from->buffer, c->to->buffer, from, to, size, 0, NULL,
                                       NULL);
    if (from == to) return 0;
    int32_t error = 0;
    cl_object between = cl->clCreateBuffer(queue->gpu->context, CL_MEM_READ_WRITE, size, NULL, &error);
    if (!error)
        error = cl->clEnqueueCopyBuffer(queue->queue, c->from->buffer, between, from, 0, size, 0, NULL, NULL);
    if (!error)
        error = cl->clEnqueueCopyBuffer(queue->queue, between, c->to->buffer, 0, to, size, 0, NULL, NULL);
    if (between) cl->clReleaseMemObject(between); /* once the copies are done */
    return error;
}

qn_status qn__cl_execute(qn__queue *queue, const qn__command *command, uint64_t number, char *why) {
    const qn__cl *cl = queue->gpu->cl;
    int32_t error = 0;
    switch (command->kind) {
    case QN__COMMAND_WRITE: return write(queue, command, number, why);
    case QN__COMMAND_READ:
        error = cl->clEnqueueReadBuffer(queue->queue, command->from->buffer, 0, (size_t)command->from_offset,
                                        (size_t)command->size, command->host, 0, NULL, NULL);
        break;
    case QN__COMMAND_COPY: error = copy(queue, command); break;
    case QN__COMMAND_FILL:
        error = cl->clEnqueueFillBuffer(queue->queue, command->to->buffer, command->pattern,
                                        command->pattern_size, (size_t)command->to_offset,
                                        (size_t)command->size, 0, NULL, NULL);
        break;
    case QN__COMMAND_LAUNCH: return qn__cl_launch(queue, command, number, why);
    case QN__COMMAND_RECORD:
        error = keep_time(queue);
        if (error) return qn__cl_failed(queue->gpu, queue->queue, error, "an event", NULL, why);
        return qn__cl_record(queue, command, why);
    case QN__COMMAND_WAIT: return qn__cl_wait_for_mark(queue, command, why);
    }
    return error ? qn__cl_failed(queue->gpu, queue->queue, error, "a copy or fill", NULL, why) : QN_OK;
}

/* A device that may be idle starts at once; after that, flushes are few. */
uint64_t qn__cl_submitted(qn__queue *queue, const char *name) {
    const uint64_t number = qn__flight_add(&queue->flight, name);
    bool idle = atomic_load(&queue->flight.completed) + 1 == number;
    if (++queue->unflushed >= FLUSH_EVERY || idle) flush(queue);
    if (number % MARK_EVERY == 0) {
        add_marker(queue);
        look(queue);
    }
    return number;
}

qn_status qn__cl_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    pthread_mutex_lock(&queue->lock);
    qn_status status = qn__cl_execute(queue, command, atomic_load(&queue->flight.submitted) + 1, why);
    const bool runs = command->kind == QN__COMMAND_LAUNCH && !status;
    *number =
        qn__cl_submitted(queue, runs ? command->kernel_name : NULL); /* a part of what failed may be in it */
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* ---- waiting ---- */

/* What a launch printed must be out before it counts as done, because its code may go then. */
static uint64_t counted(const qn__queue *queue) {
    uint64_t completed = atomic_load(&queue->flight.completed);
    return queue->prints.first && queue->prints.first->number <= completed ? queue->prints.first->number - 1
                                                                           : completed;
}

uint64_t qn__cl_completed(qn__queue *queue) {
    pthread_mutex_lock(&queue->lock);
    look(queue);
    if (!queue->num_markers && atomic_load(&queue->flight.completed) < atomic_load(&queue->flight.submitted))
        add_marker(queue);
    flush(queue); /* who asks means to see it move */
    uint64_t number = counted(queue);
    pthread_mutex_unlock(&queue->lock);
    return number;
}

void qn__cl_unfinished(qn__queue *queue, char *names, size_t size) {
    pthread_mutex_lock(&queue->lock);
    look(queue);
    const char *kernel = qn__flight_first(&queue->flight);
    snprintf(names, size, "%s", kernel ? kernel : "");
    pthread_mutex_unlock(&queue->lock);
}

/* The first marker at or behind the command; NULL: there is none to be had. */
static cl_object marker_for(qn__queue *queue, uint64_t number) {
    if (!has_marker(queue, number)) add_marker(queue);
    flush(queue);
    for (uint32_t i = 0; i < queue->num_markers; i++) {
        const cl_marker *marker = &queue->markers[(queue->first_marker + i) % QN__CL_MARKERS];
        if (marker->number < number) continue;
        queue->gpu->cl->clRetainEvent(marker->event);
        return marker->event;
    }
    return NULL;
}

/* All that was submitted, without a marker: the driver's own way is the fastest. */
static void finish_all(qn__queue *queue) {
    uint64_t all = atomic_load(&queue->flight.submitted);
    cl_object commands = queue->queue; /* another thread may put one that keeps time in its place */
    queue->unflushed = 0;
    pthread_mutex_unlock(&queue->lock);
    int32_t error = queue->gpu->cl->clFinish(commands);
    pthread_mutex_lock(&queue->lock);
    if (error) note_failure(queue, error);
    look(queue); /* commands that failed say so in their markers */
    reach(queue, all);
}

static qn_status wait_marker(qn__queue *queue, uint64_t number, uint64_t timeout_ns) {
    cl_object event = marker_for(queue, number);
    if (!event) {
        finish_all(queue);
        return QN_OK;
    }
    int32_t result = 0;
    pthread_mutex_unlock(&queue->lock);
    qn_status status = qn__cl_wait_event(queue->gpu->cl, event, timeout_ns, &result);
    queue->gpu->cl->clReleaseEvent(event);
    pthread_mutex_lock(&queue->lock);
    if (status == QN_ERROR_TIMEOUT) return status;
    if (result < 0 && atomic_load(&queue->flight.completed) < number) note_failure(queue, result);
    reach(queue, number);
    return QN_OK;
}

/* Each stream is a queue of the driver's, which waits for no other. */
qn_status qn__cl_set_persistent(qn__queue *queue, bool persistent, char *why) {
    (void)queue, (void)persistent, (void)why;
    return QN_OK;
}

qn_status qn__cl_failure(qn__queue *queue, uint32_t *since, char *why) {
    pthread_mutex_lock(&queue->lock);
    const qn_status status = qn__is_lost(&queue->gpu->loss) ? qn__lost(&queue->gpu->loss, why)
                                                            : qn__sticky_look(&queue->failure, since, why);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

qn_status qn__cl_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    qn_status status = QN_OK;
    char lost_why[QN__WHY];
    pthread_mutex_lock(&queue->lock);
    if (number > atomic_load(&queue->flight.submitted)) number = atomic_load(&queue->flight.submitted);
    if (atomic_load(&queue->flight.completed) < number && !qn__is_lost(&queue->gpu->loss)) {
        if (timeout_ns == QN_FOREVER && number == atomic_load(&queue->flight.submitted))
            finish_all(queue);
        else
            status = wait_marker(queue, number, timeout_ns);
    }
    if (qn__is_lost(&queue->gpu->loss)) {
        if (atomic_load(&queue->flight.completed) < atomic_load(&queue->flight.submitted))
            qn__sticky_set(&queue->failure, qn__lost(&queue->gpu->loss, lost_why), lost_why);
        reach(queue, atomic_load(&queue->flight.submitted));
        status = QN_OK;
    }
    if (queue->num_prints) {
        pthread_mutex_unlock(&queue->lock);
        qn__cl_print_done(queue);
        pthread_mutex_lock(&queue->lock);
    }
    if (!status) status = qn__sticky_take(&queue->failure, why);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* ---- work of others on the queue ---- */

qn_status qn__cl_lend(qn__queue *queue, char *why) {
    return qn__is_lost(&queue->gpu->loss) ? qn__lost(&queue->gpu->loss, why) : QN_OK;
}

/* It counts as a command: a marker behind that is behind it. */
qn_status qn__cl_take_back(qn__queue *queue, uint64_t *number, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    pthread_mutex_lock(&queue->lock);
    *number = qn__cl_submitted(queue, NULL);
    queue->unflushed++; /* not all of it may be with the device */
    flush(queue);
    pthread_mutex_unlock(&queue->lock);
    return QN_OK;
}
