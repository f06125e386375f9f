/* Threads of the library: with a stack of a known size, and deaf to the host's signals. Waits with a deadline. */
#ifndef QN__THREAD_H
#define QN__THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { QN__THREAD_STACK = 8 << 20 }; /* bytes, whatever the process's limit is */

/* pthread_create. A signal to the process is for the host's own threads: ours block all but those that a fault
   of their own raises. False: no more threads. */
bool qn__thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* A condition for qn__cond_wait. */
void qn__cond_init(pthread_cond_t *cond);
/* The time that is `timeout_ns` from now, on CLOCK_MONOTONIC. */
struct timespec qn__deadline(uint64_t timeout_ns);
/* False when that time is over; with UINT64_MAX there is none. */
bool qn__cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t timeout_ns,
                   const struct timespec *until);

#endif
