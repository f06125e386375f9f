/* Giving up: streams that are cancelled, that are closed with a deadline, and that may run for ever.

   A stream that is not done when its deadline passes is cancelled where the device can; else it is left: its handle is
   destroyed, and the stream itself stays with all that its commands use, for they may still do so. If it gets to its end
   after all, it goes then. Persistent streams, and those that were left, are apart: nothing in the library waits for
   them but a wait that names them. */
#include <stdio.h>

#include "runtime/runtime.h"
#include "runtime/trace.h"
#include "util/file.h"

/* How long a stream that was cancelled may take to end: a kernel's way to its next look. */
#define GRACE_NS UINT64_C(10000000000)

/* How long a closing context looks for the end of what cannot be cancelled: the host may know from a kernel that it ends before the
   driver says so. */
#define ENDING_NS UINT64_C(500000000)

/* ---- cancelling ---- */

/* False: the device cannot. */
static bool cancel(qn_stream *stream) {
    const qn_backend *backend = stream->device->backend;
    if (!backend->cancel) return false;
    atomic_store(&stream->cancelled_ns, qn__now_ns());
    backend->cancel(stream->queue);
    qn__hold_cancel(stream);
    return true;
}

qn_status qn_stream_cancel(qn_stream *stream) {
    qn_status status = qn__check_stream(stream, "qn_stream_cancel");
    if (status) return status;
    qn_context *context = stream->object.context;
    if (stream->recording)
        return qn__fail(context, QN_ERROR_STATE, "qn_stream_cancel: the stream records a graph");
    if (cancel(stream)) return QN_OK;
    return qn__fail(context, QN_ERROR_UNSUPPORTED,
                    "qn_stream_cancel: %s cannot stop what its driver has been given (see QN_CAN_CANCEL)",
                    stream->device->name);
}

/* ---- persistent streams ---- */

qn_status qn_stream_set_persistent(qn_stream *stream, bool persistent) {
    qn_status status = qn__check_stream(stream, "qn_stream_set_persistent");
    if (status) return status;
    qn_context *context = stream->object.context;
    const qn_backend *backend = stream->device->backend;
    char why[QN__WHY] = "";
    if (stream->device->stream == stream)
        return qn__fail(
            context, QN_ERROR_ARGUMENT,
            "qn_stream_set_persistent: the default stream cannot be, as maps and transfers use it");
    if (qn__stream_last(stream) || stream->recording)
        return qn__fail(context, QN_ERROR_STATE,
                        "qn_stream_set_persistent: the stream has been given work already");
    if (atomic_load(&stream->persistent) == persistent) return QN_OK;
    if (!backend->set_persistent)
        return qn__fail(context, QN_ERROR_UNSUPPORTED, "qn_stream_set_persistent: %s has no such streams",
                        stream->device->name);
    status = backend->set_persistent(stream->queue, persistent, why);
    if (status)
        return qn__fail(context, status, "qn_stream_set_persistent: %s: %s", stream->device->name, why);
    atomic_store(&stream->persistent, persistent);
    return QN_OK;
}

qn_status qn_stream_set_aside(qn_stream *stream, void (*leave)(void *user), void (*back)(void *user),
                              void *user) {
    const qn_status status = qn__check_stream(stream, "qn_stream_set_aside");
    if (status) return status;
    const qn_backend *backend = stream->device->backend;
    if (!atomic_load(&stream->persistent))
        return qn__fail(stream->object.context, QN_ERROR_STATE,
                        "qn_stream_set_aside: the stream is not persistent");
    if (!leave != !back)
        return qn__fail_null(stream->object.context, "qn_stream_set_aside", leave ? "back" : "leave");
    if (backend->set_aside) backend->set_aside(stream->queue, &(qn__aside){leave, back, user});
    return QN_OK;
}

/* ---- leaving ---- */

/* The handle's reference is the stream's own then. */
static void leave(qn_stream *stream) {
    const qn_backend *backend = stream->device->backend;
    atomic_store(&stream->left, true);
    if (backend->leave) backend->leave(stream->queue);
    qn__hold_cancel(stream); /* of what the driver does not have */
    qn__buffers_forget(stream);
    atomic_store(&stream->object.destroyed, true);
}

/* The reference is given back once, by whoever sees it done first. */
static void collect(qn_stream *stream) {
    if (qn__stream_completed(stream) < qn__stream_last(stream)) return;
    if (atomic_exchange(&stream->left, false)) qn__drop(&stream->object);
}

