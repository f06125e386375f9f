/* Receiving, and calls that wait for their reply. Whoever waits for a message takes what comes: a reply goes to the call that waits
   for it, the rest into the inbox, from which qn_ring_receive takes first. */
#include <string.h>

#include "ring/internal.h"

/* ---- what comes ---- */

static qn__ring_pending **find_pending(qn_ring *ring, uint64_t id) {
    qn__ring_pending **at = &ring->pending;
    while (*at && (*at)->id != id) at = &(*at)->next;
    return at;
}

/* One more message has come. Under the receive lock: nobody else writes these words. */
static void note(qn_ring *ring, const qn_ring_message *message) {
    const uint64_t received = atomic_load_explicit(&ring->received, memory_order_relaxed);
    atomic_store_explicit(&ring->received, received + 1, memory_order_relaxed);
    if (atomic_load_explicit(&ring->heard, memory_order_relaxed) < message->clock)
        atomic_store_explicit(&ring->heard, message->clock, memory_order_relaxed);
    if (message->correlation) qn__ring_note_latency(ring, qn__ring_now() - message->time_ns);
    if (ring->is_traced) qn__ring_trace_got(ring, message);
}

void qn__ring_add_pending(qn_ring *ring, qn__ring_pending *call) {
    call->next = NULL;
    *ring->pending_end = call;
    ring->pending_end = &call->next;
}

static void unlink_pending(qn_ring *ring, qn__ring_pending **at) {
    qn__ring_pending *call = *at;
    *at = call->next;
    if (ring->pending_end == &call->next) ring->pending_end = at;
}

bool qn__ring_remove_pending(qn_ring *ring, qn__ring_pending *call) {
    qn__ring_pending **at = find_pending(ring, call->id);
    if (!*at) return false;
    unlink_pending(ring, at);
    return true;
}

static void answer(qn_ring *ring, qn__ring_pending **at, const qn__ring_slot *slot) {
    qn__ring_pending *call = *at;
    call->got = slot->message.size;
    if (call->got <= call->size && call->got) memcpy(call->reply, slot + 1, call->got);
    call->message = slot->message;
    call->done = true;
    unlink_pending(ring, at);
    if (call->callback) qn__ring_service_done(ring, call);
}

qn__ring_letter *qn__ring_letter_make(const qn_ring *ring, const qn__ring_slot *slot) {
    const size_t size = sizeof(qn__ring_letter) + slot->message.size;
    qn__ring_letter *letter = ring->allocator.allocate(ring->allocator.user, size);
    if (!letter) {
        qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "out of host memory for a ring's message");
        return NULL;
    }
    letter->next = NULL;
    letter->message = slot->message;
    memcpy(letter + 1, slot + 1, slot->message.size);
    return letter;
}

/* Keeps a message for qn_ring_receive. */
static qn_status keep(qn_ring *ring, const qn__ring_slot *slot) {
    qn__ring_letter *letter = qn__ring_letter_make(ring, slot);
    if (!letter) return QN_ERROR_OUT_OF_MEMORY;
    *ring->inbox_end = letter;
    ring->inbox_end = &letter->next;
    atomic_fetch_add(&ring->num_letters, 1);
    return QN_OK;
}

/* What becomes of the first message. */
typedef enum way { DELIVERED, STUCK, TO_RECEIVE } way;

/* Sends it on to a call, or to a ring of another device, which may be full. Under the receive lock. */
static way deliver(qn_ring *ring, const qn__ring_slot *slot) {
    if (QN__RING_LINK_OF(slot->message.flags)) {
        if (!qn__ring_route(ring, slot)) return STUCK;
        qn__ring_queue_drop_first(&ring->out);
        return DELIVERED;
    }
    if (!(slot->message.flags & QN__RING_CALL)) return TO_RECEIVE;
    /* Who calls is not told of a block, and has it not to free. */
    qn__ring_block_came(ring, &slot->message, false);
    qn__ring_pending **call = find_pending(ring, slot->message.correlation);
    if (*call) {
        answer(ring, call, slot);
        note(ring, &slot->message);
    } else {
        atomic_fetch_add_explicit(&ring->late, 1, memory_order_relaxed);
    }
    qn__ring_queue_drop_first(&ring->out);
    return DELIVERED;
}

