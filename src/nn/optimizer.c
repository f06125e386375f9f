/* Optimizers: a step is new values for parameters and states, asked for together. */
#include <math.h>
#include <string.h>

#include "nn/nn.h"

/* ---- what kinds need ---- */

typedef struct update {
    const qn_optimizer *optimizer;
    const qn_optimizer_desc *desc;
    qn_tensor *gradient;
    qn_tensor *value;                       /* the parameter */
    qn_tensor *states[QN_PARAMETER_STATES]; /* before, and after */
} update;

/* Gives the parameter's next value, and sets the next states. */
typedef qn_tensor *next_value(update *u);

typedef struct kind {
    next_value *next;
    double rate, beta1, beta2, epsilon, decay;
    uint32_t states;
    bool decays_gradient; /* decay is added to the gradient */
    bool corrects;        /* means that begin with 0 */
} kind;

/* Without the rate's share of a step. */
static qn_tensor *moved(const update *u, qn_tensor *step) {
    return qn_subtract(u->value, qn_multiply(u->optimizer->rate.tensor, step));
}

/* The parameter as decay leaves it, apart from the gradient. */
static void shrink(update *u) {
    if (u->desc->decay <= 0) return;
    qn_tensor *share = qn_multiply(u->optimizer->rate.tensor, -u->desc->decay);
    u->value = qn_multiply_add(u->value, share, u->value);
}

static qn_tensor *next_sgd(update *u) {
    const double momentum = u->desc->momentum;
    if (momentum <= 0) return moved(u, u->gradient);
    u->states[0] = qn_multiply_add(u->states[0], momentum, u->gradient);
    return moved(u, u->desc->nesterov ? qn_multiply_add(u->states[0], momentum, u->gradient) : u->states[0]);
}

static qn_tensor *next_adam(update *u) {
    const qn_optimizer *o = u->optimizer;
    u->states[0] = qn_lerp(u->states[0], u->gradient, 1 - u->desc->beta1);
    u->states[1] = qn_lerp(u->states[1], qn_square(u->gradient), 1 - u->desc->beta2);
    qn_tensor *mean = qn_divide(u->states[0], o->corrections[0].tensor);
    qn_tensor *square = qn_divide(u->states[1], o->corrections[1].tensor);
    return moved(u, qn_divide(mean, qn_add(qn_sqrt(square), u->desc->epsilon)));
}

static qn_tensor *next_adamw(update *u) {
    shrink(u);
    return next_adam(u);
}

static qn_tensor *next_rmsprop(update *u) {
    u->states[0] = qn_lerp(u->states[0], qn_square(u->gradient), 1 - u->desc->beta2);
    qn_tensor *step = qn_divide(u->gradient, qn_add(qn_sqrt(u->states[0]), u->desc->epsilon));
    if (u->desc->momentum > 0) step = u->states[1] = qn_multiply_add(u->states[1], u->desc->momentum, step);
    return moved(u, step);
}

static qn_tensor *next_adagrad(update *u) {
    u->states[0] = qn_add(u->states[0], qn_square(u->gradient));
    return moved(u, qn_divide(u->gradient, qn_add(qn_sqrt(u->states[0]), u->desc->epsilon)));
}

static qn_tensor *next_lion(update *u) {
    qn_tensor *direction = qn_sign(qn_lerp(u->states[0], u->gradient, 1 - u->desc->beta1));
    shrink(u);
    u->states[0] = qn_lerp(u->states[0], u->gradient, 1 - u->desc->beta2);
    return moved(u, direction);
}

static const kind kinds[QN_OPTIMIZER_COUNT] = {
    [QN_SGD] = {next_sgd, .rate = 1e-2, .states = 1, .decays_gradient = true},
    [QN_ADAM] = {next_adam, 1e-3, 0.9, 0.999, 1e-8, 0, 2, true, true},
    [QN_ADAMW] = {next_adamw, 1e-3, 0.9, 0.999, 1e-8, 1e-2, 2, false, true},
    [QN_RMSPROP] = {next_rmsprop, 1e-2, 0, 0.99, 1e-8, 0, 2, true, false},
    [QN_ADAGRAD] = {next_adagrad, 1e-2, 0, 0, 1e-10, 0, 1, true, false},
    [QN_LION] = {next_lion, 1e-4, 0.9, 0.99, 0, 0, 1, false, false},
};

/* ---- making ---- */

static void set_default(double *number, double instead) {
    *number = *number < 0 ? 0 : *number > 0 ? *number : instead;
}

