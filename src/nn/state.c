/* States of modules: to files and from them, and as a table for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"

/* All parameters and buffers by name, in memory of the context's allocator. */
typedef struct state {
    qn_allocator allocator;
    qn_named_tensor *list;
    qn_tensor **values;
    char *names;
    uint64_t count, name_bytes, max_count, max_name_bytes;
} state;

static qn_status measure(void *user, const char *name, qn_parameter *parameter) {
    state *s = user;
    (void)parameter;
    s->max_count++;
    s->max_name_bytes += strlen(name) + 1;
    return QN_OK;
}

static qn_status note(void *user, const char *name, qn_parameter *parameter) {
    state *s = user;
    const size_t size = strlen(name) + 1;
    memcpy(s->names + s->name_bytes, name, size);
    s->list[s->count++] = (qn_named_tensor){s->names + s->name_bytes, parameter->tensor};
    s->name_bytes += size;
    return QN_OK;
}

static void release(state *s) {
    if (s->list) s->allocator.release(s->allocator.user, s->list);
}

/* The list, the values beside it, and the names lie in one block. */
static qn_status collect(qn_module *module, state *s) {
    *s = (state){.list = NULL};
    qn_status status =
        qn_context_get_allocator(qn_device_context(qn_tensors_device(module->tensors)), &s->allocator);
    if (!status) status = qn_module_visit(module, measure, s);
    if (status) return status;
    const size_t entry = sizeof *s->list + sizeof *s->values;
    s->list = s->allocator.allocate(s->allocator.user,
                                    (size_t)s->max_count * entry + (size_t)s->max_name_bytes + 1);
    if (!s->list) return qn__nn_fail(module->tensors, QN_ERROR_OUT_OF_MEMORY, "out of host memory");
    s->values = (qn_tensor **)(void *)(s->list + s->max_count);
    s->names = (char *)(s->values + s->max_count);
    return qn_module_visit(module, note, s);
}

qn_status qn_module_save(qn_module *module, const char *path) {
    if (!module) return qn__nn_fail(NULL, QN_ERROR_NULL, "qn_module_save: module is NULL");
    state s;
    qn_status status = collect(module, &s);
    if (!status) status = qn_save(module->tensors, path, s.list, s.count, NULL);
    release(&s);
    return status;
}

/* All values, or after an error none. */
static qn_status load(qn_module *module, qn_archive *archive, const qn_load_desc *desc, state *s) {
    qn_status status = qn_load(module->tensors, archive, s->list, s->count, desc, s->values);
    for (uint64_t i = 0; i < s->count && !status; i++)
        if (s->values[i]) status = qn_tensor_status(s->values[i]);
    for (uint64_t i = 0; i < s->count && !status; i++)
        if (s->values[i]) status = qn_assign(s->list[i].tensor, s->values[i]);
    return status;
}

qn_status qn_module_load(qn_module *module, qn_archive *archive, const qn_load_desc *desc) {
    if (!module || !archive)
        return qn__nn_fail(module ? module->tensors : NULL, QN_ERROR_NULL, "qn_module_load: %s is NULL",
                           module ? "archive" : "module");
    state s;
    qn_status status = collect(module, &s);
    if (!status) status = qn_scope_begin(module->tensors);
    if (!status) {
        status = load(module, archive, desc, &s);
        const qn_status ended = qn_scope_end(module->tensors);
        if (!status) status = ended;
    }
    release(&s);
    return status;
}

/* ---- summary ---- */

typedef struct summary {
    qn_text_callback *callback;
    void *user;
    uint64_t trained, kept;
} summary;

static qn_status add_line(void *user, const char *name, qn_parameter *p) {
    summary *s = user;
    char line[700], sizes[200] = "";
    size_t length = 0;
    const qn_shape shape = qn_tensor_shape(p->tensor);
    for (uint32_t d = 0; d < shape.rank && length < sizeof sizes - 24; d++)
        length += (size_t)snprintf(sizes + length, sizeof sizes - length, "%s%" PRIu64, d ? "x" : "",
                                   shape.sizes[d]);
    const uint64_t count = qn_tensor_count(p->tensor);
    *(p->trained ? &s->trained : &s->kept) += count;
    snprintf(line, sizeof line, "%-40s %-5s %-20s %12" PRIu64 "%s", name,
             qn_element_name(qn_tensor_type(p->tensor)), sizes, count, p->trained ? "" : "  not trained");
    s->callback(s->user, line);
    return QN_OK;
}

qn_status qn_module_summary(qn_module *module, qn_text_callback *callback, void *user) {
    if (!module || !callback)
        return qn__nn_fail(module ? module->tensors : NULL, QN_ERROR_NULL, "qn_module_summary: %s is NULL",
                           module ? "callback" : "module");
    summary s = {.callback = callback, .user = user};
    const qn_status status = qn_module_visit(module, add_line, &s);
    char line[160];
    snprintf(line, sizeof line, "%" PRIu64 " elements are trained, %" PRIu64 " are not", s.trained, s.kept);
    if (!status) callback(user, line);
    return status;
}
