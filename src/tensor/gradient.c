/* Reverse mode: from a loss back to what it was made of, node by node, in the order opposite to that of a walk. The gradients are tensors
   like any, made by the functions of gradients.c. */
#include <string.h>

#include "tensor/plan.h"
#include "tensor/trail.h"

enum { ON_STACK = 16 };

/* ---- what requires gradients ---- */

void qn__forget_gradient(qn_tensor *x) {
    if (x->node && x->node->leaf_of == x) x->node->leaf_of = NULL;
    qn_tensor *gradient = x->gradient;
    x->gradient = NULL;
    if (gradient) qn_tensor_release(gradient);
}

static void mark_leaf(qn_tensor *x) {
    x->node->needs_gradient = x->node->is_leaf = x->requires_gradient;
    x->node->leaf_of = x->requires_gradient ? x : NULL;
}

qn__node *qn__alias_node(qn__node *node) {
    qn__node *made =
        qn__node_make(node->owner, QN__OP_RESHAPE, (qn_element)node->type, node->rank, node->sizes);
    if (!made) return NULL;
    qn__node_add_source(made, node);
    made->needs_gradient = false;
    return made;
}

qn_tensor *qn_tensor_require_gradient(qn_tensor *x, bool required) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_tensor_require_gradient", &x, 1, &tensors);
    if (wrong) return wrong;
    if (required && !qn__is_float((qn_element)x->node->type))
        return qn__failed(tensors, "qn_tensor_require_gradient", QN_ERROR_ARGUMENT, "%s is of no float type",
                          qn__describe(x->node).text);
    if (x->requires_gradient == required) return x;
    qn__node *own = qn__alias_node(x->node); /* others may show the same node */
    if (!own) return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    if (x->node->realised) {
        qn__storage_retain(x->node->storage);
        qn__node_set_value(own, x->node->storage, x->node->offset, x->node->strides);
    }
    qn__node_release(x->node);
    x->node = own;
    x->requires_gradient = required;
    mark_leaf(x);
    return x;
}

qn_tensor *qn_detach(qn_tensor *x) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_detach", &x, 1, &tensors);
    return wrong ? wrong : qn__handle(tensors, qn__alias_node(x->node));
}

void qn_no_gradient_begin(qn_tensors *tensors) {
    if (!qn__tensors_check(tensors, "qn_no_gradient_begin")) tensors->no_gradient++;
}

void qn_no_gradient_end(qn_tensors *tensors) {
    if (!qn__tensors_check(tensors, "qn_no_gradient_end") && tensors->no_gradient) tensors->no_gradient--;
}

qn_tensor *qn_tensor_gradient(qn_tensor *x) { return qn__node_of(x) ? x->gradient : NULL; }

void qn_tensor_clear_gradient(qn_tensor *x) {
    if (!qn__node_of(x) || !x->gradient) return;
    qn_tensor_release(x->gradient);
    x->gradient = NULL;
}

qn_status qn_assign(qn_tensor *x, qn_tensor *value) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_assign", (qn_tensor *[]){x, value}, 2, &tensors);
    if (wrong) return qn_tensor_status(wrong);
    const qn_shape shape = qn_tensor_shape(x);
    qn_tensor *fitted = qn_cast(qn_broadcast_to(value, shape), qn_tensor_type(x));
    const qn_status status = qn_tensor_status(fitted);
    if (status)
        return qn__tensors_fail(tensors, status, "qn_assign: %s cannot become %s",
                                qn__describe(value->node).text, qn__describe(x->node).text);
    const qn_status watched = qn__step_watch(tensors, x);
    if (watched) return watched;
    qn__node *node = qn__alias_node(fitted->node);
    if (!node) return QN_ERROR_OUT_OF_MEMORY;
    if (x->node->leaf_of == x) {
        x->node->leaf_of = NULL;
        x->node->is_replaced = true;
    }
    qn__node_release(x->node);
    x->node = node;
    mark_leaf(x);
    return QN_OK;
}

qn_status qn_tensor_set_gradient(qn_tensor *x, qn_tensor *gradient) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_tensor_set_gradient", (qn_tensor *[]){x, gradient}, 2, &tensors);
    if (wrong) return qn_tensor_status(wrong);
    const qn__node *a = x->node, *b = gradient->node;
    if (!x->requires_gradient || a->rank != b->rank ||
        memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) != 0)
        return qn__tensors_fail(tensors, QN_ERROR_ARGUMENT,
                                "qn_tensor_set_gradient: %s is no gradient by %s%s", qn__describe(b).text,
                                qn__describe(a).text, x->requires_gradient ? "" : ", which requires none");
    qn_tensor_retain(gradient);
    if (x->gradient) qn_tensor_release(x->gradient);
    x->gradient = gradient;
    return QN_OK;
}

