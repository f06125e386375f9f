/* Normalisation: of rows, of groups of channels, of channels over a batch. Each is one or two kernels. */
#include "nn/nn.h"

/* All but the dimensions below `first`. */
static qn_axes from(uint32_t first, uint32_t rank) {
    qn_axes axes = {.count = 0};
    for (uint32_t d = first; d < rank; d++) axes.axes[axes.count++] = (int32_t)d;
    return axes;
}

static qn_tensor *normalised(qn_tensor *x, qn_axes axes, double epsilon) {
    qn_tensor *rest = qn_subtract(x, qn_mean(x, axes, true));
    return qn_multiply(rest, qn_rsqrt(qn_add(qn_mean(qn_square(rest), axes, true), epsilon)));
}

static double or_default(double value, double instead) { return value < 0 ? 0 : value > 0 ? value : instead; }

/* The weight of ones and the bias of zeros that follow a normalisation. */
static qn_status add_scale(qn_module *module, qn_parameter *weight, qn_parameter *bias, uint64_t size,
                           qn_element type) {
    qn_tensors *t = module->tensors;
    qn_status status =
        qn_module_add_parameter(module, "weight", weight, qn_ones(t, type, QN_SHAPE(size)), true);
    if (!status && bias)
        status = qn_module_add_parameter(module, "bias", bias, qn_zeros(t, type, QN_SHAPE(size)), true);
    return status;
}

/* Each channel of a tensor of `rank` dimensions times its weight, plus its bias. */
static qn_tensor *scaled(qn_tensor *y, qn_tensor *weight, qn_tensor *bias, uint32_t rank) {
    return qn_add(qn_multiply(y, qn__nn_by_channel(weight, rank)), qn__nn_by_channel(bias, rank));
}

/* ---- rows ---- */

static qn_tensor *forward_norm(qn_module *module, qn_tensor *x) {
    return qn_norm_layer_forward((qn_norm_layer *)module, x);
}
static const qn_module_type norm_type = {"norm", forward_norm};

qn_status qn_norm_layer_init(qn_norm_layer *norm, qn_tensors *tensors, const qn_norm_layer_desc *desc) {
    qn_status status = qn__nn_check(norm, tensors, desc, __func__);
    if (!status) status = qn__nn_begin(tensors, (qn__nn_size[]){{"size", desc->size}, {NULL, 0}}, __func__);
    if (status) return status;
    *norm = (qn_norm_layer){.epsilon = or_default(desc->epsilon, desc->root_mean_square ? 1e-6 : 1e-5),
                            .root_mean_square = desc->root_mean_square};
    qn_module_init(&norm->module, tensors, &norm_type);
    status = add_scale(&norm->module, &norm->weight,
                       desc->root_mean_square || desc->no_bias ? NULL : &norm->bias, desc->size, desc->type);
    return qn__nn_made(&norm->module, status);
}

qn_tensor *qn_norm_layer_forward(qn_norm_layer *norm, qn_tensor *x) {
    qn_module_begin(&norm->module);
    qn_tensor *y;
    if (norm->root_mean_square)
        y = qn_multiply(x, qn_rsqrt(qn_add(qn_mean(qn_square(x), QN_AXES(-1), true), norm->epsilon)));
    else
        y = normalised(x, QN_AXES(-1), norm->epsilon);
    y = qn_multiply(y, norm->weight.tensor);
    if (norm->bias.tensor) y = qn_add(y, norm->bias.tensor);
    return qn_module_end(&norm->module, x, y);
}

/* ---- groups of channels ---- */

static qn_tensor *forward_groups(qn_module *module, qn_tensor *x) {
    return qn_group_norm_forward((qn_group_norm *)module, x);
}
static const qn_module_type group_type = {"group_norm", forward_groups};

qn_status qn_group_norm_init(qn_group_norm *norm, qn_tensors *tensors, const qn_group_norm_desc *desc) {
    qn_status status = qn__nn_check(norm, tensors, desc, "qn_group_norm_init");
    if (!status && (!desc->channels || !desc->groups || desc->channels % desc->groups))
        status = qn__nn_fail(tensors, QN_ERROR_ARGUMENT,
                             "qn_group_norm_init: %llu channels are not %llu groups of as many",
                             (unsigned long long)desc->channels, (unsigned long long)desc->groups);
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *norm = (qn_group_norm){.groups = desc->groups, .epsilon = or_default(desc->epsilon, 1e-5)};
    qn_module_init(&norm->module, tensors, &group_type);
    return qn__nn_made(&norm->module,
                       add_scale(&norm->module, &norm->weight, &norm->bias, desc->channels, desc->type));
}

