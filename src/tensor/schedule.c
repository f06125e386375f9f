/* The scheduler: which nodes are computed by one kernel. What is asked for, reductions, and what has to have memory are anchors; all else is
   computed where it is needed. Anchors are taken in order. One joins the group of those that it needs if it runs through the
   same space and needs them at its own place; else it reads them from memory, and begins a group. Where a decision turns out
   to be wrong (a view that no sum of loop variables follows; a costly value that several groups would compute) the node
   is forced to be an anchor, and all begins anew. */
#include <string.h>

#include "tensor/plan.h"

enum {
    MOST_DEPTH = 100, /* of ops that are inlined in each other */
    MOST_READS = 24,  /* arrays that a kernel reads */
    MOST_CONSTANTS = 36,
    MOST_PLACES = 32, /* at which a kernel computes what is inlined, for one of its elements */
    MOST_MEMBERS = 32,
    LOOK_BACK = 16,  /* groups that are tried for company */
    LEAST_ROWS = 64, /* that a kernel of elements has to have, to become one of rows */
    PATIENT_ROUNDS =
        3 /* of forcing nodes, in which those that read forced ones wait: each round takes as long as the first */
};

/* ---- what is known of a node by itself ---- */

bool qn__is_heavy(const qn__node *node) {
    static const uint16_t light[] = {QN__OP_CAST,        QN__OP_NEGATE,   QN__OP_ABS,      QN__OP_SQUARE,
                                     QN__OP_RELU,        QN__OP_ADD,      QN__OP_SUBTRACT, QN__OP_LESS,
                                     QN__OP_EQUAL,       QN__OP_MULTIPLY, QN__OP_WHERE,    QN__OP_GREATER,
                                     QN__OP_MULTIPLY_ADD};
    if (qn__ops[node->op].kind != QN__MAP) return false;
    for (size_t i = 0; i < sizeof light / sizeof *light; i++)
        if (light[i] == node->op) return false;
    return true;
}

bool qn__is_anchor(const qn__schedule *s, const qn__node *node) {
    const qn__kind kind = qn__ops[node->op].kind;
    const qn__item *item = &s->items[node->index];
    if (node->realised || item->absorbed) return false;
    return item->forced || item->epilogue != QN__NONE || kind == QN__REDUCE || kind == QN__CALL;
}

static uint64_t read_bit(const qn__node *node) {
    return (uint64_t)1 << ((node->index * 0x9e3779b97f4a7c15u) >> 58);
}

