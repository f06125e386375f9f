/* Layers of weights, activations and sequences. */
#include <math.h>
#include <stdio.h>

#include "nn/nn.h"

/* ---- linear ---- */

static qn_tensor *forward_linear(qn_module *module, qn_tensor *x) {
    return qn_linear_forward((qn_linear *)module, x);
}
static const qn_module_type linear_type = {"linear", forward_linear};

qn_tensor *qn__nn_uniform(qn_tensors *tensors, qn_element type, qn_shape shape, double bound) {
    const qn_element computed = type == QN_F64 ? QN_F64 : QN_F32;
    return qn_cast(qn_multiply_add(qn_rand(tensors, computed, shape), 2 * bound, -bound), type);
}

qn_status qn_linear_init(qn_linear *linear, qn_tensors *tensors, const qn_linear_desc *desc) {
    qn_status status = qn__nn_check(linear, tensors, desc, __func__);
    if (!status)
        status = qn__nn_begin(
            tensors, (qn__nn_size[]){{"inputs", desc->inputs}, {"outputs", desc->outputs}, {NULL, 0}},
            __func__);
    if (status) return status;
    *linear = (qn_linear){.weight = {.tensor = NULL}};
    qn_module_init(&linear->module, tensors, &linear_type);
    const double bound = 1 / sqrt((double)desc->inputs);
    status = qn_module_add_parameter(
        &linear->module, "weight", &linear->weight,
        qn__nn_uniform(tensors, desc->type, QN_SHAPE(desc->outputs, desc->inputs), bound), true);
    if (!status && !desc->no_bias)
        status = qn_module_add_parameter(&linear->module, "bias", &linear->bias,
                                         qn__nn_uniform(tensors, desc->type, QN_SHAPE(desc->outputs), bound),
                                         true);
    return qn__nn_made(&linear->module, status);
}

/* All rows are those of one matrix, so that the gradient by the weights is one product. */
qn_tensor *qn__nn_project(qn_tensor *x, qn_tensor *weight, qn_tensor *bias) {
    if (qn_tensor_status(x)) return x;
    const qn_shape shape = qn_tensor_shape(x);
    qn_tensor *y = shape.rank > 2 && qn_tensor_count(x) ? qn_flatten(x, 0, (int32_t)shape.rank - 2) : x;
    y = qn_matmul(y, qn_transpose(weight, 0, 1));
    if (y != x && shape.rank > 2 && !qn_tensor_status(y)) {
        qn_shape wide = shape;
        wide.sizes[shape.rank - 1] = qn_tensor_shape(weight).sizes[0];
        y = qn_reshape(y, wide);
    }
    return bias ? qn_add(y, bias) : y;
}

qn_tensor *qn_linear_forward(qn_linear *linear, qn_tensor *x) {
    qn_module_begin(&linear->module);
    qn_tensor *y = qn__nn_project(x, linear->weight.tensor, linear->bias.tensor);
    return qn_module_end(&linear->module, x, y);
}

/* ---- convolution ---- */

static qn_tensor *forward_convolution(qn_module *module, qn_tensor *x) {
    return qn_convolution_layer_forward((qn_convolution_layer *)module, x);
}
static const qn_module_type convolution_type = {"convolution", forward_convolution};

/* The shape of the weights; false: no convolution has it. */
static bool weights_of(const qn_convolution_layer_desc *desc, qn_shape *shape) {
    const uint32_t dimensions = desc->dimensions ? desc->dimensions : 2;
    const uint64_t groups = desc->convolution.groups ? desc->convolution.groups : 1;
    *shape = (qn_shape){2, {desc->outputs, desc->inputs / groups}};
    if (desc->transposed) *shape = (qn_shape){2, {desc->inputs, desc->outputs / groups}};
    bool good = dimensions <= 3 && desc->inputs && desc->outputs && desc->inputs % groups == 0 &&
                desc->outputs % groups == 0;
    for (uint32_t d = 0; d < dimensions && good; d++) {
        shape->sizes[shape->rank++] = desc->window[d];
        good = desc->window[d] > 0;
    }
    return good;
}

