/* Sending, receiving, and calls that wait for their reply. Whoever waits for a message takes what comes: a reply goes to the call
   that waits for it, the rest into the inbox, from which qn_ring_receive takes first. */
#include <string.h>

#include "ring/internal.h"

/* ---- sending ---- */

static qn_status check_send(qn_ring *ring, const char *function, const qn_ring_message *message,
                            const void *payload, size_t size) {
    qn_status status = qn__ring_check(ring, function);
    if (status) return status;
    const int state = atomic_load_explicit(&ring->state, memory_order_acquire);
    if (state == QN_RING_FAILED) return qn__ring_look(ring);
    if (state < QN_RING_LAUNCHED || state > QN_RING_PAUSED)
        return qn__ring_fail(ring, QN_ERROR_STATE, "%s: ring '%s' is %s", function, ring->label,
                             qn__ring_state_name(state));
    if (size > ring->desc.message_size)
        return qn__ring_fail(ring, QN_ERROR_RANGE,
                             "%s: the payload has %zu bytes; ring '%s' takes at most %u", function, size,
                             ring->label, (unsigned)ring->desc.message_size);
    if (size && !payload) return qn__ring_fail(ring, QN_ERROR_NULL, "%s: payload is NULL", function);
    if (message && message->priority > 255)
        return qn__ring_fail(ring, QN_ERROR_RANGE, "%s: priority is %u; at most 255 is possible", function,
                             (unsigned)message->priority);
    return QN_OK;
}

static qn_ring_message address(qn_ring *ring, const qn_ring_message *message, size_t size, uint32_t flags) {
    qn_ring_message full = message ? *message : (qn_ring_message){0};
    full.id = atomic_fetch_add_explicit(&ring->next_id, 1, memory_order_relaxed) + 1;
    full.time_ns = qn__ring_now();
    full.size = (uint32_t)size;
    full.flags = flags;
    return full;
}

static qn_status no_room(qn_ring *ring, const char *function, uint64_t timeout_ns) {
    return qn__ring_fail(ring, QN_ERROR_TIMEOUT,
                         "%s: the queue of ring '%s' was full for %llu us (%u messages)", function,
                         ring->label, (unsigned long long)(timeout_ns / 1000), (unsigned)ring->desc.capacity);
}

/* Puts a message in, as the policy says where there is no room. */
static qn_status put(qn_ring *ring, const char *function, const qn_ring_message *full, const void *payload,
                     qn__ring_wait *wait) {
    const uint32_t band = full->priority * ring->desc.bands / 256;
    while (!qn__ring_queue_put(&ring->in, band, full, payload)) {
        if (ring->desc.policy == QN_RING_DROP_NEWEST) {
            atomic_fetch_add(&ring->dropped, 1);
            return QN_OK;
        }
        if (ring->desc.policy == QN_RING_REJECT) return no_room(ring, function, 0);
        qn_status status = qn__ring_kick(ring);
        if (!status && qn__ring_wait_is_long(wait)) status = qn__ring_look(ring);
        if (status) return status;
        if (!qn__ring_wait_more(wait)) return no_room(ring, function, wait->timeout_ns);
    }
    return qn__ring_kick(ring);
}

qn_status qn_ring_send(qn_ring *ring, qn_ring_message *message, const void *payload, size_t size,
                       uint64_t timeout_ns) {
    qn_status status = check_send(ring, "qn_ring_send", message, payload, size);
    if (status) return status;
    const qn_ring_message full = address(ring, message, size, 0);
    if (full.deadline_ns && full.time_ns > full.deadline_ns)
        return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "qn_ring_send: the message's deadline is past");
    if (message) *message = full;
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    return put(ring, "qn_ring_send", &full, payload, &wait);
}

/* ---- what comes ---- */

static qn__ring_pending **find_pending(qn_ring *ring, uint64_t id) {
    qn__ring_pending **at = &ring->pending;
    while (*at && (*at)->id != id) at = &(*at)->next;
    return at;
}

