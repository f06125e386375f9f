/* What gradient.c and detour.c share: the way back from a loss. */
#ifndef QN__TENSOR_TRAIL_H
#define QN__TENSOR_TRAIL_H

#include "tensor/graph.h"

/* Nodes that gradients pass, sources before users. Behind them may be leaves that functions called again came upon. */
typedef struct trail {
    qn_tensors *tensors;
    qn__node **nodes;
    qn_tensor **gradients; /* by each; retained */
    size_t count, room, gradient_room;
} trail;

/* From a node, with the gradient by it, back to the leaves. */
qn_status qn__trail_run(trail *t, const char *function, qn__node *node, qn_tensor *gradient);
void qn__trail_free(trail *t);
/* Whether the node is of the trail: its index is its place there then. Walks in between, for values that are asked for, use the indices for
   themselves; those of the trail are given anew where they did. */
bool qn__trail_has(const trail *t, const qn__node *node);
bool qn__trail_append(trail *t, qn__node *node);
void qn__trail_add(trail *t, const qn__node *node, qn_tensor *gradient);

/* A node of the same value that nothing else knows; NULL without memory. */
qn__node *qn__alias_node(qn__node *node);

/* ---- detour.c ---- */

/* The nodes that a node's gradient goes to. */
qn__node *const *qn__detour_sources(const qn__node *node, uint32_t *count);
qn_status qn__detour_pass(trail *t, qn__node *node, qn_tensor *gradient);

#endif
