/* Loaders: batches of a set in an order by a seed, made ahead by threads (worker.c), in memory that they share with the device
   (slot.c). This file is the tensors' thread. */
#include "data/loader.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WORKERS = 256, MOST_AHEAD = 64, ALIGNMENT = 64 };

static qn_context *context_of(const qn_tensors *tensors) {
    return tensors ? qn_device_context(qn_tensors_device(tensors)) : NULL;
}

static qn_status fail(const qn_loader *l, qn_status status, const char *sentence) {
    return qn__data_fail(l->context, status, "qn_loader_create: %s", sentence);
}

/* ---- making ---- */

static void fill_in(qn_loader *l, const qn_loader_desc *desc) {
    if (desc) l->desc = *desc;
    if (!l->desc.batch) l->desc.batch = 32;
    if (!l->desc.workers) l->desc.workers = 1;
    if (!l->desc.ahead) l->desc.ahead = 2;
    l->examples = qn_dataset_count(l->dataset);
    l->batches = l->examples / l->desc.batch;
    if (l->examples % l->desc.batch && !l->desc.drop_last) l->batches++;
    /* A smaller set than a batch has one batch, which needs no more memory than it has examples. */
    if (l->batches && l->desc.batch > l->examples) l->desc.batch = l->examples;
    l->order_epoch = UINT64_MAX;
}

static qn_status check(const qn_loader *l) {
    if (l->desc.workers > MOST_WORKERS) return fail(l, QN_ERROR_ARGUMENT, "over 256 workers");
    if (l->desc.ahead > MOST_AHEAD) return fail(l, QN_ERROR_ARGUMENT, "over 64 batches ahead");
    if (!l->batches)
        return fail(l, QN_ERROR_ARGUMENT,
                    l->examples ? "the set has fewer examples than a batch" : "the set has no examples");
    return qn__dataset_context(l->dataset) == l->context
               ? QN_OK
               : fail(l, QN_ERROR_WRONG_CONTEXT, "the set is of another context");
}

/* Where the fields of a batch lie. */
static qn_status lay_out(qn_loader *l) {
    l->num_fields = qn_dataset_num_fields(l->dataset);
    for (uint32_t f = 0; f < l->num_fields; f++) {
        l->fields[f] = qn_dataset_field(l->dataset, f);
        l->example_bytes[f] = qn__field_bytes(&l->fields[f]);
        if (l->desc.batch > ((uint64_t)1 << 56) / l->example_bytes[f])
            return fail(l, QN_ERROR_ARGUMENT, "a batch has more bytes than can be counted");
        l->offsets[f] = l->bytes;
        const uint64_t bytes = l->desc.batch * l->example_bytes[f];
        l->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return QN_OK;
}

/* That tensors can be of the fields' types. */
static qn_status check_types(qn_loader *l) {
    qn_status status = qn_scope_begin(l->tensors);
    if (status) return status;
    for (uint32_t f = 0; f < l->num_fields && !status; f++)
        status = qn_tensor_status(qn_zeros(l->tensors, l->fields[f].type, QN_SCALAR));
    qn_scope_end(l->tensors);
    return status;
}

static qn_status make_stream(qn_loader *l) {
    qn_device_info info;
    const uint32_t shared = QN_CAN_SHARE_MEMORY | QN_CAN_SHARE_COHERENTLY;
    const qn_status status = qn_device_get_info(l->device, &info);
    if (status || ((info.capabilities & shared) == shared && !l->desc.copies)) return status;
    return qn_stream_create(l->device, &l->stream);
}

static qn_status add_slot(qn_loader *l) {
    slot *s;
    const qn_status status = qn__slot_create(l, &s);
    if (status) return status;
    pthread_mutex_lock(&l->lock);
    s->next = l->slots;
    l->slots = s;
    pthread_cond_signal(&l->work);
    pthread_mutex_unlock(&l->lock);
    return QN_OK;
}

static qn_status start_threads(qn_loader *l) {
    l->threads = qn__data_allocate(l->context, l->desc.workers * sizeof *l->threads);
    if (!l->threads) return QN_ERROR_OUT_OF_MEMORY;
    while (l->num_threads < l->desc.workers) {
        if (!qn__loader_start(l, &l->threads[l->num_threads]))
            return fail(l, QN_ERROR_OUT_OF_MEMORY, "the system gives no more threads");
        l->num_threads++;
    }
    return QN_OK;
}

/* All that is needed to run. */
static qn_status make(qn_loader *l) {
    qn_status status = check(l);
    if (!status) status = lay_out(l);
    if (!status) status = check_types(l);
    if (!status) status = make_stream(l);
    if (!status && l->desc.shuffle) {
        l->order = l->examples < SIZE_MAX / sizeof *l->order
                       ? qn__data_allocate(l->context, l->examples * sizeof *l->order)
                       : NULL;
        if (!l->order) status = QN_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i <= l->desc.ahead && !status; i++) status = add_slot(l);
    return status ? status : start_threads(l);
}

qn_status qn_loader_create(qn_tensors *tensors, qn_dataset *dataset, const qn_loader_desc *desc,
                           qn_loader **loader) {
    if (!tensors || !dataset || !loader)
        return qn__data_fail(context_of(tensors), QN_ERROR_NULL, "qn_loader_create: %s is NULL",
                             !tensors  ? "tensors"
                             : dataset ? "loader"
                                       : "dataset");
    qn_loader *l = qn__data_allocate(context_of(tensors), sizeof *l);
    if (!l) return QN_ERROR_OUT_OF_MEMORY;
    l->tensors = tensors;
    l->context = context_of(tensors);
    l->device = qn_tensors_device(tensors);
    l->dataset = qn__dataset_retain(dataset);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->done, NULL);
    fill_in(l, desc);
    const qn_status status = make(l);
    if (status)
        qn_loader_destroy(l);
    else
        *loader = l;
    return status;
}

