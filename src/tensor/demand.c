/* Demands: from the elements that a kernel makes back to those that they are computed from. The same node may be needed at several
   places; each is an instance. */
#include <string.h>

#include "tensor/plan.h"

void qn__demand_free(qn__demand *demand) {
    if (!demand->tensors) return;
    qn__tensors_release(demand->tensors, demand->instances);
    qn__tensors_release(demand->tensors, demand->conditions);
    qn__tensors_release(demand->tensors, demand->first);
    *demand = (qn__demand){0};
}

/* `first` is all QN__NONE again. */
void qn__demand_clear(qn__demand *t) {
    for (size_t i = 0; i < t->count; i++) t->first[t->instances[i].node->index] = QN__NONE;
    t->count = t->num_conditions = 0;
}

qn_status qn__demand_begin(qn__demand *demand, qn_tensors *tensors, size_t nodes, const qn__loops *space) {
    demand->tensors = tensors;
    qn__demand_clear(demand);
    demand->loops = *space;
    demand->stuck = NULL;
    if (demand->num_first < nodes) {
        qn__tensors_release(tensors, demand->first);
        demand->first = qn__tensors_allocate(tensors, nodes * sizeof *demand->first);
        demand->num_first = demand->first ? nodes : 0;
        if (!demand->first) return QN_ERROR_OUT_OF_MEMORY;
        memset(demand->first, 0xff, nodes * sizeof *demand->first);
    }
    return QN_OK;
}

static bool has_dimension(const qn__loops *loops, uint32_t dimension, bool of_rows) {
    for (uint32_t l = 0; l < loops->count; l++)
        if (loops->at[l].dimension == dimension) return !of_rows || !loops->at[l].reduced;
    return false;
}

/* What counts the iterations of a dimension of the space. */
static qn__form counter(const qn__loops *loops, uint32_t dimension) {
    qn__form form = {0};
    int64_t step = 1;
    for (uint32_t l = loops->count; l-- > 0;) {
        if (loops->at[l].dimension != dimension) continue;
        form.steps[l] = step;
        step *= (int64_t)loops->at[l].size;
    }
    return form;
}

qn__place qn__place_of_own(const qn__loops *loops, const qn__node *node, bool of_rows) {
    qn__place place;
    memset(&place, 0, sizeof place);
    uint32_t dimension = 0;
    for (uint32_t d = 0; d < node->rank; d++) {
        if (node->sizes[d] == 1) continue;
        while (dimension < QN_MAX_RANK && !has_dimension(loops, dimension, of_rows)) dimension++;
        place.forms[d] = counter(loops, dimension++);
    }
    return place;
}

/* The instance of a node at a place, which may be there; QN__NONE without memory. */
static uint32_t need(qn__demand *t, qn__node *node, const qn__place *place) {
    for (uint32_t i = t->first[node->index]; i != QN__NONE; i = t->instances[i].next)
        if (qn__place_equal(&t->instances[i].place, place, node->rank)) return i;
    if (!qn__reserve(t->tensors, &t->instances, &t->room, t->count, sizeof *t->instances)) return QN__NONE;
    t->instances[t->count] = (qn__instance){.node = node, .place = *place, .next = t->first[node->index]};
    t->first[node->index] = (uint32_t)t->count;
    return (uint32_t)t->count++;
}

const qn__instance *qn__demand_root(const qn__demand *demand, const qn__root *root) {
    const qn__place place = qn__place_of_own(&demand->loops, root->node, root->of_rows);
    uint32_t i = demand->first[root->node->index];
    while (!qn__place_equal(&demand->instances[i].place, &place, root->node->rank))
        i = demand->instances[i].next;
    return &demand->instances[i];
}

static uint32_t need_condition(qn__demand *t, uint32_t outer, const qn__form *form, uint64_t size) {
    for (size_t i = 0; i < t->num_conditions; i++) {
        const qn__condition *c = &t->conditions[i];
        if (c->outer == outer && c->size == size && qn__form_equal(&c->form, form)) return (uint32_t)i + 1;
    }
    if (!qn__reserve(t->tensors, &t->conditions, &t->condition_room, t->num_conditions,
                     sizeof *t->conditions))
        return 0;
    t->conditions[t->num_conditions++] = (qn__condition){outer, *form, size};
    return (uint32_t)t->num_conditions;
}

