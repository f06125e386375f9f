/* Reference counts, handle checks and the lists of live objects; see runtime.h. */
#include <string.h>

#include "runtime/runtime.h"

/* Freed structs are kept this many per kind before the oldest is used again. */
enum { QUARANTINE = 64 };

typedef struct kind_info {
    const char *name;
    size_t size;
    void (*finalise)(void *object);
} kind_info;

static void finalise_device(void *o) { qn__device_finalise(o); }
static void finalise_buffer(void *o) { qn__buffer_finalise(o); }
static void finalise_program(void *o) { qn__program_finalise(o); }
static void finalise_kernel(void *o) { qn__kernel_finalise(o); }
static void finalise_stream(void *o) { qn__stream_finalise(o); }
static void finalise_event(void *o) { qn__event_finalise(o); }
static void finalise_graph(void *o) { qn__graph_finalise(o); }
static void finalise_replay(void *o) { qn__graph_replay_finalise(o); }
static void finalise_edition(void *o) { qn__graph_edition_finalise(o); }
static void finalise_pool(void *o) { qn__pool_finalise(o); }
static void finalise_host(void *o) { qn__host_finalise(o); }

static const kind_info kinds[QN__OBJECT_KINDS] = {
    [QN__OBJECT_DEVICE] = {"device", sizeof(qn_device), finalise_device},
    [QN__OBJECT_BUFFER] = {"buffer", sizeof(qn_buffer), finalise_buffer},
    [QN__OBJECT_PROGRAM] = {"program", sizeof(qn_program), finalise_program},
    [QN__OBJECT_KERNEL] = {"kernel", sizeof(qn_kernel), finalise_kernel},
    [QN__OBJECT_STREAM] = {"stream", sizeof(qn_stream), finalise_stream},
    [QN__OBJECT_EVENT] = {"event", sizeof(qn_event), finalise_event},
    [QN__OBJECT_GRAPH] = {"graph", sizeof(qn_graph), finalise_graph},
    [QN__OBJECT_POOL] = {"pool", sizeof(qn_memory_pool), finalise_pool},
    [QN__OBJECT_HOST] = {"host memory", sizeof(qn__host), finalise_host},
    [QN__OBJECT_REPLAY] = {"replay", sizeof(qn__graph_replay), finalise_replay},
    [QN__OBJECT_EDITION] = {"edition", sizeof(qn__graph_edition), finalise_edition},
    [QN__OBJECT_CONTEXT] = {"context", 0, NULL},
};

static qn__object *take_freed(qn__object_list *list) {
    qn__object *object = list->freed_first;
    list->freed_first = object->next;
    if (!list->freed_first) list->freed_last = NULL;
    list->num_freed--;
    return object;
}

static void link_live(qn__object_list *list, qn__object *object) {
    object->prev = NULL;
    object->next = list->first;
    if (list->first) list->first->prev = object;
    list->first = object;
}

static void unlink_live(qn__object_list *list, qn__object *object) {
    if (object->prev)
        object->prev->next = object->next;
    else
        list->first = object->next;
    if (object->next) object->next->prev = object->prev;
}

void *qn__object_new(qn_context *context, qn__object_kind kind) {
    qn__object_list *list = &context->objects[kind];
    pthread_mutex_lock(&context->lock);
    qn__object *object = list->num_freed > QUARANTINE ? take_freed(list) : NULL;
    pthread_mutex_unlock(&context->lock);
    if (!object) object = qn__allocate(&context->allocator, kinds[kind].size);
    if (!object) {
        qn__fail_memory(context, kinds[kind].size);
        return NULL;
    }
    memset(object, 0, kinds[kind].size);
    object->magic = QN__MAGIC + (uint32_t)kind;
    atomic_init(&object->destroyed, false);
    atomic_init(&object->references, 1);
    object->context = context;
    pthread_mutex_lock(&context->lock);
    link_live(list, object);
    pthread_mutex_unlock(&context->lock);
    return object;
}

