/* Forward mode, by going back twice: the gradient g of y by x, weighted with u, is linear in u, so the gradient of the sum of g times
   the tangent by u is the tangent of y. The values of u do not matter: nothing is computed of them. */
#include "tensor/graph.h"

enum { INPUTS = 64 };

static qn_tensor *both_fail(qn_tensor *wrong, qn_tensor **tangent) {
    if (tangent) *tangent = wrong;
    return wrong;
}

static qn_tensor *check(qn_tensor *const *inputs, qn_tensor *const *tangents, size_t count, bool has_function,
                        qn_tensors **tensors) {
    static const char name[] = "qn_jvp";
    qn_tensors *other;
    if (!has_function || !inputs || !tangents || !count || count > INPUTS)
        return qn__failed(NULL, name, QN_ERROR_NULL, "%llu inputs; from 1 to %d, and nothing NULL",
                          (unsigned long long)count, INPUTS);
    qn_tensor *wrong = qn__refuse(name, inputs, (uint32_t)count, tensors);
    if (!wrong) wrong = qn__refuse(name, tangents, (uint32_t)count, &other);
    for (size_t i = 0; i < count && !wrong; i++) {
        const qn__node *x = inputs[i]->node, *v = tangents[i]->node;
        bool fits = x->rank == v->rank && qn__is_float((qn_element)x->type) && v->owner == x->owner;
        for (uint32_t d = 0; fits && d < x->rank; d++) fits = x->sizes[d] == v->sizes[d];
        if (!fits)
            wrong =
                qn__failed(*tensors, name, QN_ERROR_ARGUMENT,
                           "input %llu is %s, and its tangent %s: both are of one shape, and the input of a "
                           "float type",
                           (unsigned long long)i, qn__describe(x).text, qn__describe(v).text);
    }
    return wrong;
}

/* The tangent of y, which is made of x; a failed tensor after an error. */
static qn_tensor *tangent_of(qn_tensor *y, qn_tensor *const *x, qn_tensor *const *tangents, size_t count) {
    qn_tensors *tensors = y->owner;
    qn_tensor *weights = qn_tensor_require_gradient(qn_zeros_like(y), true), *gradients[INPUTS], *sum = NULL;
    if (weights->status) return weights;
    qn_status status = qn_gradients(qn_multiply(y, weights), x, count, gradients);
    for (size_t i = 0; i < count && !status; i++) {
        qn_tensor *part = qn_sum(qn_multiply(gradients[i], tangents[i]), QN_ALL_AXES, false);
        sum = sum ? qn_add(sum, part) : part;
    }
    qn_tensor *tangent;
    if (!status) status = qn_gradients(sum, &weights, 1, &tangent);
    return status ? qn__failed_as(tensors, status) : tangent;
}

/* The same value under a name of its own, to which gradients go. */
static qn_tensor *begin_variable(qn_tensor *input) {
    qn__node_retain(input->node);
    return qn_tensor_require_gradient(qn__handle(input->owner, input->node), true);
}

/* Gradients go on from it to what the input is made of. */
static void end_variable(qn_tensor *x, const qn_tensor *input) {
    qn__node *node = x->node;
    if (!node) return;
    x->requires_gradient = false;
    node->is_leaf = false;
    node->leaf_of = NULL;
    if (!node->num_sources) qn__node_add_source(node, input->node); /* it has got a value meanwhile */
    node->needs_gradient = input->node->needs_gradient;
}

qn_tensor *qn_jvp(qn_tensor_function *function, void *user, qn_tensor *const *inputs,
                  qn_tensor *const *tangents, size_t count, qn_tensor **tangent) {
    qn_tensors *tensors;
    qn_tensor *x[INPUTS], *wrong = check(inputs, tangents, count, function != NULL, &tensors);
    if (wrong) return both_fail(wrong, tangent);
    const uint32_t closed = tensors->no_gradient;
    tensors->no_gradient = 0;
    for (size_t i = 0; i < count; i++) x[i] = begin_variable(inputs[i]);
    qn_tensor *y = function(user, x, count);
    qn_tensors *owner;
    wrong = qn__refuse("qn_jvp", &y, 1, &owner);
    if (!wrong && !qn__is_float((qn_element)y->node->type))
        wrong = qn__failed(tensors, "qn_jvp", QN_ERROR_ARGUMENT, "the function gives %s: of no float type",
                           qn__describe(y->node).text);
    qn_tensor *made = wrong || !tangent ? wrong : tangent_of(y, x, tangents, count);
    for (size_t i = 0; i < count; i++) end_variable(x[i], inputs[i]);
    tensors->no_gradient = closed;
    if (tangent) *tangent = made;
    return wrong ? wrong : y;
}
