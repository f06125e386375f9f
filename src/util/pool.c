/* Thread pool; see pool.h. A run's tasks are claimed in chunks from its atomic counter, by its caller and by the
   pool's threads that have joined it. A thread joins the run with the fewest, and looks again after each chunk
   while there are several. Threads without a run sleep on a condition variable after a short spin, because
   launches often follow one another within microseconds. To wake a thread takes microseconds, too: whoever begins a
   run wakes a few, and each of them a few more while there are tasks. A run that is expected to be shorter than that is
   begun by its caller alone. */
#include "util/pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "util/file.h"
#include "util/system.h"
#include "util/thread.h"

typedef struct run {
    struct run *next; /* in the pool's list */
    qn__pool_task *task;
    void *user;
    uint64_t count, chunk;
    atomic_uint_fast64_t claimed; /* tasks; may exceed `count` */
    atomic_uint joined;           /* pool threads in it; written with the pool's lock */
    uint64_t busy_ns;             /* of all threads; guarded by the pool's lock */
    bool apart;
} run;

struct qn__pool {
    const qn__allocator *allocator;
    pthread_t *threads;
    unsigned num_threads; /* a caller included */
    unsigned started;
    pthread_mutex_t lock;
    pthread_cond_t wake, left;
    run *runs;
    atomic_uint open; /* runs in the list */
    unsigned asleep;
    unsigned apart; /* threads in runs that may never end */
    bool stop;
};

enum { CHUNKS_PER_THREAD = 8, WAKES = 2, LOOK_NS = 20000 };

typedef struct worker_start {
    qn__pool *pool;
    unsigned worker;
} worker_start;

static bool has_tasks(run *r) { return atomic_load_explicit(&r->claimed, memory_order_relaxed) < r->count; }

/* Runs a chunk; false when none is left. */
static bool run_chunk(run *r, unsigned worker) {
    uint64_t begin = atomic_fetch_add(&r->claimed, r->chunk);
    if (begin >= r->count) return false;
    uint64_t end = begin + r->chunk < r->count ? begin + r->chunk : r->count;
    for (uint64_t i = begin; i < end; i++) r->task(r->user, i, worker);
    return true;
}

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* `yield` takes no time on most */
#endif
}

/* Looks for about as long as it takes to sleep and be woken, which would be no less work, or until the number is 0, or is not. */
static void look_until(atomic_uint *number, bool is_zero) {
    const uint64_t begun = qn__now_ns();
    while ((atomic_load(number) == 0) != is_zero && qn__now_ns() - begun < LOOK_NS) pause_a_little();
}

/* ---- the pool's threads ---- */

/* Of those asleep. The lock is not held: a thread that wakes needs it first. */
static void wake(qn__pool *pool, uint64_t threads) {
    for (uint64_t i = 0; i < threads && i < WAKES; i++) pthread_cond_signal(&pool->wake);
}

/* The run with tasks that the fewest threads have joined. The lock is held. */
static run *choose(qn__pool *pool) {
    run *best = NULL;
    for (run *r = pool->runs; r; r = r->next)
        if (has_tasks(r) && !(r->apart && pool->apart >= (pool->num_threads - 1) / 2) &&
            (!best || r->joined < best->joined))
            best = r;
    return best;
}

/* Waits for a run and joins it; NULL when the pool stops. The lock is held. */
static run *join(qn__pool *pool) {
    run *r = choose(pool);
    if (!r && !pool->stop) {
        pthread_mutex_unlock(&pool->lock);
        look_until(&pool->open, false);
        pthread_mutex_lock(&pool->lock);
    }
    while (!pool->stop && !(r = choose(pool))) {
        pool->asleep++;
        pthread_cond_wait(&pool->wake, &pool->lock);
        pool->asleep--;
    }
    if (r) r->joined++;
    if (r && r->apart) pool->apart++;
    return r;
}

