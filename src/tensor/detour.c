/* Where gradients do other than an op says: functions of the program that see them pass, and functions that are called again for them, whose values in between
   are not kept (Chen, Xu, Zhang and Guestrin, 2016). Either is a node that shows the value of its source. */
#include <string.h>

#include "tensor/trail.h"

/* What it has beside what it shows. */
typedef struct qn__detour {
    qn_gradient_hook *hook;
    qn_tensor_function *function;
    void *user;
    uint64_t words;           /* of the seed's sequence, where the function's numbers began */
    const uint64_t *sequence; /* of the step or of none, of which it took any; NULL: it took none */
    uint32_t count;
    qn__node *inputs[]; /* of the function, counted */
} qn__detour;

/* The node's own list takes what is no longer needed. */
qn__node *qn__detour_free(qn__node *node, qn__node *list) {
    qn__detour *d = node->detour;
    node->detour = NULL;
    for (uint32_t i = 0; i < d->count; i++) {
        if (--d->inputs[i]->refs) continue;
        d->inputs[i]->waiting = list;
        list = d->inputs[i];
    }
    qn__tensors_release(node->owner, d);
    return list;
}

bool qn__detour_calls_again(const qn__node *node) { return node->detour && node->detour->function; }

qn__node *const *qn__detour_sources(const qn__node *node, uint32_t *count) {
    const bool is_function = qn__detour_calls_again(node);
    *count = is_function ? node->detour->count : node->num_sources;
    return is_function ? node->detour->inputs : node->sources;
}

/* A handle of a node that shows the tensor, with room for inputs. */
static qn_tensor *show(qn_tensor *x, uint32_t count, qn__detour **out) {
    qn_tensors *tensors = x->owner;
    qn__detour *d = qn__tensors_allocate(tensors, sizeof *d + count * sizeof(qn__node *));
    qn__node *node = d ? qn__alias_node(x->node) : NULL;
    if (!node) {
        qn__tensors_release(tensors, d);
        return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    }
    node->detour = *out = d;
    node->needs_gradient = true;
    return qn__handle(tensors, node);
}

static bool is_like(const qn_tensor *x, const qn__node *node) {
    return x->node->type == node->type && x->node->rank == node->rank &&
           memcmp(x->node->sizes, node->sizes, node->rank * sizeof *node->sizes) == 0;
}

/* ---- hooks ---- */

qn_tensor *qn_hook_gradient(qn_tensor *x, qn_gradient_hook *function, void *user) {
    qn_tensors *tensors;
    qn__detour *d = NULL;
    qn_tensor *wrong = qn__refuse("qn_hook_gradient", &x, 1, &tensors);
    if (wrong) return wrong;
    if (!function) return qn__failed(tensors, "qn_hook_gradient", QN_ERROR_NULL, "function is NULL");
    if (!x->node->needs_gradient || tensors->no_gradient) return x;
    qn_tensor *y = show(x, 0, &d);
    if (!d) return y;
    d->hook = function;
    d->user = user;
    return y;
}

static void pass_hook(trail *t, const qn__node *node, qn_tensor *g) {
    const qn__detour *d = node->detour;
    qn_tensor *other = g->status ? NULL : d->hook(d->user, g);
    if (other && !qn_tensor_status(other) && !is_like(other, node))
        other = qn__failed(t->tensors, "qn_hook_gradient", QN_ERROR_ARGUMENT,
                           "the function gave %s for a gradient of %s", qn__describe(other->node).text,
                           qn__describe(node).text);
    qn__trail_add(t, node->sources[0], other ? other : g);
}

/* ---- functions that are called again ---- */

qn_tensor *qn_recompute(qn_tensor_function *function, void *user, qn_tensor *const *inputs, size_t count) {
    qn_tensors *tensors;
    qn__detour *d = NULL;
    if (!function || !inputs || !count || count > UINT32_MAX)
        return qn__failed(NULL, "qn_recompute", QN_ERROR_NULL, "the function or its inputs are none");
    qn_tensor *wrong = qn__refuse("qn_recompute", inputs, (uint32_t)count, &tensors);
    if (wrong) return wrong;
    if (tensors->no_gradient) return function(user, inputs, count);
    const uint64_t *position = qn__step_position(tensors), words = *position;
    tensors->no_gradient++;
    qn_tensor *y = function(user, inputs, count);
    tensors->no_gradient--;
    wrong = qn__refuse("qn_recompute", &y, 1, &tensors);
    if (wrong) return wrong;
    qn_tensor *shown = show(y, (uint32_t)count, &d);
    if (!d) return shown;
    d->function = function;
    d->user = user;
    d->words = words;
    d->sequence = *position != words ? position : NULL;
    for (size_t i = 0; i < count; i++) {
        d->inputs[d->count++] = inputs[i]->node;
        qn__node_retain(inputs[i]->node);
    }
    return shown;
}

