/* qn_kernels_convolve and its gradients: what is asked for is checked here. The gradient by the images is again a convolution, of the
   gradient by what came out with the weights mirrored; with strides several, each of which gives some of the pixels. */
#include "kernels/convolve.h"

/* The fields of a call, for messages. */
typedef struct names {
    const char *function, *from, *weights, *to;
} names;

static qn_status check_types(const qn_kernels *kernels, const names *name, const qn__convolution *c) {
    const qn_element type = c->to.type;
    const bool same =
        c->from.type == type && c->weights.type == type && (!c->bias.buffer || c->bias.type == type);
    if (!same || !qn__element(type)->is_float)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "%s: the types of %s, %s and %s are %s, %s and %s%s%s; they must be one type of floats",
            name->function, name->from, name->weights, name->to, qn__element(c->from.type)->name,
            qn__element(c->weights.type)->name, qn__element(type)->name,
            c->bias.buffer ? ", that of bias " : "", c->bias.buffer ? qn__element(c->bias.type)->name : "");
    if (type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "%s: %s has no f64", name->function,
                           kernels->info.name);
    return QN_OK;
}

static qn_status check_channels(const qn_kernels *kernels, const names *name, const qn__convolution *c) {
    const uint64_t *from = c->from.sizes, *weights = c->weights.sizes;
    if (c->from.rank != 4 || c->weights.rank != 4 || c->to.rank != 4)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: %s, %s and %s have %u, %u and %u dimensions; they must have four",
                           name->function, name->from, name->weights, name->to, c->from.rank, c->weights.rank,
                           c->to.rank);
    if (from[1] != weights[1] * c->groups || weights[0] % c->groups)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "%s: %s is %s and %s is %s; in %u groups %s must have %u times fewer channels than %s, and a "
            "multiple of %u outputs",
            name->function, name->from, qn__shape(&c->from).text, name->weights, qn__shape(&c->weights).text,
            c->groups, name->weights, c->groups, name->from, c->groups);
    if (c->bias.buffer && (c->bias.rank != 1 || c->bias.sizes[0] != weights[0]))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: bias is %s; it must be %llu, as weights has outputs", name->function,
                           qn__shape(&c->bias).text, (unsigned long long)weights[0]);
    for (int i = 0; i < 4; i++)
        if (from[i] > INT32_MAX || weights[i] > INT32_MAX || c->to.sizes[i] > INT32_MAX)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s is %s, %s is %s; sizes are below 2^31",
                               name->function, name->from, qn__shape(&c->from).text, name->weights,
                               qn__shape(&c->weights).text);
    return QN_OK;
}

/* Pixels with the padding of both sides, and how many of them the taps span. */
static uint64_t padded(const qn__convolution *c, int i) {
    return c->from.sizes[2 + i] + 2 * (uint64_t)c->padding[i];
}
static uint64_t span(const qn__convolution *c, int i) {
    const uint64_t taps = c->weights.sizes[2 + i];
    return taps ? (taps - 1) * c->dilation[i] + 1 : 0;
}

/* What comes out along dimension 2 + i. */
static uint64_t size_out(const qn__convolution *c, int i) {
    return span(c, i) == 0 || padded(c, i) < span(c, i) ? 0 : (padded(c, i) - span(c, i)) / c->stride[i] + 1;
}

/* Nothing comes out of images that the taps do not fit into: who asks for something is told that first. */
static qn_status check_span(const qn_kernels *kernels, const names *name, const qn__convolution *c) {
    static const char *const pixels[] = {"rows", "columns"};
    for (int i = 0; i < 2; i++)
        if (c->to.sizes[2 + i] && span(c, i) && padded(c, i) < span(c, i))
            return qn__op_fail(
                kernels, QN_ERROR_ARGUMENT,
                "%s: the taps of %s (%s) span %llu %s with dilation %u, and %s (%s) has %llu with its "
                "padding of %u",
                name->function, name->weights, qn__shape(&c->weights).text, (unsigned long long)span(c, i),
                pixels[i], c->dilation[i], name->from, qn__shape(&c->from).text,
                (unsigned long long)padded(c, i), c->padding[i]);
    return QN_OK;
}

