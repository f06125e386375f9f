/* Thread pool: runs `count` independent tasks on the calling thread and those of the pool. */
#ifndef QN__POOL_H
#define QN__POOL_H

#include <stdbool.h>

#include "util/arena.h"

typedef struct qn__pool qn__pool;
typedef void qn__pool_task(void *user, uint64_t index, unsigned worker);

/* `threads` counts a caller; 0 means one per online processor. NULL when out of memory or threads. */
qn__pool *qn__pool_create(const qn__allocator *allocator, unsigned threads);
void qn__pool_destroy(qn__pool *pool);
unsigned qn__pool_threads(const qn__pool *pool);
typedef enum qn__pool_kind {
    QN__POOL_USUAL,
    QN__POOL_SHORT, /* all tasks together will most likely take less than QN__POOL_SHORT_NS: no thread is woken before that */
    QN__POOL_ENDLESS, /* tasks may never end: all such runs together have at most half of the pool's threads */
} qn__pool_kind;

enum { QN__POOL_SHORT_NS = 10000 }; /* what it takes to wake a thread, about */

/* Runs task(user, i, worker) for i in [0, count), returns when all are done. `worker` is 0 on the calling thread
   and below `threads` on the pool's, where no two tasks run as the same one. Any thread may call: runs of
   several callers go on side by side, share the pool's threads, and each has its caller to itself, so that a task
   that never ends stops no other run. Returns the time that all threads together have been at it. */
uint64_t qn__pool_run(qn__pool *pool, uint64_t count, qn__pool_task *task, void *user, qn__pool_kind kind);

#endif
