/* Recurrent networks: cells, and sequences of several layers in one direction or both. What a sequence's elements give by themselves is one product for
   all of them; each step adds what the state gives. */
#include <math.h>
#include <stdio.h>

#include "nn/nn.h"

/* The weights of a layer in one direction. */
typedef struct weights {
    qn_tensor *ih, *hh, *bias_ih, *bias_hh;
} weights;

static uint32_t gates_of(qn_recurrent_kind kind) { return kind == QN_LSTM ? 4 : kind == QN_GRU ? 3 : 1; }

static qn_tensor *gate(qn_tensor *x, uint32_t index, uint64_t hidden) {
    return qn_slice(x, -1, (int64_t)(index * hidden), (int64_t)((index + 1) * hidden), 1);
}

/* The next state, from what the element gives (with its bias) and the state before. */
static qn_recurrent_state next_state(qn_recurrent_kind kind, qn_tensor *given, const weights *w,
                                     qn_recurrent_state s) {
    qn_tensor *from = qn__nn_project(s.h, w->hh, w->bias_hh);
    const uint64_t hidden = qn_tensor_shape(w->hh).sizes[1];
    if (kind == QN_GRU) {
        qn_tensor *both = qn_add(given, from);
        qn_tensor *reset = qn_sigmoid(gate(both, 0, hidden)), *keep = qn_sigmoid(gate(both, 1, hidden));
        qn_tensor *fresh = qn_tanh(qn_multiply_add(reset, gate(from, 2, hidden), gate(given, 2, hidden)));
        return (qn_recurrent_state){qn_lerp(fresh, s.h, keep), NULL};
    }
    qn_tensor *both = qn_add(given, from);
    if (kind != QN_LSTM)
        return (qn_recurrent_state){kind == QN_RNN_RELU ? qn_relu(both) : qn_tanh(both), NULL};
    qn_tensor *in = qn_sigmoid(gate(both, 0, hidden)), *keep = qn_sigmoid(gate(both, 1, hidden));
    qn_tensor *fresh = qn_tanh(gate(both, 2, hidden)), *out = qn_sigmoid(gate(both, 3, hidden));
    qn_tensor *c = qn_multiply_add(keep, s.c, qn_multiply(in, fresh));
    return (qn_recurrent_state){qn_multiply(out, qn_tanh(c)), c};
}

/* ---- parameters ---- */

enum { PARAMETERS = 4 };

static qn_status add_weights(qn_module *m, qn_parameter *p, const char *suffix, qn_recurrent_kind kind,
                             uint64_t inputs, uint64_t hidden, qn_element type, bool no_bias) {
    static const char *const names[PARAMETERS] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    const uint64_t rows = gates_of(kind) * hidden;
    const qn_shape shapes[PARAMETERS] = {QN_SHAPE(rows, inputs), QN_SHAPE(rows, hidden), QN_SHAPE(rows),
                                         QN_SHAPE(rows)};
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < (no_bias ? 2 : PARAMETERS) && !status; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", names[i], suffix);
        qn_tensor *value = qn__nn_uniform(m->tensors, type, shapes[i], 1 / sqrt((double)hidden));
        status = qn_module_add_parameter(m, name, &p[i], value, true);
    }
    return status;
}

static weights weights_of(const qn_parameter *p) {
    return (weights){p[0].tensor, p[1].tensor, p[2].tensor, p[3].tensor};
}

static qn_status check_desc(const void *object, qn_tensors *tensors, const qn_recurrent_desc *d,
                            const char *function) {
    const qn_status status = qn__nn_check(object, tensors, d, function);
    if (status) return status;
    if (!d->inputs || !d->hidden || (uint32_t)d->kind > QN_LSTM || d->layers > QN_RECURRENT_LAYERS)
        return qn__nn_fail(
            tensors, QN_ERROR_ARGUMENT,
            "%s: kind %u, inputs %llu, hidden %llu, layers %u: no size is 0, kinds are those of "
            "qn_recurrent_kind, layers at most %u",
            function, (unsigned)d->kind, (unsigned long long)d->inputs, (unsigned long long)d->hidden,
            (unsigned)d->layers, (unsigned)QN_RECURRENT_LAYERS);
    return QN_OK;
}