/* ---- ending ---- */

static void release_batch(qn_loader *l) {
    for (uint32_t f = 0; f < l->num_fields; f++) {
        qn_tensor_release(l->batch[f]);
        l->batch[f] = NULL;
    }
}

static void stop_threads(qn_loader *l) {
    pthread_mutex_lock(&l->lock);
    l->stops = true;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->lock);
    for (uint32_t i = 0; i < l->num_threads; i++) pthread_join(l->threads[i], NULL);
}

void qn_loader_destroy(qn_loader *l) {
    if (!l) return;
    stop_threads(l);
    release_batch(l);
    for (slot *s = l->slots, *next; s; s = next) {
        next = s->next;
        if (s->state != SLOT_LENT) qn__slot_destroy(s);
    }
    pthread_cond_destroy(&l->done);
    pthread_cond_destroy(&l->work);
    pthread_mutex_destroy(&l->lock);
    qn_stream *stream = l->stream;
    if (stream) qn_stream_destroy(stream);
    qn_dataset_destroy(l->dataset);
    qn__data_release(l->context, l->threads);
    qn__data_release(l->context, l->order);
    l->destroyed = true;
    if (!l->num_lent) qn__data_release(l->context, l);
}

/* ---- batches ---- */

/* With batches that the program has retained, others are needed for what is made ahead. */
static qn_status add_slots(qn_loader *l) {
    uint32_t count = 0;
    pthread_mutex_lock(&l->lock);
    for (const slot *s = l->slots; s; s = s->next) count += s->state != SLOT_LENT;
    pthread_mutex_unlock(&l->lock);
    qn_status status = QN_OK;
    for (; count < l->desc.ahead && !status; count++) status = add_slot(l);
    return status;
}

/* Locked. NULL: it has not been begun, or is not made yet. */
static slot *find_made(const qn_loader *l, uint64_t number) {
    slot *s = l->slots;
    while (s && !((s->state == SLOT_MADE || s->state == SLOT_SENT) && s->number == number)) s = s->next;
    return s;
}

static void set_state(qn_loader *l, slot *s, slot_state state) {
    pthread_mutex_lock(&l->lock);
    s->state = state;
    pthread_cond_signal(&l->work);
    pthread_mutex_unlock(&l->lock);
}

