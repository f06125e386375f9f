/* The thread pool, and the threads of the library. */
#include "util/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "util/thread.h"

enum { THREADS = 4, MOST = 1000 };

typedef struct tally {
    atomic_uint times[MOST], busy[THREADS];
    atomic_bool wrong;
} tally;

static void count_task(void *user, uint64_t index, unsigned worker) {
    tally *t = user;
    if (worker >= THREADS || atomic_fetch_add(&t->busy[worker], 1)) atomic_store(&t->wrong, true);
    atomic_fetch_add(&t->times[index], 1);
    atomic_fetch_sub(&t->busy[worker], 1);
}

/* Runs of all sizes; true when each task ran once and none beside another of its worker. */
static bool count_runs(qn__pool *pool) {
    static const unsigned counts[] = {0, 1, 2, 3, THREADS, 31, 32, 33, MOST};
    tally t;
    bool right = true;
    for (unsigned round = 0; round < 180; round++) {
        const unsigned count = counts[round / 2 % (sizeof counts / sizeof *counts)];
        memset(&t, 0, sizeof t);
        qn__pool_run(pool, count, count_task, &t, round % 2 ? QN__POOL_SHORT : QN__POOL_USUAL);
        for (unsigned i = 0; i < MOST; i++) right = right && atomic_load(&t.times[i]) == (i < count);
        right = right && !atomic_load(&t.wrong);
    }
    return right;
}

static void every_task_runs_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        qn__pool *pool = qn__pool_create(NULL, threads);
        assert_non_null(pool);
        assert_int_equal(qn__pool_threads(pool), threads);
        assert_true(count_runs(pool));
        qn__pool_destroy(pool);
    }
}

typedef struct caller {
    qn__pool *pool;
    bool right;
} caller;

static void *caller_main(void *argument) {
    caller *c = argument;
    c->right = count_runs(c->pool);
    return NULL;
}

static void several_callers_run_side_by_side(void **state) {
    (void)state;
    qn__pool *pool = qn__pool_create(NULL, THREADS);
    caller callers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        callers[i] = (caller){pool, false};
        assert_int_equal(pthread_create(&threads[i], NULL, caller_main, &callers[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_true(callers[i].right);
    }
    qn__pool_destroy(pool);
}

typedef struct endless {
    qn__pool *pool;
    atomic_uint started;
    atomic_bool released;
} endless;

static void endless_task(void *user, uint64_t index, unsigned worker) {
    endless *e = user;
    (void)index, (void)worker;
    atomic_fetch_add(&e->started, 1);
    while (!atomic_load(&e->released)) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void *endless_main(void *argument) {
    endless *e = argument;
    qn__pool_run(e->pool, 64, endless_task, e, QN__POOL_USUAL);
    return NULL;
}

static void an_endless_run_leaves_others_their_caller(void **state) {
    (void)state;
    endless e = {.pool = qn__pool_create(NULL, THREADS)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, endless_main, &e), 0);
    while (atomic_load(&e.started) < THREADS) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    assert_true(count_runs(e.pool)); /* with all other threads in endless tasks */
    atomic_store(&e.released, true);
    pthread_join(thread, NULL);
    qn__pool_destroy(e.pool);
}

/* ---- threads ---- */

static void *ask_mask(void *argument) {
    pthread_sigmask(SIG_SETMASK, NULL, argument);
    return NULL;
}

static void threads_block_signals_but_no_faults(void **state) {
    (void)state;
    static const int blocked[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF, SIGPIPE, SIGHUP};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t mask, before, after;
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_true(qn__thread_start(&thread, ask_mask, &mask));
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++) {
        assert_true(sigismember(&mask, blocked[i]));
        assert_int_equal(sigismember(&before, blocked[i]), sigismember(&after, blocked[i]));
    }
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) assert_false(sigismember(&mask, faults[i]));
}

static void *fill_stack(void *argument) {
    volatile char bytes[QN__THREAD_STACK - (1 << 20)];
    for (size_t i = 0; i < sizeof bytes; i += 1024) bytes[i] = 1;
    *(bool *)argument = bytes[0] == 1;
    return NULL;
}

/* tests/cli runs kernels under a small limit of the process. */
static void threads_have_the_stack_that_is_promised(void **state) {
    (void)state;
    pthread_t thread;
    bool filled = false;
    assert_true(qn__thread_start(&thread, fill_stack, &filled));
    pthread_join(thread, NULL);
    assert_true(filled);
}

/* Of five threads four are the pool's: two at most are in runs that may never end, however many of those there are. */
typedef struct never_done {
    qn__pool *pool;
    atomic_int inside;
    atomic_bool stop;
} never_done;

static void go_on(void *user, uint64_t index, unsigned worker) {
    never_done *e = user;
    (void)index, (void)worker;
    atomic_fetch_add(&e->inside, 1);
    while (!atomic_load(&e->stop)) sched_yield();
}

static void *run_never_done(void *user) {
    never_done *e = user;
    qn__pool_run(e->pool, 64, go_on, e, QN__POOL_ENDLESS);
    return NULL;
}

static void count_worker(void *user, uint64_t index, unsigned worker) {
    (void)index;
    if (worker) atomic_fetch_add((atomic_int *)user, 1);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void endless_runs_leave_threads_to_others(void **state) {
    (void)state;
    never_done e = {.pool = qn__pool_create(NULL, 5)};
    pthread_t threads[3];
    atomic_int by_others = 0;
    assert_non_null(e.pool);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_never_done, &e), 0);
    for (int i = 0; i < 60000 && atomic_load(&e.inside) < 5; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < 100 && !atomic_load(&by_others); i++) /* they may have to wait for a processor */
        qn__pool_run(e.pool, 100, count_worker, &by_others, QN__POOL_USUAL);
    assert_true(atomic_load(&by_others) > 0);
    assert_int_equal(atomic_load(&e.inside), 5); /* their three callers, and two of the pool */
    atomic_store(&e.stop, true);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    qn__pool_destroy(e.pool);
}

static void by_whom(void *user, uint64_t index, unsigned worker) {
    atomic_int *of = user; /* the time of a task in ms, tasks of others */
    (void)index;
    if (worker) atomic_fetch_add(&of[1], 1);
    if (atomic_load(&of[0])) nanosleep(&(struct timespec){.tv_nsec = atomic_load(&of[0]) * 1000000L}, NULL);
}

/* What is over before a thread is awake is its caller's; what takes longer than expected is not. */
static void short_runs_wake_nobody(void **state) {
    (void)state;
    qn__pool *pool = qn__pool_create(NULL, THREADS);
    assert_non_null(pool);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* they sleep */
    atomic_int of[2] = {0, 0};
    uint64_t took = qn__pool_run(pool, 2, by_whom, of, QN__POOL_SHORT);
    assert_true(took < QN__POOL_SHORT_NS ? atomic_load(&of[1]) == 0 : took > 0);
    atomic_store(&of[0], 2);
    for (int i = 0; i < 100 && !atomic_load(&of[1]); i++) { /* they may have to wait for a processor */
        took = qn__pool_run(pool, 40, by_whom, of, QN__POOL_SHORT);
        assert_true(took >= 80000000);
    }
    assert_true(atomic_load(&of[1]) > 0);
    qn__pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_runs_leave_threads_to_others),
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(short_runs_wake_nobody),
        cmocka_unit_test(several_callers_run_side_by_side),
        cmocka_unit_test(an_endless_run_leaves_others_their_caller),
        cmocka_unit_test(threads_block_signals_but_no_faults),
        cmocka_unit_test(threads_have_the_stack_that_is_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
