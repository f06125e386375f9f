/* Groups that are of one launch: none needs another. A group that nobody waits for may come later than it could, to be of a launch with
   others: the updates of all parameters come with the last one, whenever their gradients are there. Which of these groups become one
   kernel is decided by their texts (assemble.c). */
#include "tensor/plan.h"

enum { SMALL = 1 << 16 /* elements of groups that go with others which do something else */ };

/* What is known of a group, and the window of levels in which it can be. */
typedef struct window {
    uint64_t does; /* hash of what it computes of an element */
    uint32_t late;
    bool merges, is_small;
} window;

static uint64_t add_to_hash(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* Its ops and how they hang together, not the sizes. */
static uint64_t hash_of(const qn__demand *demand) {
    uint64_t hash = 0;
    for (size_t i = 0; i < demand->count; i++) {
        const qn__instance *n = &demand->instances[i];
        const uint64_t op = n->stopped ? 0 : n->node->op + 1u;
        hash = add_to_hash(hash, op << 8 | n->node->type);
        for (uint32_t k = 0; k < n->node->num_sources && k < 3 && !n->stopped; k++)
            hash = add_to_hash(hash, n->sources[k]);
    }
    return hash;
}

static uint64_t elements_of(const qn__group *g) {
    uint64_t count = 1;
    for (uint32_t l = 0; l < g->space.count; l++) count *= g->space.at[l].size;
    return count;
}

/* Whether a group may be of the launch that another one began. */
static bool goes_with(const qn__schedule *s, const window *windows, uint32_t number, uint32_t head) {
    const qn__group *g = &s->groups[number], *h = &s->groups[head];
    const window *a = &windows[number], *b = &windows[head];
    if (h->launch != head || !a->merges || !b->merges || h->level < g->level || h->level > a->late)
        return false;
    return a->does == b->does || (a->is_small && b->is_small && !qn__tensors_on_processor(s->tensors));
}

/* The launch of a group whose users are settled. */
static void choose_launch(qn__schedule *s, const window *windows, size_t place) {
    qn__group *g = &s->groups[s->order[place]];
    uint32_t best = QN__NONE;
    for (size_t i = place + 1; i < s->num_groups; i++) {
        const uint32_t head = s->order[i];
        if (!goes_with(s, windows, s->order[place], head)) continue;
        best = head;
        if (windows[head].does == windows[s->order[place]].does) break;
    }
    g->launch = best == QN__NONE ? s->order[place] : best;
    if (best != QN__NONE) g->level = s->groups[best].level;
}

/* What makes a node that is read has to come before. */
static void come_before(const qn__schedule *s, window *windows, const qn__node *node, uint32_t reader) {
    const uint32_t group = s->items[node->index].group, level = s->groups[reader].level;
    if (group != QN__NONE && group != reader && windows[group].late >= level) windows[group].late = level - 1;
}

static qn_status settle(qn__schedule *s, window *windows, size_t place) {
    const uint32_t number = s->order[place];
    const qn__group *g = &s->groups[number];
    if (g->call) {
        choose_launch(s, windows, place);
        qn__node *reads[QN__CALL_READS];
        const uint32_t count = qn__call_reads(s, number, reads);
        for (uint32_t i = 0; i < count; i++) come_before(s, windows, reads[i], number);
        return QN_OK;
    }
    const qn_status status = qn__group_demand(s, number);
    if (status) return status;
    windows[number].does = hash_of(&s->demand);
    windows[number].merges = !qn__group_has_reductions(g);
    windows[number].is_small = elements_of(g) <= SMALL;
    choose_launch(s, windows, place);
    for (size_t i = 0; i < s->demand.count; i++)
        if (s->demand.instances[i].stopped) come_before(s, windows, s->demand.instances[i].node, number);
    return QN_OK;
}

static void sort_by_level(qn__schedule *s) {
    size_t at = 0;
    for (uint32_t level = 0; at < s->num_groups; level++)
        for (uint32_t head = 0; head < s->num_groups; head++) {
            if (s->groups[head].level != level || s->groups[head].launch != head) continue;
            for (uint32_t g = 0; g < s->num_groups; g++)
                if (s->groups[g].launch == head) s->order[at++] = g;
        }
}

size_t qn__launch_size(const qn__schedule *s, size_t place) {
    const uint32_t launch = s->groups[s->order[place]].launch;
    size_t count = 1;
    while (place + count < s->num_groups && s->groups[s->order[place + count]].launch == launch) count++;
    return count;
}

qn_status qn__launches_find(qn__schedule *s) {
    s->order = qn__tensors_allocate(s->tensors, (s->num_groups + 1) * sizeof *s->order);
    window *windows = qn__tensors_allocate(s->tensors, (s->num_groups + 1) * sizeof *windows);
    qn_status status = s->order && windows ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    uint32_t top = 0;
    for (uint32_t g = 0; g < s->num_groups && !status; g++) {
        s->groups[g].launch = g;
        if (s->groups[g].level > top) top = s->groups[g].level;
    }
    if (!status) sort_by_level(s);
    for (size_t g = 0; g < s->num_groups && !status; g++) windows[g].late = top;
    for (size_t place = s->num_groups; place-- > 0 && !status;) status = settle(s, windows, place);
    if (!status) sort_by_level(s);
    qn__tensors_release(s->tensors, windows);
    return status;
}
