/* qn_convolve, with kernels/convolve.cl: as a product of matrices in tiles, or element by element where there is too little for
   tiles (few channels, depthwise) and on processors. */
#include <stdio.h>

#include "kernels/op.h"

enum { TILE = 64, GROUP = 256 };

/* As convolve.cl has it. */
typedef struct shape {
    uint64_t images;
    uint32_t groups, channels, outputs;
    uint32_t rows, columns, to_rows, to_columns;
    uint32_t stride[2], dilation[2], padding[2];
    uint64_t from_begin, weights_begin, bias_begin, to_begin;
    int64_t from[4], weights[4], bias, to[4];
} shape;

typedef struct plan {
    qn_kernel *kernel;
    qn_range range;
} plan;

static bool suits_tiles(const qn_kernels *kernels, const shape *h, const qn_convolve_desc *d) {
    const uint64_t depth = h->channels * d->weights.sizes[2] * d->weights.sizes[3];
    return !qn__is_processor(kernels) && kernels->info.max_local_size[0] >= GROUP && h->outputs >= TILE / 4 &&
           depth >= 16 && depth <= UINT32_MAX;
}

static shape shape_of(const qn_convolve_desc *d) {
    shape h = {.images = d->from.sizes[0],
               .groups = d->groups,
               .channels = (uint32_t)d->weights.sizes[1],
               .outputs = (uint32_t)d->to.sizes[1] / d->groups,
               .rows = (uint32_t)d->from.sizes[2],
               .columns = (uint32_t)d->from.sizes[3],
               .to_rows = (uint32_t)d->to.sizes[2],
               .to_columns = (uint32_t)d->to.sizes[3],
               .from_begin = d->from.offset,
               .weights_begin = d->weights.offset,
               .bias_begin = d->bias.offset,
               .to_begin = d->to.offset,
               .bias = d->bias.strides[0]};
    for (int i = 0; i < 2; i++) {
        h.stride[i] = d->stride[i];
        h.dilation[i] = d->dilation[i];
        h.padding[i] = d->padding[i];
    }
    for (int i = 0; i < 4; i++) {
        h.from[i] = d->from.strides[i];
        h.weights[i] = d->weights.strides[i];
        h.to[i] = d->to.strides[i];
    }
    return h;
}

static qn_status make(qn_kernels *kernels, const void *request, void *out) {
    const qn_convolve_desc *d = request;
    const qn__element_info *e = qn__element(d->to.type);
    const shape h = shape_of(d);
    plan *p = out;
    const bool tiles = suits_tiles(kernels, &h, d);
    const uint64_t pixels = h.images * h.to_rows * h.to_columns;
    p->range = (qn_range){.global = {h.to_columns, h.to_rows, h.images * d->to.sizes[1]}};
    if (tiles)
        p->range =
            (qn_range){.global = {((pixels - 1) / TILE + 1) * GROUP, (h.outputs - 1) / TILE + 1, h.groups},
                       .local = {GROUP, 1, 1}};
    char options[256];
    snprintf(options, sizeof options,
             "-D STORAGE=%s -D LOAD=%s -D STORE=%s -D VALUE=%s -D ROWS=%llu -D COLUMNS=%llu%s", e->storage,
             e->load, e->store, e->value, (unsigned long long)d->weights.sizes[2],
             (unsigned long long)d->weights.sizes[3], d->bias.buffer ? " -D BIAS" : "");
    return qn__variant_get(kernels, &(qn__variant){"convolve.cl", tiles ? "tiles" : "direct", options},
                           &p->kernel);
}

static const qn__op convolve_op = {"qn_convolve", sizeof(plan), make};

static qn_status check_types(const qn_kernels *kernels, const qn_convolve_desc *d) {
    const qn_element type = d->to.type;
    const bool same =
        d->from.type == type && d->weights.type == type && (!d->bias.buffer || d->bias.type == type);
    if (!same || !qn__element(type)->is_float)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "qn_convolve: the types of from, weights and to are %s, %s and %s%s%s; they must be one type of "
            "floats",
            qn__element(d->from.type)->name, qn__element(d->weights.type)->name, qn__element(type)->name,
            d->bias.buffer ? ", that of bias " : "", d->bias.buffer ? qn__element(d->bias.type)->name : "");
    if (type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_convolve: %s has no f64", kernels->info.name);
    return QN_OK;
}

