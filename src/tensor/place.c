/* Places as sums: an element that a kernel needs is at a sum of multiples of its loop variables, along each dimension. A view makes
   other such sums of them. Where a reshape takes a dimension apart, the sum has to come apart as well, into what counts whole steps of the
   outer part and what stays within the inner one; if a loop variable does both, the loop is cut in two. */
#include <string.h>

#include "tensor/plan.h"

bool qn__form_equal(const qn__form *a, const qn__form *b) { return memcmp(a, b, sizeof *a) == 0; }

bool qn__place_equal(const qn__place *a, const qn__place *b, uint32_t rank) {
    return a->condition == b->condition && memcmp(a->forms, b->forms, rank * sizeof *a->forms) == 0;
}

static void add_times(qn__form *to, const qn__form *from, int64_t factor) {
    to->base += from->base * factor;
    for (uint32_t l = 0; l < QN__LOOPS; l++) to->steps[l] += from->steps[l] * factor;
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

typedef struct cutter {
    const qn__loops *loops;
    uint32_t loop;
    uint64_t inner;
} cutter;

/* Whether loop l, of steps of `step`, can be cut so that its outer part counts whole `size`s. */
static qn__followed cut_loop(cutter *c, uint32_t l, int64_t step, int64_t size) {
    const uint64_t times = c->loops->at[l].size;
    if (step <= 0 || size % step || times % (uint64_t)(size / step)) return QN__STUCK;
    c->loop = l;
    c->inner = (uint64_t)(size / step);
    return QN__SPLIT;
}

/* form = outer * size + inner, 0 <= inner < size, for all iterations. */
static qn__followed take_apart(cutter *c, const qn__form *form, int64_t size, qn__form *outer,
                               qn__form *inner) {
    *outer = *inner = (qn__form){0};
    outer->base = floor_divide(form->base, size);
    inner->base = form->base - outer->base * size;
    int64_t least = inner->base;
    int64_t most = least;
    uint32_t wide = QN__LOOPS;
    for (uint32_t l = 0; l < c->loops->count; l++) {
        const int64_t step = form->steps[l];
        const uint64_t times = c->loops->at[l].size;
        if (step % size == 0) {
            outer->steps[l] = step / size;
            continue;
        }
        inner->steps[l] = step;
        const int64_t reach = step * (int64_t)(times ? times - 1 : 0);
        if (reach >= size || reach <= -size) wide = l;
        least += reach < 0 ? reach : 0;
        most += reach > 0 ? reach : 0;
    }
    if (least >= 0 && most < size) return QN__FOLLOWED;
    return wide < QN__LOOPS ? cut_loop(c, wide, form->steps[wide], size) : QN__STUCK;
}

/* The dimensions from..from+count of the place as one, of these sizes. */
static qn__form join(const qn__place *place, const uint64_t *sizes, uint32_t from, uint32_t count) {
    qn__form all = {0};
    int64_t stride = 1;
    for (uint32_t d = from + count; d-- > from; stride *= (int64_t)sizes[d])
        add_times(&all, &place->forms[d], stride);
    return all;
}

/* `form` as places in `count` dimensions. */
static qn__followed spread(cutter *c, qn__form form, const uint64_t *sizes, uint32_t count, qn__form *to) {
    for (uint32_t d = count; d-- > 1;) {
        if (sizes[d] == 1) {
            to[d] = (qn__form){0};
            continue;
        }
        qn__form outer;
        const qn__followed f = take_apart(c, &form, (int64_t)sizes[d], &outer, &to[d]);
        if (f != QN__FOLLOWED) return f;
        form = outer;
    }
    if (count) to[0] = form;
    return QN__FOLLOWED;
}

/* Dimensions of both shapes are matched in runs of equal numbers of elements. */
static qn__followed follow_reshape(cutter *c, const qn__node *view, const qn__place *place, bool flat,
                                   qn__place *source) {
    const qn__node *from = view->sources[0];
    uint32_t v = 0, s = 0;
    if (qn__node_count(view) == 0) return QN__FOLLOWED; /* no element is ever read */
    while (v < view->rank || s < from->rank) {
        const uint32_t v0 = v, s0 = s;
        uint64_t in_view = v < view->rank ? view->sizes[v++] : 1,
                 in_source = s < from->rank ? from->sizes[s++] : 1;
        while (in_view != in_source) {
            if (in_view < in_source && v < view->rank)
                in_view *= view->sizes[v++];
            else
                in_source *= from->sizes[s++];
        }
        const qn__form all = join(place, view->sizes, v0, v - v0);
        const qn__followed f = spread(c, all, from->sizes + s0, s - s0, source->forms + s0);
        if (f != QN__FOLLOWED && !flat) return f;
        if (f == QN__FOLLOWED) continue;
        memset(source->forms + s0, 0, (s - s0) * sizeof *source->forms);
        source->forms[s - 1] = all;
    }
    return QN__FOLLOWED;
}

static void follow_expand(const qn__node *view, const qn__place *place, qn__place *source) {
    const qn__node *from = view->sources[0];
    for (uint32_t d = 0; d < from->rank; d++) {
        source->forms[d] = place->forms[view->rank - from->rank + d];
        if (from->sizes[d] == 1) source->forms[d] = (qn__form){0};
    }
}

qn__followed qn__view_follow(const qn__node *view, const qn__loops *loops, const qn__place *place, bool flat,
                             qn__place *source, uint32_t *loop, uint64_t *inner) {
    const qn__attributes *a = &view->attributes;
    cutter c = {.loops = loops};
    qn__followed f = QN__FOLLOWED;
    memset(source, 0, sizeof *source);
    source->condition = place->condition;
    if (view->op == QN__OP_RESHAPE)
        f = follow_reshape(&c, view, place, flat, source);
    else if (view->op == QN__OP_EXPAND)
        follow_expand(view, place, source);
    else
        for (uint32_t d = 0; d < view->rank; d++)
            source->forms[view->op == QN__OP_PERMUTE ? a->order[d] : d] = place->forms[d];
    if (view->op == QN__OP_SLICE) {
        source->forms[a->axis] = (qn__form){.base = a->begin};
        add_times(&source->forms[a->axis], &place->forms[a->axis], a->step);
    }
    if (view->op == QN__OP_PAD) source->forms[a->axis].base -= a->begin;
    *loop = c.loop;
    *inner = c.inner;
    return f;
}
