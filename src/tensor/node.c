/* Nodes: counted, immutable but for the value that they get. */
#include <string.h>

#include "tensor/graph.h"

const qn__op_info qn__ops[QN__OP_COUNT] = {
#define OP(name, word, kind, arity, rule, real, integer, sentence) {word, kind, arity, rule, real, integer},
#include "tensor/ops.def"
#undef OP
};

void qn__node_retain(qn__node *node) { node->refs++; }

/* Before a PART gives its call up. */
static void leave_call(const qn__node *node) {
    if (node->op != QN__OP_PART || !node->num_sources) return;
    qn__node **place = &node->sources[0]->parts;
    while (*place != node) place = &(*place)->parts;
    *place = node->parts;
}

/* The first source goes on the way; others whose last user is gone wait in a list. */
void qn__node_release(qn__node *node) {
    qn__node *list = NULL;
    if (!node || --node->refs) return;
    qn__node *first = node->num_sources ? node->sources[0] : NULL;
    for (;;) {
        leave_call(node);
        for (uint32_t i = 1; i < node->num_sources; i++) {
            qn__node *s = node->sources[i];
            if (--s->refs) continue;
            s->waiting = list;
            list = s;
        }
        if (node->detour) list = qn__detour_free(node, list);
        qn__storage_release(node->owner, node->storage);
        qn__node_free(node);
        if (first && --first->refs == 0) {
            node = first;
        } else if (list) {
            node = list;
            list = node->waiting;
        } else {
            return;
        }
        first = node->num_sources ? node->sources[0] : NULL;
    }
}

qn__node *qn__node_make(qn_tensors *tensors, qn__op op, qn_element type, uint32_t rank,
                        const uint64_t *sizes) {
    qn__node *node = qn__node_allocate(tensors);
    if (!node) return NULL;
    node->op = (uint16_t)op;
    node->type = (uint8_t)type;
    node->rank = (uint8_t)rank;
    if (rank) memcpy(node->sizes, sizes, rank * sizeof *sizes);
    return node;
}

void qn__node_add_source(qn__node *node, qn__node *source) {
    qn__node_retain(source);
    node->sources[node->num_sources++] = source;
    if (source->needs_gradient && !node->owner->no_gradient) node->needs_gradient = true;
}

uint64_t qn__node_count(const qn__node *node) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < node->rank; d++) count *= node->sizes[d];
    return count;
}

void qn__contiguous_strides(uint32_t rank, const uint64_t *sizes, int64_t *strides) {
    int64_t stride = 1;
    for (uint32_t d = rank; d-- > 0; stride *= (int64_t)sizes[d]) strides[d] = stride;
}

bool qn__is_contiguous(const qn__node *node) {
    int64_t strides[QN_MAX_RANK];
    qn__contiguous_strides(node->rank, node->sizes, strides);
    return memcmp(strides, node->strides, node->rank * sizeof *strides) == 0;
}

void qn__node_set_value(qn__node *node, qn__storage *storage, uint64_t offset, const int64_t *strides) {
    node->storage = storage;
    node->offset = offset;
    node->realised = true;
    if (strides)
        memcpy(node->strides, strides, node->rank * sizeof *strides);
    else
        qn__contiguous_strides(node->rank, node->sizes, node->strides);
    if (node->needs_gradient && !node->is_leaf) return;
    leave_call(node);
    const uint32_t count = node->num_sources;
    node->num_sources = 0;
    for (uint32_t i = 0; i < count; i++) qn__node_release(node->sources[i]);
}
