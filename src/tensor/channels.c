/* Images whose channels lie together. Where a convolution is computed from channels that lie together, its result lies so, too: a node of [images, rows, columns,
   channels] under a view that has them in their usual order, and is marked. What maps and reductions make of marked views is made of what those show, and
   has such a view in turn, so that values stay as they lie until somebody wants them otherwise. */
#include <string.h>

#include "tensor/graph.h"

enum { RANK = 4, USUAL = 1, TOGETHER = 2 /* marks of views */ };

/* For each dimension of the view that of the node below, and the other way round. */
static const uint8_t usual[RANK] = {0, 3, 1, 2}, together[RANK] = {0, 2, 3, 1};

void qn__channels_order(uint64_t *sizes) {
    uint64_t usual_sizes[RANK];
    memcpy(usual_sizes, sizes, sizeof usual_sizes);
    for (uint32_t d = 0; d < RANK; d++) sizes[d] = usual_sizes[together[d]];
}

qn__node *qn__channels_view(qn__node *node) {
    uint64_t sizes[RANK];
    if (!node) return NULL;
    for (uint32_t d = 0; d < RANK; d++) sizes[d] = node->sizes[usual[d]];
    if (node->sizes[1] * node->sizes[2] == 1 || node->sizes[3] == 1)
        return qn__reshape_node(node, RANK, sizes);
    qn__node *view = qn__node_make(node->owner, QN__OP_PERMUTE, (qn_element)node->type, RANK, sizes);
    if (view) {
        memcpy(view->attributes.order, usual, sizeof usual);
        view->attributes.begin = USUAL;
        qn__node_add_source(view, node);
    }
    qn__node_release(node);
    return view;
}

qn__node *qn__channels_below(const qn__node *node) {
    const bool is_marked =
        node->op == QN__OP_PERMUTE && node->rank == RANK && node->attributes.begin == USUAL;
    return is_marked && qn__view_is_clear(node) ? node->sources[0] : NULL;
}

/* A number everywhere, which stays plain to see. */
static qn__node *number_below(qn__node *node) {
    while (node->op == QN__OP_EXPAND && !node->realised) node = node->sources[0];
    return node->op == QN__OP_FULL && !node->realised && node->rank == 0 ? node : NULL;
}

qn__node *qn__channels_turn(qn__node *node) {
    uint64_t sizes[RANK];
    if (!node) return NULL;
    qn__node *below = qn__channels_below(node), *number = number_below(node), *made;
    memcpy(sizes, node->sizes, sizeof sizes);
    qn__channels_order(sizes);
    if (below || number) qn__node_retain(below ? below : number);
    if (below) {
        made = below;
    } else if (number) {
        made = qn__expand_node(number, RANK, sizes);
    } else {
        made = qn__node_make(node->owner, QN__OP_PERMUTE, (qn_element)node->type, RANK, sizes);
        if (made) {
            memcpy(made->attributes.order, together, sizeof together);
            made->attributes.begin = TOGETHER;
            qn__node_add_source(made, node);
        }
    }
    qn__node_release(node);
    return made;
}

bool qn__channels_are_turned(const qn__node *node) {
    return node->op == QN__OP_PERMUTE && node->rank == RANK && node->attributes.begin == TOGETHER;
}

uint32_t qn__channels_axes(uint32_t bits) {
    uint32_t below = 0;
    for (uint32_t d = 0; d < RANK; d++) below |= (bits >> d & 1) << usual[d];
    return below;
}
