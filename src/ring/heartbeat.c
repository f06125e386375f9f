/* Whether a resident kernel still runs, by what its reports say: it looks for messages, which counts its heartbeat up, or takes one. One that
   has parked says so, and one that has a message is under the handler's time, not under this. */
#include "ring/internal.h"

enum { LOOKS = 4 /* at least: a process that was stopped meanwhile has not waited */ };

/* Changes while a work-group looks or takes messages. */
static uint32_t count_signs(const qn_ring *ring, bool *runs, bool *is_busy) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    uint32_t signs = 0;
    *runs = *is_busy = false;
    for (uint32_t i = 0; i < ring->desc.groups; i++) {
        const uint32_t taken = atomic_load(&groups[i].taken);
        if (atomic_load(&groups[i].status) == QN__GROUP_RUNNING) *runs = true;
        if (taken != atomic_load(&groups[i].done)) *is_busy = true;
        signs += atomic_load(&groups[i].heartbeat) + taken + atomic_load(&groups[i].passed);
    }
    return signs;
}

uint64_t qn__ring_stands_still(qn_ring *ring) {
    bool runs, is_busy;
    const uint32_t command = qn__ring_command(ring), signs = count_signs(ring, &runs, &is_busy);
    const bool is_awaited = ring->desc.mode == QN_RING_RESIDENT && runs && !is_busy &&
                            (command == QN__RING_RUN || command == QN__RING_DRAIN) &&
                            qn__ring_queue_is_pending(&ring->in);
    const uint64_t now = is_awaited ? qn__ring_now() : 0, passed = now - ring->heart.looked_ns;
    const bool is_still = is_awaited && ring->heart.looked_ns && signs == ring->heart.signs;
    const uint64_t most = ring->heart.bound_ns / LOOKS + 1;
    ring->heart.still_ns = is_still ? ring->heart.still_ns + (passed < most ? passed : most) : 0;
    ring->heart.looked_ns = now;
    ring->heart.signs = signs;
    return ring->heart.still_ns > ring->heart.bound_ns ? ring->heart.still_ns : 0;
}
