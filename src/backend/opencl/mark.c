/* Events: a marker in a queue, with the time of the device when it was reached. */
#include <time.h>

#include "backend/opencl/opencl.h"
#include "util/file.h"

/* ---- waiting for one of the driver's ---- */

typedef struct waiting {
    const qn__cl *cl;
    cl_object event;
    int32_t status;
} waiting;

static bool reached(void *user) {
    waiting *w = user;
    w->status = 1;
    if (w->cl->clGetEventInfo(w->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof w->status, &w->status,
                              NULL))
        w->status = CL_INVALID_COMMAND_QUEUE;
    return w->status <= CL_COMPLETE;
}

qn_status qn__cl_wait_event(const qn__cl *cl, cl_object event, uint64_t timeout_ns, int32_t *result) {
    waiting w = {.cl = cl, .event = event};
    *result = 1;
    if (timeout_ns == QN_FOREVER) {
        int32_t error = cl->clWaitForEvents(1, &event);
        if (cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *result, result, NULL) ||
            *result > 0)
            *result = error ? error : 0;
        return QN_OK;
    }
    const bool in_time = qn__poll(reached, &w, timeout_ns, false);
    *result = w.status;
    return in_time ? QN_OK : QN_ERROR_TIMEOUT;
}

/* ---- marks ---- */

qn_status qn__cl_mark_create(qn__gpu *gpu, qn__mark **out, char *why) {
    (void)why;
    qn__mark *mark = qn__allocate_zeroed(gpu->services->allocator, sizeof *mark);
    if (!mark) return QN_ERROR_OUT_OF_MEMORY;
    mark->gpu = gpu;
    pthread_mutex_init(&mark->lock, NULL);
    *out = mark;
    return QN_OK;
}

void qn__cl_mark_destroy(qn__mark *mark) {
    if (mark->event) mark->gpu->cl->clReleaseEvent(mark->event);
    pthread_mutex_destroy(&mark->lock);
    qn__release(mark->gpu->services->allocator, mark);
}

/* Takes over that the latest recording is done; the lock is held. */
static void finish(qn__mark *mark, int32_t result) {
    const qn__cl *cl = mark->gpu->cl;
    uint64_t time = 0;
    if (result != CL_COMPLETE ||
        cl->clGetEventProfilingInfo(mark->event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL) || !time)
        time = qn__now_ns();
    cl->clReleaseEvent(mark->event);
    mark->event = NULL;
    mark->time_ns = time;
    mark->done_version = mark->version;
}

static void look(qn__mark *mark) {
    int32_t status = 1;
    if (!mark->event) return;
    if (mark->gpu->cl->clGetEventInfo(mark->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                      NULL))
        status = -1;
    if (status > CL_COMPLETE && qn__is_lost(&mark->gpu->loss)) status = -1; /* it never comes */
    if (status <= CL_COMPLETE) finish(mark, status);
}

bool qn__cl_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    pthread_mutex_lock(&mark->lock);
    look(mark);
    bool done = mark->done_version >= version;
    *time_ns = mark->time_ns;
    pthread_mutex_unlock(&mark->lock);
    return done;
}

/* The event of a recording, retained; NULL: done, or not yet recorded. */
static cl_object event_of(qn__mark *mark, uint64_t version, bool *done) {
    pthread_mutex_lock(&mark->lock);
    look(mark);
    *done = mark->done_version >= version;
    cl_object event = !*done && mark->version >= version ? mark->event : NULL;
    if (event) mark->gpu->cl->clRetainEvent(event);
    pthread_mutex_unlock(&mark->lock);
    return event;
}

qn_status qn__cl_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why) {
    const qn__cl *cl = mark->gpu->cl;
    const uint64_t start = qn__now_ns();
    bool done;
    if (qn__is_lost(&mark->gpu->loss)) return qn__lost(&mark->gpu->loss, why);
    cl_object event = event_of(mark, version, &done);
    while (!event && !done && qn__time_left(start, timeout_ns)) { /* another thread is just recording it */
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        event = event_of(mark, version, &done);
    }
    if (!event) return done ? QN_OK : QN_ERROR_TIMEOUT;
    int32_t result = 0;
    qn_status status = qn__cl_wait_event(cl, event, qn__time_left(start, timeout_ns), &result);
    cl->clReleaseEvent(event);
    if (!status && result < 0) return qn__cl_failed(mark->gpu, NULL, result, "the event", NULL, why);
    return status;
}

qn_status qn__cl_record(qn__queue *queue, const qn__command *command, char *why) {
    const qn__cl *cl = queue->gpu->cl;
    qn__mark *mark = command->mark;
    cl_object event = NULL;
    int32_t error = cl->clEnqueueMarkerWithWaitList(queue->queue, 0, NULL, &event);
    if (error) return qn__cl_failed(queue->gpu, queue->queue, error, "an event", NULL, why);
    cl->clFlush(queue->queue); /* others may wait for it */
    queue->unflushed = 0;
    pthread_mutex_lock(&mark->lock);
    cl_object old = event;
    if (command->mark_version >= mark->version) {
        old = mark->event;
        mark->event = event;
        mark->version = command->mark_version;
    }
    pthread_mutex_unlock(&mark->lock);
    if (old) cl->clReleaseEvent(old);
    return QN_OK;
}

qn_status qn__cl_wait_for_mark(qn__queue *queue, const qn__command *command, char *why) {
    const qn__cl *cl = queue->gpu->cl;
    qn__mark *mark = command->mark;
    int32_t error = 0;
    pthread_mutex_lock(&mark->lock);
    look(mark);
    if (mark->event && mark->done_version < command->mark_version)
        error = cl->clEnqueueBarrierWithWaitList(queue->queue, 1, &mark->event, NULL);
    pthread_mutex_unlock(&mark->lock);
    return error ? qn__cl_failed(queue->gpu, queue->queue, error, "waiting for an event", NULL, why) : QN_OK;
}
