/* Losses: tensors of tensors, which fuse with what is before and behind. */
#include "nn/nn.h"

qn_tensor *qn__nn_reduced(qn_tensor *losses, qn_loss_result result) {
    switch (result) {
    case QN_LOSS_SUM: return qn_sum(losses, QN_ALL_AXES, false);
    case QN_LOSS_EACH: return losses;
    default: return qn_mean(losses, QN_ALL_AXES, false);
    }
}

qn_tensor *qn_mse_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result) {
    return qn__nn_reduced(qn_square(qn_subtract(x, target)), result);
}

qn_tensor *qn_l1_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result) {
    return qn__nn_reduced(qn_abs(qn_subtract(x, target)), result);
}

qn_tensor *qn_huber_loss(qn_tensor *x, qn_tensor *target, double delta, qn_loss_result result) {
    qn_tensor *d = qn_abs(qn_subtract(x, target));
    qn_tensor *far = qn_multiply(qn_subtract(d, delta / 2), delta);
    return qn__nn_reduced(qn_where(qn_less_equal(d, delta), qn_multiply(qn_square(d), 0.5), far), result);
}

qn_tensor *qn_bce_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result) {
    qn_tensor *yes = qn_maximum(qn_log(x), -100), *no = qn_maximum(qn_log1p(qn_negate(x)), -100);
    return qn__nn_reduced(qn_negate(qn_lerp(no, yes, target)), result);
}

/* max(x, 0) - x target + log(1 + exp(-|x|)): exponents stay small. */
qn_tensor *qn_bce_with_logits_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result) {
    qn_tensor *rest = qn_log1p(qn_exp(qn_negate(qn_abs(x))));
    return qn__nn_reduced(qn_add(qn_subtract(qn_relu(x), qn_multiply(x, target)), rest), result);
}

qn_tensor *qn_kl_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result) {
    qn_tensor *is_there = qn_greater(target, 0);
    qn_tensor *log_target = qn_log(qn_where(is_there, target, 1));
    return qn__nn_reduced(qn_where(is_there, qn_multiply(target, qn_subtract(log_target, x)), 0), result);
}

/* ---- classes ---- */

static const qn_classes_desc defaults;

/* What classes weigh, along dimension `axis` of `rank`; NULL: all the same. */
static qn_tensor *weights_along(const qn_classes_desc *d, int32_t axis, uint32_t rank) {
    return !d->weights ? NULL : axis ? qn__nn_by_channel(d->weights, rank) : d->weights;
}

/* Of probabilities: minus the sum over the classes of target times logarithm. */
static qn_tensor *of_probabilities(qn_tensor *logs, qn_tensor *target, int32_t axis,
                                   const qn_classes_desc *d) {
    const qn_shape shape = qn_tensor_shape(logs);
    qn_tensor *weights = weights_along(d, axis, shape.rank);
    if (d->smoothing > 0)
        target = qn_add(qn_multiply(target, 1 - d->smoothing), d->smoothing / (double)shape.sizes[axis]);
    qn_tensor *products = qn_multiply(target, weights ? qn_multiply(logs, weights) : logs);
    return qn__nn_reduced(qn_negate(qn_sum(products, QN_AXES(axis), false)), d->result);
}

/* Classes are compared in 32 bits where targets have no more: a half of what 64 take. */
static qn_element number_type(const qn_tensor *target, uint64_t classes) {
    return qn_element_size(qn_tensor_type(target)) <= 4 && classes <= INT32_MAX ? QN_I32 : QN_I64;
}

/* Of one class each: its logarithm is picked by comparing each class's number with the target. */
static qn_tensor *of_one(qn_tensor *logs, qn_tensor *target, int32_t axis, const qn_classes_desc *d) {
    const qn_shape shape = qn_tensor_shape(logs);
    const qn_axes along = {1, {axis}};
    qn_tensors *t = qn_tensor_owner(logs);
    const uint64_t classes = shape.sizes[axis];
    const qn_element type = number_type(target, classes);
    qn_tensor *numbers = qn_arange(t, type, 0, (double)classes, 1);
    if (axis) numbers = qn__nn_by_channel(numbers, shape.rank);
    qn_tensor *wanted = qn_cast(qn_unsqueeze(target, axis), type), *is_it = qn_equal(numbers, wanted);
    qn_tensor *weights = weights_along(d, axis, shape.rank);
    qn_tensor *picked = qn_sum(qn_where(is_it, logs, 0), along, false), *weight = NULL;
    if (weights) {
        weight = qn_sum(qn_where(is_it, weights, 0), along, false);
        picked = qn_multiply(picked, weight);
    }
    if (d->smoothing > 0) {
        qn_tensor *all = qn_mean(weights ? qn_multiply(logs, weights) : logs, along, false);
        picked = qn_lerp(picked, all, d->smoothing);
    }
    qn_tensor *losses = qn_negate(picked);
    if (d->ignores) {
        qn_tensor *counts = qn_not_equal(target, d->ignored);
        losses = qn_where(counts, losses, 0);
        weight = weight ? qn_where(counts, weight, 0) : qn_cast(counts, qn_tensor_type(losses));
    }
    if (d->result != QN_LOSS_MEAN || !weight) return qn__nn_reduced(losses, d->result);
    return qn_divide(qn_sum(losses, QN_ALL_AXES, false), qn_sum(weight, QN_ALL_AXES, false));
}

static qn_tensor *classified(qn_tensor *logs, qn_tensor *target, int32_t axis, const qn_classes_desc *desc) {
    const qn_classes_desc *d = desc ? desc : &defaults;
    if (qn_tensor_status(logs)) return logs;
    if (qn_tensor_status(target)) return target;
    return qn_tensor_shape(target).rank == qn_tensor_shape(logs).rank
               ? of_probabilities(logs, target, axis, d)
               : of_one(logs, target, axis, d);
}

static int32_t classes_of(const qn_tensor *x) { return qn_tensor_shape(x).rank > 1 ? 1 : 0; }

qn_tensor *qn_cross_entropy(qn_tensor *x, qn_tensor *target, const qn_classes_desc *desc) {
    return classified(qn_log_softmax(x, classes_of(x)), target, classes_of(x), desc);
}

qn_tensor *qn_nll_loss(qn_tensor *x, qn_tensor *target, const qn_classes_desc *desc) {
    return classified(x, target, classes_of(x), desc);
}
