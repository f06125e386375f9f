/* What is done to gradients before an optimizer's step. */
#include "nn/nn.h"

static qn_status add_squares(void *user, const char *name, qn_parameter *p) {
    qn_tensor **sum = user, *gradient = p->trained ? qn_tensor_gradient(p->tensor) : NULL;
    (void)name;
    if (!gradient) return QN_OK;
    qn_tensor *squares = qn_sum(qn_square(qn_cast(gradient, QN_F32)), QN_ALL_AXES, false);
    *sum = *sum ? qn_add(*sum, squares) : squares;
    return QN_OK;
}

static qn_status scale(void *user, const char *name, qn_parameter *p) {
    qn_tensor *factor = user, *gradient = p->trained ? qn_tensor_gradient(p->tensor) : NULL;
    (void)name;
    return gradient ? qn_tensor_set_gradient(p->tensor, qn_multiply(gradient, factor)) : QN_OK;
}

qn_tensor *qn_clip_gradients(qn_module *module, double most) {
    qn_tensor *sum = NULL;
    qn_no_gradient_begin(module->tensors);
    qn_module_visit(module, add_squares, &sum);
    qn_tensor *norm = sum ? qn_sqrt(sum) : qn_zeros(module->tensors, QN_F32, QN_SCALAR);
    /* Where it is small enough the factor is 1. */
    qn_tensor *factor = qn_minimum(qn_divide(most, qn_add(norm, 1e-6)), 1);
    if (sum) qn_module_visit(module, scale, factor);
    qn_no_gradient_end(module->tensors);
    return norm;
}

static qn_status cut(void *user, const char *name, qn_parameter *p) {
    const double most = *(const double *)user;
    qn_tensor *gradient = p->trained ? qn_tensor_gradient(p->tensor) : NULL;
    (void)name;
    return gradient ? qn_tensor_set_gradient(p->tensor, qn_clip(gradient, -most, most)) : QN_OK;
}

qn_status qn_clip_gradient_values(qn_module *module, double most) {
    if (!module) return qn__nn_fail(NULL, QN_ERROR_NULL, "qn_clip_gradient_values: module is NULL");
    qn_no_gradient_begin(module->tensors);
    const qn_status status = qn_module_visit(module, cut, &most);
    qn_no_gradient_end(module->tensors);
    return status;
}
