/* A lost device that is opened again. What was made on it keeps what it stands on: a device object of its own takes over all that
   the lost device has, and everything that points to the device points to that one from then on. The caller's device
   is as new. */
#include <string.h>

#include "runtime/runtime.h"

/* The device field of a kind of object that has one, or NULL. */
static qn_device **device_of(qn__object *o, qn__object_kind kind) {
    switch (kind) {
    case QN__OBJECT_BUFFER: /* a unified one is of no device; its copies are */
        return qn__buffer_root((qn_buffer *)(void *)o)->unified ? NULL : &((qn_buffer *)(void *)o)->device;
    case QN__OBJECT_PROGRAM: return &((qn_program *)(void *)o)->device;
    case QN__OBJECT_STREAM: return &((qn_stream *)(void *)o)->device;
    case QN__OBJECT_EVENT: return &((qn_event *)(void *)o)->device;
    case QN__OBJECT_GRAPH: return &((qn_graph *)(void *)o)->device;
    case QN__OBJECT_REPLAY: return &((qn__graph_replay *)(void *)o)->device;
    case QN__OBJECT_HOST: return &((qn__host *)(void *)o)->device;
    case QN__OBJECT_POOL: return &((qn_memory_pool *)(void *)o)->device;
    default: return NULL;
    }
}

/* The host's pointers into a driver's memory may end with it. */
static qn_status check_unused(qn_device *device) {
    qn_context *context = device->object.context;
    if (device->num_hosts)
        return qn__fail(context, QN_ERROR_STATE,
                        "qn_device_reopen: pinned memory of %s is still to be freed (qn_host_free)",
                        device->name);
    qn_status status = QN_OK;
    pthread_mutex_lock(&context->lock);
    for (qn__object *o = context->objects[QN__OBJECT_BUFFER].first; o && !status; o = o->next)
        if (((qn_buffer *)(void *)o)->device == device && ((qn_buffer *)(void *)o)->maps)
            status = QN_ERROR_STATE;
    pthread_mutex_unlock(&context->lock);
    return status ? qn__fail(context, status, "qn_device_reopen: a buffer of %s is mapped", device->name)
                  : QN_OK;
}

static void drop_views(qn_device *device) {
    qn_context *context = device->object.context;
    pthread_mutex_lock(&device->use_lock);
    pthread_mutex_lock(&context->lock);
    for (qn__object *o = context->objects[QN__OBJECT_BUFFER].first; o; o = o->next) {
        qn_buffer *buffer = (qn_buffer *)(void *)o;
        if (buffer->device == device && !buffer->parent) qn__buffer_lose_view(buffer);
    }
    pthread_mutex_unlock(&context->lock);
    pthread_mutex_unlock(&device->use_lock);
}

/* What the device has goes over, and with it all that points to the device. */
static void hand_over(qn_device *device, qn_device *old) {
    qn_context *context = device->object.context;
    old->backend = device->backend;
    old->driver = device->driver;
    old->index = device->index;
    memcpy(old->name, device->name, sizeof old->name);
    old->identity = device->identity;
    old->gpu = device->gpu;
    old->info = device->info;
    old->target = device->target;
    old->stream = device->stream;
    old->crossing = device->crossing;
    old->replaced = true;
    atomic_store(&old->used, atomic_exchange(&device->used, 0));
    atomic_store(&old->buffers, atomic_exchange(&device->buffers, 0));
    atomic_store(&old->host, atomic_exchange(&device->host, 0));
    atomic_store(&old->pinned, atomic_exchange(&device->pinned, 0));
    atomic_store(&old->kept, atomic_exchange(&device->kept, 0));
    atomic_store(&old->ready, true);
    device->gpu = NULL;
    device->stream = NULL;
    device->crossing = NULL;
    pthread_mutex_lock(&context->lock);
    for (int kind = 0; kind < QN__OBJECT_CONTEXT; kind++)
        for (qn__object *o = context->objects[kind].first; o; o = o->next) {
            qn_device **field = device_of(o, (qn__object_kind)kind);
            if (field && *field == device) *field = old;
        }
    pthread_mutex_unlock(&context->lock);
}

static qn_status check_lost(qn_device *device) {
    char why[QN__WHY];
    const qn_backend *backend = device->backend;
    if (atomic_load(&device->ready) && backend->is_lost && backend->is_lost(device->gpu, why)) return QN_OK;
    return qn__fail(device->object.context, QN_ERROR_STATE, "qn_device_reopen: %s is not lost", device->name);
}

qn_status qn_device_reopen(qn_device *device) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_reopen", "device");
    if (status) return status;
    qn_context *context = device->object.context;
    if (device->replaced)
        return qn__fail(context, QN_ERROR_DEVICE_LOST,
                        "qn_device_reopen: %s was opened again already: qn_device_get gives it",
                        device->name);
    status = check_lost(device);
    if (!status) status = check_unused(device);
    if (status) return status;
    qn_device *old = qn__object_new(context, QN__OBJECT_DEVICE);
    if (!old) return QN_ERROR_OUT_OF_MEMORY;
    qn__device_init(old);
    drop_views(device);
    pthread_mutex_lock(&device->lock);
    atomic_store(&device->ready, false);
    if (device->backend->gpu_abandon) device->backend->gpu_abandon(device->gpu);
    hand_over(device, old);
    pthread_mutex_unlock(&device->lock);
    return qn__device_ready(device); /* where that fails, the next use tries again */
}

qn_status qn__other_device(const qn_device *a, const qn_device *b, const char *format, const char *function) {
    qn_context *one = a->object.context, *other = b->object.context;
    const qn_device *lost = a->replaced ? a : b->replaced ? b : NULL;
    if (!lost) return qn__fail_both(one, other, QN_ERROR_WRONG_CONTEXT, format, function);
    return qn__fail_both(
        one, other, QN_ERROR_DEVICE_LOST,
        "%s: %s was lost and opened again; what was made on it before is lost, and has to be made anew",
        function, lost->name);
}