qn_status qn_convolution_layer_init(qn_convolution_layer *layer, qn_tensors *tensors,
                                    const qn_convolution_layer_desc *desc) {
    qn_shape shape;
    qn_status status = qn__nn_check(layer, tensors, desc, "qn_convolution_layer_init");
    if (!status && !weights_of(desc, &shape))
        status = qn__nn_fail(tensors, QN_ERROR_ARGUMENT,
                             "qn_convolution_layer_init: %llu inputs, %llu outputs in %u groups, %u "
                             "dimensions: none is 0, nor a size of the window; groups "
                             "divide both",
                             (unsigned long long)desc->inputs, (unsigned long long)desc->outputs,
                             (unsigned)desc->convolution.groups, (unsigned)desc->dimensions);
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *layer = (qn_convolution_layer){.convolution = desc->convolution, .transposed = desc->transposed};
    qn_module_init(&layer->module, tensors, &convolution_type);
    double summed = 1;
    for (uint32_t d = 1; d < shape.rank; d++) summed *= (double)shape.sizes[d];
    const double bound = 1 / sqrt(summed);
    status = qn_module_add_parameter(&layer->module, "weight", &layer->weight,
                                     qn__nn_uniform(tensors, desc->type, shape, bound), true);
    if (!status && !desc->no_bias)
        status = qn_module_add_parameter(&layer->module, "bias", &layer->bias,
                                         qn__nn_uniform(tensors, desc->type, QN_SHAPE(desc->outputs), bound),
                                         true);
    return qn__nn_made(&layer->module, status);
}

qn_tensor *qn_convolution_layer_forward(qn_convolution_layer *layer, qn_tensor *x) {
    qn_module_begin(&layer->module);
    qn_tensor *y = (layer->transposed ? qn_transposed_convolution : qn_convolution)(
        x, layer->weight.tensor, layer->bias.tensor, &layer->convolution);
    return qn_module_end(&layer->module, x, y);
}

/* ---- pooling ---- */

static qn_tensor *forward_pool(qn_module *module, qn_tensor *x) {
    const qn_pool_layer *layer = (qn_pool_layer *)module;
    qn_module_begin(module);
    return qn_module_end(module, x, (layer->average ? qn_average_pool : qn_max_pool)(x, &layer->pool));
}
static const qn_module_type pool_type = {"pool", forward_pool};

void qn_pool_layer_init(qn_pool_layer *layer, qn_tensors *tensors, const qn_pool_desc *desc, bool average) {
    *layer = (qn_pool_layer){.pool = *desc, .average = average};
    qn_module_init(&layer->module, tensors, &pool_type);
}

/* ---- functions ---- */

static qn_tensor *forward_function(qn_module *module, qn_tensor *x) {
    qn_module_begin(module);
    return qn_module_end(module, x, ((qn_function_layer *)module)->function(x));
}
static const qn_module_type function_type = {"function", forward_function};

void qn_function_layer_init(qn_function_layer *layer, qn_tensors *tensors,
                            qn_tensor *(*function)(qn_tensor *x)) {
    qn_module_init(&layer->module, tensors, &function_type);
    layer->function = function;
}

static qn_tensor *forward_dropout(qn_module *module, qn_tensor *x) {
    return qn_dropout_forward((qn_dropout *)module, x);
}
static const qn_module_type dropout_type = {"dropout", forward_dropout};

void qn_dropout_init(qn_dropout *dropout, qn_tensors *tensors, double probability) {
    qn_module_init(&dropout->module, tensors, &dropout_type);
    dropout->probability = probability;
}

qn_tensor *qn__nn_drop(qn_tensors *tensors, qn_tensor *x, double p) {
    if (p <= 0 || qn_tensor_status(x)) return x;
    qn_tensor *numbers = qn_rand(tensors, QN_F32, qn_tensor_shape(x));
    return qn_where(qn_less(numbers, p), 0, qn_multiply(x, p < 1 ? 1 / (1 - p) : 0));
}

qn_tensor *qn_dropout_forward(qn_dropout *dropout, qn_tensor *x) {
    const double p = dropout->probability;
    qn_module_begin(&dropout->module);
    qn_tensor *y = dropout->module.training ? qn__nn_drop(dropout->module.tensors, x, p) : x;
    return qn_module_end(&dropout->module, x, y);
}

/* ---- sequences ---- */

static qn_tensor *forward_sequence(qn_module *module, qn_tensor *x) {
    qn_module_begin(module);
    qn_tensor *y = x;
    for (qn_module *m = module->children; m; m = m->next) y = qn_module_forward(m, y);
    return qn_module_end(module, x, y);
}
static const qn_module_type sequence_type = {"sequence", forward_sequence};

void qn_sequential_init(qn_module *module, qn_tensors *tensors) {
    qn_module_init(module, tensors, &sequence_type);
}

qn_status qn_sequential_add(qn_module *module, qn_module *child) {
    uint32_t index = 0;
    char name[QN_NAME_ROOM];
    for (const qn_module *m = module ? module->children : NULL; m; m = m->next) index++;
    if (module && child && (!child->type || !child->type->forward))
        return qn__nn_fail(module->tensors, QN_ERROR_ARGUMENT,
                           "qn_sequential_add: module %u has no function of one tensor", (unsigned)index);
    snprintf(name, sizeof name, "%u", (unsigned)index);
    return qn_module_add(module, name, child);
}