/* A handle of the input, at which a trail stops. It is computed behind the gradient, so that what is computed of it again is not there before it
   is needed. */
static qn_tensor *stop_at(qn__node *input, qn__node *gradient) {
    qn__node *node = qn__alias_node(input);
    if (!node) return qn__handle(input->owner, NULL);
    qn__node_add_source(node, gradient);
    node->needs_gradient = input->needs_gradient;
    return qn__handle(input->owner, node);
}

/* The function's result, with all that it was made of, and its random numbers as they were. */
static qn_tensor *call_again(const qn__node *node, qn_tensor *const *inputs) {
    qn_tensors *tensors = node->owner;
    const qn__detour *d = node->detour;
    const uint32_t no_gradient = tensors->no_gradient;
    uint64_t *position = qn__step_position(tensors);
    const uint64_t now = *position;
    if (d->sequence && d->sequence != position)
        return qn__failed(tensors, "qn_recompute", QN_ERROR_UNSUPPORTED,
                          "the function took random numbers outside of the step in which its gradients are "
                          "asked for, where it would take other ones");
    *position = d->words;
    tensors->no_gradient = 0;
    qn_tensor *y = d->function(d->user, inputs, d->count);
    tensors->no_gradient = no_gradient;
    *position = now;
    qn_tensor *wrong = qn__refuse("qn_recompute", &y, 1, &tensors);
    if (wrong) return wrong;
    if (is_like(y, node)) return y;
    return qn__failed(tensors, "qn_recompute", QN_ERROR_ARGUMENT, "the function gave %s, and called again %s",
                      qn__describe(node).text, qn__describe(y->node).text);
}

/* Goes back from the result to the inputs and to the parameters that the function used. */
static qn_status go_through(trail *t, const qn__node *node, qn_tensor *const *inputs, qn_tensor *y,
                            qn_tensor *g) {
    const qn__detour *d = node->detour;
    trail within = {.tensors = t->tensors};
    if (!y->node->needs_gradient) return QN_OK;
    for (uint32_t i = 0; i < d->count; i++) inputs[i]->node->is_leaf = inputs[i]->node->needs_gradient;
    qn_status status = qn__trail_run(&within, "qn_recompute", y->node, g);
    for (size_t k = 0; k < within.count && !status; k++) {
        qn__node *leaf = within.nodes[k];
        qn_tensor *by = within.gradients[k];
        if (!leaf->is_leaf || !by) continue;
        uint32_t i = 0;
        while (i < d->count && inputs[i]->node != leaf) i++;
        qn__node *to = i < d->count ? d->inputs[i] : leaf;
        if (!qn__trail_has(t, to) && !qn__trail_append(t, to)) status = QN_ERROR_OUT_OF_MEMORY;
        if (!status) qn__trail_add(t, to, by);
    }
    qn__trail_free(&within);
    for (uint32_t i = 0; i < d->count; i++) inputs[i]->node->is_leaf = false; /* gradients of these go on */
    return status;
}

static qn_status pass_function(trail *t, const qn__node *node, qn_tensor *g) {
    const qn__detour *d = node->detour;
    qn_tensors *tensors = t->tensors;
    qn_tensor **inputs = qn__tensors_allocate(tensors, d->count * sizeof(qn_tensor *)), *y = g;
    if (!inputs) return QN_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < d->count && !y->status; i++) {
        inputs[i] = stop_at(d->inputs[i], g->node);
        if (inputs[i]->status) y = inputs[i];
    }
    if (!y->status) y = call_again(node, inputs);
    qn_status status = QN_OK;
    if (!y->status)
        status = go_through(t, node, inputs, y, g);
    else /* the failure comes out where a gradient is asked for */
        for (uint32_t i = 0; i < d->count; i++)
            if (d->inputs[i]->needs_gradient) qn__trail_add(t, d->inputs[i], y);
    if (y->status) status = qn_tensor_status(y);
    qn__tensors_release(tensors, inputs);
    return status;
}

qn_status qn__detour_pass(trail *t, qn__node *node, qn_tensor *gradient) {
    if (qn__detour_calls_again(node)) return pass_function(t, node, gradient);
    pass_hook(t, node, gradient);
    return QN_OK;
}
