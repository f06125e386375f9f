/* Optimizers: a step is new values for parameters and states, asked for together. */
#include <math.h>
#include <string.h>

#include "nn/nn.h"

/* ---- what kinds need ---- */

typedef struct kind kind;

typedef struct update {
    const qn_optimizer *optimizer;
    const kind *kind;
    qn_optimizer_desc desc; /* with the numbers of the parameter's group */
    double factor;          /* of the rate */
    qn_tensor *gradient;
    qn_tensor *value;                       /* the parameter */
    qn_tensor *states[QN_PARAMETER_STATES]; /* before, and after */
} update;

/* Gives the parameter's next value, and sets the next states. */
typedef qn_tensor *next_value(update *u);

struct kind {
    next_value *next;
    double rate, beta1, beta2, epsilon, decay, momentum;
    uint32_t states;
    bool decays_gradient; /* decay is added to the gradient */
    bool corrects;        /* means that begin with 0 */
};

static qn_tensor *rate_of(const update *u) {
    qn_tensor *rate = u->optimizer->rate.tensor;
    return u->factor != 1 ? qn_multiply(rate, u->factor) : rate;
}

/* Without the rate's share of a step. */
static qn_tensor *moved(const update *u, qn_tensor *step) {
    return qn_subtract(u->value, qn_multiply(rate_of(u), step));
}

/* The parameter as decay leaves it, apart from the gradient. */
static void shrink(update *u) {
    if (u->desc.decay <= 0) return;
    qn_tensor *share = qn_multiply(rate_of(u), -u->desc.decay);
    u->value = qn_multiply_add(u->value, share, u->value);
}

static qn_tensor *next_sgd(update *u) {
    const double momentum = u->desc.momentum;
    if (momentum <= 0) return moved(u, u->gradient);
    u->states[0] = qn_multiply_add(u->states[0], momentum, u->gradient);
    return moved(u, u->desc.nesterov ? qn_multiply_add(u->states[0], momentum, u->gradient) : u->states[0]);
}

/* What is the same for all elements comes first: of each there is one quotient and one root. */
static qn_tensor *next_adam(update *u) {
    const qn_optimizer *o = u->optimizer;
    u->states[0] = qn_lerp(u->states[0], u->gradient, 1 - u->desc.beta1);
    u->states[1] = qn_lerp(u->states[1], qn_square(u->gradient), 1 - u->desc.beta2);
    qn_tensor *rate = qn_divide(rate_of(u), o->corrections[0].tensor);
    qn_tensor *root = qn_multiply(qn_sqrt(u->states[1]), qn_rsqrt(o->corrections[1].tensor));
    qn_tensor *direction = qn_divide(u->states[0], qn_add(root, u->desc.epsilon));
    return qn_subtract(u->value, qn_multiply(rate, direction));
}

static qn_tensor *next_adamw(update *u) {
    shrink(u);
    return next_adam(u);
}

static qn_tensor *next_rmsprop(update *u) {
    u->states[0] = qn_lerp(u->states[0], qn_square(u->gradient), 1 - u->desc.beta2);
    qn_tensor *step = qn_divide(u->gradient, qn_add(qn_sqrt(u->states[0]), u->desc.epsilon));
    if (u->desc.momentum > 0) step = u->states[1] = qn_multiply_add(u->states[1], u->desc.momentum, step);
    return moved(u, step);
}

static qn_tensor *next_adagrad(update *u) {
    u->states[0] = qn_add(u->states[0], qn_square(u->gradient));
    return moved(u, qn_divide(u->gradient, qn_add(qn_sqrt(u->states[0]), u->desc.epsilon)));
}

static qn_tensor *next_lion(update *u) {
    qn_tensor *direction = qn_sign(qn_lerp(u->states[0], u->gradient, 1 - u->desc.beta1));
    shrink(u);
    u->states[0] = qn_lerp(u->states[0], u->gradient, 1 - u->desc.beta2);
    return moved(u, direction);
}

static qn_tensor *next_muon(update *u) {
    const double momentum = u->desc.momentum;
    shrink(u);
    u->states[0] = qn_lerp(u->states[0], u->gradient, 1 - momentum);
    return moved(u, qn__nn_orthogonal(qn_lerp(u->gradient, u->states[0], momentum)));
}