void qn__left_collect(qn_device *device) {
    for (qn_stream *stream = NULL; (stream = qn__next_stream(device, stream));)
        if (atomic_load(&stream->left)) collect(stream);
}

/* ---- closing a stream ---- */

/* The deadline has passed: QN_ERROR_TIMEOUT, with a message that tells what has become of the work. */
static qn_status give_up(qn_stream *stream, uint64_t timeout_ns) {
    qn_context *context = stream->object.context;
    const qn_backend *backend = stream->device->backend;
    char text[QN__WHY], why[QN__WHY];
    qn__describe_timeout(stream->device, stream, "qn_stream_close: not done", timeout_ns, text);
    if (backend->cancel) backend->cancel(stream->queue);
    const bool is_idle = qn__hold_cancel(stream);
    if ((backend->cancel || is_idle) &&
        qn__hold_wait(stream, qn__stream_last(stream), GRACE_NS, why) != QN_ERROR_TIMEOUT) {
        qn__object_destroy(&stream->object, QN__OBJECT_STREAM);
        return qn__fail(context, QN_ERROR_TIMEOUT, "%s; %s", text,
                        backend->cancel ? "the work was cancelled"
                                        : "the rest was dropped: the driver had not been given it yet");
    }
    leave(stream);
    return qn__fail(context, QN_ERROR_TIMEOUT, "%s; the work is left to the driver, with all that it uses",
                    text);
}

static qn_status close_stream(qn_stream *stream, uint64_t timeout_ns) {
    char why[QN__WHY] = "";
    if (stream->lent) qn_stream_native_end(stream);
    /* while it is still found by those who wait for the whole device */
    qn_status status = qn__hold_wait(stream, qn__stream_last(stream), timeout_ns, why);
    qn__faults_leave(stream);
    if (status == QN_ERROR_TIMEOUT) return give_up(stream, timeout_ns);
    if (status) qn__fail(stream->object.context, status, "%s", qn__reason(why, status));
    qn__object_destroy(&stream->object, QN__OBJECT_STREAM);
    return status;
}

qn_status qn_stream_close(qn_stream *stream, uint64_t timeout_ns) {
    if (!stream) return QN_OK;
    qn_status status = qn__check(stream, QN__OBJECT_STREAM, "qn_stream_close", "stream");
    if (status) return status;
    if (stream->device->stream == stream)
        return qn__fail(stream->object.context, QN_ERROR_ARGUMENT,
                        "qn_stream_close: the default stream stays as long as its device");
    return close_stream(stream, timeout_ns);
}

qn_device *qn_stream_device(const qn_stream *stream) {
    return qn__check(stream, QN__OBJECT_STREAM, "qn_stream_device", "stream") ? NULL : stream->device;
}

void qn_stream_destroy(qn_stream *stream) {
    if (!stream || qn__check(stream, QN__OBJECT_STREAM, "qn_stream_destroy", "stream")) return;
    if (stream->device->stream == stream) return; /* the device's own */
    close_stream(stream, atomic_load(&stream->persistent) ? 0 : QN_FOREVER);
}

/* ---- closing a context ---- */

typedef void visit(qn_stream *stream, void *user);

static void each_stream(qn_context *context, visit *visit_one, void *user) {
    for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++)
        for (uint32_t d = 0; d < context->slots[i].num_made; d++)
            for (qn_stream *stream = NULL; (stream = qn__next_stream(context->slots[i].devices[d], stream));)
                visit_one(stream, user);
}

static bool is_done(qn_stream *stream) { return qn__stream_completed(stream) >= qn__stream_last(stream); }

typedef struct ending {
    uint64_t cancelled_ns; /* until when there is grace for what was cancelled */
    uint64_t ending_ns;    /* the same for what cannot be */
    char kernels[200];     /* of a stream that was not done */
    unsigned cancelled, left;
} ending;

static void cancel_unfinished(qn_stream *stream, void *user) {
    ending *e = user;
    if (is_done(stream)) return;
    if (!e->kernels[0]) stream->device->backend->unfinished(stream->queue, e->kernels, sizeof e->kernels);
    if (cancel(stream)) e->cancelled++;
}

static void leave_unfinished(qn_stream *stream, void *user) {
    ending *e = user;
    char why[QN__WHY];
    const uint64_t now = qn__now_ns();
    const uint64_t until = stream->device->backend->cancel ? e->cancelled_ns : e->ending_ns;
    if (!is_done(stream)) qn__hold_wait(stream, qn__stream_last(stream), until > now ? until - now : 0, why);
    if (atomic_load(&stream->left)) collect(stream);
    if (is_done(stream)) return;
    leave(stream);
    stream->device->left = true;
    e->left++;
}

