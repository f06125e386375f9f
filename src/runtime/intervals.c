/* Sets of bytes; see intervals.h. */
#include "runtime/intervals.h"

#include <string.h>

bool qn__intervals_reserve(const qn__allocator *allocator, qn__intervals *intervals, size_t more) {
    if (more <= intervals->cap - intervals->count) return true;
    size_t cap = 2 * (intervals->count + more);
    qn__interval *grown = qn__reallocate(allocator, intervals->list, cap * sizeof *grown);
    if (!grown) return false;
    intervals->list = grown;
    intervals->cap = cap;
    return true;
}

/* Puts `with` in the place of `count` intervals from `at` on. */
static void replace(qn__intervals *intervals, size_t at, size_t count, const qn__interval *with,
                    size_t num_with) {
    qn__interval *place = intervals->list + at;
    memmove(place + num_with, place + count, (intervals->count - at - count) * sizeof *place);
    for (size_t i = 0; i < num_with; i++) place[i] = with[i];
    intervals->count = intervals->count - count + num_with;
}

void qn__intervals_add(qn__intervals *intervals, qn__interval interval) {
    size_t first = 0;
    while (first < intervals->count && intervals->list[first].end < interval.begin) first++;
    size_t last = first;
    for (; last < intervals->count && intervals->list[last].begin <= interval.end;
         last++) { /* overlaps, or meets it */
        if (intervals->list[last].begin < interval.begin) interval.begin = intervals->list[last].begin;
        if (intervals->list[last].end > interval.end) interval.end = intervals->list[last].end;
    }
    replace(intervals, first, last - first, &interval, 1);
}

void qn__intervals_remove(qn__intervals *intervals, qn__interval interval) {
    qn__interval rest[2];
    size_t first = 0, num_rest = 0;
    while (first < intervals->count && intervals->list[first].end <= interval.begin) first++;
    size_t last = first;
    for (; last < intervals->count && intervals->list[last].begin < interval.end; last++) {
        const qn__interval *old = &intervals->list[last];
        if (old->begin < interval.begin) rest[num_rest++] = (qn__interval){old->begin, interval.begin};
        if (old->end > interval.end) rest[num_rest++] = (qn__interval){interval.end, old->end};
    }
    if (last > first) replace(intervals, first, last - first, rest, num_rest);
}

bool qn__intervals_have(const qn__intervals *intervals, qn__interval interval) {
    for (size_t i = 0; i < intervals->count; i++)
        if (intervals->list[i].begin <= interval.begin && interval.end <= intervals->list[i].end) return true;
    return false;
}

void qn__intervals_free(const qn__allocator *allocator, qn__intervals *intervals) {
    qn__release(allocator, intervals->list);
    *intervals = (qn__intervals){0};
}
