/* Values of a recorded step in one memory: each has a range of it from the launch that makes it to the last one that reads it, and another value
   has the same bytes before and after. The largest are placed first, each as low as it fits among those that are alive with it, which
   is at most a little above what is alive at once (Pisarchyk and Lee, Efficient memory management for deep neural net inference, 2020). */
#include <stdlib.h>

#include "tensor/plan.h"

static int by_size(const void *a, const void *b) {
    const qn__piece *x = *(qn__piece *const *)a, *y = *(qn__piece *const *)b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool are_alive_together(const qn__piece *a, const qn__piece *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* Puts it into the first gap among those that are placed, which are in order of their offsets; gives where in that order it comes. */
static size_t find_gap(qn__piece *const *placed, size_t count, qn__piece *piece) {
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const qn__piece *other = placed[i];
        if (!are_alive_together(other, piece)) continue;
        if (other->offset >= at && other->offset - at >= piece->bytes) break;
        if (other->offset + other->bytes > at) at = other->offset + other->bytes;
    }
    piece->offset = at;
    size_t place = count;
    while (place > 0 && placed[place - 1]->offset > at) place--;
    return place;
}

qn_status qn__pieces_place(qn_tensors *tensors, qn__piece *pieces, size_t count, uint64_t *bytes) {
    qn__piece **order = qn__tensors_allocate(tensors, (2 * count + 1) * sizeof *order);
    *bytes = 0;
    if (!order) return QN_ERROR_OUT_OF_MEMORY;
    qn__piece **placed = order + count;
    for (size_t i = 0; i < count; i++) order[i] = &pieces[i];
    qsort(order, count, sizeof *order, by_size);
    for (size_t i = 0; i < count; i++) {
        const size_t place = find_gap(placed, i, order[i]);
        for (size_t k = i; k > place; k--) placed[k] = placed[k - 1];
        placed[place] = order[i];
        const uint64_t end = order[i]->offset + order[i]->bytes;
        if (end > *bytes) *bytes = end;
    }
    qn__tensors_release(tensors, order);
    return QN_OK;
}
