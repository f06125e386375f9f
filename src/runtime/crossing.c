/* Copies between two devices (hold.h). A piece is read from one device into host memory and written from there to the
   other, several under way at a time; a side that is host memory itself is read from or written to in place. */
#include <sched.h>
#include <stdio.h>

#include "runtime/runtime.h"

enum { PIECE = 4 << 20, SLOTS = 4 };

typedef struct slot {
    enum { FREE, READING, READ, WRITING } state;
    unsigned char *place; /* in host memory */
    uint64_t at, size;    /* of the copy */
    uint64_t number;      /* of the command that READING or WRITING waits for */
} slot;

typedef struct side {
    qn_buffer *buffer; /* a root; a reference */
    uint64_t offset;
    bool sent; /* no hidden copy of the host's contents is under way any more */
} side;

struct qn__crossing {
    side from, to;
    uint64_t size, asked, done; /* bytes */
    slot slots[SLOTS];
    unsigned next; /* slot for the next piece */
    unsigned char *staging;
    qn_device *staging_of; /* whose host_create it is of; NULL: ordinary memory */
    uint64_t last[2];      /* numbers of the last commands on from's and to's queue */
    qn_status status;
    char why[QN__WHY];
};

/* ---- from and to ---- */

static void count_crossing(qn_buffer *root, int change) {
    qn__courier *courier = &root->object.context->courier;
    pthread_mutex_lock(&courier->lock);
    root->crossings += (uint32_t)change;
    if (!root->crossings) pthread_cond_broadcast(&courier->moved);
    pthread_mutex_unlock(&courier->lock);
}

/* ---- commands of streams of other devices; the courier's lock guards the list ---- */

struct qn__peer_use {
    qn__peer_use *next;
    qn_stream *stream; /* not a reference: it is forgotten as the stream ends */
    uint64_t number;
};

static qn__peer_use *find_use(qn_buffer *root, const qn_stream *stream) {
    qn__peer_use *use = root->peer_uses;
    while (use && use->stream != stream) use = use->next;
    return use;
}

qn_status qn__peer_reserve(qn_buffer *root, qn_stream *stream) {
    qn_context *context = root->object.context;
    qn_status status = QN_OK;
    pthread_mutex_lock(&context->courier.lock);
    if (!find_use(root, stream)) {
        qn__peer_use *use = qn__allocate_zeroed(&context->allocator, sizeof *use);
        if (use) {
            *use = (qn__peer_use){.next = root->peer_uses, .stream = stream};
            root->peer_uses = use;
        } else {
            status = QN_ERROR_OUT_OF_MEMORY;
        }
    }
    pthread_mutex_unlock(&context->courier.lock);
    return status ? qn__fail_memory(context, sizeof(qn__peer_use)) : QN_OK;
}

void qn__peer_set(qn_buffer *root, const qn_stream *stream, uint64_t number) {
    qn__courier *courier = &root->object.context->courier;
    pthread_mutex_lock(&courier->lock);
    qn__peer_use *use = find_use(root, stream);
    if (use) use->number = number;
    pthread_mutex_unlock(&courier->lock);
}

void qn__peer_forget(qn_buffer *root, const qn_stream *stream) {
    qn__courier *courier = &root->object.context->courier;
    pthread_mutex_lock(&courier->lock);
    for (qn__peer_use **link = &root->peer_uses, *use; (use = *link);) {
        if (stream && use->stream != stream) {
            link = &use->next;
            continue;
        }
        *link = use->next;
        qn__release(&root->object.context->allocator, use);
    }
    pthread_mutex_unlock(&courier->lock);
}

/* Until the first of them is done, which is then gone. A stream that is just ending has waited for it, and forgets it. */
static qn_status wait_for_first(qn_buffer *root) {
    qn__courier *courier = &root->object.context->courier;
    pthread_mutex_lock(&courier->lock);
    const qn__peer_use *first = root->peer_uses;
    const uint64_t number = first ? first->number : 0;
    qn_stream *stream = first && qn__try_retain(&first->stream->object) ? first->stream : NULL;
    pthread_mutex_unlock(&courier->lock);
    if (!first) return QN_OK;
    if (!stream) {
        sched_yield();
        return QN_OK;
    }
    qn_status status = qn__stream_wait_number(stream, number, QN_FOREVER);
    qn__peer_forget(root, stream);
    qn__drop(&stream->object);
    return status;
}