qn_tensor *qn_group_norm_forward(qn_group_norm *norm, qn_tensor *x) {
    if (qn_tensor_status(x)) return x;
    qn_module_begin(&norm->module);
    const qn_shape shape = qn_tensor_shape(x);
    const qn_shape grouped = QN_SHAPE(shape.rank ? shape.sizes[0] : 1, norm->groups, QN_REST);
    qn_tensor *y = qn_reshape(normalised(qn_reshape(x, grouped), QN_AXES(-1), norm->epsilon), shape);
    y = scaled(y, norm->weight.tensor, norm->bias.tensor, shape.rank);
    return qn_module_end(&norm->module, x, y);
}

/* ---- channels over a batch ---- */

static qn_tensor *forward_batch(qn_module *module, qn_tensor *x) {
    return qn_batch_norm_forward((qn_batch_norm *)module, x);
}
static const qn_module_type batch_type = {"batch_norm", forward_batch};

qn_status qn_batch_norm_init(qn_batch_norm *norm, qn_tensors *tensors, const qn_batch_norm_desc *desc) {
    qn_status status = qn__nn_check(norm, tensors, desc, __func__);
    if (!status)
        status = qn__nn_begin(tensors, (qn__nn_size[]){{"channels", desc->channels}, {NULL, 0}}, __func__);
    if (status) return status;
    *norm = (qn_batch_norm){.epsilon = or_default(desc->epsilon, 1e-5),
                            .momentum = or_default(desc->momentum, 0.1)};
    qn_module *m = &norm->module;
    qn_module_init(m, tensors, &batch_type);
    status = add_scale(m, &norm->weight, &norm->bias, desc->channels, desc->type);
    const qn_shape shape = QN_SHAPE(desc->channels);
    if (!status)
        status = qn_module_add_parameter(m, "running_mean", &norm->running_mean,
                                         qn_zeros(tensors, desc->type, shape), false);
    if (!status)
        status = qn_module_add_parameter(m, "running_var", &norm->running_var,
                                         qn_ones(tensors, desc->type, shape), false);
    return qn__nn_made(m, status);
}

/* Moves a running value towards that of the batch. */
static void follow(const qn_batch_norm *norm, qn_tensor *running, qn_tensor *value) {
    const qn_shape shape = qn_tensor_shape(running);
    qn_no_gradient_begin(norm->module.tensors);
    qn_assign(running, qn_lerp(running, qn_reshape(qn_detach(value), shape), norm->momentum));
    qn_no_gradient_end(norm->module.tensors);
}

qn_tensor *qn_batch_norm_forward(qn_batch_norm *norm, qn_tensor *x) {
    if (qn_tensor_status(x)) return x;
    const qn_shape shape = qn_tensor_shape(x);
    const uint64_t channels = shape.rank > 1 ? shape.sizes[1] : 0,
                   count = channels ? qn_tensor_count(x) / channels : 0;
    qn_module_begin(&norm->module);
    qn_axes axes = from(1, shape.rank);
    if (axes.count) axes.axes[0] = 0; /* all but dimension 1 */
    qn_tensor *mean = qn__nn_by_channel(norm->running_mean.tensor, shape.rank),
              *variance = qn__nn_by_channel(norm->running_var.tensor, shape.rank);
    if (norm->module.training) {
        mean = qn_mean(x, axes, true);
        variance = qn_mean(qn_square(qn_subtract(x, mean)), axes, true);
        follow(norm, norm->running_mean.tensor, mean);
        follow(norm, norm->running_var.tensor,
               qn_multiply(variance, count > 1 ? (double)count / (double)(count - 1) : 1));
    }
    qn_tensor *y = qn_multiply(qn_subtract(x, mean), qn_rsqrt(qn_add(variance, norm->epsilon)));
    y = scaled(y, norm->weight.tensor, norm->bias.tensor, shape.rank);
    return qn_module_end(&norm->module, x, y);
}