static uint32_t bits_of(uint64_t set) {
    uint32_t count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

static uint64_t bytes_of(const qn__node *node) {
    return qn__node_count(node) * qn_element_size((qn_element)node->type);
}

/* Reads, depth and weight of a node, whose sources are done; an anchor counts as something to read for its users. */
static void measure(qn__schedule *s, const qn__node *node, bool as_source, qn__item *out) {
    qn__item *item = &s->items[node->index];
    if (as_source && (node->realised || qn__is_anchor(s, node))) {
        out->reads |= read_bit(node);
        out->bytes += bytes_of(node);
        return;
    }
    if (qn__ops[node->op].kind == QN__VIEW)
        out->moved += item->places;
    else if (item->places > out->places)
        out->places = item->places;
    out->reads |= item->reads;
    out->bytes += item->bytes;
    out->constants |= node->op == QN__OP_FULL ? read_bit(node) : item->constants;
    out->heavy = out->heavy || item->heavy;
    if (item->depth > out->depth) out->depth = item->depth;
}

static void summarise(qn__schedule *s, const qn__node *node) {
    qn__item *item = &s->items[node->index], sum = {0};
    for (uint32_t i = 0; i < node->num_sources; i++) measure(s, node->sources[i], true, &sum);
    item->reads = sum.reads;
    item->bytes = sum.bytes;
    item->constants = sum.constants;
    item->depth = sum.depth + 1;
    item->heavy = sum.heavy || qn__is_heavy(node);
    item->places = sum.places + sum.moved;
    if (!item->places && qn__ops[node->op].kind == QN__MAP) item->places = 1;
}

/* What a node inlined in another adds to its arguments. */
static uint32_t arguments_of(const qn__schedule *s, const qn__node *node) {
    return bits_of(s->items[node->index].reads) + bits_of(s->items[node->index].constants);
}

/* The source that needs most arguments, or places, below views; NULL: none that could be forced. */
static qn__node *greediest(const qn__schedule *s, const qn__node *node, bool by_places) {
    qn__node *best = NULL;
    for (uint32_t i = 0; i < node->num_sources; i++) {
        qn__node *source = node->sources[i];
        while (qn__ops[source->op].kind == QN__VIEW && !source->realised && !qn__is_anchor(s, source))
            source = source->sources[0];
        if (source->realised || qn__is_anchor(s, source) || qn__ops[source->op].kind != QN__MAP) continue;
        const bool more = best && (by_places ? s->items[source->index].places > s->items[best->index].places
                                             : arguments_of(s, source) > arguments_of(s, best));
        if (!best || more) best = source;
    }
    return best;
}

/* Bounds what is inlined: cuts where too much comes together. */
static void look_at(qn__schedule *s, const qn__node *node) {
    if (node->realised) return;
    summarise(s, node);
    const qn__item *item = &s->items[node->index];
    const bool in_epilogue = item->epilogue != QN__NONE;
    if (qn__ops[node->op].kind == QN__CALL && node->op != QN__OP_PART)
        for (uint32_t i = 0; i < node->num_sources; i++) {
            qn__node *base = qn__call_source(node->sources[i]).node;
            if (!base->realised) s->items[base->index].forced = true;
        }
    for (;;) {
        const bool too_many = item->places > MOST_PLACES;
        const bool too_much = bits_of(item->reads) > MOST_READS ||
                              bits_of(item->constants) > MOST_CONSTANTS || item->depth > MOST_DEPTH;
        qn__node *cut = (too_many || too_much) && !in_epilogue ? greediest(s, node, too_many) : NULL;
        if (!cut) return;
        s->items[cut->index].forced = true;
        summarise(s, node);
    }
}

/* ---- groups ---- */

bool qn__group_has_reductions(const qn__group *group) {
    for (uint32_t l = 0; l < group->space.count; l++)
        if (group->space.at[l].reduced) return true;
    return false;
}

static void add_dimension(qn__loops *space, uint64_t size, bool reduced) {
    if (size == 1) return;
    space->at[space->count] = (qn__loop){size, space->count, reduced};
    space->count++;
}

/* What an anchor runs through. */
static qn__loops space_of(const qn__node *node) {
    qn__loops space = {.count = 0};
    const bool reduces = qn__ops[node->op].kind == QN__REDUCE;
    const qn__node *shape = reduces ? node->sources[0] : node;
    for (uint32_t d = 0; d < shape->rank; d++)
        add_dimension(&space, shape->sizes[d], reduces && (node->attributes.axes >> d & 1));
    return space;
}

static bool same_space(const qn__loops *a, const qn__loops *b, bool flags) {
    if (a->count != b->count) return false;
    for (uint32_t l = 0; l < a->count; l++)
        if (a->at[l].size != b->at[l].size || (flags && a->at[l].reduced != b->at[l].reduced)) return false;
    return true;
}

static bool is_row_space(const qn__loops *rows, const qn__loops *space) {
    uint32_t at = 0;
    for (uint32_t l = 0; l < space->count; l++) {
        if (space->at[l].reduced) continue;
        if (at == rows->count || rows->at[at].size != space->at[l].size) return false;
        at++;
    }
    return at == rows->count;
}

/* An anchor that looks for its group, with the demand of what it needs. */
typedef struct seeker {
    qn__node *node;
    bool reduces;
    qn__loops space;
} seeker;

static bool is_grouped(const void *user, const qn__node *node) {
    const qn__schedule *s = user;
    return s->items[node->index].group != QN__NONE;
}

/* Whether an instance is at the place of the group's own iteration. */
static bool is_aligned(const qn__schedule *s, const qn__group *g, qn__extent extent,
                       const qn__instance *need) {
    const qn__item *item = &s->items[need->node->index];
    if (item->extent == QN__WHOLE_SPACE && extent == QN__ROWS) return false;
    qn__loops loops = s->demand.loops;
    if (extent != QN__ROWS)
        for (uint32_t l = 0; l < loops.count; l++)
            loops.at[l].reduced = g->space.at[loops.at[l].dimension].reduced;
    const qn__place own = qn__place_of_own(&loops, need->node, item->extent != QN__WHOLE_SPACE);
    return qn__place_equal(&own, &need->place, need->node->rank);
}

/* How the seeker would be part of a group by its shape; QN__INLINED: it cannot. *adopt: the group has to become one of rows. */
static qn__extent extent_in(const qn__group *g, const seeker *k, bool *adopt) {
    const bool has_rows = qn__group_has_reductions(g);
    *adopt = false;
    if (!k->reduces) {
        if (same_space(&k->space, &g->space, false)) return QN__WHOLE_SPACE;
        return has_rows && is_row_space(&k->space, &g->space) ? QN__ROWS : QN__INLINED;
    }
    if (same_space(&k->space, &g->space, true)) return QN__REDUCTION;
    if (has_rows || !same_space(&k->space, &g->space, false)) return QN__INLINED;
    *adopt = true;
    return qn__node_count(k->node) >= LEAST_ROWS ? QN__REDUCTION : QN__INLINED;
}

static qn__extent fits(const qn__schedule *s, uint32_t group, const seeker *k, bool *adopt) {
    const qn__group *g = &s->groups[group];
    const qn__item *item = &s->items[k->node->index];
    if (g->call || g->count >= MOST_MEMBERS || g->level < item->after) return QN__INLINED;
    if (bits_of(g->reads | item->reads) > MOST_READS) return QN__INLINED;
    if (bits_of(g->constants | item->constants) > MOST_CONSTANTS) return QN__INLINED;
    if (item->replaces && qn__group_has_reductions(g)) return QN__INLINED;
    const qn__extent extent = extent_in(g, k, adopt);
    if (extent == QN__INLINED || (g->replaces && *adopt)) return QN__INLINED;
    for (size_t i = 0; i < s->demand.count; i++) {
        const qn__instance *need = &s->demand.instances[i];
        const uint32_t other = need->stopped ? s->items[need->node->index].group : QN__NONE;
        if (other == QN__NONE) continue;
        if (other == group ? !is_aligned(s, g, extent, need) : s->groups[other].level >= g->level)
            return QN__INLINED;
    }
    return extent;
}

/* The highest of the groups that the seeker needs; QN__NONE: none. */
static uint32_t highest_needed(const qn__schedule *s) {
    uint32_t best = QN__NONE;
    for (size_t i = 0; i < s->demand.count; i++) {
        const qn__instance *need = &s->demand.instances[i];
        const uint32_t g = need->stopped ? s->items[need->node->index].group : QN__NONE;
        if (g != QN__NONE && (best == QN__NONE || s->groups[g].level > s->groups[best].level)) best = g;
    }
    return best;
}

/* A group that the seeker needs, and that it can be of if the group comes behind the others that it needs: as no other group waits for it.
   QN__NONE: none. */
static uint32_t raise_needed(qn__schedule *s, const seeker *k, uint32_t highest, qn__extent *extent,
                             bool *adopt) {
    const uint32_t level = s->groups[highest].level + 1;
    for (size_t i = 0; i < s->demand.count; i++) {
        const qn__instance *need = &s->demand.instances[i];
        const uint32_t g = need->stopped ? s->items[need->node->index].group : QN__NONE;
        if (g == QN__NONE || s->groups[g].is_read) continue;
        const uint32_t old = s->groups[g].level;
        s->groups[g].level = level;
        *extent = fits(s, g, k, adopt);
        if (*extent != QN__INLINED) return g;
        s->groups[g].level = old;
    }
    return QN__NONE;
}

static qn_status add_member(qn__schedule *s, uint32_t group, const seeker *k, qn__extent extent, bool adopt) {
    qn__group *g = &s->groups[group];
    if (!qn__reserve(s->tensors, &g->members, &g->room, g->count, sizeof *g->members))
        return QN_ERROR_OUT_OF_MEMORY;
    g->members[g->count++] = k->node->index;
    if (adopt) g->space = k->space;
    qn__item *item = &s->items[k->node->index];
    item->group = group;
    item->extent = extent;
    g->replaces = g->replaces || item->replaces;
    g->reads |= item->reads;
    g->constants |= item->constants;
    for (size_t i = 0; i < s->demand.count; i++) {
        const qn__node *need = s->demand.instances[i].node;
        qn__item *other = &s->items[need->index];
        if (!s->demand.instances[i].stopped || other->group == QN__NONE || other->group == group) continue;
        other->stored = true;
        s->groups[other->group].is_read = true;
    }
    return QN_OK;
}

static qn_status begin_group(qn__schedule *s, const seeker *k, uint32_t below) {
    if (!qn__reserve(s->tensors, &s->groups, &s->group_room, s->num_groups, sizeof *s->groups))
        return QN_ERROR_OUT_OF_MEMORY;
    qn__group *g = &s->groups[s->num_groups];
    const uint32_t least = below == QN__NONE ? 0 : s->groups[below].level + 1,
                   after = s->items[k->node->index].after;
    *g = (qn__group){.space = k->space, .epilogue = QN__NONE, .level = least > after ? least : after};
    return add_member(s, (uint32_t)s->num_groups++, k, k->reduces ? QN__REDUCTION : QN__WHOLE_SPACE, false);
}

/* Of the groups `below` and the one that makes what a call reads the higher; that one is stored. */
static uint32_t above_source(qn__schedule *s, qn__node *source, uint32_t below) {
    qn__item *base = &s->items[qn__call_source(source).node->index];
    if (base->group == QN__NONE) return below;
    base->stored = true;
    s->groups[base->group].is_read = true;
    return below == QN__NONE || s->groups[base->group].level > s->groups[below].level ? base->group : below;
}

/* A group of its own, above those that make what the call reads. `node` is the call, or what its epilogue ends with. */
static qn_status place_call(qn__schedule *s, qn__node *node) {
    const uint32_t epilogue = s->items[node->index].epilogue;
    const qn__epilogue *e = epilogue == QN__NONE ? NULL : &s->epilogues[epilogue];
    qn__node *call = e ? s->walk->nodes[e->call] : node;
    seeker k = {node, false, space_of(node)};
    qn_status status = qn__demand_begin(&s->demand, s->tensors, s->walk->count, &k.space);
    if (status) return status;
    if (node->op == QN__OP_PART)
        return add_member(s, s->items[node->sources[0]->index].group, &k, QN__WHOLE_SPACE, false);
    uint32_t below = QN__NONE;
    for (uint32_t i = 0; i < call->num_sources; i++) below = above_source(s, call->sources[i], below);
    if (e && e->bias != QN__NONE) below = above_source(s, s->walk->nodes[e->bias], below);
    if (e && e->residual != QN__NONE) below = above_source(s, s->walk->nodes[e->residual], below);
    status = begin_group(s, &k, below);
    if (status) return status;
    s->groups[s->num_groups - 1].call = call;
    s->groups[s->num_groups - 1].epilogue = epilogue;
    s->items[node->index].stored = true;
    return QN_OK;
}

/* *stuck: a node that has to be forced, after which all begins anew. */
static qn_status place_anchor(qn__schedule *s, qn__node *node, qn__node **stuck) {
    if (qn__ops[node->op].kind == QN__CALL || s->items[node->index].epilogue != QN__NONE)
        return place_call(s, node);
    seeker k = {node, qn__ops[node->op].kind == QN__REDUCE, space_of(node)};
    qn__loops plain = k.space;
    for (uint32_t l = 0; l < plain.count; l++) plain.at[l].reduced = false;
    qn_status status = qn__demand_begin(&s->demand, s->tensors, s->walk->count, &plain);
    const qn__root root = {k.reduces ? node->sources[0] : node, false};
    if (!status) status = qn__demand_run(&s->demand, &root, 1, is_grouped, s);
    if (status || (*stuck = s->demand.stuck)) return status;
    bool adopt;
    const uint32_t needed = highest_needed(s);
    qn__extent extent = needed == QN__NONE ? QN__INLINED : fits(s, needed, &k, &adopt);
    if (extent != QN__INLINED) return add_member(s, needed, &k, extent, adopt);
    const uint32_t raised = needed == QN__NONE ? QN__NONE : raise_needed(s, &k, needed, &extent, &adopt);
    if (raised != QN__NONE) return add_member(s, raised, &k, extent, adopt);
    for (size_t i = s->num_groups; i-- > 0 && i + LOOK_BACK >= s->num_groups;) {
        if (!(s->groups[i].reads & s->items[node->index].reads)) continue;
        extent = fits(s, (uint32_t)i, &k, &adopt);
        if (extent != QN__INLINED) return add_member(s, (uint32_t)i, &k, extent, adopt);
    }
    return begin_group(s, &k, needed);
}

/* ---- what several groups compute ---- */

typedef struct group_user {
    const qn__schedule *schedule;
    uint32_t group;
} group_user;

/* Reads from memory what other groups make, and takes what its own reductions are. */
static bool is_outside(const void *user, const qn__node *node) {
    const group_user *u = user;
    const qn__item *item = &u->schedule->items[node->index];
    return item->group != QN__NONE && (item->group != u->group || item->extent == QN__REDUCTION);
}

qn_status qn__group_demand(qn__schedule *s, uint32_t group) {
    const qn__group *g = &s->groups[group];
    qn__root roots[MOST_MEMBERS];
    for (size_t i = 0; i < g->count; i++) {
        qn__node *node = s->walk->nodes[g->members[i]];
        const qn__extent extent = s->items[node->index].extent;
        roots[i] = (qn__root){extent == QN__REDUCTION ? node->sources[0] : node, extent == QN__ROWS};
    }
    const group_user user = {s, group};
    const qn_status status = qn__demand_begin(&s->demand, s->tensors, s->walk->count, &g->space);
    return status ? status : qn__demand_run(&s->demand, roots, g->count, is_outside, &user);
}

/* Whether reading it takes less than computing it again: a difference of narrow numbers and the mean of each row does not. */
static bool is_worth_keeping(const qn__schedule *s, const qn__node *node) {
    const qn__item *item = &s->items[node->index];
    const bool reads_more = bits_of(item->reads) > 1 && item->bytes > bytes_of(node) / 4 * 5;
    return qn__ops[node->op].kind == QN__MAP && item->group == QN__NONE && (item->heavy || reads_more);
}

static qn_status mark_shared(qn__schedule *s, qn__node **stuck) {
    for (uint32_t g = 0; g < s->num_groups && !*stuck; g++) {
        if (s->groups[g].call) continue;
        const qn_status status = qn__group_demand(s, g);
        if (status) return status;
        *stuck = s->demand.stuck;
        for (size_t i = 0; i < s->demand.count; i++) {
            qn__item *item = &s->items[s->demand.instances[i].node->index];
            if (s->demand.instances[i].stopped) continue;
            item->shared = item->shared || (item->seen_in != QN__NONE && item->seen_in != g);
            item->seen_in = g;
        }
    }
    return QN_OK;
}

/* What it reads may be another thing once that has a value. */
static bool reads_forced(const qn__schedule *s, const qn__node *node) {
    for (uint32_t k = 0; !node->realised && k < node->num_sources; k++) {
        const qn__item *source = &s->items[node->sources[k]->index];
        if (source->waits || (source->forced && source->group == QN__NONE)) return true;
    }
    return false;
}

/* Forces the last of the nodes that several groups compute; in patient rounds those alone that read nothing of the kind. */
static bool force_shared(qn__schedule *s, bool is_patient) {
    bool any = false;
    for (size_t i = 0; i < s->walk->count; i++) {
        const qn__node *node = s->walk->nodes[i];
        const bool ends = !s->items[i].shared || !is_worth_keeping(s, node);
        for (uint32_t k = 0; !node->realised && ends && k < node->num_sources; k++)
            s->items[node->sources[k]->index].exposed = true;
    }
    for (size_t i = 0; i < s->walk->count; i++) {
        qn__item *item = &s->items[i];
        item->waits = is_patient && item->group == QN__NONE && reads_forced(s, s->walk->nodes[i]);
        if (item->waits || !item->shared || !item->exposed || !is_worth_keeping(s, s->walk->nodes[i]))
            continue;
        item->forced = any = true;
    }
    return any;
}

/* ---- all ---- */

static void forget_groups(qn__schedule *s) {
    for (size_t g = 0; g < s->num_groups; g++) qn__tensors_release(s->tensors, s->groups[g].members);
    s->num_groups = 0;
    for (size_t i = 0; i < s->walk->count; i++) {
        const bool asked = s->items[i].asked, forced = s->items[i].forced, replaces = s->items[i].replaces;
        s->items[i] = (qn__item){.group = QN__NONE,
                                 .epilogue = QN__NONE,
                                 .seen_in = QN__NONE,
                                 .asked = asked,
                                 .replaces = replaces,
                                 .forced = forced,
                                 .stored = asked};
    }
}

/* A view that is read by groups behind the one that makes its second source, though it shows nothing of that. */
static bool waits(const qn__node *node) { return node->op == QN__OP_RESHAPE && node->num_sources > 1; }

/* From the sources, which are settled: from which level on groups compute the node, and read it unless it gets a group. */
static void put_off(qn__schedule *s, const qn__node *node) {
    qn__item *item = &s->items[node->index];
    for (uint32_t i = 0; i < node->num_sources && !node->realised; i++) {
        const qn__item *source = &s->items[node->sources[i]->index];
        if (source->after > item->after) item->after = source->after;
        if (source->ready > item->ready) item->ready = source->ready;
    }
    if (waits(node) && !node->realised && item->ready > item->after) item->after = item->ready;
}

/* *again: something was forced. */
static qn_status try_once(qn__schedule *s, uint32_t *round, bool *again) {
    qn__node *stuck = NULL;
    *again = false;
    forget_groups(s);
    qn_status status = qn__epilogues_find(s);
    for (size_t i = 0; i < s->walk->count && !status; i++) look_at(s, s->walk->nodes[i]);
    for (size_t i = 0; i < s->walk->count && !status && !stuck; i++) {
        qn__node *node = s->walk->nodes[i];
        put_off(s, node);
        if (qn__is_anchor(s, node) && qn__node_count(node)) status = place_anchor(s, node, &stuck);
        const uint32_t group = s->items[i].group;
        if (group != QN__NONE) s->items[i].ready = s->groups[group].level + 1;
    }
    if (!status && !stuck) status = mark_shared(s, &stuck);
    if (status) return status;
    if (!stuck) {
        *again = force_shared(s, (*round)++ < PATIENT_ROUNDS);
        return QN_OK;
    }
    if (stuck->realised || s->items[stuck->index].forced)
        return qn__tensors_fail(s->tensors, QN_ERROR_INTERNAL, "tensors: no way to read a view of %s",
                                qn__describe(stuck).text);
    s->items[stuck->index].forced = *again = true;
    return QN_OK;
}

qn_status qn__schedule_make(qn_tensors *tensors, const qn__walk *walk, qn__node *const *asked,
                            qn__node *const *replaced, size_t count, qn__schedule *schedule) {
    schedule->tensors = tensors;
    schedule->walk = walk;
    schedule->items = qn__tensors_allocate(tensors, (walk->count + 1) * sizeof *schedule->items);
    if (!schedule->items) return QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        qn__item *item = &schedule->items[asked[i]->index];
        item->asked = true;
        item->forced = !asked[i]->realised;
        item->replaces = replaced && replaced[i];
    }
    bool again = true;
    uint32_t round = 0;
    qn_status status = QN_OK;
    while (again && !status) status = try_once(schedule, &round, &again);
    return status ? status : qn__launches_find(schedule);
}

void qn__schedule_free(qn__schedule *s) {
    if (!s->tensors) return;
    for (size_t g = 0; g < s->num_groups; g++) qn__tensors_release(s->tensors, s->groups[g].members);
    qn__tensors_release(s->tensors, s->groups);
    qn__tensors_release(s->tensors, s->order);
    qn__tensors_release(s->tensors, s->epilogues);
    qn__tensors_release(s->tensors, s->items);
}
