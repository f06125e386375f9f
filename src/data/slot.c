/* The memory of a batch: where workers write, where kernels read, and who still does. */
#include <string.h>

#include "data/loader.h"

/* ---- making ---- */

/* On a device whose memory is the host's, kernels read what workers write. */
static qn_status make_memory(slot *s) {
    const qn_loader *l = s->loader;
    qn_buffer_desc desc = {.size = l->bytes, .uninitialised = true, .label = "batch"};
    if (!l->stream) desc.memory = QN_MEMORY_SHARED;
    qn_status status = qn_buffer_create(l->device, &desc, &s->buffer);
    if (status) return status;
    if (l->stream) {
        void *host;
        status = qn_host_alloc(l->device, l->bytes, &host);
        if (!status) s->host = host;
        return status;
    }
    s->host = qn_buffer_host(s->buffer);
    return s->host ? QN_OK : QN_ERROR_INTERNAL;
}

qn_status qn__slot_create(qn_loader *l, slot **out) {
    slot *s = qn__data_allocate(l->context, sizeof *s);
    if (!s) return QN_ERROR_OUT_OF_MEMORY;
    s->loader = l;
    s->indices = qn__data_allocate(l->context, l->desc.batch * sizeof *s->indices);
    qn_status status = s->indices ? qn_event_create(l->device, &s->used) : QN_ERROR_OUT_OF_MEMORY;
    if (!status) status = qn_event_create(l->device, &s->sent);
    if (!status) status = make_memory(s);
    if (status)
        qn__slot_destroy(s);
    else
        *out = s;
    return status;
}

void qn__slot_destroy(slot *s) {
    const qn_loader *l = s->loader;
    if (l->stream) qn_host_free(l->device, s->host);
    if (s->buffer) qn_buffer_destroy(s->buffer);
    if (s->used) qn_event_destroy(s->used);
    if (s->sent) qn_event_destroy(s->sent);
    qn__data_release(l->context, s->indices);
    qn__data_release(l->context, s);
}

/* ---- sending ---- */

qn_status qn__slot_send(slot *s) {
    qn_loader *l = s->loader;
    if (!l->stream) return QN_OK;
    qn_status status = s->was_used ? qn_stream_wait_event(l->stream, s->used) : QN_OK;
    for (uint32_t f = 0; f < l->num_fields && !status; f++)
        status = qn_stream_write(l->stream, s->buffer, l->offsets[f], s->host + l->offsets[f],
                                 s->count * l->example_bytes[f]);
    if (!status) status = qn_stream_record(l->stream, s->sent);
    s->was_sent = !status;
    return status;
}

/* ---- lending ---- */

/* Who frees memory on the tensors' thread: the last tensor of a loader that is gone. */
static void drop(slot *s) {
    qn_loader *l = s->loader;
    l->num_lent--;
    qn__slot_destroy(s);
    if (!l->num_lent) qn__data_release(l->context, l);
}

/* A tensor of the slot is gone: a qn_release_callback. */
static void give_back(void *user) {
    slot *s = user;
    qn_loader *l = s->loader;
    if (--s->lent) return;
    if (l->destroyed) {
        drop(s);
        return;
    }
    l->num_lent--;
    qn_stream *stream = qn_tensors_stream(l->tensors);
    s->was_used = !qn_stream_record(stream, s->used);
    if (!s->was_used) qn_stream_wait(stream, QN_FOREVER);
    pthread_mutex_lock(&l->lock);
    s->state = SLOT_FREE;
    pthread_cond_signal(&l->work);
    pthread_mutex_unlock(&l->lock);
}

static qn_tensor *lend_field(slot *s, uint32_t f) {
    const qn_loader *l = s->loader;
    const qn_field *field = &l->fields[f];
    qn_array array = {.buffer = s->buffer,
                      .offset = l->offsets[f] / qn_element_size(field->type),
                      .type = field->type,
                      .rank = field->shape.rank + 1,
                      .sizes = {s->count}};
    memcpy(array.sizes + 1, field->shape.sizes, field->shape.rank * sizeof *array.sizes);
    return qn_tensor_retain(qn_from_lent_array(l->tensors, &array, give_back, s));
}

qn_status qn__slot_lend(slot *s) {
    qn_loader *l = s->loader;
    qn_status status = l->stream ? qn_stream_wait_event(qn_tensors_stream(l->tensors), s->sent) : QN_OK;
    if (!status) status = qn_scope_begin(l->tensors);
    s->lent = 1; /* this call's: the slot stays lent until all are made */
    l->num_lent++;
    if (!status) {
        for (uint32_t f = 0; f < l->num_fields && !status; f++) {
            l->batch[f] = lend_field(s, f);
            status = qn_tensor_status(l->batch[f]);
            s->lent += !status;
        }
        qn_scope_end(l->tensors);
    }
    give_back(s);
    return status;
}
