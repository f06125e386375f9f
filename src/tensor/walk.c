/* Walks: the nodes that a value needs in an order in which each comes behind its sources, and a key that says all that a plan depends on:
   the graph's structure, sizes and strides, but not which memory it is, nor the numbers in it. */
#include <string.h>

#include "tensor/plan.h"

void qn__walk_end(qn__walk *walk) {
    if (!walk->tensors) return;
    qn__tensors_release(walk->tensors, walk->nodes);
    qn__tensors_release(walk->tensors, walk->key);
    *walk = (qn__walk){0};
}

static bool add_node(void *user, qn__node *node) {
    qn__walk *walk = user;
    if (!qn__reserve(walk->tensors, &walk->nodes, &walk->room, walk->count, sizeof(qn__node *))) return false;
    node->index = (uint32_t)walk->count;
    walk->nodes[walk->count++] = node;
    return true;
}

/* A node waits in `waiting` with the number of its sources that have been gone into. */
bool qn__traverse(const qn__traversal *t, qn__node *node, void *user) {
    const uint64_t number = node->owner->walk;
    if (node->mark == number) return true;
    node->mark = number;
    node->waiting = NULL;
    node->index = 0;
    while (node) {
        uint32_t count = node->num_sources;
        qn__node *const *sources = t->sources ? t->sources(node, &count) : node->sources;
        if (node->index < count && !t->ends(node)) {
            qn__node *source = sources[node->index++];
            if (source->mark == number || (t->enters && !t->enters(source))) continue;
            source->mark = number;
            source->waiting = node;
            source->index = 0;
            node = source;
        } else {
            qn__node *after = node->waiting;
            if (!t->add(user, node)) return false;
            node = after;
        }
    }
    return true;
}

static bool has_value(const qn__node *node) { return node->realised; }

static bool visit(qn__walk *walk, qn__node *node) {
    static const qn__traversal all = {has_value, NULL, add_node, NULL};
    return qn__traverse(&all, node, walk);
}

static bool add_word(qn__walk *walk, uint64_t word) {
    if (!qn__reserve(walk->tensors, &walk->key, &walk->key_room, walk->num_words, sizeof(uint64_t)))
        return false;
    walk->key[walk->num_words++] = word;
    walk->hash = (walk->hash ^ word) * 0x9e3779b97f4a7c15u;
    walk->hash ^= walk->hash >> 32;
    return true;
}

static bool add_attributes(qn__walk *walk, const qn__node *node) {
    const qn__attributes *a = &node->attributes;
    uint64_t order;
    memcpy(&order, a->order, sizeof order);
    switch (node->op) {
    case QN__OP_PERMUTE: return add_word(walk, order);
    case QN__OP_INDEX:
    case QN__OP_PART: return add_word(walk, a->axis);
    case QN__OP_SLICE:
        return add_word(walk, a->axis) && add_word(walk, (uint64_t)a->begin) &&
               add_word(walk, (uint64_t)a->step);
    case QN__OP_PAD: return add_word(walk, a->axis) && add_word(walk, (uint64_t)a->begin);
    default: return qn__ops[node->op].kind != QN__REDUCE || add_word(walk, a->axes);
    }
}

static bool add_to_key(qn__walk *walk, const qn__node *node) {
    const uint32_t sources = node->realised ? 0 : node->num_sources;
    bool ok = add_word(walk, (uint64_t)node->op << 32 | (uint64_t)node->type << 24 |
                                 (uint64_t)node->rank << 16 | sources << 8 | node->realised);
    for (uint32_t d = 0; ok && d < node->rank; d++) ok = add_word(walk, node->sizes[d]);
    for (uint32_t i = 0; ok && i < sources; i++) ok = add_word(walk, node->sources[i]->index);
    if (!node->realised) return ok && add_attributes(walk, node);
    for (uint32_t d = 0; ok && d < node->rank; d++) ok = add_word(walk, (uint64_t)node->strides[d]);
    return ok && add_word(walk, node->offset);
}

qn_status qn__walk_replace(qn__walk *walk, qn__node *const *replaced, size_t count) {
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_word(walk, !replaced[i]                               ? 0
                            : replaced[i]->mark == walk->tensors->walk ? replaced[i]->index + 2
                                                                       : 1);
    return ok ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

qn_status qn__walk_from(qn_tensors *tensors, qn__node *const *asked, size_t count, qn__walk *walk) {
    walk->tensors = tensors;
    walk->count = walk->num_words = 0;
    walk->hash = 0;
    tensors->walk++;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) ok = visit(walk, asked[i]);
    for (size_t i = 0; ok && i < walk->count; i++) {
        if (walk->nodes[i]->op == QN__OP_EXAMPLE)
            return qn__tensors_fail(
                tensors, QN_ERROR_STATE,
                "a value is asked for that depends on one of qn_vmap's examples, which have none");
        ok = add_to_key(walk, walk->nodes[i]);
    }
    for (size_t i = 0; ok && i < count; i++) ok = add_word(walk, asked[i]->index);
    return ok ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}
