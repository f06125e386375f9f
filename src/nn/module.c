/* Modules: lists of parameters and of modules within, without memory of their own; walks through them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"

enum { PATH_ROOM = 512 };

static qn_context *context_of(qn_tensors *tensors) {
    return tensors ? qn_device_context(qn_tensors_device(tensors)) : NULL;
}

qn_status qn__nn_fail(qn_tensors *tensors, qn_status status, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn_error_set(context_of(tensors), status, text);
}

qn_status qn__nn_check(const void *object, qn_tensors *tensors, const void *desc, const char *function) {
    if (object && tensors && desc) return QN_OK;
    return qn__nn_fail(tensors, QN_ERROR_NULL, "%s: %s is NULL", function,
                       !tensors  ? "tensors"
                       : !object ? "the module"
                                 : "desc");
}

qn_status qn__nn_begin(qn_tensors *tensors, const qn__nn_size *sizes, const char *function) {
    for (; sizes->name; sizes++)
        if (!sizes->size)
            return qn__nn_fail(tensors, QN_ERROR_ARGUMENT, "%s: %s is 0", function, sizes->name);
    return qn_scope_begin(tensors);
}

/* ---- making ---- */

void qn_module_init(qn_module *module, qn_tensors *tensors, const qn_module_type *type) {
    *module = (qn_module){.tensors = tensors, .type = type, .training = true};
}

static qn_status check_name(const qn_module *module, const char *function, const char *name) {
    if (!module || !name)
        return qn__nn_fail(module ? module->tensors : NULL, QN_ERROR_NULL, "%s: %s is NULL", function,
                           module ? "name" : "module");
    if (!*name || strlen(name) >= QN_NAME_ROOM || strchr(name, '.'))
        return qn__nn_fail(module->tensors, QN_ERROR_ARGUMENT,
                           "%s: '%s' is no name: 1 to %u characters, none of them a '.'", function, name,
                           (unsigned)QN_NAME_ROOM - 1);
    bool taken = false;
    for (const qn_parameter *p = module->parameters; p; p = p->next)
        taken = taken || strcmp(p->name, name) == 0;
    for (const qn_module *m = module->children; m; m = m->next) taken = taken || strcmp(m->name, name) == 0;
    return taken ? qn__nn_fail(module->tensors, QN_ERROR_ARGUMENT, "%s: the module has a '%s' already",
                               function, name)
                 : QN_OK;
}

qn_status qn_module_add_parameter(qn_module *module, const char *name, qn_parameter *parameter,
                                  qn_tensor *value, bool trained) {
    const qn_status named = check_name(module, "qn_module_add_parameter", name);
    if (named) return named;
    if (!parameter || !value)
        return qn__nn_fail(module->tensors, QN_ERROR_NULL, "qn_module_add_parameter: %s is NULL",
                           parameter ? "value" : "parameter");
    const qn_status status = qn_tensor_realize(value);
    if (status) return status;
    *parameter = (qn_parameter){.tensor = qn_tensor_retain(value), .trained = trained};
    snprintf(parameter->name, sizeof parameter->name, "%s", name);
    if (trained) qn_tensor_require_gradient(value, true);
    *(module->parameters ? &module->last_parameter->next : &module->parameters) = parameter;
    module->last_parameter = parameter;
    return qn_tensor_status(value);
}

qn_status qn_module_add(qn_module *module, const char *name, qn_module *child) {
    const qn_status named = check_name(module, "qn_module_add", name);
    if (named) return named;
    if (!child) return qn__nn_fail(module->tensors, QN_ERROR_NULL, "qn_module_add: child is NULL");
    if (child == module || *child->name)
        return qn__nn_fail(module->tensors, QN_ERROR_ARGUMENT,
                           "qn_module_add: '%s' is part of a module already",
                           child == module ? name : child->name);
    snprintf(child->name, sizeof child->name, "%s", name);
    *(module->children ? &module->last_child->next : &module->children) = child;
    module->last_child = child;
    return QN_OK;
}

static void release_parameter(qn_parameter *p) {
    qn_tensor_release(p->tensor);
    for (uint32_t i = 0; i < QN_PARAMETER_STATES; i++) qn_tensor_release(p->states[i]);
    *p = (qn_parameter){.tensor = NULL};
}

void qn_module_release(qn_module *module) {
    if (!module) return;
    for (qn_parameter *p = module->parameters, *next; p; p = next) {
        next = p->next;
        release_parameter(p);
    }
    for (qn_module *m = module->children, *next; m; m = next) {
        next = m->next;
        qn_module_release(m);
    }
    *module = (qn_module){.tensors = NULL};
}

