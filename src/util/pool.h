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
/* Runs task(user, i, worker) for i in [0, count), returns when all are done. `worker` is 0 on the calling thread
   and below `threads` on the pool's, where no two tasks run as the same one. Any thread may call: runs of
   several callers go on side by side, share the pool's threads, and each has its caller to itself, so that a task
   that never ends stops no other run. */
void qn__pool_run(qn__pool *pool, uint64_t count, qn__pool_task *task, void *user);
/* The same for tasks that may never end: all such runs together have at most half of the pool's threads. */
void qn__pool_run_apart(qn__pool *pool, uint64_t count, qn__pool_task *task, void *user);

#endif