static qn_status check_sizes(const qn_kernels *kernels, const names *name, const qn__convolution *c) {
    static const char *const fields[] = {"stride", "padding", "dilation"};
    const uint32_t *const pairs[] = {c->stride, c->padding, c->dilation};
    for (int i = 0; i < 6; i++)
        if (pairs[i / 2][i % 2] > INT32_MAX)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s[%d] is %u; it must be below 2^31",
                               name->function, fields[i / 2], i % 2, pairs[i / 2][i % 2]);
    const qn_status status = check_span(kernels, name, c);
    if (status) return status;
    const uint64_t wanted[4] = {c->from.sizes[0], c->weights.sizes[0], size_out(c, 0), size_out(c, 1)};
    for (int i = 0; i < 4; i++)
        if (c->to.sizes[i] != wanted[i])
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s is %s; it must be %llux%llux%llux%llu",
                               name->function, name->to, qn__shape(&c->to).text,
                               (unsigned long long)wanted[0], (unsigned long long)wanted[1],
                               (unsigned long long)wanted[2], (unsigned long long)wanted[3]);
    return QN_OK;
}

static void set_defaults(qn__convolution *c) {
    for (int i = 0; i < 2; i++) {
        if (c->stride[i] == 0) c->stride[i] = 1;
        if (c->dilation[i] == 0) c->dilation[i] = 1;
    }
    if (c->groups == 0) c->groups = 1;
}

/* One array of a call: its field, what is given, and where it goes. */
typedef struct field {
    const char *name;
    const qn_array *given;
    qn_array *out;
} field;

/* The first of them is written, and shares no memory with the others. */
static qn_status check_arrays(const qn_kernels *kernels, const char *function, const field *fields,
                              int count) {
    qn_status status =
        qn__array_check_written(kernels, function, fields[0].name, fields[0].given, fields[0].out);
    for (int i = 1; i < count && !status; i++)
        status = qn__array_check(kernels, function, fields[i].name, fields[i].given, fields[i].out);
    return status;
}

static qn_status check_apart(const qn_kernels *kernels, const char *function, const field *fields,
                             int count) {
    qn_status status = QN_OK;
    for (int i = 1; i < count && !status; i++)
        status =
            qn__array_apart(kernels, function, fields[0].name, fields[0].out, fields[i].name, fields[i].out);
    return status;
}

/* What the descriptors of all three calls have. */
#define CONVOLUTION_OF(desc)                                                                                 \
    {                                                                                                        \
        .stride = {(desc)->stride[0], (desc)->stride[1]},                                                    \
        .padding = {(desc)->padding[0], (desc)->padding[1]},                                                 \
        .dilation = {(desc)->dilation[0], (desc)->dilation[1]}, .groups = (desc)->groups                     \
    }

/* Reads the arrays, and checks all of the call. */
static qn_status check(const qn_kernels *kernels, const names *name, const field *fields, int count,
                       const char *variant, qn__convolution *c) {
    set_defaults(c);
    qn_status status = check_arrays(kernels, name->function, fields, count);
    if (!status) status = check_channels(kernels, name, c);
    if (!status) status = check_types(kernels, name, c);
    if (!status) status = check_sizes(kernels, name, c);
    if (!status) status = qn__convolve_find_variant(kernels, name->function, variant, &c->variant);
    return status ? status : check_apart(kernels, name->function, fields, count);
}

qn__convolve_problem qn__convolve_problem_of(const qn__convolution *c) {
    const uint64_t *from = c->from.sizes, *weights = c->weights.sizes, *to = c->to.sizes;
    qn__convolve_problem p = {.numbers = {.pixels = to[0] * to[2] * to[3],
                                          .to_rows = (uint32_t)to[2],
                                          .to_columns = (uint32_t)to[3],
                                          .channels = (uint32_t)weights[1],
                                          .outputs = (uint32_t)weights[0] / c->groups,
                                          .groups = c->groups,
                                          .rows = (int32_t)from[2],
                                          .columns = (int32_t)from[3],
                                          .from_begin = c->from.offset,
                                          .weights_begin = c->weights.offset,
                                          .bias_begin = c->bias.offset,
                                          .to_begin = c->to.offset,
                                          .bias = c->bias.strides[0]},
                              .type = c->to.type,
                              .images = to[0],
                              .taps = {(uint32_t)weights[2], (uint32_t)weights[3]},
                              .variant = c->variant,
                              .from = c->from.buffer,
                              .weights = c->weights.buffer,
                              .bias = c->bias.buffer,
                              .to = c->to.buffer};
    qn__convolve_numbers *n = &p.numbers;
    for (int i = 0; i < 2; i++) {
        n->stride[i] = (int32_t)c->stride[i];
        n->dilation[i] = (int32_t)c->dilation[i];
        n->padding[i] = c->padding[i];
    }
    for (int i = 0; i < 4; i++) {
        n->from[i] = c->from.strides[i];
        n->weights[i] = c->weights.strides[i];
        n->to[i] = c->to.strides[i];
    }
    n->from_group = n->channels * n->from[1];
    n->weights_group = n->outputs * n->weights[0];
    n->to_group = n->outputs * n->to[1];
    return p;
}

