/* Sending: messages of the host get their number and time, and go into their band, or wherever the policy says. */
#include <string.h>

#include "ring/internal.h"

qn_status qn__ring_check_send(qn_ring *ring, const char *function, const qn_ring_message *message,
                              const void *payload, size_t size) {
    qn_status status = qn__ring_check(ring, function);
    if (status) return status;
    const int state = atomic_load_explicit(&ring->state, memory_order_acquire);
    if (state == QN_RING_FAILED) status = qn__ring_look(ring);
    if (status) return status;
    const bool restarts = state == QN_RING_FAILED;
    if (!restarts && (state < QN_RING_LAUNCHED || state > QN_RING_PAUSED))
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

/* S. Kulkarni et al. 2014: the time where that is later than all that was seen, else one more than that. A clock is the time in ns of
   which the last 16 bits count. */
static uint64_t tick(qn_ring *ring, uint64_t now, uint64_t seen, uint32_t count) {
    const uint64_t time = (now + ring->clock_offset) & ~(uint64_t)0xffff;
    const uint64_t heard = atomic_load_explicit(&ring->heard, memory_order_relaxed);
    uint64_t last = atomic_load_explicit(&ring->clock, memory_order_relaxed), next;
    if (seen < heard) seen = heard;
    do {
        next = (last > seen ? last : seen) + 1;
        if (next < time) next = time;
    } while (!atomic_compare_exchange_weak_explicit(&ring->clock, &last, next + count - 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return next;
}

qn_ring_message qn__ring_address(qn_ring *ring, const qn_ring_message *message, size_t size, uint32_t flags,
                                 uint32_t count) {
    qn_ring_message full = message ? *message : (qn_ring_message){0};
    full.id = atomic_fetch_add_explicit(&ring->next_id, count, memory_order_relaxed) + 1;
    full.time_ns = qn__ring_now();
    full.clock = tick(ring, full.time_ns, full.clock, count);
    full.size = (uint32_t)size;
    full.flags = flags;
    return full;
}

static qn_status no_room(qn_ring *ring, const char *function, uint64_t timeout_ns) {
    return qn__ring_fail(ring, QN_ERROR_TIMEOUT,
                         "%s: the queue of ring '%s' was full for %llu us (%u messages)", function,
                         ring->label, (unsigned long long)(timeout_ns / 1000), (unsigned)ring->desc.capacity);
}

/* Makes room by the oldest message of the band. */
static void drop_oldest(qn_ring *ring, uint32_t band) {
    uint64_t call = 0;
    pthread_mutex_lock(&ring->drop_lock);
    if (qn__ring_queue_revoke(&ring->in, band, &ring->control->revoked[band], &call))
        atomic_fetch_add_explicit(&ring->dropped[band], 1, memory_order_relaxed);
    pthread_mutex_unlock(&ring->drop_lock);
    if (call) qn__ring_end_call(ring, call, QN_ERROR_STATE);
}

/* What is revoked is told by a position, which must not look like a later one when positions have wrapped. */
static void follow_up(qn_ring *ring, uint32_t band) {
    _Atomic uint32_t *revoked = &ring->control->revoked[band];
    uint32_t at = atomic_load_explicit(&ring->in.at[band], memory_order_relaxed);
    if (at - atomic_load_explicit(revoked, memory_order_relaxed) < 1u << 30) return;
    pthread_mutex_lock(&ring->drop_lock);
    /* Others may have gone on, and revoked what is behind the position that was loaded. */
    at = atomic_load_explicit(&ring->in.at[band], memory_order_relaxed);
    if (at - atomic_load_explicit(revoked, memory_order_relaxed) >= 1u << 30)
        atomic_store_explicit(revoked, at - ring->in.capacity, memory_order_relaxed);
    pthread_mutex_unlock(&ring->drop_lock);
}

/* A thread is at the queue only while the ring takes messages: it says so first and looks at the state then, and who stops the ring
   sets the state and then waits for those that are there. They do not wait in between. */
static qn_status begin_put(qn_ring *ring, const char *function) {
    atomic_fetch_add(&ring->senders, 1);
    const int state = atomic_load(&ring->state);
    if ((state >= QN_RING_LAUNCHED && state <= QN_RING_PAUSED) || state == QN_RING_FAILED) return QN_OK;
    atomic_fetch_sub(&ring->senders, 1);
    return qn__ring_fail(ring, QN_ERROR_STATE, "%s: ring '%s' is %s", function, ring->label,
                         qn__ring_state_name(state));
}

static void end_put(qn_ring *ring) { atomic_fetch_sub_explicit(&ring->senders, 1, memory_order_release); }

/* Puts a message into its band. *put: there was room for it, by the oldest message where the policy is so. */
static qn_status put_one(qn_ring *ring, const char *function, uint32_t band, const qn_ring_message *full,
                         const void *payload, qn__ring_wait *wait, bool *put) {
    const qn_status status = begin_put(ring, function);
    if (status) return status;
    *put = qn__ring_queue_put(&ring->in, band, full, payload);
    if (!*put && qn__ring_mirror_look(ring)) *put = qn__ring_queue_put(&ring->in, band, full, payload);
    while (!*put && ring->desc.policy == QN_RING_DROP_OLDEST) {
        drop_oldest(ring, band);
        *put = qn__ring_queue_put(&ring->in, band, full, payload);
    }
    if (*put) atomic_fetch_add_explicit(&ring->sent[band], 1, memory_order_relaxed);
    wait->stops = atomic_load_explicit(&ring->stops, memory_order_relaxed); /* it cannot stop in between */
    wait->recoveries = atomic_load(&ring->recoveries);
    end_put(ring);
    return QN_OK;
}

/* What to do about a full band, by the policy; *put_again: there may be room now. */
static qn_status make_room(qn_ring *ring, const char *function, uint32_t band, bool is_call,
                           qn__ring_wait *wait, bool *put_again) {
    *put_again = true;
    if (ring->desc.policy == QN_RING_DROP_NEWEST) {
        *put_again = false;
        atomic_fetch_add_explicit(&ring->dropped[band], 1, memory_order_relaxed);
        if (!is_call) return QN_OK;
        return qn__ring_fail(ring, QN_ERROR_STATE,
                             "%s: the queue of ring '%s' was full, and the message dropped", function,
                             ring->label);
    }
    if (ring->desc.policy == QN_RING_REJECT) return no_room(ring, function, 0);
    qn_status status = qn__ring_kick(ring);
    if (!status && qn__ring_wait_is_long(wait)) status = qn__ring_look(ring);
    if (!status && !qn__ring_wait_more(wait)) status = no_room(ring, function, wait->timeout_ns);
    return status;
}

qn_status qn__ring_put(qn_ring *ring, const char *function, const qn_ring_message *full, const void *payload,
                       qn__ring_wait *wait) {
    const uint32_t band = qn__ring_band(ring, full->priority);
    for (bool put = false, put_again = true; !put;) {
        qn_status status = put_one(ring, function, band, full, payload, wait, &put);
        if (!status && !put)
            status = make_room(ring, function, band, full->flags & QN__RING_CALL, wait, &put_again);
        if (status || !put_again) return status;
    }
    if (ring->is_traced) qn__ring_trace_sent(ring, full, 1);
    if (ring->desc.policy == QN_RING_DROP_OLDEST) follow_up(ring, band);
    const qn_status status = qn__ring_kick_after(ring);
    if (atomic_load_explicit(&ring->service.sleeps, memory_order_relaxed)) qn__ring_service_wake(ring);
    return status;
}

/* Whether a message has to be sent. */
static bool is_new(qn_ring *ring, uint64_t correlation) {
    if (!ring->window || !correlation) return true;
    pthread_mutex_lock(&ring->drop_lock);
    const bool added = qn__ring_window_add(ring->window, correlation);
    pthread_mutex_unlock(&ring->drop_lock);
    if (!added) atomic_fetch_add_explicit(&ring->duplicates, 1, memory_order_relaxed);
    return added;
}

/* A message that was not sent may be sent again. */
static void unlearn(qn_ring *ring, uint64_t correlation) {
    if (!ring->window || !correlation) return;
    pthread_mutex_lock(&ring->drop_lock);
    qn__ring_window_remove(ring->window, correlation);
    pthread_mutex_unlock(&ring->drop_lock);
}

qn_status qn_ring_send(qn_ring *ring, qn_ring_message *message, const void *payload, size_t size,
                       uint64_t timeout_ns) {
    qn_status status = qn__ring_check_send(ring, "qn_ring_send", message, payload, size);
    if (status) return status;
    const qn_ring_message full = qn__ring_address(ring, message, size, 0, 1);
    if (full.deadline_ns && full.time_ns > full.deadline_ns)
        return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "qn_ring_send: the message's deadline is past");
    if (message) *message = full;
    if (message && !is_new(ring, full.correlation)) {
        message->id = 0;
        return QN_OK;
    }
    const uint64_t left = full.deadline_ns ? full.deadline_ns - full.time_ns : timeout_ns;
    qn__ring_wait wait = qn__ring_wait_since(full.time_ns, left < timeout_ns ? left : timeout_ns);
    status = qn__ring_put(ring, "qn_ring_send", &full, payload, &wait);
    if (status) unlearn(ring, full.correlation);
    return status;
}

static qn_status check_batch(qn_ring *ring, const qn_ring_batch *batch) {
    qn_status status = qn__ring_check(ring, "qn_ring_send_batch");
    if (!status && !batch) status = qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_send_batch: batch is NULL");
    if (status) return status;
    const qn_ring_message form = {.priority = batch->priority};
    return qn__ring_check_send(ring, "qn_ring_send_batch", &form, batch->payloads, batch->size);
}

/* Runs of slots, and where there are none, one as the policy says. */
qn_status qn_ring_send_batch(qn_ring *ring, const qn_ring_batch *batch, uint32_t *sent, uint64_t timeout_ns) {
    if (sent) *sent = 0;
    qn_status status = check_batch(ring, batch);
    if (status || batch->count == 0) return status;
    const qn_ring_message form = {.priority = batch->priority, .type = batch->type};
    const uint32_t band = qn__ring_band(ring, form.priority);
    qn_ring_message full = qn__ring_address(ring, &form, batch->size, 0, batch->count);
    qn__ring_wait wait = qn__ring_wait_since(full.time_ns, timeout_ns);
    for (uint32_t i = 0; i < batch->count;) {
        const unsigned char *payload = (const unsigned char *)batch->payloads + (size_t)i * batch->stride;
        status = begin_put(ring, "qn_ring_send_batch");
        if (status) return status;
        uint32_t run =
            qn__ring_queue_put_run(&ring->in, band, &full, payload, batch->stride, batch->count - i);
        atomic_fetch_add_explicit(&ring->sent[band], run, memory_order_relaxed);
        end_put(ring);
        if (!run) {
            status = qn__ring_put(ring, "qn_ring_send_batch", &full, payload, &wait);
            if (status) return status;
            run = 1;
        } else if (ring->is_traced) {
            qn__ring_trace_sent(ring, &full, run);
        }
        qn__ring_wait_anew(&wait);
        i += run;
        full.id += run;
        full.clock += run;
        if (sent) *sent = i;
    }
    if (ring->desc.policy == QN_RING_DROP_OLDEST) follow_up(ring, band);
    status = qn__ring_kick_after(ring);
    if (atomic_load_explicit(&ring->service.sleeps, memory_order_relaxed)) qn__ring_service_wake(ring);
    return status;
}