qn_status qn__crossing_wait(qn_buffer *root) {
    qn__courier *courier = &root->object.context->courier;
    qn_status status = QN_OK;
    pthread_mutex_lock(&courier->lock);
    while (root->crossings) pthread_cond_wait(&courier->moved, &courier->lock);
    bool uses = root->peer_uses != NULL;
    pthread_mutex_unlock(&courier->lock);
    while (uses) {
        qn_status one = wait_for_first(root);
        if (one && !status) status = one;
        pthread_mutex_lock(&courier->lock);
        uses = root->peer_uses != NULL;
        pthread_mutex_unlock(&courier->lock);
    }
    return status;
}

qn_status qn__crossing_new(qn_buffer *from, uint64_t from_offset, qn_buffer *to, uint64_t to_offset,
                           uint64_t size, qn__crossing **out) {
    qn_context *context = from->object.context;
    qn__crossing *crossing = qn__allocate_zeroed(&context->allocator, sizeof *crossing);
    if (!crossing) return qn__fail_memory(context, sizeof *crossing);
    crossing->from = (side){.buffer = qn__buffer_root(from), .offset = from->offset + from_offset};
    crossing->to = (side){.buffer = qn__buffer_root(to), .offset = to->offset + to_offset};
    crossing->size = size;
    qn__retain(&crossing->from.buffer->object);
    qn__retain(&crossing->to.buffer->object);
    count_crossing(crossing->from.buffer, 1);
    count_crossing(crossing->to.buffer, 1);
    *out = crossing;
    return QN_OK;
}

void qn__crossing_free(qn__crossing *crossing) {
    const qn__allocator *allocator = &crossing->from.buffer->object.context->allocator;
    const qn_device *device = crossing->staging_of;
    if (crossing->staging && device)
        device->backend->host_destroy(device->gpu, crossing->staging);
    else
        qn__release(allocator, crossing->staging);
    count_crossing(crossing->from.buffer, -1);
    count_crossing(crossing->to.buffer, -1);
    qn__drop(&crossing->from.buffer->object);
    qn__drop(&crossing->to.buffer->object);
    qn__release(allocator, crossing);
}

qn_device *qn__crossing_other(const qn__crossing *crossing, const qn_device *device) {
    qn_device *from = crossing->from.buffer->device;
    return from == device ? crossing->to.buffer->device : from;
}

uint64_t qn__crossing_size(const qn__crossing *crossing) { return crossing->size; }

bool qn__crossing_has_begun(const qn__crossing *crossing) { return crossing->asked > 0; }

/* ---- queues: the courier's own, one a device ---- */

static qn_status queue_of(qn_device *device, qn__queue **queue, char *why) {
    qn_status status = QN_OK;
    if (!device->crossing) status = device->backend->queue_create(device->gpu, &device->crossing, why);
    if (status) device->crossing = NULL;
    *queue = device->crossing;
    return status;
}

void qn__crossing_close(qn_device *device) {
    if (device->crossing) device->backend->queue_destroy(device->crossing);
    device->crossing = NULL;
}

/* ---- staging ---- */

static unsigned char *pinned(qn__crossing *crossing, qn_device *device, uint64_t size) {
    void *host = NULL;
    char why[QN__WHY];
    if (!device->backend->host_create || device->backend->host_create(device->gpu, size, &host, why))
        return NULL;
    if (host) crossing->staging_of = device;
    return host;
}