static void answer(qn__ring_pending *call, const qn__ring_slot *slot) {
    call->got = slot->message.size;
    if (call->got <= call->size && call->got) memcpy(call->reply, slot + 1, call->got);
    call->done = true;
}

/* Keeps a message for qn_ring_receive; the oldest go where nobody calls that. */
static qn_status keep(qn_ring *ring, const qn__ring_slot *slot) {
    const size_t size = sizeof(qn__ring_letter) + slot->message.size;
    qn__ring_letter *letter = ring->allocator.allocate(ring->allocator.user, size);
    if (!letter)
        return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "out of host memory for a ring's message");
    letter->next = NULL;
    letter->message = slot->message;
    memcpy(letter + 1, slot + 1, slot->message.size);
    *ring->inbox_end = letter;
    ring->inbox_end = &letter->next;
    atomic_fetch_add(&ring->num_letters, 1);
    return QN_OK;
}

/* Sends the first message on to a call. false: it is for qn_ring_receive. Under the receive lock. */
static bool deliver(qn_ring *ring, const qn__ring_slot *slot) {
    if (!(slot->message.flags & QN__RING_CALL)) return false;
    qn__ring_pending **call = find_pending(ring, slot->message.correlation);
    if (*call) answer(*call, slot); /* else it came too late */
    qn__ring_queue_drop_first(&ring->out);
    return true;
}

static bool is_empty(const qn_ring *ring) { return qn__ring_queue_first(&ring->out) == NULL; }

/* One look at the output by a call that waits. */
static qn_status sort_out(qn_ring *ring, const qn__ring_pending *call, bool *done) {
    qn_status status = QN_OK;
    pthread_mutex_lock(&ring->receive_lock);
    while (!call->done && !status) {
        const qn__ring_slot *slot = qn__ring_queue_first(&ring->out);
        if (!slot) break;
        if (deliver(ring, slot)) continue;
        status = keep(ring, slot);
        if (!status) qn__ring_queue_drop_first(&ring->out);
    }
    *done = call->done;
    pthread_mutex_unlock(&ring->receive_lock);
    return status;
}

static void forget(qn_ring *ring, qn__ring_pending *call) {
    pthread_mutex_lock(&ring->receive_lock);
    qn__ring_pending **at = find_pending(ring, call->id);
    if (*at) *at = call->next;
    pthread_mutex_unlock(&ring->receive_lock);
}

/* What a wait does between two looks. */
static qn_status pass_time(qn_ring *ring, qn__ring_wait *wait, bool *in_time) {
    qn_status status = QN_OK;
    if (qn__ring_wait_is_long(wait)) {
        status = qn__ring_look(ring);
        if (!status) status = qn__ring_kick(ring);
    }
    *in_time = !status && qn__ring_wait_more(wait);
    return status;
}

static qn_status await_reply(qn_ring *ring, qn__ring_pending *call, qn__ring_wait *wait) {
    qn_status status = QN_OK;
    bool done = false, in_time = true;
    while (!done && !status && in_time) {
        if (!is_empty(ring) || qn__ring_wait_is_long(wait)) status = sort_out(ring, call, &done);
        if (!done && !status) status = pass_time(ring, wait, &in_time);
    }
    forget(ring, call);
    if (status) return status;
    if (!call->done)
        return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "qn_ring_call: ring '%s' has not answered in %llu us",
                             ring->label, (unsigned long long)(wait->timeout_ns / 1000));
    if (call->got > call->size)
        return qn__ring_fail(ring, QN_ERROR_RANGE,
                             "qn_ring_call: the reply has %u bytes; there is room for %zu",
                             (unsigned)call->got, call->size);
    return qn__ring_kick(ring);
}