static bool is_empty(const qn_ring *ring) { return qn__ring_queue_is_empty(&ring->out); }

void qn__ring_end_call(qn_ring *ring, uint64_t id, qn_status status) {
    pthread_mutex_lock(&ring->receive_lock);
    qn__ring_pending **at = find_pending(ring, id), *call = *at;
    if (call) {
        call->status = status;
        call->done = true;
        unlink_pending(ring, at);
        if (call->callback) qn__ring_service_done(ring, call);
    }
    pthread_mutex_unlock(&ring->receive_lock);
}

qn_status qn__ring_sort_out(qn_ring *ring, bool keeps, const bool *enough) {
    qn_status status = QN_OK;
    while (!*enough && !status) {
        const qn__ring_slot *slot = qn__ring_queue_first(&ring->out);
        if (!slot) break;
        const way where = deliver(ring, slot);
        if (where == DELIVERED) continue;
        if (where == STUCK || !keeps) break;
        status = keep(ring, slot);
        if (!status) qn__ring_queue_drop_first(&ring->out);
    }
    return status;
}

/* One look at the output by a call that waits. */
static qn_status sort_out(qn_ring *ring, const qn__ring_pending *call, bool *done) {
    pthread_mutex_lock(&ring->receive_lock);
    const qn_status status = qn__ring_sort_out(ring, true, &call->done);
    *done = call->done;
    pthread_mutex_unlock(&ring->receive_lock);
    return status;
}

qn_status qn__ring_save_output(qn_ring *ring) {
    const qn__ring_pending none = {.done = false};
    bool done;
    return sort_out(ring, &none, &done);
}

static void forget(qn_ring *ring, qn__ring_pending *call) {
    pthread_mutex_lock(&ring->receive_lock);
    qn__ring_remove_pending(ring, call);
    pthread_mutex_unlock(&ring->receive_lock);
}

qn_status qn__ring_pass_time(qn_ring *ring, const qn__ring_wait *wait) {
    enum { EVERY = 64 };
    const bool is_mirrored = ring->mirror != NULL; /* whose replies nobody sees who does not ask */
    if (!qn__ring_wait_is_long(wait)) {
        const bool is_due = wait->rounds % EVERY == (is_mirrored ? 0 : EVERY - 1);
        return (ring->net || is_mirrored) && is_due ? qn__ring_kick_net(ring, false) : QN_OK;
    }
    const qn_status status = qn__ring_look(ring);
    return status ? status : qn__ring_kick_net(ring, true);
}

static qn_status pass_time(qn_ring *ring, qn__ring_wait *wait, bool *in_time) {
    const qn_status status = qn__ring_pass_time(ring, wait);
    *in_time = !status && qn__ring_wait_more(wait);
    return status;
}

/* Whether the ring has stopped since the call's message was put in. Looked at before the output, which holds all answers then. */
static bool has_stopped(const qn_ring *ring, const qn__ring_wait *wait) {
    return qn__ring_wait_is_long(wait) && atomic_load(&ring->stops) != wait->stops;
}

/* Of one that has stopped: what the output still has of a message is all that will come of it. */
static bool holds_nothing(qn_ring *ring) {
    pthread_mutex_lock(&ring->receive_lock);
    const bool holds = qn__ring_queue_first(&ring->out) != NULL;
    pthread_mutex_unlock(&ring->receive_lock);
    return !holds;
}