qn_status qn_kernels_convolve(qn_kernels *kernels, qn_stream *stream, const qn_convolve_desc *desc) {
    static const names name = {"qn_kernels_convolve", "from", "weights", "to"};
    qn_status status = qn__op_begin(kernels, stream, desc, name.function);
    if (status) return status;
    qn__convolution c = CONVOLUTION_OF(desc);
    c.bias = desc->bias;
    const field fields[] = {{name.to, &desc->to, &c.to},
                            {name.from, &desc->from, &c.from},
                            {name.weights, &desc->weights, &c.weights},
                            {"bias", &desc->bias, &c.bias}};
    const int count = desc->bias.buffer ? 4 : 3;
    status = check(kernels, &name, fields, count, desc->variant, &c);
    if (status || qn_array_count(&c.to) == 0) return status;
    const qn__convolve_problem p = qn__convolve_problem_of(&c);
    return qn__convolve_launch(kernels, stream, &p);
}

/* ---- the gradient by the images ---- */

/* Of one dimension: the pixels from `first` on, `stride` apart, that the taps from `tap` on reach, `step` apart; and how these
   are a convolution of the gradient: mirrored, the last tap first. */
typedef struct phase {
    uint64_t first, pixels, tap, step, taps;
    int64_t padding;
    int32_t dilation;
} phase;

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

/* Pixel h is part of what comes out at p by tap r where h + padding = p stride + r dilation: pixels whose h + padding leaves the
   same rest by the stride share their taps. */
static phase phase_of(const qn__convolution *c, int i, uint64_t rest) {
    const uint64_t stride = c->stride[i], dilation = c->dilation[i], size = c->from.sizes[2 + i],
                   taps = c->weights.sizes[2 + i], padding = c->padding[i];
    phase p = {.first = (rest + stride - padding % stride) % stride,
               .step = stride / common_divisor(stride, dilation)};
    p.pixels = p.first < size ? (size - 1 - p.first) / stride + 1 : 0;
    while (p.tap < taps && p.tap < p.step && p.tap * dilation % stride != rest) p.tap++;
    if (p.tap == taps || p.tap == p.step) return p;
    p.taps = (taps - 1 - p.tap) / p.step + 1;
    p.dilation = (int32_t)(dilation * p.step / stride);
    p.padding = (int64_t)(p.taps - 1) * p.dilation -
                ((int64_t)(p.first + padding) - (int64_t)(p.tap * dilation)) / (int64_t)stride;
    return p;
}

/* The pixels of both phases, as an array of the images' gradient. */
static qn_array pixels_of(const qn__convolution *c, const phase phases[2]) {
    qn_array view = c->from;
    for (int i = 0; i < 2; i++) {
        const int64_t stride = c->from.strides[2 + i];
        view.offset += (uint64_t)((int64_t)phases[i].first * stride);
        view.sizes[2 + i] = phases[i].pixels;
        view.strides[2 + i] = stride * c->stride[i];
    }
    return view;
}

/* The convolution that gives the pixels of both phases. False: there are none, or no tap reaches them. */
static bool problem_of(const qn__convolution *c, const phase phases[2], qn__convolve_problem *p) {
    const qn_array view = pixels_of(c, phases);
    if (qn_array_count(&view) == 0 || phases[0].taps == 0 || phases[1].taps == 0) return false;
    qn__convolution turned = {
        .from = c->to, .weights = c->weights, .to = view, .groups = c->groups, .variant = c->variant};
    *p = qn__convolve_problem_of(&turned);
    qn__convolve_numbers *n = &p->numbers;
    n->channels = (uint32_t)c->weights.sizes[0] / c->groups;
    n->outputs = (uint32_t)c->weights.sizes[1];
    n->weights[0] = c->weights.strides[1];
    n->weights[1] = c->weights.strides[0];
    n->from_group = n->channels * n->from[1];
    n->weights_group = n->channels * n->weights[1];
    n->to_group = n->outputs * n->to[1];
    for (int i = 0; i < 2; i++) {
        const int64_t stride = c->weights.strides[2 + i];
        const uint64_t last = phases[i].tap + (phases[i].taps - 1) * phases[i].step;
        n->weights_begin += (uint64_t)((int64_t)last * stride);
        n->weights[2 + i] = -(int64_t)phases[i].step * stride;
        n->stride[i] = 1;
        n->dilation[i] = phases[i].dilation;
        n->padding[i] = phases[i].padding;
        p->taps[i] = (uint32_t)phases[i].taps;
    }
    return true;
}