/* Memory that one of the two copies from and to fast. None is needed where a side is host memory. */
static qn_status prepare(qn__crossing *crossing) {
    const side *from = &crossing->from, *to = &crossing->to;
    const uint64_t size = crossing->size < (uint64_t)PIECE * SLOTS ? crossing->size : (uint64_t)PIECE * SLOTS;
    if (from->buffer->shared || to->buffer->shared || crossing->staging) return QN_OK;
    crossing->staging = pinned(crossing, from->buffer->device, size);
    if (!crossing->staging) crossing->staging = pinned(crossing, to->buffer->device, size);
    if (!crossing->staging) {
        crossing->staging_of = NULL;
        crossing->staging = qn__allocate(&from->buffer->object.context->allocator, (size_t)size);
    }
    return crossing->staging ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

static void *place_of(const qn__crossing *crossing, uint64_t at, unsigned index) {
    const side *from = &crossing->from, *to = &crossing->to;
    if (from->buffer->shared) return (unsigned char *)from->buffer->shared + from->offset + at;
    if (to->buffer->shared) return (unsigned char *)to->buffer->shared + to->offset + at;
    return crossing->staging + (uint64_t)index * PIECE;
}

/* ---- pieces ---- */

static void give_up(qn__crossing *crossing, const side *where, qn_status status, const char *why) {
    if (crossing->status) return;
    crossing->status = status;
    snprintf(crossing->why, sizeof crossing->why, "copying %s %s: %.400s",
             where == &crossing->from ? "from" : "to", where->buffer->device->name, qn__reason(why, status));
}

/* One command on the device's own side. */
static void submit(qn__crossing *crossing, const side *where, slot *piece) {
    const bool reads = where == &crossing->from;
    qn_device *device = where->buffer->device;
    char why[QN__WHY] = "";
    qn__queue *queue;
    qn__command command = {.kind = reads ? QN__COMMAND_READ : QN__COMMAND_WRITE,
                           .size = piece->size,
                           .host = piece->place,
                           .host_stays = true,
                           .host_pinned = crossing->staging_of == device};
    if (reads) {
        command.from = where->buffer->memory;
        command.from_offset = where->offset + piece->at;
    } else {
        command.to = where->buffer->memory;
        command.to_offset = where->offset + piece->at;
    }
    uint64_t number = 0;
    qn_status status = queue_of(device, &queue, why);
    if (!status) status = device->backend->submit(queue, &command, &number, why);
    if (number > crossing->last[!reads]) crossing->last[!reads] = number;
    if (status) give_up(crossing, where, status, why);
    piece->state = reads ? READING : WRITING;
    piece->number = crossing->last[!reads];
}

static bool is_done(const side *where, const slot *piece) {
    const qn_device *device = where->buffer->device;
    return !device->crossing || device->backend->completed(device->crossing) >= piece->number;
}

static void begin_piece(qn__crossing *crossing) {
    slot *piece = &crossing->slots[crossing->next];
    const uint64_t left = crossing->size - crossing->asked;
    *piece = (slot){.place = place_of(crossing, crossing->asked, crossing->next),
                    .at = crossing->asked,
                    .size = left < PIECE ? left : PIECE};
    crossing->next = (crossing->next + 1) % SLOTS;
    crossing->asked += piece->size;
    if (crossing->from.buffer->shared)
        piece->state = READ;
    else
        submit(crossing, &crossing->from, piece);
}

/* True: the piece has come further. */
static bool go_on(qn__crossing *crossing, slot *piece) {
    const bool writes = !crossing->to.buffer->shared || crossing->from.buffer->shared;
    switch (piece->state) {
    case FREE: return false;
    case READING:
        if (!is_done(&crossing->from, piece)) return false;
        piece->state = READ;
        return true;
    case READ:
        if (writes && !crossing->status) {
            submit(crossing, &crossing->to, piece);
            return true;
        }
        break;
    case WRITING:
        if (!is_done(&crossing->to, piece)) return false;
        break;
    }
    crossing->done += piece->size;
    piece->state = FREE;
    return true;
}

/* What went wrong on the way a queue tells when it is waited for. */
static void ask(qn__crossing *crossing, const side *where) {
    qn_device *device = where->buffer->device;
    char why[QN__WHY] = "";
    if (!device->crossing) return;
    qn_status status =
        device->backend->wait(device->crossing, crossing->last[where == &crossing->to], 0, why);
    if (status && status != QN_ERROR_TIMEOUT) give_up(crossing, where, status, why);
}

/* Contents of the host's that are newer go over first, on another stream. */
static bool is_sent(side *where) {
    if (!where->sent) where->sent = qn__buffer_is_sent(where->buffer);
    return where->sent;
}

bool qn__crossing_step(qn__crossing *crossing, bool *moved, qn_status *status, char *why) {
    if (!is_sent(&crossing->from) || !is_sent(&crossing->to)) return false;
    if (!crossing->status) crossing->status = prepare(crossing);
    bool progress;
    do {
        progress = false;
        for (unsigned i = 0; i < SLOTS; i++)
            progress |= go_on(crossing, &crossing->slots[(crossing->next + i) % SLOTS]);
        while (!crossing->status && crossing->asked < crossing->size &&
               crossing->slots[crossing->next].state == FREE) {
            begin_piece(crossing);
            progress = true;
        }
        *moved |= progress;
    } while (progress);
    for (unsigned i = 0; i < SLOTS; i++)
        if (crossing->slots[i].state != FREE) return false;
    if (!crossing->status && crossing->done < crossing->size) return false;
    ask(crossing, &crossing->from);
    ask(crossing, &crossing->to);
    *status = crossing->status;
    if (*status) snprintf(why, QN__WHY, "qn_stream_copy: %.480s", crossing->why);
    return true;
}
