/* quern tune: a search over what a tuning may set for a call of kernels.h. */
#ifndef TUNE_H
#define TUNE_H

#include "bench.h"

/* A zero-terminated text that grows. */
typedef struct tune_text {
    char *at;
    size_t size, capacity;
} tune_text;

void tune_append(tune_text *text, const char *words);

/* What is tuned: a call that is measured again and again with one or the other qn_kernels. */
typedef struct tune_case {
    const char *what;
    qn_status (*run)(void *user, uint32_t first, uint32_t count); /* with `kernels` */
    int (*check)(void *user, uint32_t runs);                      /* exit status, after a message */
    void *user;
    qn_kernels *kernels;
} tune_case;

typedef struct tune_search {
    const bench_device *d;
    const char *head; /* of the text: up to the device's line */
    int64_t end;      /* of the time that there is */
    tune_text *out;   /* lines that are worth it */
} tune_search;

bool tune_is_over(const tune_search *s);
/* Prints a line of the table for each call of kernels.h that the case makes and that has a choice. Exit status, after a message. */
int tune_case_search(const tune_search *s, tune_case *c);

#endif