qn_status qn__nn_made(qn_module *module, qn_status status) {
    const qn_status ended = qn_scope_end(module->tensors);
    if (!status) status = ended;
    if (status) qn_module_release(module);
    return status;
}

qn_tensor *qn__nn_by_channel(qn_tensor *x, uint32_t rank) {
    qn_shape shape = {.rank = rank > 1 ? rank - 1 : 1, .sizes = {qn_tensor_count(x)}};
    for (uint32_t d = 1; d < shape.rank; d++) shape.sizes[d] = 1;
    return qn_reshape(x, shape);
}

/* ---- walks ---- */

typedef struct walk {
    qn_parameter_visitor *visitor;
    void *user;
    char path[PATH_ROOM];
} walk;

static qn_status visit(walk *w, qn_module *module, size_t length) {
    qn_status status = QN_OK;
    for (qn_parameter *p = module->parameters; p && !status; p = p->next) {
        snprintf(w->path + length, sizeof w->path - length, "%s", p->name);
        status = w->visitor(w->user, w->path, p);
    }
    for (qn_module *m = module->children; m && !status; m = m->next) {
        const size_t room = sizeof w->path - length;
        const int more = snprintf(w->path + length, room, "%s.", m->name);
        if ((size_t)more + QN_NAME_ROOM >= room)
            return qn__nn_fail(module->tensors, QN_ERROR_RANGE,
                               "modules within modules have names of more than %u characters",
                               (unsigned)PATH_ROOM - QN_NAME_ROOM);
        status = visit(w, m, length + (size_t)more);
    }
    return status;
}

qn_status qn_module_visit(qn_module *module, qn_parameter_visitor *visitor, void *user) {
    if (!module || !visitor)
        return qn__nn_fail(module ? module->tensors : NULL, QN_ERROR_NULL, "qn_module_visit: %s is NULL",
                           module ? "visitor" : "module");
    walk w = {.visitor = visitor, .user = user};
    return visit(&w, module, 0);
}

/* ---- forward ---- */

qn_tensor *qn_module_forward(qn_module *module, qn_tensor *x) {
    if (module && module->type && module->type->forward) return module->type->forward(module, x);
    return qn_tensor_fail(module ? module->tensors : NULL, module ? QN_ERROR_ARGUMENT : QN_ERROR_NULL,
                          module ? "qn_module_forward: the module's type has no function of one tensor"
                                 : "qn_module_forward: module is NULL");
}

void qn_module_begin(const qn_module *module) {
    const char *kind = module->type ? module->type->name : "module";
    qn_label_begin(module->tensors, *module->name ? module->name : kind);
}

qn_tensor *qn_module_end(qn_module *module, qn_tensor *x, qn_tensor *y) {
    for (qn_module_hook *h = module->hooks, *next; h; h = next) {
        next = h->next; /* it may remove itself */
        qn_tensor *other = h->function(h->user, module, x, y);
        if (other) y = other;
    }
    qn_label_end(module->tensors);
    return y;
}

void qn_module_add_hook(qn_module *module, qn_module_hook *hook) {
    qn_module_hook **place = &module->hooks;
    while (*place) place = &(*place)->next;
    *place = hook;
    hook->next = NULL;
}

void qn_module_remove_hook(qn_module *module, qn_module_hook *hook) {
    qn_module_hook **place = &module->hooks;
    while (*place && *place != hook) place = &(*place)->next;
    if (*place) *place = hook->next;
}

/* ---- what holds for all within ---- */

void qn_module_train(qn_module *module, bool training) {
    module->training = training;
    for (qn_module *m = module->children; m; m = m->next) qn_module_train(m, training);
}

static qn_status count(void *user, const char *name, qn_parameter *parameter) {
    (void)name;
    if (parameter->trained) *(uint64_t *)user += qn_tensor_count(parameter->tensor);
    return QN_OK;
}

uint64_t qn_module_count(const qn_module *module) {
    uint64_t elements = 0;
    qn_module_visit((qn_module *)module, count, &elements);
    return elements;
}

static qn_status realise(void *user, const char *name, qn_parameter *parameter) {
    (void)user;
    (void)name;
    return qn_tensor_realize(parameter->tensor);
}

qn_status qn_module_realize(qn_module *module) { return qn_module_visit(module, realise, NULL); }

static qn_status clear(void *user, const char *name, qn_parameter *parameter) {
    (void)user;
    (void)name;
    qn_tensor_clear_gradient(parameter->tensor);
    return QN_OK;
}

void qn_module_clear_gradients(qn_module *module) { qn_module_visit(module, clear, NULL); }
