/* How the host waits for a kernel that cannot wake it: it looks, at first all the time, then less and less often. */
#include <sched.h>
#include <time.h>

#include "ring/internal.h"

enum {
    SPINS = 4096,     /* looks before others are let run: some tens of microseconds */
    LOOKS = 64,       /* looks between two of the clock */
    YIELDS = 64,      /* looks before it sleeps */
    LONGEST = 1000000 /* ns of a sleep */
};

uint64_t qn__ring_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t qn__ring_wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

qn__ring_wait qn__ring_wait_begin(uint64_t timeout_ns) {
    const bool needs_clock = timeout_ns != QN_FOREVER && timeout_ns != 0;
    return (qn__ring_wait){.start_ns = needs_clock ? qn__ring_now() : 0, .timeout_ns = timeout_ns};
}

qn__ring_wait qn__ring_wait_since(uint64_t start_ns, uint64_t timeout_ns) {
    return (qn__ring_wait){.start_ns = start_ns, .timeout_ns = timeout_ns};
}

uint64_t qn__ring_wait_left(const qn__ring_wait *wait) {
    if (wait->timeout_ns == QN_FOREVER || wait->timeout_ns == 0) return wait->timeout_ns;
    const uint64_t passed = qn__ring_now() - wait->start_ns;
    return passed < wait->timeout_ns ? wait->timeout_ns - passed : 0;
}

static void sleep_ns(uint64_t ns) { nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL); }

uint64_t qn__ring_wait_step(qn__ring_wait *wait) {
    const uint32_t round = wait->rounds;
    if (round < SPINS + YIELDS + 64) wait->rounds++;
    if (round < SPINS) return 0;
    if (round < SPINS + YIELDS) {
        sched_yield();
        return 0;
    }
    const uint32_t doubled = (round - SPINS - YIELDS) / 8;
    return doubled < 6 ? (uint64_t)20000 << doubled : LONGEST;
}

bool qn__ring_wait_more(qn__ring_wait *wait) {
    const bool looks = wait->rounds < SPINS && wait->rounds % LOOKS;
    const uint64_t left = looks ? 1 : qn__ring_wait_left(wait);
    if (left == 0) return false;
    const uint64_t pause = qn__ring_wait_step(wait);
    if (pause) sleep_ns(pause < left ? pause : left);
    return true;
}

void qn__ring_wait_anew(qn__ring_wait *wait) {
    if (wait->rounds > SPINS) wait->rounds = SPINS;
}

bool qn__ring_wait_is_long(const qn__ring_wait *wait) { return wait->rounds >= SPINS; }