static qn_status check_channels(const qn_kernels *kernels, const qn_convolve_desc *d) {
    const uint64_t *from = d->from.sizes, *weights = d->weights.sizes, *to = d->to.sizes;
    if (d->from.rank != 4 || d->weights.rank != 4 || d->to.rank != 4)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "qn_convolve: from, weights and to have %u, %u and %u dimensions; they must have four",
            d->from.rank, d->weights.rank, d->to.rank);
    if (from[1] != weights[1] * d->groups || weights[0] % d->groups)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "qn_convolve: from is %s and weights is %s; in %u groups weights must have %u times fewer "
            "channels than from, and a multiple of %u outputs",
            qn__shape(&d->from).text, qn__shape(&d->weights).text, d->groups, d->groups, d->groups);
    if (d->bias.buffer && (d->bias.rank != 1 || d->bias.sizes[0] != weights[0]))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_convolve: bias is %s; it must be %llu, as weights has outputs",
                           qn__shape(&d->bias).text, (unsigned long long)weights[0]);
    for (int i = 0; i < 4; i++)
        if (from[i] > INT32_MAX || weights[i] > INT32_MAX || to[i] > INT32_MAX)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "qn_convolve: from is %s, weights is %s; sizes are below 2^31",
                               qn__shape(&d->from).text, qn__shape(&d->weights).text);
    return QN_OK;
}

/* What comes out along dimension 2 + i. */
static uint64_t size_out(const qn_convolve_desc *d, int i) {
    const uint64_t padded = d->from.sizes[2 + i] + 2 * (uint64_t)d->padding[i],
                   taps = d->weights.sizes[2 + i];
    const uint64_t reach = taps ? (taps - 1) * d->dilation[i] + 1 : 0;
    return taps == 0 || padded < reach ? 0 : (padded - reach) / d->stride[i] + 1;
}

static qn_status check_sizes(const qn_kernels *kernels, const qn_convolve_desc *d) {
    const uint64_t wanted[4] = {d->from.sizes[0], d->weights.sizes[0], size_out(d, 0), size_out(d, 1)};
    for (int i = 0; i < 4; i++)
        if (d->to.sizes[i] != wanted[i])
            return qn__op_fail(
                kernels, QN_ERROR_ARGUMENT, "qn_convolve: to is %s; it must be %llux%llux%llux%llu",
                qn__shape(&d->to).text, (unsigned long long)wanted[0], (unsigned long long)wanted[1],
                (unsigned long long)wanted[2], (unsigned long long)wanted[3]);
    qn_status status = qn__array_apart(kernels, "qn_convolve", "to", &d->to, "from", &d->from);
    if (!status) status = qn__array_apart(kernels, "qn_convolve", "to", &d->to, "weights", &d->weights);
    if (!status && d->bias.buffer)
        status = qn__array_apart(kernels, "qn_convolve", "to", &d->to, "bias", &d->bias);
    return status;
}

static qn_status check(const qn_kernels *kernels, const qn_convolve_desc *desc, qn_convolve_desc *d) {
    qn_status status = qn__op_check(kernels, desc, "qn_convolve");
    if (status) return status;
    *d = *desc;
    for (int i = 0; i < 2; i++) {
        if (d->stride[i] == 0) d->stride[i] = 1;
        if (d->dilation[i] == 0) d->dilation[i] = 1;
    }
    if (d->groups == 0) d->groups = 1;
    status = qn__array_check(kernels, "qn_convolve", "from", &desc->from, &d->from);
    if (!status) status = qn__array_check(kernels, "qn_convolve", "weights", &desc->weights, &d->weights);
    if (!status && desc->bias.buffer)
        status = qn__array_check(kernels, "qn_convolve", "bias", &desc->bias, &d->bias);
    if (!status) status = qn__array_check_written(kernels, "qn_convolve", "to", &desc->to, &d->to);
    if (!status) status = check_channels(kernels, d);
    if (!status) status = check_types(kernels, d);
    return status ? status : check_sizes(kernels, d);
}

static qn_arg buffer_of(const qn_array *a) { return a->buffer ? qn_arg_buffer(a->buffer) : qn_arg_null(); }

qn_status qn_convolve(qn_kernels *kernels, qn_stream *stream, const qn_convolve_desc *desc) {
    qn_convolve_desc d;
    qn_status status = check(kernels, desc, &d);
    if (status || qn_array_count(&d.to) == 0) return status;
    qn__key key = {0};
    qn__key_add_array(&key, &d.from);
    qn__key_add_array(&key, &d.weights);
    qn__key_add_array(&key, &d.to);
    qn__key_add(&key, d.groups);
    qn__key_add(&key, d.bias.buffer != NULL);
    plan p;
    status = qn__plan_get(kernels, &convolve_op, &key, &d, &p);
    if (status) return status;
    const shape h = shape_of(&d);
    const qn_arg args[] = {QN_BYTES(h), buffer_of(&d.from), buffer_of(&d.weights), buffer_of(&d.bias),
                           buffer_of(&d.to)};
    return qn_launch(stream, p.kernel, &p.range, args, sizeof args / sizeof *args);
}