static qn_status await_reply(qn_ring *ring, qn__ring_pending *call, qn__ring_wait *wait) {
    qn_status status = QN_OK;
    bool done = false, in_time = true, is_dropped = false;
    while (!done && !status && in_time && !is_dropped) {
        const bool stopped = has_stopped(ring, wait);
        if (!is_empty(ring) || qn__ring_wait_is_long(wait)) status = sort_out(ring, call, &done);
        is_dropped = stopped && !done && holds_nothing(ring);
        if (!done && !status && !is_dropped) status = pass_time(ring, wait, &in_time);
    }
    if (status) sort_out(ring, call, &done); /* what came before a failure holds */
    if (!done) forget(ring, call);
    if (status && !call->done) return status;
    if (is_dropped && !call->done)
        return qn__ring_fail(ring, QN_ERROR_STATE,
                             "qn_ring_call: ring '%s' was stopped, and message %llu dropped", ring->label,
                             (unsigned long long)call->id);
    if (!call->done)
        return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "qn_ring_call: ring '%s' has not answered in %llu us",
                             ring->label, (unsigned long long)(wait->timeout_ns / 1000));
    if (call->status == QN_ERROR_STATE)
        return qn__ring_fail(
            ring, QN_ERROR_STATE,
            "qn_ring_call: the queue of ring '%s' was full, and message %llu, its oldest, dropped",
            ring->label, (unsigned long long)call->id);
    if (call->status)
        return qn__ring_fail(ring, call->status,
                             "qn_ring_call: ring '%s' failed at message %llu, which is a dead letter now",
                             ring->label, (unsigned long long)call->id);
    if (call->got > call->size)
        return qn__ring_fail(ring, QN_ERROR_RANGE,
                             "qn_ring_call: the reply has %u bytes; there is room for %zu",
                             (unsigned)call->got, call->size);
    qn__ring_kick_after(ring);
    return QN_OK;
}

qn_status qn_ring_call(qn_ring *ring, const void *payload, size_t size, void *reply, size_t reply_size,
                       uint64_t timeout_ns) {
    qn_status status = qn__ring_check_send(ring, "qn_ring_call", NULL, payload, size);
    if (status) return status;
    if (reply_size && !reply) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_call: reply is NULL");
    const qn_ring_message full = qn__ring_address(ring, NULL, size, QN__RING_CALL, 1);
    qn__ring_pending call = {.id = full.id, .reply = reply, .size = reply_size};
    qn__ring_wait wait = qn__ring_wait_since(full.time_ns, timeout_ns);
    pthread_mutex_lock(&ring->receive_lock);
    qn__ring_add_pending(ring, &call);
    pthread_mutex_unlock(&ring->receive_lock);
    status = qn__ring_put(ring, "qn_ring_call", &full, payload, &wait);
    if (status) {
        forget(ring, &call);
        return status;
    }
    wait.rounds = 0;
    qn__ring_queue_warm(&ring->in, qn__ring_band(ring, full.priority), (uint32_t)size);
    return await_reply(ring, &call, &wait);
}

/* ---- receiving ---- */

qn_status qn__ring_hand_out(qn_ring *ring, const char *function, const qn_ring_message *from,
                            const void *data, qn_ring_message *message, void *payload, size_t size) {
    if (message) *message = *from;
    if (from->size > size)
        return qn__ring_fail(ring, QN_ERROR_RANGE, "%s: the payload has %u bytes; there is room for %zu",
                             function, (unsigned)from->size, size);
    if (from->size) memcpy(payload, data, from->size);
    return QN_OK;
}

static qn_status take_letter(qn_ring *ring, qn_ring_message *message, void *payload, size_t size) {
    qn__ring_letter *letter = ring->inbox;
    const qn_status status =
        qn__ring_hand_out(ring, "qn_ring_receive", &letter->message, letter + 1, message, payload, size);
    if (status) return status;
    ring->inbox = letter->next;
    if (!ring->inbox) ring->inbox_end = &ring->inbox;
    atomic_fetch_sub(&ring->num_letters, 1);
    note(ring, &letter->message);
    qn__ring_block_came(ring, &letter->message, true);
    ring->allocator.release(ring->allocator.user, letter);
    return QN_OK;
}