static qn_status check_numbers(qn_tensors *t, const qn_optimizer_desc *d) {
    const struct {
        const char *name;
        double value;
        bool is_share;
    } numbers[] = {{"rate", d->rate, false},   {"beta1", d->beta1, true},
                   {"beta2", d->beta2, true},  {"epsilon", d->epsilon, false},
                   {"decay", d->decay, false}, {"momentum", d->momentum, true}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double x = numbers[i].value;
        if (x == QN_NONE || (x >= 0 && (numbers[i].is_share ? x < 1 : isfinite(x)))) continue;
        return qn__nn_fail(t, QN_ERROR_ARGUMENT, "qn_optimizer_init: %s is %g; it is %s, or QN_NONE",
                           numbers[i].name, x,
                           numbers[i].is_share ? "from 0 up to, not including, 1" : "0 or more");
    }
    return QN_OK;
}

static qn_status make_states(void *user, const char *name, qn_parameter *p) {
    const qn_optimizer *o = user;
    qn_tensors *t = o->module->tensors;
    (void)name;
    if (!p->trained) return QN_OK;
    const qn_element type = qn_tensor_type(p->tensor) == QN_F64 ? QN_F64 : QN_F32;
    for (uint32_t i = 0; i < QN_PARAMETER_STATES; i++) {
        qn_tensor_release(p->states[i]);
        p->states[i] = NULL;
        if (i >= kinds[o->desc.kind].states) continue;
        qn_tensor *zeros = qn_zeros(t, type, qn_tensor_shape(p->tensor));
        const qn_status status = qn_tensor_realize(zeros);
        if (status) return status;
        p->states[i] = qn_tensor_retain(zeros);
    }
    return QN_OK;
}

static void fill_defaults(qn_optimizer_desc *d) {
    const kind *k = &kinds[d->kind];
    set_default(&d->rate, k->rate);
    set_default(&d->beta1, k->beta1);
    set_default(&d->beta2, k->beta2);
    set_default(&d->epsilon, k->epsilon);
    set_default(&d->decay, k->decay);
    set_default(&d->momentum, 0);
}

qn_status qn_optimizer_init(qn_optimizer *optimizer, qn_module *module, const qn_optimizer_desc *desc) {
    if (!optimizer || !module || !desc)
        return qn__nn_fail(module ? module->tensors : NULL, QN_ERROR_NULL, "qn_optimizer_init: %s is NULL",
                           !module ? "module"
                           : !desc ? "desc"
                                   : "optimizer");
    qn_tensors *t = module->tensors;
    qn_status status = check_numbers(t, desc);
    if (!status && (unsigned)desc->kind >= QN_OPTIMIZER_COUNT)
        status =
            qn__nn_fail(t, QN_ERROR_ARGUMENT, "qn_optimizer_init: kind %u is none", (unsigned)desc->kind);
    if (!status) status = qn_scope_begin(t);
    if (status) return status;
    *optimizer = (qn_optimizer){.module = module, .desc = *desc};
    fill_defaults(&optimizer->desc);
    qn_module *own = &optimizer->own;
    qn_module_init(own, t, NULL);
    status = qn_module_add_parameter(own, "rate", &optimizer->rate,
                                     qn_full(t, QN_F32, QN_SCALAR, optimizer->desc.rate), false);
    static const char *const names[] = {"correction1", "correction2"};
    for (uint32_t i = 0; i < 2 && !status; i++)
        status = qn_module_add_parameter(own, names[i], &optimizer->corrections[i],
                                         qn_zeros(t, QN_F32, QN_SCALAR), false);
    if (!status) status = qn_module_visit(module, make_states, optimizer);
    return qn__nn_made(own, status);
}

void qn_optimizer_release(qn_optimizer *optimizer) {
    if (optimizer) qn_module_release(&optimizer->own);
}

qn_status qn_optimizer_set_rate(qn_optimizer *optimizer, double rate) {
    qn_tensors *t = optimizer->module->tensors;
    qn_status status = qn_scope_begin(t);
    if (status) return status;
    status = qn_assign(optimizer->rate.tensor, qn_full(t, QN_F32, QN_SCALAR, rate));
    const qn_status ended = qn_scope_end(t);
    return status ? status : ended;
}

/* ---- steps ---- */

/* The tensors that a step asks for. */
typedef struct work {
    qn_optimizer *optimizer;
    qn_tensor **list;
    uint64_t count;
} work;

static qn_status count_tensors(void *user, const char *name, qn_parameter *p) {
    (void)name;
    if (p->trained) *(uint64_t *)user += 1 + QN_PARAMETER_STATES;
    return QN_OK;
}

