/* Threads of the library: with a stack of a known size, and deaf to the host's signals. */
#ifndef QN__THREAD_H
#define QN__THREAD_H

#include <pthread.h>
#include <stdbool.h>

enum { QN__THREAD_STACK = 8 << 20 }; /* bytes, whatever the process's limit is */

/* pthread_create. A signal to the process is for the host's own threads: ours block all but those that a fault
   of their own raises. False: no more threads. */
bool qn__thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