/* Where messages go. */
typedef struct target {
    qn_ring_message *messages; /* may be NULL */
    unsigned char *payloads;
    size_t stride;
    uint32_t count, got;
} target;

/* The next message, if there is one; *more is cleared where there is none. Under the receive lock. */
static qn_status take_one(qn_ring *ring, const target *to, bool *more) {
    qn_ring_message *message = to->messages ? to->messages + to->got : NULL;
    unsigned char *payload = to->payloads ? to->payloads + to->got * to->stride : NULL;
    if (ring->inbox) return take_letter(ring, message, payload, to->stride);
    for (;;) {
        const qn__ring_slot *slot = qn__ring_queue_first(&ring->out);
        const way where = slot ? deliver(ring, slot) : STUCK;
        if (where == DELIVERED) continue;
        *more = where == TO_RECEIVE;
        if (!*more) return QN_OK;
        const qn_status status = qn__ring_hand_out(ring, "qn_ring_receive", &slot->message, slot + 1, message,
                                                   payload, to->stride);
        if (status) return status;
        note(ring, &slot->message);
        qn__ring_block_came(ring, &slot->message, true);
        qn__ring_queue_drop_first(&ring->out);
        return QN_OK;
    }
}

/* One look. */
static qn_status take(qn_ring *ring, target *to) {
    qn_status status = QN_OK;
    pthread_mutex_lock(&ring->receive_lock);
    for (bool more = true; more && !status && to->got < to->count;) {
        status = take_one(ring, to, &more);
        if (more && !status) to->got++;
    }
    pthread_mutex_unlock(&ring->receive_lock);
    return to->got ? QN_OK : status;
}

static qn_status receive(qn_ring *ring, const char *function, target *to, uint64_t timeout_ns) {
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    qn_status failure = QN_OK; /* before which something may have come */
    for (bool in_time = true;;) {
        qn_status status = QN_OK;
        const int state = atomic_load(&ring->state);
        if (!is_empty(ring) || atomic_load_explicit(&ring->num_letters, memory_order_relaxed))
            status = take(ring, to);
        if (status) return status;
        if (to->got) {
            qn__ring_kick_after(ring);
            return QN_OK;
        }
        if (failure) return failure;
        if (state == QN_RING_CREATED || state == QN_RING_STOPPED)
            return qn__ring_fail(ring, QN_ERROR_STATE, "%s: ring '%s' is %s, and nothing is left of it",
                                 function, ring->label, qn__ring_state_name(state));
        if (!in_time)
            return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "%s: nothing came from ring '%s' in %llu us",
                                 function, ring->label, (unsigned long long)(timeout_ns / 1000));
        failure = pass_time(ring, &wait, &in_time);
    }
}

qn_status qn_ring_receive(qn_ring *ring, qn_ring_message *message, void *payload, size_t size,
                          uint64_t timeout_ns) {
    const qn_status status = qn__ring_check(ring, "qn_ring_receive");
    if (status) return status;
    if (size && !payload) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_receive: payload is NULL");
    target to = {message, payload, size, 1, 0};
    return receive(ring, "qn_ring_receive", &to, timeout_ns);
}

qn_status qn_ring_receive_batch(qn_ring *ring, qn_ring_message *messages, void *payloads, size_t stride,
                                uint32_t count, uint32_t *received, uint64_t timeout_ns) {
    if (received) *received = 0;
    qn_status status = qn__ring_check(ring, "qn_ring_receive_batch");
    if (status) return status;
    if (!received || (stride && !payloads))
        return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_receive_batch: %s is NULL",
                             received ? "payloads" : "received");
    if (count == 0) return QN_OK;
    target to = {messages, payloads, stride, count, 0};
    status = receive(ring, "qn_ring_receive_batch", &to, timeout_ns);
    *received = to.got;
    return status;
}