/* Sends what is made, in order, from the batch asked for on: what is ahead is copied while that one is computed with. */
static qn_status send(qn_loader *l) {
    qn_status status = QN_OK;
    for (uint64_t number = l->next; !status; number++) {
        pthread_mutex_lock(&l->lock);
        slot *s = find_made(l, number);
        pthread_mutex_unlock(&l->lock);
        if (!s) break;
        if (s->state == SLOT_SENT || s->status) continue;
        status = qn__slot_send(s);
        if (!status) set_state(l, s, SLOT_SENT);
    }
    return status;
}

static slot *wait_for(qn_loader *l, uint64_t number) {
    slot *s;
    pthread_mutex_lock(&l->lock);
    while (!(s = find_made(l, number))) pthread_cond_wait(&l->done, &l->lock);
    pthread_mutex_unlock(&l->lock);
    return s;
}

/* The batch of l->next, to l->batch. */
static qn_status take(qn_loader *l) {
    qn_status status = add_slots(l);
    if (status) return status;
    slot *s = wait_for(l, l->next);
    if (s->status) {
        status = qn_error_set(l->context, s->status, s->sentence);
        set_state(l, s, SLOT_FREE);
        return status;
    }
    status = send(l);
    if (!status) {
        set_state(l, s, SLOT_LENT);
        return qn__slot_lend(s);
    }
    set_state(l, s, SLOT_FREE);
    return status;
}

/* From the first batch of an epoch on, or where the program has gone to. */
static void begin_timing(qn_loader *l) {
    if (l->next % l->batches && l->epoch_first <= l->next) return;
    l->epoch_begin = qn__data_seconds();
    l->epoch_first = l->next;
}

qn_status qn_loader_next(qn_loader *l, qn_tensor **batch, bool *more) {
    if (!l || !batch || !more)
        return qn__data_fail(l ? l->context : NULL, QN_ERROR_NULL, "qn_loader_next: %s is NULL",
                             !l      ? "loader"
                             : batch ? "more"
                                     : "batch");
    if (l->gave) qn__loader_show(l, l->next - 1);
    l->gave = false;
    release_batch(l);
    for (uint32_t f = 0; f < l->num_fields; f++) batch[f] = NULL;
    *more = false;
    if (l->at_end) {
        l->at_end = false;
        return QN_OK;
    }
    begin_timing(l);
    const qn_status status = take(l);
    l->next++;
    l->at_end = l->next % l->batches == 0;
    if (status) {
        release_batch(l);
        return status;
    }
    for (uint32_t f = 0; f < l->num_fields; f++) batch[f] = l->batch[f];
    *more = l->gave = true;
    return QN_OK;
}

/* ---- places ---- */

uint64_t qn_loader_batches(const qn_loader *loader) { return loader ? loader->batches : 0; }

void qn_loader_position(const qn_loader *loader, uint64_t *epoch, uint64_t *batch) {
    if (epoch) *epoch = loader ? loader->next / loader->batches : 0;
    if (batch) *batch = loader ? loader->next % loader->batches : 0;
}

/* What is ahead is given up, when the workers are done with it. */
static void begin_at(qn_loader *l, uint64_t number) {
    pthread_mutex_lock(&l->lock);
    l->pauses = true;
    for (slot *s = l->slots; s;) {
        if (s->state != SLOT_BEGUN) {
            s = s->next;
            continue;
        }
        pthread_cond_wait(&l->done, &l->lock);
        s = l->slots;
    }
    for (slot *s = l->slots; s; s = s->next)
        if (s->state == SLOT_MADE || s->state == SLOT_SENT) s->state = SLOT_FREE;
    l->next_begun = number;
    l->pauses = false;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->lock);
}

qn_status qn_loader_seek(qn_loader *l, uint64_t epoch, uint64_t batch) {
    if (!l) return qn__data_fail(NULL, QN_ERROR_NULL, "qn_loader_seek: loader is NULL");
    if (batch >= l->batches || epoch > (UINT64_MAX >> 1) / l->batches)
        return qn__data_fail(l->context, QN_ERROR_RANGE,
                             "qn_loader_seek: there is no batch %llu: an epoch has %llu",
                             (unsigned long long)batch, (unsigned long long)l->batches);
    release_batch(l);
    l->next = epoch * l->batches + batch;
    l->epoch_first = UINT64_MAX;
    l->at_end = l->gave = false;
    begin_at(l, l->next);
    return QN_OK;
}