static void *worker_main(void *argument) {
    worker_start start = *(worker_start *)argument;
    qn__pool *pool = start.pool;
    qn__release(pool->allocator, argument);
    pthread_mutex_lock(&pool->lock);
    for (run *r; (r = join(pool));) {
        const unsigned asleep = pool->asleep;
        pthread_mutex_unlock(&pool->lock);
        if (has_tasks(r)) wake(pool, asleep);
        const uint64_t begun = qn__now_ns();
        while (run_chunk(r, start.worker))
            if (atomic_load_explicit(&pool->open, memory_order_relaxed) > 1) break;
        const uint64_t took = qn__now_ns() - begun;
        pthread_mutex_lock(&pool->lock);
        r->busy_ns += took;
        if (r->apart) pool->apart--;
        if (atomic_fetch_sub(&r->joined, 1) == 1) pthread_cond_broadcast(&pool->left);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool start_worker(qn__pool *pool, unsigned worker) {
    worker_start *start = qn__allocate(pool->allocator, sizeof *start);
    if (!start) return false;
    *start = (worker_start){pool, worker};
    if (qn__thread_start(&pool->threads[worker], worker_main, start)) return true;
    qn__release(pool->allocator, start);
    return false;
}

qn__pool *qn__pool_create(const qn__allocator *allocator, unsigned threads) {
    if (threads == 0) threads = qn__processors();
    qn__pool *pool = qn__allocate_zeroed(allocator, sizeof *pool);
    if (!pool) return NULL;
    pool->allocator = allocator;
    pool->num_threads = threads;
    pool->threads = qn__allocate_zeroed(allocator, threads * sizeof *pool->threads);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->left, NULL);
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
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    qn__release(pool->allocator, pool->threads);
    qn__release(pool->allocator, pool);
}

unsigned qn__pool_threads(const qn__pool *pool) { return pool->num_threads; }

/* ---- a run ---- */

static void announce(qn__pool *pool, run *r) {
    const uint64_t others = (r->count + r->chunk - 1) / r->chunk - 1;
    pthread_mutex_lock(&pool->lock);
    r->next = pool->runs;
    pool->runs = r;
    atomic_fetch_add(&pool->open, 1);
    const unsigned asleep = pool->asleep;
    pthread_mutex_unlock(&pool->lock);
    wake(pool, others < asleep ? others : asleep);
}

/* Nobody joins any more; waits for those who have. */
static void finish(qn__pool *pool, run *r) {
    pthread_mutex_lock(&pool->lock);
    run **at = &pool->runs;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    atomic_fetch_sub(&pool->open, 1);
    pthread_mutex_unlock(&pool->lock);
    look_until(&r->joined, true);
    pthread_mutex_lock(&pool->lock);
    while (r->joined) pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* The tasks that are left, with the pool's threads. */
static void run_together(qn__pool *pool, run *r) {
    announce(pool, r);
    const uint64_t begun = qn__now_ns();
    while (run_chunk(r, 0)) {
    }
    const uint64_t took = qn__now_ns() - begun;
    finish(pool, r);
    r->busy_ns += took;
}

uint64_t qn__pool_run(qn__pool *pool, uint64_t count, qn__pool_task *task, void *user, qn__pool_kind kind) {
    const bool alone = count <= 1 || pool->num_threads == 1;
    run r = {.task = task, .user = user, .count = count, .apart = kind == QN__POOL_ENDLESS};
    r.chunk = count / (pool->num_threads * (uint64_t)CHUNKS_PER_THREAD);
    if (r.chunk == 0) r.chunk = 1;
    if (alone || kind == QN__POOL_SHORT) {
        const uint64_t begun = qn__now_ns();
        do {
            const bool more = run_chunk(&r, 0);
            r.busy_ns = qn__now_ns() - begun;
            if (!more) return r.busy_ns;
        } while (alone || r.busy_ns < QN__POOL_SHORT_NS);
    }
    if (has_tasks(&r)) run_together(pool, &r);
    return r.busy_ns;
}
