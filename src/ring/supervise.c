/* Rings that are launched again by themselves when they fail: the ring's thread does it, as a program would by qn_ring_restart, unless
   it has done so too often. */
#include <string.h>

#include "ring/internal.h"

enum { RESTARTS = 3, MOST_RESTARTS = 16 };
#define SECOND   ((uint64_t)1000000000)
#define PATIENCE (60 * SECOND) /* with a kernel that has failed, and is told to end */

qn_status qn_ring_supervise(qn_ring *ring, const qn_ring_supervision *supervision) {
    static const char function[] = "qn_ring_supervise";
    qn_status status = qn__ring_check(ring, function);
    if (status) return status;
    const qn_ring_supervision none = {0}, *given = supervision ? supervision : &none;
    if (given->restarts > MOST_RESTARTS)
        return qn__ring_fail(ring, QN_ERROR_RANGE, "%s: restarts is %u; at most %d is possible", function,
                             (unsigned)given->restarts, MOST_RESTARTS);
    if (given->checkpoint_ns && !ring->desc.state)
        return qn__ring_fail(ring, QN_ERROR_STATE, "%s: ring '%s' has no state to keep", function,
                             ring->label);
    if (atomic_load(&ring->state) != QN_RING_CREATED)
        return qn__ring_fail(ring, QN_ERROR_STATE, "%s: ring '%s' is %s", function, ring->label,
                             qn__ring_state_name(atomic_load(&ring->state)));
    qn__ring_supervisor *own = &ring->supervisor;
    own->policy = *given;
    if (!own->policy.restarts) own->policy.restarts = RESTARTS;
    if (!own->policy.within_ns) own->policy.within_ns = 60 * SECOND;
    if (!own->policy.backoff_ns) own->policy.backoff_ns = SECOND / 100;
    pthread_mutex_lock(&ring->receive_lock);
    status = qn__ring_service_start(ring, function);
    if (!status) atomic_store(&own->is_on, true);
    qn__ring_service_due(ring);
    pthread_mutex_unlock(&ring->receive_lock);
    return status;
}

bool qn__ring_is_supervised(const qn_ring *ring) {
    return atomic_load(&ring->supervisor.is_on) && !atomic_load(&ring->supervisor.gave_up);
}

void qn__ring_supervise_anew(qn_ring *ring) {
    qn__ring_supervisor *own = &ring->supervisor;
    if (!atomic_load(&own->gave_up)) return;
    memset(own->times, 0, sizeof own->times); /* the ring's thread does not look at them now */
    atomic_store(&own->gave_up, false);
    pthread_mutex_lock(&ring->receive_lock);
    qn__ring_service_due(ring);
    pthread_mutex_unlock(&ring->receive_lock);
}

/* Restarts of the last while. */
static uint32_t count_recent(const qn__ring_supervisor *own, uint64_t now) {
    uint32_t recent = 0;
    for (uint32_t i = 0; i < own->policy.restarts; i++)
        recent += own->times[i] && now - own->times[i] < own->policy.within_ns;
    return recent;
}

static void restart(qn_ring *ring, uint64_t now) {
    qn__ring_supervisor *own = &ring->supervisor;
    own->times[own->count++ % own->policy.restarts] = now;
    own->due_ns = 0;
    /* A kernel that comes later than that finds what it has been told. Who is told that the ring is in another state was late: a
       program has restarted it by hand, and activates it. */
    const qn_status launched = qn_ring_restart(ring, SECOND);
    if (launched && (launched != QN_ERROR_TIMEOUT || atomic_load(&ring->state) != QN_RING_LAUNCHED)) return;
    const qn_status active = qn_ring_activate(ring, SECOND);
    if (!active || (active == QN_ERROR_TIMEOUT && atomic_load(&ring->state) == QN_RING_ACTIVE))
        atomic_fetch_add_explicit(&ring->restarts, 1, memory_order_relaxed);
}

/* Whether the launch that failed is over: what waits for that would be in the way of other calls. */
static bool has_ended(const qn_ring *ring) {
    bool done = true;
    return qn_event_done(ring->ended, &done) != QN_OK || done;
}

/* Each restart waits twice as long as the one before. */
static void plan(qn_ring *ring, uint64_t now) {
    qn__ring_supervisor *own = &ring->supervisor;
    const uint32_t recent = count_recent(own, now);
    if (recent < own->policy.restarts)
        own->due_ns = now + (own->policy.backoff_ns << recent);
    else
        atomic_store(&own->gave_up, true);
}

void qn__ring_supervise(qn_ring *ring) {
    qn__ring_supervisor *own = &ring->supervisor;
    if (!qn__ring_is_supervised(ring)) return;
    const uint64_t now = qn__ring_now();
    const int state = atomic_load(&ring->state);
    if (state == QN_RING_FAILED) {
        if (!own->due_ns) plan(ring, now);
        const bool is_due = own->due_ns && now >= own->due_ns;
        if (is_due && (has_ended(ring) || now - own->due_ns > PATIENCE)) restart(ring, now);
    } else if (state == QN_RING_ACTIVE && own->policy.checkpoint_ns &&
               now - own->checkpoint_ns >= own->policy.checkpoint_ns) {
        own->checkpoint_ns = now;
        qn_ring_checkpoint(ring, SECOND);
    }
}