/* ---- cells ---- */

static const qn_module_type cell_type = {"recurrent_cell", NULL};

qn_status qn_recurrent_cell_init(qn_recurrent_cell *cell, qn_tensors *tensors,
                                 const qn_recurrent_desc *desc) {
    qn_status status = check_desc(cell, tensors, desc, "qn_recurrent_cell_init");
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *cell = (qn_recurrent_cell){.kind = desc->kind, .hidden = desc->hidden};
    qn_module_init(&cell->module, tensors, &cell_type);
    status = add_weights(&cell->module, cell->parameters, "", desc->kind, desc->inputs, desc->hidden,
                         desc->type, desc->no_bias);
    return qn__nn_made(&cell->module, status);
}

qn_recurrent_state qn_recurrent_cell_forward(qn_recurrent_cell *cell, qn_tensor *x,
                                             const qn_recurrent_state *from) {
    const weights w = weights_of(cell->parameters);
    qn_module_begin(&cell->module);
    qn_tensor *given = qn__nn_project(x, w.ih, w.bias_ih);
    qn_recurrent_state s = from ? *from : (qn_recurrent_state){NULL, NULL};
    if (!qn_tensor_status(x)) {
        qn_shape shape = qn_tensor_shape(x);
        if (shape.rank) shape.sizes[shape.rank - 1] = cell->hidden;
        if (!s.h) s.h = qn_zeros(cell->module.tensors, qn_tensor_type(x), shape);
        if (!s.c && cell->kind == QN_LSTM) s.c = qn_zeros(cell->module.tensors, qn_tensor_type(x), shape);
        s = next_state(cell->kind, given, &w, s);
    } else {
        s = (qn_recurrent_state){x, cell->kind == QN_LSTM ? x : NULL};
    }
    s.h = qn_module_end(&cell->module, x, s.h);
    return s;
}

/* ---- sequences ---- */

static qn_tensor *forward_sequence(qn_module *module, qn_tensor *x) {
    return qn_recurrent_forward((qn_recurrent *)module, x, NULL, NULL, NULL);
}
static const qn_module_type recurrent_type = {"recurrent", forward_sequence};

qn_status qn_recurrent_init(qn_recurrent *r, qn_tensors *tensors, const qn_recurrent_desc *desc) {
    qn_status status = check_desc(r, tensors, desc, "qn_recurrent_init");
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *r = (qn_recurrent){.kind = desc->kind,
                        .hidden = desc->hidden,
                        .layers = desc->layers ? desc->layers : 1,
                        .directions = desc->both_directions ? 2 : 1,
                        .dropout = desc->dropout};
    qn_module_init(&r->module, tensors, &recurrent_type);
    for (uint32_t i = 0; i < r->layers * r->directions && !status; i++) {
        char suffix[24];
        const uint32_t layer = i / r->directions;
        snprintf(suffix, sizeof suffix, "_l%u%s", (unsigned)layer, i % r->directions ? "_reverse" : "");
        status = add_weights(&r->module, r->parameters + PARAMETERS * i, suffix, desc->kind,
                             layer ? r->directions * desc->hidden : desc->inputs, desc->hidden, desc->type,
                             desc->no_bias);
    }
    return qn__nn_made(&r->module, status);
}

/* One layer in one direction. */
typedef struct pass {
    const qn_recurrent *r;
    weights w;
    bool backward;
    qn_tensor *lengths;  /* [batches, 1]; NULL: all are whole */
    qn_tensor **results; /* of each element of the sequence: room for them */
    qn_recurrent_state state;
} pass;