void qn__retain(qn__object *object) {
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

bool qn__try_retain(qn__object *object) {
    unsigned references = atomic_load(&object->references);
    while (references && !atomic_compare_exchange_weak(&object->references, &references, references + 1)) {
    }
    return references != 0;
}

void qn__drop(qn__object *object) {
    if (!object || atomic_fetch_sub(&object->references, 1) != 1) return;
    qn_context *context = object->context;
    uint32_t kind = object->magic - QN__MAGIC;
    kinds[kind].finalise(object);
    pthread_mutex_lock(&context->lock);
    qn__object_list *list = &context->objects[kind];
    unlink_live(list, object);
    atomic_store(&object->destroyed, true);
    object->next = NULL;
    if (list->freed_last)
        list->freed_last->next = object;
    else
        list->freed_first = object;
    list->freed_last = object;
    list->num_freed++;
    pthread_mutex_unlock(&context->lock);
}

void qn__object_destroy(qn__object *object, qn__object_kind kind) {
    if (!object || object->magic != QN__MAGIC + (uint32_t)kind) return;
    if (!atomic_exchange(&object->destroyed, true)) qn__drop(object);
}

void qn__handle_destroy(void *pointer, qn__object_kind kind, const char *function, const char *argument) {
    if (pointer && qn__check(pointer, kind, function, argument) == QN_OK) qn__object_destroy(pointer, kind);
}

/* The context of what may be an object, or NULL. */
static qn_context *context_of(const void *pointer) {
    const qn__object *object = pointer;
    return object && object->magic - QN__MAGIC < QN__OBJECT_KINDS ? object->context : NULL;
}

static const char *article(qn__object_kind kind) { return kind == QN__OBJECT_EVENT ? "an" : "a"; }

qn_status qn__check_beside(const void *other, const void *pointer, qn__object_kind kind, const char *function,
                           const char *argument) {
    if (!pointer) return qn__fail_null(context_of(other), function, argument);
    const qn__object *object = pointer;
    uint32_t actual = object->magic - QN__MAGIC;
    if (actual >= QN__OBJECT_KINDS)
        return qn__fail(context_of(other), QN_ERROR_ARGUMENT, "%s: %s is no object of quern's", function,
                        argument);
    if (actual != (uint32_t)kind)
        return qn__fail(object->context, QN_ERROR_ARGUMENT, "%s: %s is %s %s, not %s %s", function, argument,
                        article(actual), kinds[actual].name, article(kind), kinds[kind].name);
    if (!atomic_load_explicit(&((qn__object *)pointer)->destroyed, memory_order_relaxed)) return QN_OK;
    return qn__fail(object->context, QN_ERROR_DESTROYED, "%s: %s is %s %s that has been destroyed", function,
                    argument, article(kind), kinds[kind].name);
}

qn_status qn__check(const void *pointer, qn__object_kind kind, const char *function, const char *argument) {
    return qn__check_beside(NULL, pointer, kind, function, argument);
}

qn_status qn__check_stream(const qn_stream *stream, const char *function) {
    if (stream) return qn__check(stream, QN__OBJECT_STREAM, function, "stream");
    return qn__fail(
        NULL, QN_ERROR_NULL,
        "%s: stream is NULL, and nothing else in the call tells whose default stream that is: pass "
        "qn_device_stream(device)",
        function);
}

/* Whether it is of a device with a stream that was left. */
static bool is_left(const qn__object *object, qn__object_kind kind) {
    const void *o = object;
    switch (kind) {
    case QN__OBJECT_DEVICE: return ((const qn_device *)o)->left;
    case QN__OBJECT_BUFFER: return ((const qn_buffer *)o)->device->left;
    case QN__OBJECT_HOST: return ((const qn__host *)o)->device->left;
    case QN__OBJECT_POOL: return ((const qn_memory_pool *)o)->device->left;
    case QN__OBJECT_PROGRAM: return ((const qn_program *)o)->device->left;
    case QN__OBJECT_KERNEL: return ((const qn_kernel *)o)->program->device->left;
    case QN__OBJECT_STREAM: return ((const qn_stream *)o)->device->left;
    case QN__OBJECT_EVENT: return ((const qn_event *)o)->device->left;
    case QN__OBJECT_GRAPH: return ((const qn_graph *)o)->device->left;
    default: return false;
    }
}

/* What the caller never destroyed: users before what they use. Each pass drops the caller's reference only;
   the references that objects hold of one another go with their owners. As a view takes its buffer along, the
   walk starts anew after each. */
static void drop_live(qn_context *context, qn__object_kind kind) {
    for (;;) {
        qn__object *object = context->objects[kind].first;
        while (object && (is_left(object, kind) || atomic_exchange(&object->destroyed, true)))
            object = object->next;
        if (!object) return;
        qn__drop(object);
    }
}

void qn__objects_leave(qn_context *context) {
    static const qn__object_kind order[] = {QN__OBJECT_GRAPH,   QN__OBJECT_EVENT,  QN__OBJECT_KERNEL,
                                            QN__OBJECT_PROGRAM, QN__OBJECT_BUFFER, QN__OBJECT_HOST,
                                            QN__OBJECT_POOL,    QN__OBJECT_STREAM, QN__OBJECT_DEVICE};
    for (size_t i = 0; i < QN__COUNT(order); i++) drop_live(context, order[i]);
}

void qn__objects_free(qn_context *context) {
    qn__objects_leave(context);
    for (int kind = 0; kind < QN__OBJECT_CONTEXT; kind++) {
        qn__object_list *list = &context->objects[kind];
        while (list->freed_first) qn__release(&context->allocator, take_freed(list));
    }
}
