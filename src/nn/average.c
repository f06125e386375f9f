/* Means of parameters over the steps of a training. */
#include "nn/nn.h"

static qn_status allocator_of(const qn_average *a, qn_allocator *allocator) {
    return qn_context_get_allocator(qn_device_context(qn_tensors_device(a->module->tensors)), allocator);
}

static qn_status count(void *user, const char *name, qn_parameter *p) {
    (void)name;
    *(uint64_t *)user += p->trained;
    return QN_OK;
}

/* A step through the parameters, and the means beside. */
typedef struct pass {
    qn_average *average;
    uint64_t at;
} pass;

static qn_status copy(void *user, const char *name, qn_parameter *p) {
    pass *a = user;
    (void)name;
    if (!p->trained) return QN_OK;
    /* Times 1, as memory of its own. */
    qn_tensor *value = qn_multiply(qn_detach(p->tensor), 1);
    const qn_status status = qn_tensor_realize(value);
    if (!status) a->average->values[a->at++] = qn_tensor_retain(value);
    return status;
}

qn_status qn_average_init(qn_average *average, qn_module *module, double decay) {
    if (!average || !module)
        return qn__nn_fail(module ? module->tensors : NULL, QN_ERROR_NULL, "qn_average_init: %s is NULL",
                           module ? "average" : "module");
    *average = (qn_average){.module = module, .decay = decay};
    if (!(decay >= 0 && decay <= 1))
        return qn__nn_fail(module->tensors, QN_ERROR_ARGUMENT,
                           "qn_average_init: decay is %g; it is from 0 to 1", decay);
    qn_allocator allocator;
    uint64_t most = 0;
    qn_status status = allocator_of(average, &allocator);
    if (!status) status = qn_module_visit(module, count, &most);
    if (status) return status;
    average->values = allocator.allocate(allocator.user, (size_t)(most + 1) * sizeof(qn_tensor *));
    if (!average->values)
        return qn__nn_fail(module->tensors, QN_ERROR_OUT_OF_MEMORY, "qn_average_init: out of host memory");
    pass p = {.average = average};
    status = qn_scope_begin(module->tensors);
    if (!status) status = qn_module_visit(module, copy, &p);
    average->count = p.at;
    const qn_status ended = qn_scope_end(module->tensors);
    if (!status) status = ended;
    if (status) qn_average_release(average);
    return status;
}

void qn_average_release(qn_average *average) {
    qn_allocator allocator;
    if (!average || !average->values || allocator_of(average, &allocator)) return;
    for (uint64_t i = 0; i < average->count; i++) qn_tensor_release(average->values[i]);
    allocator.release(allocator.user, average->values);
    *average = (qn_average){.module = NULL};
}

static qn_status update(void *user, const char *name, qn_parameter *p) {
    pass *a = user;
    (void)name;
    if (!p->trained) return QN_OK;
    qn_tensor *mean = a->average->values[a->at++];
    return qn_assign(mean, qn_lerp(mean, p->tensor, 1 - a->average->decay));
}

static qn_status exchange(void *user, const char *name, qn_parameter *p) {
    pass *a = user;
    (void)name;
    if (!p->trained) return QN_OK;
    qn_tensor *mean = a->average->values[a->at++], *value = qn_detach(p->tensor);
    const qn_status status = qn_assign(p->tensor, qn_detach(mean));
    return status ? status : qn_assign(mean, value);
}

static qn_status go_through(qn_average *average, qn_parameter_visitor *visitor, const char *function) {
    if (!average || !average->module)
        return qn__nn_fail(NULL, QN_ERROR_NULL, "%s: average is NULL", function);
    qn_tensors *t = average->module->tensors;
    pass p = {.average = average};
    qn_status status = qn_scope_begin(t);
    if (status) return status;
    qn_no_gradient_begin(t);
    status = qn_module_visit(average->module, visitor, &p);
    qn_no_gradient_end(t);
    if (!status && !qn_tensors_is_recording(t)) status = qn_realize(average->values, average->count);
    const qn_status ended = qn_scope_end(t);
    return status ? status : ended;
}

qn_status qn_average_update(qn_average *average) { return go_through(average, update, "qn_average_update"); }
qn_status qn_average_exchange(qn_average *average) {
    return go_through(average, exchange, "qn_average_exchange");
}