static qn_status assign(work *w, qn_tensor *x, qn_tensor *value) {
    const qn_status status = qn_assign(x, value);
    if (!status) w->list[w->count++] = x;
    return status;
}

static qn_status update_parameter(void *user, const char *name, qn_parameter *p) {
    work *w = user;
    const qn_optimizer_desc *d = &w->optimizer->desc;
    (void)name;
    qn_tensor *gradient = p->trained ? qn_tensor_gradient(p->tensor) : NULL;
    if (!gradient) return QN_OK;
    update u = {.optimizer = w->optimizer, .desc = d, .gradient = gradient, .value = p->tensor};
    memcpy(u.states, p->states, sizeof u.states);
    if (kinds[d->kind].decays_gradient && d->decay > 0)
        u.gradient = qn_multiply_add(u.value, d->decay, gradient);
    qn_tensor *next = kinds[d->kind].next(&u);
    qn_status status = assign(w, p->tensor, next);
    for (uint32_t i = 0; i < kinds[d->kind].states && !status; i++)
        if (u.states[i] != p->states[i]) status = assign(w, p->states[i], u.states[i]);
    qn_tensor_clear_gradient(p->tensor);
    return status;
}

/* 1 - beta^n becomes 1 - beta^(n + 1), without a difference of near numbers. It is read from memory by the updates: the kernel of all of
   them could not write what it reads. */
static qn_status correct(work *w) {
    const qn_optimizer *o = w->optimizer;
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < 2 && !status; i++) {
        const double beta = i ? o->desc.beta2 : o->desc.beta1;
        qn_tensor *x = o->corrections[i].tensor;
        status = assign(w, x, qn_add(qn_multiply(x, beta), 1 - beta));
    }
    return status;
}

static qn_status take_step(work *w) {
    qn_module *module = w->optimizer->module;
    qn_no_gradient_begin(module->tensors);
    qn_status status = kinds[w->optimizer->desc.kind].corrects ? correct(w) : QN_OK;
    if (!status) status = qn_module_visit(module, update_parameter, w);
    qn_no_gradient_end(module->tensors);
    return status || qn_tensors_is_recording(module->tensors) ? status : qn_realize(w->list, w->count);
}

qn_status qn_optimizer_step(qn_optimizer *optimizer) {
    if (!optimizer || !optimizer->module)
        return qn__nn_fail(NULL, QN_ERROR_NULL, "qn_optimizer_step: optimizer is NULL");
    qn_tensors *t = optimizer->module->tensors;
    qn_context *context = qn_device_context(qn_tensors_device(t));
    qn_allocator allocator;
    work w = {.optimizer = optimizer};
    uint64_t most = 2;
    qn_status status = qn_context_get_allocator(context, &allocator);
    if (!status) status = qn_module_visit(optimizer->module, count_tensors, &most);
    if (!status) status = qn_scope_begin(t);
    if (status) return status;
    w.list = allocator.allocate(allocator.user, most * sizeof *w.list);
    status = w.list ? take_step(&w)
                    : qn__nn_fail(t, QN_ERROR_OUT_OF_MEMORY, "qn_optimizer_step: out of host memory");
    if (w.list) allocator.release(allocator.user, w.list);
    const qn_status ended = qn_scope_end(t);
    return status ? status : ended;
}

/* ---- gradients ---- */

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
    return gradient ? qn_assign(gradient, qn_multiply(gradient, factor)) : QN_OK;
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

/* ---- schedules ---- */

double qn_rate_step(double rate, uint64_t step, uint64_t every, double factor) {
    return rate * pow(factor, every ? (double)(step / every) : 0);
}
double qn_rate_exponential(double rate, uint64_t step, double factor) {
    return rate * pow(factor, (double)step);
}

/* From `from` to `to` in half a cosine. */
static double cosine(double from, double to, double share) {
    return to + (from - to) * (1 + cos(M_PI * (share < 1 ? share : 1))) / 2;
}
double qn_rate_cosine(double rate, uint64_t step, uint64_t steps, double least) {
    return steps ? cosine(rate, least, (double)step / (double)steps) : least;
}
double qn_rate_warm_up(uint64_t step, uint64_t steps) {
    return step < steps ? (double)(step + 1) / (double)(steps + 1) : 1;
}
double qn_rate_one_cycle(double rate, uint64_t step, uint64_t steps) {
    const double up = 0.3 * (double)steps - 1, at = (double)step;
    return at <= up ? cosine(rate / 25, rate, at / up)
                    : cosine(rate, rate / 250000, (at - up) / ((double)steps - 1 - up));
}
