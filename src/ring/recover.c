/* After a failure: checkpoints of a ring's state, messages that were being handled, and launching again. */
#include "ring/internal.h"

/* ---- checkpoints ---- */

static qn_status copy_state(qn_ring *ring, qn_buffer *from, qn_buffer *to) {
    qn_stream *stream = qn_device_stream(ring->device);
    qn_status status = qn_stream_copy(stream, from, 0, to, 0, qn_buffer_size(ring->desc.state));
    return status ? status : qn_stream_wait(stream, QN_FOREVER);
}

static qn_status save(qn_ring *ring) {
    const qn_buffer_desc desc = {.size = qn_buffer_size(ring->desc.state), .label = "a ring's checkpoint"};
    qn_status status = ring->checkpoint ? QN_OK : qn_buffer_create(ring->device, &desc, &ring->checkpoint);
    return status ? status : copy_state(ring, ring->desc.state, ring->checkpoint);
}

static qn_status checkpoint(qn_ring *ring, uint64_t timeout_ns) {
    const int state = atomic_load(&ring->state);
    if (!ring->desc.state || state == QN_RING_CREATED || state == QN_RING_STOPPING || state == QN_RING_FAILED)
        return qn__ring_fail(ring, QN_ERROR_STATE, "qn_ring_checkpoint: ring '%s' %s%s", ring->label,
                             ring->desc.state ? "is " : "has no state",
                             ring->desc.state ? qn__ring_state_name(state) : "");
    if (state != QN_RING_ACTIVE) return save(ring);
    qn_status status = qn_ring_pause(ring, timeout_ns);
    if (status && status != QN_ERROR_TIMEOUT) return status;
    if (!status) status = save(ring);
    const qn_status resumed = qn_ring_resume(ring, timeout_ns);
    return status ? status : resumed;
}

qn_status qn_ring_checkpoint(qn_ring *ring, uint64_t timeout_ns) {
    const qn_status status = qn__ring_change_begin(ring, "qn_ring_checkpoint");
    return status ? status : qn__ring_change_end(ring, checkpoint(ring, timeout_ns));
}

/* ---- what was being handled ---- */

static void bury(qn_ring *ring, qn__ring_letter *letter) {
    qn__ring_letter **end = &ring->dead;
    while (*end) end = &(*end)->next;
    *end = letter;
    atomic_fetch_add_explicit(&ring->dead_count, 1, memory_order_relaxed);
}

/* Messages that the kernel had taken and has not given back. */
static qn_status collect_dead(qn_ring *ring) {
    uint32_t heads[QN__RING_BANDS_MOST * QN__RING_LINE];
    qn_status status = qn_buffer_read(ring->in.ends, QN__RING_HEADS, heads, sizeof heads);
    for (uint32_t band = 0; band < ring->desc.bands && !status; band++) {
        const qn__ring_slot *slot;
        uint32_t back = ring->in.capacity;
        const uint32_t head = heads[band * QN__RING_LINE];
        while ((slot = qn__ring_queue_orphan(&ring->in, band, head, &back)) != NULL) {
            qn__ring_letter *letter = qn__ring_letter_make(ring, slot);
            if (!letter) return QN_ERROR_OUT_OF_MEMORY;
            bury(ring, letter);
            qn__ring_queue_free(&ring->in, band, head, back);
        }
    }
    return status;
}

/* The same of other rings' messages: one, as only a ring with one work-group keeps the slot of what it handles. The next launch frees
   it. */
static qn_status collect_dead_mail(qn_ring *ring) {
    if (!ring->desc.mail_capacity || ring->desc.groups > 1) return QN_OK;
    const uint64_t size = qn_buffer_size(ring->mail->memory);
    unsigned char *bytes = ring->allocator.allocate(ring->allocator.user, size);
    if (!bytes) return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_restart: out of host memory");
    qn_status status = qn_buffer_read(ring->mail->memory, 0, bytes, size);
    const uint32_t head = ((const uint32_t *)(void *)bytes)[QN__MAIL_HEAD];
    const uint32_t index = (head - 1) & (ring->mail->capacity - 1);
    const size_t at = QN__MAIL_WORDS * sizeof head + (size_t)index * ring->in.slot_size;
    const qn__ring_slot *slot = (const qn__ring_slot *)(const void *)(bytes + at);
    if (!status && atomic_load((_Atomic uint32_t *)&slot->sequence) == head) {
        qn__ring_letter *letter = qn__ring_letter_make(ring, slot);
        if (letter) bury(ring, letter);
        if (!letter) status = QN_ERROR_OUT_OF_MEMORY;
    }
    ring->allocator.release(ring->allocator.user, bytes);
    return status;
}