static const kind kinds[QN_OPTIMIZER_COUNT] = {
    [QN_SGD] = {next_sgd, 1e-2, 0, 0, 0, 0, 0, 1, true, false},
    [QN_ADAM] = {next_adam, 1e-3, 0.9, 0.999, 1e-8, 0, 0, 2, true, true},
    [QN_ADAMW] = {next_adamw, 1e-3, 0.9, 0.999, 1e-8, 1e-2, 0, 2, false, true},
    [QN_RMSPROP] = {next_rmsprop, 1e-2, 0, 0.99, 1e-8, 0, 0, 2, true, false},
    [QN_ADAGRAD] = {next_adagrad, 1e-2, 0, 0, 1e-10, 0, 0, 1, true, false},
    [QN_LION] = {next_lion, 1e-4, 0.9, 0.99, 0, 0, 0, 1, false, false},
    [QN_MUON] = {next_muon, 1e-3, 0.9, 0.999, 1e-8, 0.1, 0.95, 1, false,
                 true}, /* corrects: for those by QN_ADAMW */
};

static const kind *kind_of(const qn_optimizer *o, const qn_parameter *p) {
    const bool is_vector = qn_tensor_shape(p->tensor).rank < 2;
    return &kinds[o->desc.kind == QN_MUON && is_vector ? QN_ADAMW : o->desc.kind];
}

/* Where the value of a parameter of a narrow type is in f32; NULL: it is of f32 or f64. */
enum { WIDE_VALUE = QN_PARAMETER_STATES - 1 };

static bool is_narrow(const qn_parameter *p) {
    const qn_element type = qn_tensor_type(p->tensor);
    return type != QN_F32 && type != QN_F64;
}

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

static qn_status keep(qn_tensor **state, qn_tensor *value) {
    const qn_status status = qn_tensor_realize(value);
    qn_tensor_release(*state);
    *state = status ? NULL : qn_tensor_retain(value);
    return status;
}

static qn_status make_states(void *user, const char *name, qn_parameter *p) {
    const qn_optimizer *o = user;
    qn_tensors *t = o->module->tensors;
    qn_status status = QN_OK;
    (void)name;
    if (!p->trained) return QN_OK;
    const qn_element type = qn_tensor_type(p->tensor) == QN_F64 ? QN_F64 : QN_F32;
    for (uint32_t i = 0; i < QN_PARAMETER_STATES && !status; i++) {
        if (i < kind_of(o, p)->states) {
            status = keep(&p->states[i], qn_zeros(t, type, qn_tensor_shape(p->tensor)));
        } else if (i == WIDE_VALUE && is_narrow(p)) {
            status = keep(&p->states[i], qn_cast(qn_detach(p->tensor), QN_F32));
        } else {
            qn_tensor_release(p->states[i]);
            p->states[i] = NULL;
        }
    }
    return status;
}

static void fill_defaults(qn_optimizer_desc *d) {
    const kind *k = &kinds[d->kind];
    set_default(&d->rate, k->rate);
    set_default(&d->beta1, k->beta1);
    set_default(&d->beta2, k->beta2);
    set_default(&d->epsilon, k->epsilon);
    set_default(&d->decay, k->decay);
    set_default(&d->momentum, k->momentum);
}

qn_status qn_optimizer_init(qn_optimizer *optimizer, qn_module *module, const qn_optimizer_desc *desc) {
    if (!optimizer || !module || !desc)
        return qn__nn_fail(module ? module->tensors : NULL, QN_ERROR_NULL, "qn_optimizer_init: %s is NULL",
                           !module ? "module"
                           : !desc ? "desc"
                                   : "optimizer");
    qn_tensors *t = module->tensors;
    qn_status status = check_numbers(t, desc);
    if (!status && desc->num_groups && !desc->groups)
        status = qn__nn_fail(t, QN_ERROR_NULL, "qn_optimizer_init: groups is NULL");
    for (uint32_t i = 0; i < desc->num_groups && !status; i++)
        if (!desc->groups[i].name)
            status =
                qn__nn_fail(t, QN_ERROR_NULL, "qn_optimizer_init: the name of group %u is NULL", (unsigned)i);
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
    /* What requires gradients is looked up in each run of a step. */
    if (!status) qn_tensor_require_gradient(optimizer->rate.tensor, true);
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
    qn_tensor *if_true; /* else all stay as they are; NULL: no question */
    qn_tensor **list;
    uint64_t count;
} work;

