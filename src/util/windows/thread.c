/* Threads by winpthreads; see thread.h. There are no signals to be deaf to, and its conditions know the clock of the day
   only. */
#include "util/thread.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <errno.h>

bool qn__thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    const bool started = pthread_attr_setstacksize(&attributes, QN__THREAD_STACK) == 0 &&
                         pthread_create(thread, &attributes, run, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

struct timespec qn__deadline(uint64_t timeout_ns) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t limit = (uint64_t)1000000 * 1000000000u; /* far enough, and a long holds it */
    if (timeout_ns > limit) timeout_ns = limit;
    uint64_t nanoseconds = (uint64_t)now.tv_nsec + timeout_ns % 1000000000u;
    now.tv_sec += (time_t)(timeout_ns / 1000000000u + nanoseconds / 1000000000u);
    now.tv_nsec = (long)(nanoseconds % 1000000000u);
    return now;
}

bool qn__cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t timeout_ns,
                   const struct timespec *until) {
    if (timeout_ns == UINT64_MAX) return pthread_cond_wait(cond, lock) == 0;
    return pthread_cond_timedwait(cond, lock, until) != ETIMEDOUT;
}

void qn__cond_init(pthread_cond_t *cond) { pthread_cond_init(cond, NULL); }
#endif
