/* Stepping aside: a resident kernel leaves the device where its driver wants it free for a while (qn_stream_set_aside), and comes back.

   It parks between two messages as one does that is idle, though it may never do so by itself: what it is told has a bit for that beside
   the command. Who launches it next takes the bit away, and waits until it may. So a launch that was under way as the bit was set
   leaves, too, with all of its work-groups, though it may come back by then. `leave` takes none of the ring's locks, since whoever holds
   them may be at a launch that waits for the driver. */
#include <time.h>

#include "ring/internal.h"

static void pause_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL); }

/* What DROP ends needs not leave. */
static void tell(qn_ring *ring, uint32_t command, bool leaves) {
    const uint32_t bit = leaves && command != QN__RING_DROP ? QN__RING_LEAVE : 0;
    atomic_store(&ring->control->command, command | bit);
}

void qn__ring_tell(qn_ring *ring, uint32_t command) {
    pthread_mutex_lock(&ring->command_lock);
    tell(ring, command, atomic_load(&ring->has_left));
    pthread_mutex_unlock(&ring->command_lock);
}

uint32_t qn__ring_command(const qn_ring *ring) {
    return atomic_load_explicit(&ring->control->command, memory_order_relaxed) % QN__RING_LEAVE;
}

void qn__ring_leave(void *user) {
    qn_ring *ring = user;
    pthread_mutex_lock(&ring->command_lock);
    atomic_fetch_add(&ring->aside, 1);
    atomic_store(&ring->has_left, true);
    tell(ring, qn__ring_command(ring), true);
    pthread_mutex_unlock(&ring->command_lock);
}

static bool is_told_to_leave(const qn_ring *ring) {
    return atomic_load(&ring->control->command) >= QN__RING_LEAVE && !atomic_load(&ring->aside);
}

/* Whether it is to be waited for until the kernel has left. */
static bool is_leaving(const qn_ring *ring) {
    return is_told_to_leave(ring) && !qn__ring_is_parked(ring) && !atomic_load(&ring->is_closing) &&
           atomic_load(&ring->state) != QN_RING_FAILED;
}

/* Mostly it has left by now, and is launched again here. A launch that was about to begin meanwhile leaves at its first look, and as nobody
   else may ask for it then, it is waited for, for a while; where a handler takes longer than that whoever calls next launches it. */
void qn__ring_come_back(void *user) {
    enum { TIMES = 3, LOOKS = 400 };
    qn_ring *ring = user;
    atomic_fetch_sub(&ring->aside, 1);
    int times = 0;
    do {
        for (int looks = 0; looks < LOOKS && is_leaving(ring); looks++) pause_a_little();
        qn__ring_kick(ring); /* whoever waits tries again, and is told */
    } while (++times < TIMES && is_told_to_leave(ring));
}

void qn__ring_stay(qn_ring *ring) {
    pthread_mutex_lock(&ring->command_lock);
    if (!atomic_load(&ring->aside)) {
        atomic_store(&ring->has_left, false);
        tell(ring, qn__ring_command(ring), false);
    }
    pthread_mutex_unlock(&ring->command_lock);
}

/* A ring that closes does not wait: whoever called `back` waits for the ring's lock then, and the end of the ring for that. */
void qn__ring_await_turn(const qn_ring *ring) {
    while (atomic_load(&ring->aside) && !atomic_load(&ring->is_closing)) pause_a_little();
}

/* A loop by hand that never parks may count on that. */
qn_status qn__ring_offer_to_leave(qn_ring *ring, bool by_hand) {
    if (by_hand && !ring->parks) return QN_OK;
    return qn_stream_set_aside(ring->stream, qn__ring_leave, qn__ring_come_back, ring);
}