/* The results, [batches, length, hidden]; the last state is in the pass. */
static qn_tensor *run(pass *p, qn_tensor *x) {
    qn_tensor *given = qn__nn_project(x, p->w.ih, p->w.bias_ih);
    if (qn_tensor_status(given)) return given;
    const uint64_t length = qn_tensor_shape(x).sizes[1];
    for (uint64_t i = 0; i < length; i++) {
        const uint64_t t = p->backward ? length - 1 - i : i;
        qn_tensor *element = qn_slice(given, 1, (int64_t)t, (int64_t)t + 1, 1);
        qn_recurrent_state s = next_state(p->r->kind, qn_squeeze(element, QN_AXES(1)), &p->w, p->state);
        p->results[t] = s.h;
        if (p->lengths) {
            qn_tensor *is_there = qn_greater(p->lengths, t);
            p->results[t] = qn_where(is_there, s.h, 0);
            s.h = qn_where(is_there, s.h, p->state.h);
            if (s.c) s.c = qn_where(is_there, s.c, p->state.c);
        }
        p->state = s;
    }
    return qn_stack(p->results, (size_t)length, 1);
}

/* State number `index` of those given, or zeros. */
static qn_tensor *first_state(const qn_recurrent *r, qn_tensor *x, qn_tensor *given, uint32_t index) {
    if (given) return qn_squeeze(qn_slice(given, 0, index, (int64_t)index + 1, 1), QN_AXES(0));
    return qn_zeros(r->module.tensors, qn_tensor_type(x), QN_SHAPE(qn_tensor_shape(x).sizes[0], r->hidden));
}

static qn_tensor *run_all(const qn_recurrent *r, qn_tensor *x, const qn_recurrent_state *from,
                          qn_tensor *lengths, qn_tensor **results, qn_recurrent_state *last) {
    qn_tensor *h[QN_RECURRENT_LAYERS * 2], *c[QN_RECURRENT_LAYERS * 2];
    const uint32_t count = r->layers * r->directions;
    for (uint32_t i = 0; i < count; i += r->directions) {
        qn_tensor *both[2];
        if (i && r->module.training) x = qn__nn_drop(r->module.tensors, x, r->dropout);
        for (uint32_t d = 0; d < r->directions; d++) {
            pass p = {.r = r,
                      .w = weights_of(r->parameters + PARAMETERS * (i + d)),
                      .backward = d != 0,
                      .lengths = lengths,
                      .results = results,
                      .state = {first_state(r, x, from ? from->h : NULL, i + d), NULL}};
            if (r->kind == QN_LSTM) p.state.c = first_state(r, x, from ? from->c : NULL, i + d);
            both[d] = run(&p, x);
            h[i + d] = p.state.h;
            c[i + d] = p.state.c;
        }
        x = r->directions == 2 ? qn_concat(both, 2, 2) : both[0];
    }
    if (last)
        *last =
            (qn_recurrent_state){qn_stack(h, count, 0), r->kind == QN_LSTM ? qn_stack(c, count, 0) : NULL};
    return x;
}

qn_tensor *qn_recurrent_forward(qn_recurrent *r, qn_tensor *x, const qn_recurrent_state *from,
                                qn_tensor *lengths, qn_recurrent_state *last) {
    qn_tensors *t = r->module.tensors;
    if (last) *last = (qn_recurrent_state){x, r->kind == QN_LSTM ? x : NULL};
    if (qn_tensor_status(x)) return x;
    const qn_shape shape = qn_tensor_shape(x);
    qn_allocator allocator;
    qn_module_begin(&r->module);
    qn_tensor **results = NULL, *y = NULL;
    if (shape.rank != 3 || !shape.sizes[1])
        y = qn_tensor_fail(t, QN_ERROR_ARGUMENT,
                           "qn_recurrent_forward: x is [batches, length, inputs], with one element at least");
    else if (!qn_context_get_allocator(qn_device_context(qn_tensors_device(t)), &allocator))
        results = allocator.allocate(allocator.user, (size_t)shape.sizes[1] * sizeof(qn_tensor *));
    if (results) {
        if (lengths) lengths = qn_unsqueeze(lengths, 1);
        y = run_all(r, x, from, lengths, results, last);
        allocator.release(allocator.user, results);
    } else if (!y) {
        y = qn_tensor_fail(t, QN_ERROR_OUT_OF_MEMORY, "qn_recurrent_forward: out of host memory");
    }
    if (last && qn_tensor_status(y)) *last = (qn_recurrent_state){y, r->kind == QN_LSTM ? y : NULL};
    return qn_module_end(&r->module, x, y);
}