/* All work but what is apart, up to the deadline; the first failure. */
static qn_status wait_for_devices(qn_context *context, uint64_t timeout_ns, char *why) {
    const uint64_t start = timeout_ns == QN_FOREVER ? 0 : qn__now_ns();
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++)
        for (uint32_t d = 0; d < context->slots[i].num_made; d++) {
            qn_device *device = context->slots[i].devices[d];
            const uint64_t rest = timeout_ns == QN_FOREVER ? QN_FOREVER : qn__time_left(start, timeout_ns);
            if (!atomic_load(&device->ready)) continue;
            const qn_status one = qn_device_wait(device, rest);
            if (one && !status) snprintf(why, QN__WHY, "%s", qn_error_message(context));
            if (one && !status) status = one;
        }
    return status;
}

/* `status` and `why`: of the wait for the devices. */
static qn_status tell_end(const ending *e, qn_status status, const char *why) {
    const char *kernel = e->kernels[0] ? e->kernels : "(unknown)";
    if (e->left)
        return qn__fail(NULL, QN_ERROR_TIMEOUT,
                        "qn_context_close: kernel %s was left running; its device and what it can reach stay "
                        "with the driver until the process ends",
                        kernel);
    if (e->cancelled && (!status || status == QN_ERROR_TIMEOUT)) /* perhaps a persistent stream's alone */
        return qn__fail(NULL, QN_ERROR_TIMEOUT, "qn_context_close: kernel %s was not done, and cancelled",
                        kernel);
    if (status == QN_ERROR_TIMEOUT)
        return qn__fail(NULL, status, "qn_context_close: kernel %s ended only behind the deadline", kernel);
    return status ? qn__fail(NULL, status, "%s", why) : QN_OK;
}

typedef struct qn__farewell {
    struct qn__farewell *next;
    void (*callback)(void *user);
    void *user;
} farewell;

/* That of `user`, or the newest; NULL: there is none. */
static farewell *take_farewell(qn_context *context, const void *user) {
    pthread_mutex_lock(&context->lock);
    farewell **link = &context->farewells;
    while (user && *link && (*link)->user != user) link = &(*link)->next;
    farewell *taken = *link;
    if (taken) *link = taken->next;
    pthread_mutex_unlock(&context->lock);
    return taken;
}

qn_status qn_context_on_end(qn_context *context, void (*callback)(void *user), void *user) {
    const qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_context_on_end", "context");
    if (status) return status;
    if (!user) return qn__fail_null(context, "qn_context_on_end", "user");
    if (!callback) {
        qn__release(&context->allocator, take_farewell(context, user));
        return QN_OK;
    }
    farewell *added = qn__allocate_zeroed(&context->allocator, sizeof *added);
    if (!added) return qn__fail_memory(context, sizeof *added);
    added->callback = callback;
    added->user = user;
    pthread_mutex_lock(&context->lock);
    added->next = context->farewells;
    context->farewells = added;
    pthread_mutex_unlock(&context->lock);
    return QN_OK;
}

static void say_farewell(qn_context *context) {
    for (farewell *taken; (taken = take_farewell(context, NULL)) != NULL;) {
        taken->callback(taken->user);
        qn__release(&context->allocator, taken);
    }
}

qn_status qn_context_close(qn_context *context, uint64_t timeout_ns) {
    if (!context) return QN_OK;
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_context_close", "context");
    if (status) return status;
    char why[QN__WHY] = "";
    say_farewell(context);
    status = wait_for_devices(context, timeout_ns, why);
    ending e = {.kernels = ""};
    each_stream(context, cancel_unfinished, &e);
    const uint64_t now = qn__now_ns();
    e.cancelled_ns = now + GRACE_NS, e.ending_ns = now + ENDING_NS;
    each_stream(context, leave_unfinished, &e);
    qn__notifier_end(context);
    qn__courier_stop(context);
    qn__trace_stop(context);
    if (e.left)
        qn__context_leave(context);
    else
        qn__context_free(context);
    return tell_end(&e, status, why);
}

void qn_context_destroy(qn_context *context) {
    if (!context || qn__check(context, QN__OBJECT_CONTEXT, "qn_context_destroy", "context")) return;
    qn_context_close(context, QN_FOREVER);
}