/* Cuts a loop in two, unless there are too many. */
static bool split(qn__loops *loops, uint32_t l, uint64_t inner) {
    if (loops->count == QN__LOOPS) return false;
    memmove(&loops->at[l + 1], &loops->at[l], (loops->count - l) * sizeof *loops->at);
    loops->count++;
    loops->at[l].size /= inner;
    loops->at[l + 1].size = inner;
    return true;
}

typedef enum outcome { DONE, AGAIN, STOP, NO_MEMORY } outcome;

/* Whether a pad makes one of a few elements: as the gradients of taps that lie side by side do. What it pads is then looked up without a
   question, at the same place for all of them, which the others ask for too. */
static bool is_tap(const qn__node *pad) {
    enum { MOST_TAPS = 4 };
    const uint32_t d = pad->attributes.axis;
    return pad->sources[0]->sizes[d] == 1 && pad->sizes[d] <= MOST_TAPS;
}

static outcome expand_view(qn__demand *t, uint32_t i, qn__stops *stops, const void *user) {
    qn__node *node = t->instances[i].node;
    qn__place place = t->instances[i].place, source;
    uint32_t loop;
    uint64_t inner;
    const qn__node *from = node->sources[0];
    const bool flat = from->realised ? qn__is_contiguous(from) : stops(user, from);
    const qn__followed f = qn__view_follow(node, &t->loops, &place, flat, &source, &loop, &inner);
    if (f == QN__STUCK || (f == QN__SPLIT && !split(&t->loops, loop, inner))) {
        t->stuck = node->sources[0];
        return STOP;
    }
    if (f == QN__SPLIT) return AGAIN;
    if (node->op == QN__OP_PAD) {
        const uint32_t d = node->attributes.axis;
        const uint32_t condition =
            need_condition(t, place.condition, &source.forms[d], node->sources[0]->sizes[d]);
        if (!condition) return NO_MEMORY;
        t->instances[i].condition = source.condition = condition;
        if (is_tap(node)) {
            source.forms[d] = (qn__form){0};
            source.condition = place.condition;
        }
        qn__place none;
        memset(&none, 0, sizeof none);
        const uint32_t value = need(t, node->sources[1], &none);
        if (value == QN__NONE) return NO_MEMORY;
        t->instances[i].sources[1] = value;
    }
    const uint32_t first = need(t, node->sources[0], &source);
    t->instances[i].sources[0] = first;
    return first == QN__NONE ? NO_MEMORY : DONE;
}

static outcome expand(qn__demand *t, uint32_t i, qn__stops *stops, const void *user) {
    qn__node *node = t->instances[i].node;
    t->instances[i].stopped = node->realised || stops(user, node);
    if (t->instances[i].stopped) return DONE;
    if (qn__ops[node->op].kind == QN__VIEW) return expand_view(t, i, stops, user);
    const qn__place place = t->instances[i].place;
    for (uint32_t s = 0; s < node->num_sources; s++) {
        const uint32_t source = need(t, node->sources[s], &place);
        if (source == QN__NONE) return NO_MEMORY;
        t->instances[i].sources[s] = source;
    }
    return DONE;
}

static outcome run_once(qn__demand *t, const qn__root *roots, size_t count, qn__stops *stops,
                        const void *user) {
    qn__demand_clear(t);
    for (size_t i = 0; i < count; i++) {
        const qn__place place = qn__place_of_own(&t->loops, roots[i].node, roots[i].of_rows);
        if (need(t, roots[i].node, &place) == QN__NONE) return NO_MEMORY;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const outcome o = expand(t, i, stops, user);
        if (o != DONE) return o;
    }
    return DONE;
}

qn_status qn__demand_run(qn__demand *demand, const qn__root *roots, size_t count, qn__stops *stops,
                         const void *user) {
    outcome o;
    do o = run_once(demand, roots, count, stops, user);
    while (o == AGAIN);
    return o == NO_MEMORY ? QN_ERROR_OUT_OF_MEMORY : QN_OK;
}
