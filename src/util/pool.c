/* Thread pool; see pool.h. Tasks are claimed in chunks from one atomic counter. A run is announced by a
   generation number under the mutex; workers sleep on a condition variable after a short spin, because
   launches often follow one another within microseconds. */
#include "util/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct qn__pool {
    const qn__allocator *allocator;
    pthread_t *threads;
    unsigned num_threads; /* the caller included */
    unsigned started;
    pthread_mutex_t turn; /* one run at a time */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    atomic_uint_fast64_t generation; /* of the run announced last */
    bool stop;
    unsigned running; /* workers that still have to finish this run; guarded by lock */
    atomic_uint_fast64_t next;
    uint64_t count, chunk;
    qn__pool_task *task;
    void *user;
};

enum { SPINS = 2000 };

typedef struct worker_start {
    qn__pool *pool;
    unsigned worker;
} worker_start;

static void work(qn__pool *pool, unsigned worker) {
    for (;;) {
        uint64_t begin = atomic_fetch_add(&pool->next, pool->chunk);
        if (begin >= pool->count) return;
        uint64_t end = begin + pool->chunk < pool->count ? begin + pool->chunk : pool->count;
        for (uint64_t i = begin; i < end; i++) pool->task(pool->user, i, worker);
    }
}

/* Waits for a generation other than `seen`; false when the pool stops. */
static bool wait_for_run(qn__pool *pool, uint64_t seen) {
    for (int i = 0; i < SPINS; i++)
        if (atomic_load_explicit(&pool->generation, memory_order_relaxed) != seen) break;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    bool go = !pool->stop;
    pthread_mutex_unlock(&pool->lock);
    return go;
}

static void *worker_main(void *argument) {
    worker_start start = *(worker_start *)argument;
    qn__release(start.pool->allocator, argument);
    uint64_t seen = 0;
    while (wait_for_run(start.pool, seen)) {
        seen = atomic_load(&start.pool->generation);
        work(start.pool, start.worker);
        pthread_mutex_lock(&start.pool->lock);
        if (--start.pool->running == 0) pthread_cond_signal(&start.pool->done);
        pthread_mutex_unlock(&start.pool->lock);
    }
    return NULL;
}

static bool start_worker(qn__pool *pool, unsigned worker) {
    worker_start *start = qn__allocate(pool->allocator, sizeof *start);
    if (!start) return false;
    *start = (worker_start){pool, worker};
    if (pthread_create(&pool->threads[worker], NULL, worker_main, start) == 0) return true;
    qn__release(pool->allocator, start);
    return false;
}

qn__pool *qn__pool_create(const qn__allocator *allocator, unsigned threads) {
    if (threads == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        threads = online > 0 ? (unsigned)online : 1;
    }
    qn__pool *pool = qn__allocate_zeroed(allocator, sizeof *pool);
    if (!pool) return NULL;
    pool->allocator = allocator;
    pool->num_threads = threads;
    pool->threads = qn__allocate_zeroed(allocator, threads * sizeof *pool->threads);
    pthread_mutex_init(&pool->turn, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (pool->started = 1; pool->threads && pool->started < threads; pool->started++)
        if (!start_worker(pool, pool->started)) break;
    if (pool->threads && pool->started == threads) return pool;
    qn__pool_destroy(pool);
    return NULL;
}

void qn__pool_destroy(qn__pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->started; i++) pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    qn__release(pool->allocator, pool->threads);
    qn__release(pool->allocator, pool);
}

unsigned qn__pool_threads(const qn__pool *pool) { return pool->num_threads; }

void qn__pool_run(qn__pool *pool, uint64_t count, qn__pool_task *task, void *user) {
    pthread_mutex_lock(&pool->turn);
    if (count <= 1 || pool->num_threads == 1) {
        for (uint64_t i = 0; i < count; i++) task(user, i, 0);
        pthread_mutex_unlock(&pool->turn);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->user = user;
    pool->count = count;
    pool->chunk = count / (pool->num_threads * 8u);
    if (pool->chunk == 0) pool->chunk = 1;
    atomic_store(&pool->next, 0);
    pool->running = pool->num_threads - 1;
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work(pool, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->running) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
}
