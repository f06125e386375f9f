/* What the threads of a loader do: they begin batches in order, share out a batch's examples, and have the set write them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "data/loader.h"

uint64_t qn__loader_examples(const qn_loader *l, uint64_t number) {
    const uint64_t first = number % l->batches * l->desc.batch, rest = l->examples - first;
    return rest < l->desc.batch ? rest : l->desc.batch;
}

/* ---- locked ---- */

static slot *find_state(const qn_loader *l, slot_state state) {
    slot *s = l->slots;
    while (s && s->state != state) s = s->next;
    return s;
}

/* The oldest batch that has examples which nobody writes. */
static slot *find_unclaimed(const qn_loader *l) {
    slot *oldest = NULL;
    for (slot *s = l->slots; s; s = s->next)
        if (s->state == SLOT_BEGUN && s->ready && s->claimed < s->count &&
            (!oldest || s->number < oldest->number))
            oldest = s;
    return oldest;
}

static void find_order(qn_loader *l, uint64_t epoch) {
    if (!l->desc.shuffle || l->order_epoch == epoch) return;
    uint64_t state = l->desc.seed, salt = epoch;
    qn__data_shuffle(l->order, l->examples, qn__data_random(&state) ^ qn__data_random(&salt));
    l->order_epoch = epoch;
}

static void begin_batch(qn_loader *l, slot *s) {
    const uint64_t number = l->next_begun++, first = number % l->batches * l->desc.batch;
    find_order(l, number / l->batches);
    s->state = SLOT_BEGUN;
    s->ready = false;
    s->number = number;
    s->count = qn__loader_examples(l, number);
    s->claimed = s->written = 0;
    s->status = QN_OK;
    for (uint64_t i = 0; i < s->count; i++) s->indices[i] = l->desc.shuffle ? l->order[first + i] : first + i;
}

static void note_failure(slot *s, qn_status status) {
    if (s->status) return;
    s->status = status;
    snprintf(s->sentence, sizeof s->sentence, "%s", qn_error_message(s->loader->context));
}

/* Those examples are written, or never will be. */
static void finish(qn_loader *l, slot *s, uint64_t count, qn_status status) {
    if (status) note_failure(s, status);
    s->written += count;
    if (s->written < s->count) return;
    s->state = SLOT_MADE;
    pthread_cond_broadcast(&l->done);
}

/* ---- not locked ---- */

/* The memory may still be read: by the copy of the batch before, or by kernels. */
static qn_status wait_for_memory(const slot *s) {
    if (s->loader->stream) return s->was_sent ? qn_event_wait(s->sent, QN_FOREVER) : QN_OK;
    return s->was_used ? qn_event_wait(s->used, QN_FOREVER) : QN_OK;
}

static qn_status write_examples(const slot *s, uint64_t first, uint64_t count) {
    const qn_loader *l = s->loader;
    void *to[QN_MAX_FIELDS];
    qn_status status = QN_OK;
    for (uint64_t i = first; i < first + count && !status; i++) {
        for (uint32_t f = 0; f < l->num_fields; f++)
            to[f] = s->host + l->offsets[f] + i * l->example_bytes[f];
        status = qn_dataset_get(l->dataset, s->indices[i], to);
    }
    return status;
}

/* ---- the thread ---- */

/* Both are called locked, and unlock in between. */
static void prepare(qn_loader *l, slot *s) {
    begin_batch(l, s);
    pthread_mutex_unlock(&l->lock);
    const qn_status status = wait_for_memory(s);
    pthread_mutex_lock(&l->lock);
    s->ready = true;
    if (status) {
        s->claimed = s->count;
        finish(l, s, s->count, status);
    }
    pthread_cond_broadcast(&l->work);
}

static void make_examples(qn_loader *l, slot *s) {
    const uint64_t share = s->count / (4 * (uint64_t)l->desc.workers), first = s->claimed,
                   rest = s->count - first,
                   count = share == 0     ? 1
                           : share < rest ? share
                                          : rest;
    s->claimed += count;
    pthread_mutex_unlock(&l->lock);
    const qn_status status = write_examples(s, first, count);
    pthread_mutex_lock(&l->lock);
    finish(l, s, count, status);
}

static void *work(void *loader) {
    qn_loader *l = loader;
    pthread_mutex_lock(&l->lock);
    while (!l->stops) {
        slot *s = find_unclaimed(l), *unused = s || l->pauses ? NULL : find_state(l, SLOT_FREE);
        if (s)
            make_examples(l, s);
        else if (unused)
            prepare(l, unused);
        else
            pthread_cond_wait(&l->work, &l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* Signals to the process are for the program's own threads. */
bool qn__loader_start(qn_loader *l, pthread_t *thread) {
#ifndef _WIN32
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    const bool is_there = pthread_create(thread, NULL, work, l) == 0;
#ifndef _WIN32
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    return is_there;
}
