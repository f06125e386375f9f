/* Starting threads, and waiting; see thread.h. */
#include "util/thread.h"

#include <errno.h>
#include <signal.h>

#include "util/compiler.h"

bool qn__thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    bool started = pthread_attr_setstacksize(&attributes, QN__THREAD_STACK) == 0;
    sigfillset(&blocked);
    for (size_t i = 0; i < QN__COUNT(faults); i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before); /* the new thread inherits it */
    started = started && pthread_create(thread, &attributes, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

struct timespec qn__deadline(uint64_t timeout_ns) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t limit = (uint64_t)INT32_MAX * 1000000000u; /* far enough */
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

void qn__cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}