/* ---- going back ---- */

static bool add_node(void *user, qn__node *node) {
    trail *t = user;
    if (!qn__reserve(t->tensors, &t->nodes, &t->room, t->count, sizeof(qn__node *))) return false;
    qn__node_retain(node);
    node->index = (uint32_t)t->count;
    t->nodes[t->count++] = node;
    return true;
}

bool qn__trail_append(trail *t, qn__node *node) {
    return qn__reserve(t->tensors, &t->gradients, &t->gradient_room, t->count, sizeof(qn_tensor *)) &&
           add_node(t, node);
}

static bool is_numbered(const trail *t, const qn__node *node) {
    return node->index < t->count && t->nodes[node->index] == node;
}

bool qn__trail_has(const trail *t, const qn__node *node) {
    for (size_t k = 0; k < t->count && !is_numbered(t, node); k++) t->nodes[k]->index = (uint32_t)k;
    return is_numbered(t, node);
}

static bool is_leaf(const qn__node *node) { return node->is_leaf; }
static bool needs_gradient(const qn__node *node) { return node->needs_gradient; }

/* Through nodes that have values, too, and those alone that need gradients. */
static bool collect(trail *t, qn__node *node) {
    static const qn__traversal passed = {is_leaf, needs_gradient, add_node, qn__detour_sources};
    t->tensors->walk++;
    return qn__traverse(&passed, node, t);
}

static qn_tensor *handle_of(qn_tensors *tensors, qn__node *node) {
    qn__node_retain(node);
    return qn__handle(tensors, node);
}

void qn__trail_add(trail *t, const qn__node *node, qn_tensor *gradient) {
    if (!qn__trail_has(t, node)) return;
    qn_tensor **sum = &t->gradients[node->index];
    qn_tensor *all = *sum ? qn_add(*sum, gradient) : gradient;
    qn_tensor_retain(all);
    if (*sum) qn_tensor_release(*sum);
    *sum = all;
}

bool qn__wants_gradient(const qn__backward *b, uint32_t source) {
    return b->node->sources[source]->needs_gradient;
}

/* What a loss was made of has another value now: there is nobody whom its gradient is of. */
static qn_status check_leaves(const char *function, const trail *t) {
    for (size_t i = 0; i < t->count; i++)
        if (t->nodes[i]->is_leaf && t->nodes[i]->is_replaced)
            return qn__tensors_fail(t->tensors, QN_ERROR_STATE,
                                    "%s: %s, which requires gradients, was given another value (qn_assign) "
                                    "after the loss was made of it: "
                                    "ask for gradients before, or make the loss anew",
                                    function, qn__describe(t->nodes[i]).text);
    return QN_OK;
}

/* Hands a node's gradient on to its sources. Handles of the meantime go with the scope. */
static qn_status pass_on(trail *t, qn__node *node) {
    qn__gradient *function = qn__gradient_of((qn__op)node->op);
    qn_tensor *gradient = qn__trail_has(t, node) ? t->gradients[node->index] : NULL;
    if (node->is_leaf || !function || !gradient) return QN_OK;
    if (node->detour) return qn__detour_pass(t, node, gradient);
    qn__backward b = {.tensors = t->tensors, .node = node, .gradient = gradient};
    b.value = handle_of(t->tensors, node);
    for (uint32_t i = 0; i < node->num_sources; i++) b.sources[i] = handle_of(t->tensors, node->sources[i]);
    function(&b);
    for (uint32_t i = 0; i < node->num_sources; i++)
        if (b.given[i] && node->sources[i]->needs_gradient) qn__trail_add(t, node->sources[i], b.given[i]);
    return QN_OK;
}

qn_status qn__trail_run(trail *t, const char *function, qn__node *node, qn_tensor *gradient) {
    qn_tensors *tensors = t->tensors;
    if (!collect(t, node)) return QN_ERROR_OUT_OF_MEMORY;
    const qn_status replaced = check_leaves(function, t);
    if (replaced) return replaced;
    t->gradient_room = t->count;
    t->gradients = qn__tensors_allocate(tensors, t->count * sizeof(qn_tensor *));
    if (!t->gradients) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = qn_scope_begin(tensors);
    if (status) return status;
    qn__trail_add(t, node, gradient);
    for (size_t i = t->count; i-- > 0 && !status;) status = pass_on(t, t->nodes[i]);
    const qn_status ended = qn_scope_end(tensors);
    return status ? status : ended;
}

