/* See cl_pool.h. A process is told the next test's number through one pipe and answers through another; its output goes to
   a file without a name, where the caller finds the part that a test has written. */
#include "cl_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 256 };

typedef struct order {
    size_t index;
    bool last;
} order;

typedef struct answer {
    int status;
    unsigned ms;
} answer;

typedef struct worker {
    pid_t pid; /* 0: none */
    int orders, answers, output;
    long begin; /* of the current test's output */
    size_t index;
    bool busy;
    unsigned served;
} worker;

typedef struct pool {
    const pool_desc *desc;
    worker workers[MAX_JOBS];
    size_t next;
    int bad_ends;
} pool;

/* ---- in the process ---- */

static unsigned now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

static void serve(const pool_desc *desc, int orders, int answers) {
    order o;
    bool going = true;
    desc->open(desc->user);
    while (going && read(orders, &o, sizeof o) == (ssize_t)sizeof o) {
        unsigned begin = now_ms();
        answer a = {.status = desc->run(desc->user, o.index, o.last)};
        a.ms = now_ms() - begin;
        going = !o.last && desc->good(a.status);
        fflush(stdout);
        if (write(answers, &a, sizeof a) != (ssize_t)sizeof a) exit(1);
    }
    exit(0);
}

/* ---- in the caller ---- */

/* What only this process is to keep: a compiler that it starts must not hold the pipe open. */
static bool make_pipe(int ends[2]) {
    if (pipe(ends)) return false;
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return true;
}

/* What a process inherits of those started before it: holding their pipes open, it would keep them from seeing the
   end of their orders. */
static void forget_others(const pool *p) {
    for (unsigned i = 0; i < MAX_JOBS; i++) {
        const worker *w = &p->workers[i];
        if (!w->pid) continue;
        close(w->orders);
        close(w->answers);
        close(w->output);
    }
}

static bool start(const pool *p, worker *w) {
    int orders[2], answers[2];
    FILE *output = tmpfile();
    if (!output || !make_pipe(orders) || !make_pipe(answers)) return false;
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) return false;
    if (pid == 0) {
        dup2(fileno(output), STDOUT_FILENO);
        dup2(fileno(output), STDERR_FILENO);
        close(orders[1]);
        close(answers[0]);
        forget_others(p);
        serve(p->desc, orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    *w = (worker){.pid = pid, .orders = orders[1], .answers = answers[0], .output = dup(fileno(output))};
    fclose(output);
    return w->output >= 0;
}

/* The text since the test began, to be freed. */
static char *take_output(worker *w) {
    long end = (long)lseek(w->output, 0, SEEK_END);
    size_t size = end > w->begin ? (size_t)(end - w->begin) : 0;
    char *text = calloc(size + 1, 1);
    if (text && size && pread(w->output, text, size, w->begin) < 0) text[0] = 0;
    w->begin = end;
    return text;
}

static void tell(pool *p, worker *w, answer a, void (*to)(void *user, const pool_result *result)) {
    char *text = take_output(w);
    pool_result result = {w->index, a.status, a.ms, text ? text : ""};
    w->busy = false;
    to(p->desc->user, &result);
    free(text);
}

static void report(pool *p, worker *w, answer a) { tell(p, w, a, p->desc->done); }

/* Its last answer has come, or it ended without one. */
static void end(pool *p, worker *w) {
    int status = 0;
    close(w->orders);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (w->busy)
        report(p, w, (answer){code ? code : 1, 0});
    else if (code) {
        p->bad_ends++;
        tell(p, w, (answer){code, 0}, p->desc->bad_end);
    }
    close(w->answers);
    close(w->output);
    w->pid = 0;
}

static void give(pool *p, worker *w) {
    order o = {.index = p->next++};
    o.last = ++w->served >= p->desc->batch || p->next == p->desc->count;
    w->index = o.index;
    w->busy = true;
    /* Fails only when the process is gone, which its end will tell. */
    if (write(w->orders, &o, sizeof o) < 0) return;
}

static void hear(pool *p, worker *w) {
    answer a;
    if (read(w->answers, &a, sizeof a) != (ssize_t)sizeof a) {
        end(p, w);
        return;
    }
    report(p, w, a);
    if (p->desc->good(a.status) && w->served < p->desc->batch && p->next < p->desc->count)
        give(p, w);
    else
        end(p, w);
}

int pool_run(const pool_desc *desc) {
    pool *p = calloc(1, sizeof *p);
    unsigned jobs = desc->jobs < MAX_JOBS ? desc->jobs : MAX_JOBS, running;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    bool fine = p != NULL;
    if (p) p->desc = desc;
    do {
        struct pollfd ends[MAX_JOBS];
        worker *who[MAX_JOBS];
        running = 0;
        for (unsigned i = 0; i < jobs && fine; i++) {
            worker *w = &p->workers[i];
            if (!w->pid && p->next < desc->count) {
                fine = start(p, w);
                if (fine) give(p, w);
            }
            if (!w->pid) continue;
            who[running] = w;
            ends[running++] = (struct pollfd){.fd = w->answers, .events = POLLIN};
        }
        if (running && poll(ends, running, -1) < 0 && errno != EINTR) fine = false;
        for (unsigned i = 0; i < running && fine; i++)
            if (ends[i].revents) hear(p, who[i]);
    } while (running && fine);
    int result = fine ? p->bad_ends : -1;
    signal(SIGPIPE, before);
    free(p);
    return result;
}
