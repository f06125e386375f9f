/* Processes that work through a list of tests: each takes one after another, a batch at most, so that what is dear to
   open (a driver) is opened once a batch, and a crash or a hang is the failure of the one test that it was at. */
#ifndef CL_POOL_H
#define CL_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pool_result {
    size_t index;
    int status; /* what `run` gave; of a process that ended by itself its exit status, negative: a signal's number */
    unsigned ms;        /* 0 when the process ended */
    const char *output; /* what was printed meanwhile */
} pool_result;

typedef struct pool_desc {
    size_t count; /* of tests */
    unsigned jobs, batch;
    void *user;
    /* In the process: at its start, and for each test. `last`: none will follow, so that what was opened is to be
       closed. After a status that is not `good` the process ends as well. */
    void (*open)(void *user);
    int (*run)(void *user, size_t index, bool last);
    bool (*good)(int status);
    /* In the caller, as tests end. */
    void (*done)(void *user, const pool_result *result);
    /* A process ended badly behind its last test, whose index is given, with what it still printed. */
    void (*bad_end)(void *user, const pool_result *result);
} pool_desc;

/* The number of processes that ended badly behind their last test; or -1: none can be started. */
int pool_run(const pool_desc *desc);

#endif