static qn_status count_tensors(void *user, const char *name, qn_parameter *p) {
    (void)name;
    if (p->trained) *(uint64_t *)user += 1 + QN_PARAMETER_STATES;
    return QN_OK;
}

static qn_status assign(work *w, qn_tensor *x, qn_tensor *value) {
    if (w->if_true) value = qn_where(w->if_true, value, x);
    const qn_status status = qn_assign(x, value);
    if (!status) w->list[w->count++] = x;
    return status;
}

/* The numbers of the group that the parameter is of. */
static void look_up_group(update *u, const char *name) {
    const qn_optimizer_desc *d = &u->optimizer->desc;
    for (uint32_t i = 0; i < d->num_groups; i++) {
        if (!qn_pattern_matches(d->groups[i].name, name)) continue;
        u->factor = d->groups[i].rate < 0 ? 0 : d->groups[i].rate > 0 ? d->groups[i].rate : 1;
        u->desc.decay = d->groups[i].decay < 0 ? 0 : d->groups[i].decay > 0 ? d->groups[i].decay : d->decay;
        return;
    }
}

static qn_status assign_states(work *w, const qn_parameter *p, const update *u) {
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < u->kind->states && !status; i++)
        if (u->states[i] != p->states[i]) status = assign(w, p->states[i], u->states[i]);
    return status;
}

static qn_status update_parameter(void *user, const char *name, qn_parameter *p) {
    work *w = user;
    const qn_optimizer *o = w->optimizer;
    qn_tensor *gradient = p->trained ? qn_tensor_gradient(p->tensor) : NULL;
    if (!gradient) return QN_OK;
    qn_tensor *wide = is_narrow(p) ? p->states[WIDE_VALUE] : NULL;
    update u = {.optimizer = o, .kind = kind_of(o, p), .desc = o->desc, .factor = 1};
    u.gradient = wide ? qn_cast(gradient, QN_F32) : gradient;
    u.value = wide ? wide : p->tensor;
    memcpy(u.states, p->states, sizeof u.states);
    look_up_group(&u, name);
    qn_tensor_retain(gradient);
    qn_tensor_clear_gradient(p->tensor);
    qn_status status = QN_OK;
    if (u.factor > 0) {
        if (u.kind->decays_gradient && u.desc.decay > 0)
            u.gradient = qn_multiply_add(u.value, u.desc.decay, u.gradient);
        qn_tensor *next = u.kind->next(&u);
        status = assign(w, p->tensor, next);
        if (wide && !status) status = assign(w, wide, next);
        if (!status) status = assign_states(w, p, &u);
    }
    qn_tensor_release(gradient);
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
    return qn__optimizer_step_if(optimizer, NULL, NULL, 0);
}

qn_status qn__optimizer_step_if(qn_optimizer *optimizer, qn_tensor *if_true, qn_tensor *const *more,
                                uint32_t count) {
    qn_tensors *t = optimizer->module->tensors;
    qn_context *context = qn_device_context(qn_tensors_device(t));
    qn_allocator allocator;
    work w = {.optimizer = optimizer, .if_true = if_true};
    uint64_t most = 2 + count;
    qn_status status = qn_context_get_allocator(context, &allocator);
    if (!status) status = qn_module_visit(optimizer->module, count_tensors, &most);
    if (!status) status = qn_scope_begin(t);
    if (status) return status;
    w.list = allocator.allocate(allocator.user, most * sizeof *w.list);
    for (uint32_t i = 0; i < count && w.list; i++) w.list[w.count++] = more[i];
    status = w.list ? take_step(&w)
                    : qn__nn_fail(t, QN_ERROR_OUT_OF_MEMORY, "qn_optimizer_step: out of host memory");
    if (w.list) allocator.release(allocator.user, w.list);
    const qn_status ended = qn_scope_end(t);
    return status ? status : ended;
}