/* Of a loss that has been checked: the gradients of all nodes on the way. */
static qn_status go_back(trail *t, const char *function, qn_tensor *loss) {
    qn_status status = qn_scope_begin(t->tensors);
    if (status) return status;
    status = qn__trail_run(t, function, loss->node,
                           qn_ones(t->tensors, qn_tensor_type(loss), qn_tensor_shape(loss)));
    const qn_status ended = qn_scope_end(t->tensors);
    return status ? status : ended;
}

void qn__trail_free(trail *t) {
    for (size_t i = 0; i < t->count; i++) {
        if (t->gradients) qn_tensor_release(t->gradients[i]);
        qn__node_release(t->nodes[i]);
    }
    qn__tensors_release(t->tensors, t->gradients);
    qn__tensors_release(t->tensors, t->nodes);
}

static qn_tensor *check_loss(const char *function, qn_tensor *loss, qn_tensors **tensors) {
    qn_tensor *wrong = qn__refuse(function, &loss, 1, tensors);
    if (wrong) return wrong;
    if (!qn__is_float((qn_element)loss->node->type))
        return qn__failed(*tensors, function, QN_ERROR_ARGUMENT, "the loss is %s: of no float type",
                          qn__describe(loss->node).text);
    return NULL;
}

/* A handle of the open scope for what the trail has for a node, or zeros. */
static qn_tensor *result_for(const trail *t, qn_tensor *input) {
    const qn__node *node = input->node;
    qn_tensor *g = t->gradients && qn__trail_has(t, node) ? t->gradients[node->index] : NULL;
    if (!g) return qn_zeros(t->tensors, (qn_element)node->type, qn_tensor_shape(input));
    if (g->status) {
        qn_tensor_status(g);
        return qn__failed_as(t->tensors, g->status);
    }
    return handle_of(t->tensors, g->node);
}

qn_status qn_gradients(qn_tensor *loss, qn_tensor *const *inputs, size_t count, qn_tensor **gradients) {
    qn_tensors *tensors, *same;
    qn_tensor *wrong = check_loss("qn_gradients", loss, &tensors);
    if (!wrong && count && (!inputs || !gradients))
        wrong =
            qn__failed(tensors, "qn_gradients", QN_ERROR_NULL, "%s is NULL", inputs ? "gradients" : "inputs");
    if (!wrong && count) wrong = qn__refuse("qn_gradients", inputs, (uint32_t)count, &same);
    for (size_t i = 0; !wrong && i < count; i++)
        if (!inputs[i]->requires_gradient || inputs[i]->owner != tensors)
            wrong = qn__failed(tensors, "qn_gradients", QN_ERROR_ARGUMENT,
                               "input %zu (%s) does not require gradients (qn_tensor_require_gradient)", i,
                               qn__describe(inputs[i]->node).text);
    for (size_t i = 0; wrong && gradients && i < count; i++) gradients[i] = wrong;
    if (wrong) return qn_tensor_status(wrong);
    trail t = {.tensors = tensors};
    qn_status status = loss->node->needs_gradient ? go_back(&t, "qn_gradients", loss) : QN_OK;
    for (size_t i = 0; i < count; i++)
        gradients[i] = status ? qn__failed_as(tensors, status) : result_for(&t, inputs[i]);
    qn__trail_free(&t);
    for (size_t i = 0; i < count && !status; i++) status = qn_tensor_status(gradients[i]);
    return status;
}

/* Adds what the trail has for leaves to what their handles have. */
static qn_status add_to_leaves(const trail *t) {
    for (size_t i = 0; i < t->count; i++) {
        qn_tensor *x = t->nodes[i]->is_leaf ? t->nodes[i]->leaf_of : NULL, *g = t->gradients[i];
        if (!x || !g) continue;
        if (g->status) return qn_tensor_status(g);
        qn_tensor *sum = x->gradient ? qn_add(x->gradient, g) : g;
        qn_tensor_retain(sum);
        if (x->gradient) qn_tensor_release(x->gradient);
        x->gradient = sum;
    }
    return QN_OK;
}

qn_status qn_backward(qn_tensor *loss) {
    qn_tensors *tensors;
    qn_tensor *wrong = check_loss("qn_backward", loss, &tensors);
    if (!wrong && !loss->node->needs_gradient)
        wrong =
            qn__failed(tensors, "qn_backward", QN_ERROR_STATE,
                       "the loss depends on no tensor that requires gradients (qn_tensor_require_gradient)");
    if (wrong) return qn_tensor_status(wrong);
    trail t = {.tensors = tensors};
    tensors->no_gradient++;
    qn_status status = go_back(&t, "qn_backward", loss);
    if (!status) status = qn_scope_begin(tensors);
    if (!status) {
        status = add_to_leaves(&t);
        qn_scope_end(tensors);
    }
    tensors->no_gradient--;
    qn__trail_free(&t);
    return status;
}