/* The phase number `i`, of rows and columns. */
static void phases_of(const qn__convolution *c, uint64_t i, phase out[2]) {
    const uint64_t columns = c->from.sizes[3] < c->stride[1] ? c->from.sizes[3] : c->stride[1];
    out[0] = phase_of(c, 0, (i / columns + c->padding[0]) % c->stride[0]);
    out[1] = phase_of(c, 1, (i % columns + c->padding[1]) % c->stride[1]);
}

static uint64_t number_of_phases(const qn__convolution *c) {
    uint64_t count = 1;
    for (int i = 0; i < 2; i++)
        count *= c->from.sizes[2 + i] < c->stride[i] ? c->from.sizes[2 + i] : c->stride[i];
    return count;
}

static uint64_t taps_of(const qn__convolve_problem *p) { return (uint64_t)p->taps[0] * p->taps[1]; }

/* All that have taps; those with the most come first. They are together where there is a way for that. */
static qn_status launch_phases(qn_kernels *kernels, qn_stream *stream, const qn__convolution *c) {
    enum { MOST = QN__CONVOLVE_PHASES };
    const uint64_t all = number_of_phases(c);
    qn__convolve_problem problems[MOST];
    uint32_t count = 0;
    qn_status status = QN_OK;
    for (uint64_t i = 0; i < all && !status; i++) {
        phase phases[2];
        qn__convolve_problem p;
        phases_of(c, i, phases);
        if (!problem_of(c, phases, &p)) continue;
        if (all > MOST) {
            status = qn__convolve_launch(kernels, stream, &p);
            continue;
        }
        uint32_t at = count++;
        for (; at > 0 && taps_of(&problems[at - 1]) < taps_of(&p); at--) problems[at] = problems[at - 1];
        problems[at] = p;
    }
    if (count > 1 && qn__convolve_quads_join(kernels, problems, count))
        return qn__convolve_quad_launch(kernels, stream, problems, count);
    for (uint32_t i = 0; i < count && !status; i++)
        status = qn__convolve_launch(kernels, stream, &problems[i]);
    return status;
}

/* Whether some pixels meet no tap. */
static bool has_gaps(const qn__convolution *c) {
    bool gaps = c->to.sizes[2] == 0 || c->to.sizes[3] == 0;
    for (uint64_t i = 0; i < number_of_phases(c) && !gaps; i++) {
        phase phases[2];
        phases_of(c, i, phases);
        gaps = phases[0].taps == 0 || phases[1].taps == 0;
    }
    return gaps;
}

qn_status qn_kernels_convolve_backward_input(qn_kernels *kernels, qn_stream *stream,
                                             const qn_convolve_backward_input_desc *desc) {
    static const names name = {"qn_kernels_convolve_backward_input", "to", "weights", "gradient"};
    qn_status status = qn__op_begin(kernels, stream, desc, name.function);
    if (status) return status;
    qn__convolution c = CONVOLUTION_OF(desc);
    const field fields[] = {{name.from, &desc->to, &c.from},
                            {name.to, &desc->gradient, &c.to},
                            {name.weights, &desc->weights, &c.weights}};
    status = check(kernels, &name, fields, 3, desc->variant, &c);
    if (status || qn_array_count(&c.from) == 0) return status;
    if (has_gaps(&c)) status = qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = c.from});
    if (status || c.to.sizes[2] == 0 || c.to.sizes[3] == 0) return status;
    return launch_phases(kernels, stream, &c);
}

/* ---- the gradient by the weights ---- */

qn_status qn_kernels_convolve_backward_weights(qn_kernels *kernels, qn_stream *stream,
                                               const qn_convolve_backward_weights_desc *desc) {
    static const names name = {"qn_kernels_convolve_backward_weights", "from", "to", "gradient"};
    qn_status status = qn__op_begin(kernels, stream, desc, name.function);
    if (status) return status;
    qn__convolution c = CONVOLUTION_OF(desc);
    const field fields[] = {{name.weights, &desc->to, &c.weights},
                            {name.from, &desc->from, &c.from},
                            {name.to, &desc->gradient, &c.to}};
    status = check(kernels, &name, fields, 3, desc->variant, &c);
    if (status || qn_array_count(&c.weights) == 0) return status;
    if (qn_array_count(&c.to) == 0) return qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = c.weights});
    const qn__convolve_problem p = qn__convolve_problem_of(&c);
    return qn__convolve_weights_launch(kernels, stream, &p);
}
