/* Gradients compared with differences. */
#include <math.h>

#include "tensor/graph.h"

enum { INPUTS = 16 };

typedef struct checker {
    qn_tensors *tensors;
    qn_tensor_function *function;
    void *user;
    qn_tensor *const *inputs;
    size_t count;
    double step, tolerance;
} checker;

static qn_tensor *places_of(const qn_tensor *like) {
    const qn_shape shape = qn_tensor_shape(like);
    return qn_reshape(qn_arange(like->owner, QN_I64, 0, (double)qn_tensor_count(like), 1), shape);
}

/* The sum of the function's results, each with a weight of its own. */
static qn_tensor *loss_of(const checker *c, qn_tensor *const *inputs) {
    qn_tensor *y = c->function(c->user, inputs, c->count);
    if (qn_tensor_status(y)) return y;
    qn_tensor *weights = qn_add(qn_multiply(qn_sin(qn_multiply(places_of(y), 1.7)), 0.5), 1);
    return qn_sum(qn_multiply(y, qn_cast(weights, qn_tensor_type(y))), QN_ALL_AXES, false);
}

/* The loss with one element moved. */
static qn_status moved(const checker *c, size_t input, uint64_t element, double by, double *loss) {
    qn_tensor *inputs[INPUTS];
    for (size_t i = 0; i < c->count; i++) inputs[i] = c->inputs[i];
    qn_tensor *is_it = qn_equal(places_of(c->inputs[input]), element);
    inputs[input] =
        qn_add(c->inputs[input], qn_cast(qn_where(is_it, by, 0.0), qn_tensor_type(c->inputs[input])));
    qn_tensor *y = loss_of(c, inputs);
    *loss = qn_tensor_item(y);
    return qn_tensor_status(y);
}

static qn_status check_element(const checker *c, size_t input, uint64_t element, double gradient) {
    double above, below;
    qn_status status = qn_scope_begin(c->tensors);
    if (status) return status;
    status = moved(c, input, element, c->step, &above);
    if (!status) status = moved(c, input, element, -c->step, &below);
    qn_scope_end(c->tensors);
    if (status) return status;
    const double difference = (above - below) / (2 * c->step);
    if (fabs(gradient - difference) <= c->tolerance * (1 + fabs(difference))) return QN_OK;
    return qn__tensors_fail(
        c->tensors, QN_ERROR_KERNEL_FAILED,
        "qn_check_gradients: the gradient by element %llu of input %zu is %.9g; the function changes by %.9g",
        (unsigned long long)element, input, gradient, difference);
}

static qn_status check_input(const checker *c, size_t input, qn_tensor *gradient) {
    qn_status status = qn_tensor_realize(gradient);
    for (uint64_t e = 0; e < qn_tensor_count(gradient) && !status; e++) {
        status = qn_scope_begin(c->tensors);
        if (status) return status;
        qn_tensor *flat = qn_reshape(gradient, QN_SHAPE(QN_REST));
        const double value = qn_tensor_item(qn_slice(flat, 0, (int64_t)e, (int64_t)e + 1, 1));
        qn_scope_end(c->tensors);
        status = check_element(c, input, e, value);
    }
    return status;
}

static qn_status check_all(const checker *c) {
    qn_tensor *inputs[INPUTS], *gradients[INPUTS];
    for (size_t i = 0; i < c->count; i++)
        inputs[i] = qn_tensor_require_gradient(qn_detach(c->inputs[i]), true);
    qn_status status = qn_gradients(loss_of(c, inputs), inputs, c->count, gradients);
    c->tensors->no_gradient++;
    for (size_t i = 0; i < c->count && !status; i++) status = check_input(c, i, gradients[i]);
    c->tensors->no_gradient--;
    return status;
}

qn_status qn_check_gradients(qn_tensor_function *function, void *user, qn_tensor *const *inputs, size_t count,
                             const qn_check_desc *desc) {
    checker c = {.function = function, .user = user, .inputs = inputs, .count = count};
    if (!function || !inputs || !count)
        return qn__tensors_fail(NULL, QN_ERROR_NULL, "qn_check_gradients: %s is NULL or none",
                                function ? "inputs" : "function");
    qn_tensor *wrong = qn__refuse("qn_check_gradients", inputs, (uint32_t)count, &c.tensors);
    if (wrong) return qn_tensor_status(wrong);
    if (count > INPUTS)
        return qn__tensors_fail(c.tensors, QN_ERROR_ARGUMENT, "qn_check_gradients: %zu inputs; at most %d",
                                count, INPUTS);
    const bool wide = qn_tensor_type(inputs[0]) == QN_F64;
    c.step = desc && desc->step > 0 ? desc->step : wide ? 1e-5 : 1e-2;
    c.tolerance = desc && desc->tolerance > 0 ? desc->tolerance : wide ? 1e-5 : 3e-2;
    qn_status status = qn_scope_begin(c.tensors);
    if (status) return status;
    status = check_all(&c);
    qn_scope_end(c.tensors);
    return status;
}
