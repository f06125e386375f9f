/* Loss scaling, decided on the device: whether a step counts is a tensor, so that recorded steps need no host. */
#include "nn/nn.h"

static double given(double number, double instead) { return number > 0 ? number : instead; }

static qn_status check(qn_tensors *t, const qn_loss_scaler_desc *d) {
    const bool good = d->scale > 0 && d->growth >= 1 && d->backoff > 0 && d->backoff < 1;
    return good ? QN_OK
                : qn__nn_fail(t, QN_ERROR_ARGUMENT,
                              "qn_loss_scaler_init: scale %g, growth %g, backoff %g: the scale is above 0, "
                              "growth 1 or "
                              "more, backoff between 0 and 1",
                              d->scale, d->growth, d->backoff);
}

qn_status qn_loss_scaler_init(qn_loss_scaler *scaler, qn_tensors *tensors, const qn_loss_scaler_desc *desc) {
    const qn_loss_scaler_desc none = {.scale = 0}, *d = desc ? desc : &none;
    qn_status status = qn__nn_check(scaler, tensors, d, "qn_loss_scaler_init");
    if (status) return status;
    *scaler = (qn_loss_scaler){.desc = {given(d->scale, 65536), given(d->growth, 2), given(d->backoff, 0.5),
                                        d->interval ? d->interval : 2000}};
    status =
        d->scale < 0 || d->growth < 0 || d->backoff < 0 ? check(tensors, d) : check(tensors, &scaler->desc);
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    qn_module_init(&scaler->own, tensors, NULL);
    status = qn_module_add_parameter(&scaler->own, "scale", &scaler->scale,
                                     qn_full(tensors, QN_F32, QN_SCALAR, scaler->desc.scale), false);
    if (!status)
        status = qn_module_add_parameter(&scaler->own, "good", &scaler->good,
                                         qn_zeros(tensors, QN_F32, QN_SCALAR), false);
    return qn__nn_made(&scaler->own, status);
}

void qn_loss_scaler_release(qn_loss_scaler *scaler) {
    if (!scaler) return;
    qn_tensor_release(scaler->finite);
    scaler->finite = NULL;
    qn_module_release(&scaler->own);
}

qn_tensor *qn_loss_scaler_scale(qn_loss_scaler *scaler, qn_tensor *loss) {
    const qn_element type = qn_tensor_type(loss);
    return qn_multiply(type == QN_F64 ? loss : qn_cast(loss, QN_F32), scaler->scale.tensor);
}

/* ---- gradients ---- */

/* What is done to all gradients: divided, and asked whether they are finite, before something else makes numbers of what is not. */
typedef struct unscaling {
    qn_tensor *factor, *finite;
} unscaling;

static qn_status unscale(void *user, const char *name, qn_parameter *p) {
    unscaling *u = user;
    qn_tensor *gradient = p->trained ? qn_tensor_gradient(p->tensor) : NULL;
    (void)name;
    if (!gradient) return QN_OK;
    /* In f32: what was scaled not to vanish would vanish here. */
    if (qn_tensor_type(gradient) != QN_F64) gradient = qn_cast(gradient, QN_F32);
    gradient = qn_multiply(gradient, u->factor);
    qn_tensor *finite = qn_all(qn_is_finite(gradient), QN_ALL_AXES, false);
    u->finite = u->finite ? qn_logical_and(u->finite, finite) : finite;
    return qn_tensor_set_gradient(p->tensor, gradient);
}

qn_status qn_loss_scaler_unscale(qn_loss_scaler *scaler, qn_module *module) {
    if (!scaler || !module)
        return qn__nn_fail(NULL, QN_ERROR_NULL, "qn_loss_scaler_unscale: %s is NULL",
                           scaler ? "module" : "scaler");
    if (scaler->finite)
        return qn__nn_fail(module->tensors, QN_ERROR_STATE,
                           "qn_loss_scaler_unscale: the gradients are divided by the scale already");
    qn_no_gradient_begin(module->tensors);
    unscaling u = {.factor = qn_reciprocal(scaler->scale.tensor)};
    const qn_status status = qn_module_visit(module, unscale, &u);
    qn_no_gradient_end(module->tensors);
    if (!status) scaler->finite = qn_tensor_retain(u.finite);
    return status;
}

/* The next scale and count, as assigned tensors. */
static qn_status adjust(qn_loss_scaler *s, qn_tensor *finite) {
    qn_tensor *scale = s->scale.tensor, *good = qn_add(s->good.tensor, 1);
    qn_tensor *grows = qn_greater_equal(good, s->desc.interval);
    qn_tensor *next = qn_where(grows, qn_multiply(scale, s->desc.growth), scale);
    next = qn_where(finite, next, qn_multiply(scale, s->desc.backoff));
    qn_tensor *counted = qn_where(qn_logical_and(finite, qn_logical_not(grows)), good, 0);
    const qn_status status = qn_assign(s->good.tensor, counted);
    return status ? status : qn_assign(scale, next);
}

static qn_status take_step(qn_loss_scaler *s, qn_optimizer *o) {
    qn_status status = s->finite ? QN_OK : qn_loss_scaler_unscale(s, o->module);
    qn_tensor *finite = s->finite;
    s->finite = NULL;
    qn_no_gradient_begin(s->own.tensors);
    if (!status && finite) status = adjust(s, finite);
    qn_no_gradient_end(s->own.tensors);
    qn_tensor *const own[] = {s->scale.tensor, s->good.tensor};
    if (!status) status = qn__optimizer_step_if(o, finite, own, 2);
    qn_tensor_release(finite);
    return status;
}

qn_status qn_loss_scaler_step(qn_loss_scaler *scaler, qn_optimizer *optimizer) {
    if (!scaler || !optimizer || !optimizer->module)
        return qn__nn_fail(NULL, QN_ERROR_NULL, "qn_loss_scaler_step: %s is NULL",
                           scaler ? "optimizer" : "scaler");
    qn_status status = qn_scope_begin(scaler->own.tensors);
    if (status) return status;
    status = take_step(scaler, optimizer);
    const qn_status ended = qn_scope_end(scaler->own.tensors);
    return status ? status : ended;
}
