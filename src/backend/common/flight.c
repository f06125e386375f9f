/* What is in flight: how far a queue is, the names of the kernels that may be running, and waiting by looking. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/common/common.h"
#include "util/file.h"

/* ---- names of kernels ---- */

void qn__kernel_names_add(qn__kernel_names *found, const char *name) {
    if (!name) return;
    for (unsigned i = 0; i < found->count; i++)
        if (found->names[i] == name || strcmp(found->names[i], name) == 0) return;
    if (found->count < QN__COUNT(found->names))
        found->names[found->count++] = name;
    else
        found->more = true;
}

void qn__kernel_names_print(const qn__kernel_names *found, const char *first, char *out, size_t size) {
    size_t length = 0;
    out[0] = 0;
    for (unsigned i = 0; i < found->count && length < size; i++) {
        const char *before = i == 0 ? first : i + 1 == found->count && !found->more ? " or " : ", ";
        length += (size_t)snprintf(out + length, size - length, "%s%s", before, found->names[i]);
    }
    if (found->more && length < size) snprintf(out + length, size - length, " or another");
}

/* ---- how far a queue is ---- */

/* The first command that is not done and whose name is still known. */
static uint64_t first_known(const qn__flight *flight, uint64_t last) {
    const uint64_t number = atomic_load(&flight->completed) + 1;
    return last >= QN__FLIGHT && number + QN__FLIGHT <= last ? last - QN__FLIGHT + 1 : number;
}

void qn__flight_names(const qn__flight *flight, qn__kernel_names *found) {
    const uint64_t last = atomic_load(&flight->submitted);
    for (uint64_t number = first_known(flight, last); number <= last; number++)
        qn__kernel_names_add(found, atomic_load(&flight->names[number % QN__FLIGHT]));
}

const char *qn__flight_first(const qn__flight *flight) {
    const uint64_t last = atomic_load(&flight->submitted);
    const char *name = NULL;
    for (uint64_t number = first_known(flight, last); number <= last && !name; number++)
        name = atomic_load(&flight->names[number % QN__FLIGHT]);
    return name;
}

/* ---- waiting ---- */

enum { SPIN_NS = 100 * 1000, YIELD_NS = 2 * 1000 * 1000, LEAST_SLEEP_NS = 4000, MOST_SLEEP_NS = 100 * 1000 };

bool qn__poll(bool (*done)(void *user), void *user, uint64_t timeout_ns, bool spins) {
    uint64_t start = qn__now_ns(), passed = 0, sleep_ns = LEAST_SLEEP_NS;
    for (;;) {
        if (done(user)) return true;
        passed = qn__now_ns() - start;
        if (timeout_ns != QN_FOREVER && passed >= timeout_ns) return false;
        if (spins && passed < SPIN_NS) continue;
        if (spins && passed < YIELD_NS) {
            sched_yield();
            continue;
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)sleep_ns}, NULL);
        sleep_ns += sleep_ns / 2;
        if (sleep_ns > MOST_SLEEP_NS) sleep_ns = MOST_SLEEP_NS;
    }
}