qn_status qn_ring_call(qn_ring *ring, const void *payload, size_t size, void *reply, size_t reply_size,
                       uint64_t timeout_ns) {
    qn_status status = check_send(ring, "qn_ring_call", NULL, payload, size);
    if (status) return status;
    if (reply_size && !reply) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_call: reply is NULL");
    const qn_ring_message full = address(ring, NULL, size, QN__RING_CALL);
    qn__ring_pending call = {.id = full.id, .reply = reply, .size = reply_size};
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    pthread_mutex_lock(&ring->receive_lock);
    call.next = ring->pending;
    ring->pending = &call;
    pthread_mutex_unlock(&ring->receive_lock);
    status = put(ring, "qn_ring_call", &full, payload, &wait);
    if (status) {
        forget(ring, &call);
        return status;
    }
    wait.rounds = 0;
    return await_reply(ring, &call, &wait);
}

/* ---- receiving ---- */

static qn_status hand_out(qn_ring *ring, const qn_ring_message *from, const void *data,
                          qn_ring_message *message, void *payload, size_t size) {
    if (message) *message = *from;
    if (from->size > size)
        return qn__ring_fail(ring, QN_ERROR_RANGE,
                             "qn_ring_receive: the payload has %u bytes; there is room for %zu",
                             (unsigned)from->size, size);
    if (from->size) memcpy(payload, data, from->size);
    return QN_OK;
}

static qn_status take_letter(qn_ring *ring, qn_ring_message *message, void *payload, size_t size) {
    qn__ring_letter *letter = ring->inbox;
    const qn_status status = hand_out(ring, &letter->message, letter + 1, message, payload, size);
    if (status) return status;
    ring->inbox = letter->next;
    if (!ring->inbox) ring->inbox_end = &ring->inbox;
    atomic_fetch_sub(&ring->num_letters, 1);
    ring->allocator.release(ring->allocator.user, letter);
    return QN_OK;
}

/* One look; *got is set where a message was found. */
static qn_status take(qn_ring *ring, qn_ring_message *message, void *payload, size_t size, bool *got) {
    qn_status status = QN_OK;
    pthread_mutex_lock(&ring->receive_lock);
    if (ring->inbox) {
        *got = true;
        status = take_letter(ring, message, payload, size);
    }
    while (!*got) {
        const qn__ring_slot *slot = qn__ring_queue_first(&ring->out);
        if (!slot) break;
        if (deliver(ring, slot)) continue;
        *got = true;
        status = hand_out(ring, &slot->message, slot + 1, message, payload, size);
        if (!status) qn__ring_queue_drop_first(&ring->out);
    }
    pthread_mutex_unlock(&ring->receive_lock);
    return status;
}

qn_status qn_ring_receive(qn_ring *ring, qn_ring_message *message, void *payload, size_t size,
                          uint64_t timeout_ns) {
    qn_status status = qn__ring_check(ring, "qn_ring_receive");
    if (status) return status;
    if (size && !payload) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_receive: payload is NULL");
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    for (bool in_time = true;;) {
        bool got = false;
        const int state = atomic_load(&ring->state);
        if (!is_empty(ring) || atomic_load_explicit(&ring->num_letters, memory_order_relaxed))
            status = take(ring, message, payload, size, &got);
        if (status) return status;
        if (got) return qn__ring_kick(ring);
        if (state == QN_RING_CREATED || state == QN_RING_STOPPED)
            return qn__ring_fail(ring, QN_ERROR_STATE,
                                 "qn_ring_receive: ring '%s' is %s, and nothing is left of it", ring->label,
                                 qn__ring_state_name(state));
        if (!in_time)
            return qn__ring_fail(ring, QN_ERROR_TIMEOUT,
                                 "qn_ring_receive: nothing came from ring '%s' in %llu us", ring->label,
                                 (unsigned long long)(timeout_ns / 1000));
        status = pass_time(ring, &wait, &in_time);
        if (status) return status;
    }
}
