/* Events: a place in a stream and a time. Each recording has a number, so that waiting is for the latest
   one. */
#include "runtime/runtime.h"
#include "util/file.h"

qn_status qn_event_create(qn_device *device, qn_event **out) {
    if (out) *out = NULL;
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_event_create", "device");
    if (status) return status;
    if (!out) return qn__fail_null(device->object.context, "qn_event_create", "event");
    status = qn__device_ready(device);
    if (status) return status;
    qn_event *event = qn__object_new(device->object.context, QN__OBJECT_EVENT);
    if (!event) return QN_ERROR_OUT_OF_MEMORY;
    event->device = device;
    char why[QN__WHY] = "";
    status = device->backend->mark_create(device->gpu, &event->mark, why);
    if (status) {
        qn__object_destroy(&event->object, QN__OBJECT_EVENT);
        return qn__fail(device->object.context, status, "qn_event_create: %s", why);
    }
    *out = event;
    return QN_OK;
}

void qn_event_destroy(qn_event *event) {
    qn__handle_destroy(event, QN__OBJECT_EVENT, "qn_event_destroy", "event");
}

void qn__event_finalise(qn_event *event) {
    qn__event_close_fd(event);
    if (!event->mark) return;
    qn__recordings_forget(event->object.context, event->mark);
    event->device->backend->mark_destroy(event->mark);
}

static qn_status check_both(qn_stream **stream, qn_event *event, const char *function) {
    qn_status status = qn__check_beside(*stream, event, QN__OBJECT_EVENT, function, "event");
    if (status) return status;
    *stream = qn__stream_of(*stream, event->device);
    status = qn__check_beside(event, *stream, QN__OBJECT_STREAM, function, "stream");
    if (status || (*stream)->object.context == event->object.context) return status;
    return qn__fail_both((*stream)->object.context, event->object.context, QN_ERROR_WRONG_CONTEXT,
                         "%s: the event is of another context", function);
}

qn_status qn__event_record(qn_event *event, qn__event_record_step *step) {
    qn_status status = qn__event_prepare(event, &step->notice);
    if (status) return status;
    const uint64_t version = atomic_fetch_add(&event->version, 1) + 1;
    step->command = (qn__command){.kind = QN__COMMAND_RECORD, .mark = event->mark, .mark_version = version};
    return QN_OK;
}

/* What never comes must not be waited for; a later recording stands in for it. */
void qn__event_recorded(qn_event *event, qn__event_record_step *step, qn_status status) {
    uint_fast64_t version = step->command.mark_version;
    if (!status) {
        qn__event_await(event, step->notice, version);
        return;
    }
    atomic_compare_exchange_strong(&event->version, &version, version - 1);
    qn__release(&event->object.context->allocator, step->notice);
}

qn_status qn_stream_record(qn_stream *stream, qn_event *event) {
    qn_status status = check_both(&stream, event, "qn_stream_record");
    if (status) return status;
    if (stream->device != event->device)
        return qn__other_device(stream->device, event->device, "%s: the event is of another device",
                                "qn_stream_record");
    if (stream->recording) { /* each launch of the graph moves it */
        const qn__command command = {.kind = QN__COMMAND_RECORD, .mark = event->mark};
        return qn__stream_submit(stream, &command, NULL, 0, &event->object, &(uint64_t){0});
    }
    qn__event_record_step step;
    status = qn__event_record(event, &step);
    if (status) return status;
    uint64_t number;
    status = qn__stream_submit(stream, &step.command, NULL, 0, &event->object, &number);
    qn__event_recorded(event, &step, status);
    return status;
}

qn_status qn_stream_wait_event(qn_stream *stream, qn_event *event) {
    qn_status status = check_both(&stream, event, "qn_stream_wait_event");
    if (status) return status;
    if (stream->recording)
        return qn__fail(event->object.context, QN_ERROR_STATE,
                        "qn_stream_wait_event: waits cannot be recorded in a graph");
    uint64_t version = atomic_load(&event->version);
    if (version == 0)
        return qn__fail(event->object.context, QN_ERROR_STATE, "qn_stream_wait_event: never recorded");
    qn__command command = {.kind = QN__COMMAND_WAIT, .mark = event->mark, .mark_version = version};
    uint64_t number;
    qn_device *of = event->device;
    if (of != stream->device && !qn__are_peers(of, stream->device))
        return qn__stream_submit_wait(stream, &command, of, &event->object, &number);
    return qn__stream_submit(stream, &command, NULL, 0, &event->object, &number);
}

qn_status qn_event_wait(qn_event *event, uint64_t timeout_ns) {
    qn_status status = qn__check(event, QN__OBJECT_EVENT, "qn_event_wait", "event");
    if (status) return status;
    uint64_t version = atomic_load(&event->version);
    if (version == 0) return qn__fail(event->object.context, QN_ERROR_STATE, "qn_event_wait: never recorded");
    char why[QN__WHY] = "";
    const uint64_t start = qn__now_ns();
    status = qn__recording_wait(event->object.context, event->mark, version, timeout_ns);
    if (!status)
        status =
            event->device->backend->mark_wait(event->mark, version, qn__time_left(start, timeout_ns), why);
    if (status == QN_ERROR_TIMEOUT)
        return qn__timed_out(event->device, NULL, "qn_event_wait: the event was not reached", timeout_ns);
    if (!status) return QN_OK;
    return qn__fail(event->object.context, status, "qn_event_wait: %s", qn__reason(why, status));
}

qn_status qn_event_done(qn_event *event, bool *done) {
    qn_status status = qn__check(event, QN__OBJECT_EVENT, "qn_event_done", "event");
    if (status) return status;
    if (!done) return qn__fail_null(event->object.context, "qn_event_done", "done");
    uint64_t version = atomic_load(&event->version), time;
    if (version == 0) return qn__fail(event->object.context, QN_ERROR_STATE, "qn_event_done: never recorded");
    char why[QN__WHY] = "";
    const qn_backend *backend = event->device->backend;
    const bool held = qn__recording_is_held(event->object.context, event->mark, version, &status);
    *done = !held && (status || backend->mark_done(event->mark, version, &time));
    if (*done && !status) status = backend->mark_wait(event->mark, version, 0, why);
    if (status == QN_ERROR_TIMEOUT) { /* just being recorded */
        *done = false;
        return QN_OK;
    }
    if (!status) return QN_OK;
    return qn__fail(event->object.context, status, "qn_event_done: %s", qn__reason(why, status));
}

static bool time_of(qn_event *event, uint64_t *time) {
    uint64_t version = atomic_load(&event->version);
    return version && event->device->backend->mark_done(event->mark, version, time);
}

qn_status qn_event_elapsed(qn_event *begin, qn_event *end, int64_t *elapsed_ns) {
    qn_status status = qn__check_beside(end, begin, QN__OBJECT_EVENT, "qn_event_elapsed", "begin");
    if (!status) status = qn__check_beside(begin, end, QN__OBJECT_EVENT, "qn_event_elapsed", "end");
    if (status) return status;
    qn_context *context = begin->object.context;
    if (!elapsed_ns) return qn__fail_null(context, "qn_event_elapsed", "elapsed_ns");
    if (begin->device != end->device)
        return qn__fail_both(context, end->object.context, QN_ERROR_WRONG_CONTEXT,
                             "qn_event_elapsed: events of two devices");
    uint64_t from, to;
    if (!time_of(begin, &from) || !time_of(end, &to))
        return qn__fail(context, QN_ERROR_STATE, "qn_event_elapsed: an event is not done");
    *elapsed_ns = (int64_t)(to - from);
    return QN_OK;
}
