/* Sets of bytes of a buffer: intervals in order, none of which is empty or meets the next. Adding and removing take memory that
   was reserved before, so that they cannot fail. */
#ifndef QN__INTERVALS_H
#define QN__INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"

typedef struct qn__interval {
    uint64_t begin, end;
} qn__interval;

typedef struct qn__intervals {
    qn__interval *list;
    size_t count, cap;
} qn__intervals;

/* Room for `more` intervals; false: out of memory. A call of add or remove makes one more interval at most. */
bool qn__intervals_reserve(const qn__allocator *allocator, qn__intervals *intervals, size_t more);
void qn__intervals_add(qn__intervals *intervals, qn__interval interval);
void qn__intervals_remove(qn__intervals *intervals, qn__interval interval);
bool qn__intervals_have(const qn__intervals *intervals, qn__interval interval); /* all of it */
void qn__intervals_free(const qn__allocator *allocator, qn__intervals *intervals);

#endif