qn_status qn_ring_dead_letter(qn_ring *ring, qn_ring_message *message, void *payload, size_t size) {
    qn_status status = qn__ring_check(ring, "qn_ring_dead_letter");
    if (status) return status;
    if (size && !payload) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_dead_letter: payload is NULL");
    pthread_mutex_lock(&ring->lock);
    qn__ring_letter *letter = ring->dead;
    status =
        letter ? qn__ring_hand_out(ring, "qn_ring_dead_letter", &letter->message, letter + 1, message,
                                   payload, size)
               : qn__ring_fail(ring, QN_ERROR_STATE, "qn_ring_dead_letter: ring '%s' has none", ring->label);
    if (!status) ring->dead = letter->next;
    if (!status) qn__ring_block_died(ring, &letter->message);
    pthread_mutex_unlock(&ring->lock);
    if (!status) ring->allocator.release(ring->allocator.user, letter);
    return status;
}

/* ---- again ---- */

/* What the kernel has left is as after a launch's end. Under the lock, when it has ended. */
static qn_status clear(qn_ring *ring) {
    const uint32_t zero = 0, line = QN__RING_LINE * sizeof zero;
    qn_status status = collect_dead(ring);
    if (!status) status = collect_dead_mail(ring);
    if (!status) status = qn__ring_queue_reset(&ring->out, ring->stream);
    if (!status)
        status =
            qn_stream_fill(ring->stream, ring->in.ends, QN__RING_IDLES * line, 2 * line, &zero, sizeof zero);
    if (!status && ring->checkpoint) status = copy_state(ring, ring->checkpoint, ring->desc.state);
    qn__ring_group *groups = qn__ring_groups(ring);
    for (uint32_t i = 0; i < ring->desc.groups; i++) {
        atomic_store(&groups[i].done, atomic_load(&groups[i].taken));
        atomic_store(&groups[i].failed, 0);
        atomic_store(&groups[i].status, QN__GROUP_ABSENT);
        ring->watched[i].since_ns = 0;
    }
    qn__ring_tell(ring, QN__RING_PAUSE);
    return status;
}

/* The id of a dead letter that somebody may wait for, each once; 0: there is none more. */
static uint64_t next_dead_call(qn_ring *ring) {
    uint64_t id = 0;
    pthread_mutex_lock(&ring->lock);
    for (qn__ring_letter *letter = ring->dead; letter && !id; letter = letter->next) {
        if (!(letter->message.flags & QN__RING_CALL)) continue;
        id = letter->message.id;
        letter->message.flags &= ~(uint32_t)QN__RING_CALL;
    }
    pthread_mutex_unlock(&ring->lock);
    return id;
}

static qn_status restart(qn_ring *ring, uint64_t timeout_ns) {
    const int state = atomic_load(&ring->state);
    if (state != QN_RING_FAILED)
        return qn__ring_fail(ring, QN_ERROR_STATE, "qn_ring_restart: ring '%s' is %s", ring->label,
                             qn__ring_state_name(state));
    const qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    qn_status status = qn_stream_wait(ring->stream, timeout_ns);
    bool ended = true;
    if (status == QN_ERROR_TIMEOUT || status == QN_ERROR_DEVICE_LOST) return status;
    /* One of a safe program may have noted an access in a wait that was in vain. */
    if (status && !qn_event_done(ring->ended, &ended) && !ended)
        return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "qn_ring_restart: the kernel of ring '%s' has not ended",
                             ring->label);
    pthread_mutex_lock(&ring->lock);
    status = qn__ring_mirror_recover(ring);
    pthread_mutex_unlock(&ring->lock);
    if (!status) status = qn__ring_save_output(ring);
    pthread_mutex_lock(&ring->lock);
    if (!status) status = clear(ring);
    if (!status) status = qn__ring_submit(ring);
    if (!status) {
        atomic_fetch_add(&ring->recoveries, 1);
        atomic_store(&ring->state, QN_RING_LAUNCHED);
    }
    pthread_mutex_unlock(&ring->lock);
    for (uint64_t id; (id = next_dead_call(ring)) != 0;) qn__ring_end_call(ring, id, QN_ERROR_KERNEL_FAILED);
    return status ? status : qn__ring_await_launch(ring, qn__ring_wait_left(&wait));
}

qn_status qn_ring_restart(qn_ring *ring, uint64_t timeout_ns) {
    qn_status status = qn__ring_change_begin(ring, "qn_ring_restart");
    if (status) return status;
    status = restart(ring, timeout_ns);
    /* Not before: the ring's thread would restart what still is failed. */
    if (!status || atomic_load(&ring->state) == QN_RING_LAUNCHED) qn__ring_supervise_anew(ring);
    return qn__ring_change_end(ring, status);
}
