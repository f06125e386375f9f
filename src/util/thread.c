/* Starting threads; see thread.h. */
#include "util/thread.h"

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
