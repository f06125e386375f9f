/* Handles: scopes, counts, failures and the sentences that they carry. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensor/graph.h"

enum { MAGIC = 0x74736e72 };

/* What ops give that have no tensor to tell an owner by. */
static const qn_tensor no_owner = {.magic = MAGIC, .status = QN_ERROR_NULL};

static bool is_handle(const qn_tensor *x) { return x && x->magic == MAGIC; }

qn__node *qn__node_of(const qn_tensor *x) { return is_handle(x) ? x->node : NULL; }

static qn_tensor *out_of_memory(qn_tensors *tensors) {
    tensors->out_of_memory.magic = MAGIC;
    return &tensors->out_of_memory;
}

/* Whether it is one of those that are not counted. */
static bool is_fixed(const qn_tensor *x) { return !x->owner || x == &x->owner->out_of_memory; }

static qn_tensor *make(qn_tensors *tensors) {
    if (!qn__reserve(tensors, &tensors->made, &tensors->max_made, tensors->num_made, sizeof(qn_tensor *)))
        return NULL;
    qn_tensor *x = qn__handle_allocate(tensors);
    if (!x) return NULL;
    x->magic = MAGIC;
    x->made_for = tensors->recording;
    tensors->made[tensors->num_made++] = x;
    return x;
}

qn_tensor *qn__handle(qn_tensors *tensors, qn__node *node) {
    tensors->ops++;
    qn_tensor *x = node ? make(tensors) : NULL;
    if (!x) {
        qn__node_release(node);
        return out_of_memory(tensors);
    }
    x->node = node;
    if (!tensors->desc.eager || node->realised || tensors->recording || tensors->tracing) return x;
    return qn__realise_at_once(tensors, x);
}

/* ---- failures ---- */

/* ", in encoder, block 3 (op 17)" */
static void add_place(const qn_tensors *tensors, char *text, size_t size) {
    size_t at = strlen(text);
    for (size_t i = 0; i < tensors->num_labels && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s %s", i ? "," : "; in", tensors->labels[i]);
    if (at < size) snprintf(text + at, size - at, " (op %llu)", (unsigned long long)tensors->ops);
}

static qn_tensor *failed(qn_tensors *tensors, qn_status status, const char *text) {
    tensors->ops++;
    qn_tensor *x = make(tensors);
    if (!x) return out_of_memory(tensors);
    x->status = status;
    x->message = qn__tensors_allocate(tensors, strlen(text) + 1);
    if (x->message) strcpy(x->message, text);
    return x;
}

qn_tensor *qn__failed(qn_tensors *tensors, const char *function, qn_status status, const char *format, ...) {
    char text[1024];
    const int at = snprintf(text, sizeof text, "%s: ", function);
    va_list args;
    va_start(args, format);
    vsnprintf(text + at, sizeof text - (size_t)at, format, args);
    va_end(args);
    if (!tensors) {
        qn_error_set(NULL, status, text);
        return (qn_tensor *)&no_owner;
    }
    add_place(tensors, text, sizeof text);
    return failed(tensors, status, text);
}

qn_tensor *qn_tensor_fail(qn_tensors *tensors, qn_status status, const char *text) {
    char placed[1024];
    if (!status) status = QN_ERROR_ARGUMENT;
    snprintf(placed, sizeof placed, "%s", text ? text : "a function failed");
    if (qn__tensors_check(tensors, "qn_tensor_fail")) {
        qn_error_set(NULL, status, placed);
        return (qn_tensor *)&no_owner;
    }
    add_place(tensors, placed, sizeof placed);
    return failed(tensors, status, placed);
}

qn_tensor *qn__failed_as(qn_tensors *tensors, qn_status status) {
    return status == QN_ERROR_OUT_OF_MEMORY ? out_of_memory(tensors)
                                            : failed(tensors, status, qn_error_message(tensors->context));
}

qn_tensor *qn__refuse(const char *function, qn_tensor *const *operands, uint32_t count,
                      qn_tensors **tensors) {
    *tensors = NULL;
    for (uint32_t i = 0; i < count; i++) {
        qn_tensor *x = operands[i];
        if (!x || x->magic != MAGIC)
            return qn__failed(*tensors, function, x ? QN_ERROR_DESTROYED : QN_ERROR_NULL, "operand %u is %s",
                              (unsigned)i + 1, x ? "no tensor, or is gone with its scope" : "NULL");
        if (x->status) return x;
        if (!*tensors) *tensors = x->owner;
        if (x->owner != *tensors)
            return qn__failed(*tensors, function, QN_ERROR_WRONG_CONTEXT,
                              "operand %u is of other tensors (qn_tensors) than operand 1", (unsigned)i + 1);
    }
    return NULL;
}

qn_status qn_tensor_status(const qn_tensor *x) {
    if (!x) return qn__tensors_fail(NULL, QN_ERROR_NULL, "qn_tensor_status: the tensor is NULL");
    if (!is_handle(x))
        return qn__tensors_fail(NULL, QN_ERROR_DESTROYED,
                                "qn_tensor_status: the tensor is none, or is gone with its scope");
    if (!x->status) return QN_OK;
    if (!x->owner)
        return qn__tensors_fail(NULL, x->status,
                                "an op got no tensor: its operands are NULL or numbers alone");
    return qn__tensors_fail(x->owner, x->status, "%s",
                            x->message ? x->message : "out of host memory for a tensor");
}

/* ---- scopes and counts ---- */

qn_status qn_scope_begin(qn_tensors *tensors) {
    const qn_status status = qn__tensors_check(tensors, "qn_scope_begin");
    if (status) return status;
    if (!qn__reserve(tensors, &tensors->scopes, &tensors->max_scopes, tensors->num_scopes, sizeof(size_t)))
        return QN_ERROR_OUT_OF_MEMORY;
    tensors->scopes[tensors->num_scopes++] = tensors->num_made;
    return QN_OK;
}

qn_status qn_scope_end(qn_tensors *tensors) {
    const qn_status status = qn__tensors_check(tensors, "qn_scope_end");
    if (status) return status;
    if (!tensors->num_scopes)
        return qn__tensors_fail(tensors, QN_ERROR_STATE, "qn_scope_end: no scope is open (qn_scope_begin)");
    const size_t begin = tensors->scopes[--tensors->num_scopes];
    while (tensors->num_made > begin) qn_tensor_release(tensors->made[--tensors->num_made]);
    return QN_OK;
}

qn_tensor *qn_tensor_retain(qn_tensor *x) {
    if (is_handle(x) && !is_fixed(x)) x->refs++;
    return x;
}

void qn_tensor_release(qn_tensor *x) {
    if (!is_handle(x) || is_fixed(x) || --x->refs) return;
    qn__forget_gradient(x);
    qn__node_release(x->node);
    qn__tensors_release(x->owner, x->message);
    qn__handle_free(x);
}

void qn_label_begin(qn_tensors *tensors, const char *text) {
    if (qn__tensors_check(tensors, "qn_label_begin")) return;
    if (!qn__reserve(tensors, &tensors->labels, &tensors->max_labels, tensors->num_labels, sizeof(char *)))
        return;
    char *copy = qn__tensors_allocate(tensors, text ? strlen(text) + 1 : 1);
    if (!copy) return;
    if (text) strcpy(copy, text);
    tensors->labels[tensors->num_labels++] = copy;
}

void qn_label_end(qn_tensors *tensors) {
    if (qn__tensors_check(tensors, "qn_label_end") || !tensors->num_labels) return;
    qn__tensors_release(tensors, tensors->labels[--tensors->num_labels]);
}

/* ---- what a tensor is ---- */

qn_element qn_tensor_type(const qn_tensor *x) {
    return qn__node_of(x) ? (qn_element)qn__node_of(x)->type : QN_F32;
}

qn_shape qn_tensor_shape(const qn_tensor *x) {
    qn_shape shape = {.rank = 0};
    const qn__node *node = qn__node_of(x);
    if (!node) return shape;
    shape.rank = node->rank;
    memcpy(shape.sizes, node->sizes, sizeof shape.sizes);
    return shape;
}

uint64_t qn_tensor_count(const qn_tensor *x) { return qn__node_of(x) ? qn__node_count(qn__node_of(x)) : 0; }

qn_tensors *qn_tensor_owner(const qn_tensor *x) { return is_handle(x) ? x->owner : NULL; }

qn__shape_text qn__shape_of(uint32_t rank, const uint64_t *sizes) {
    qn__shape_text t = {"one element"};
    size_t at = 0;
    for (uint32_t d = 0; d < rank; d++)
        at += (size_t)snprintf(t.text + at, sizeof t.text - at, d ? "x%llu" : "%llu",
                               (unsigned long long)sizes[d]);
    return t;
}

qn__shape_text qn__describe(const qn__node *node) {
    qn__shape_text t;
    snprintf(t.text, sizeof t.text, "%s %.180s", qn_element_name((qn_element)node->type),
             qn__shape_of(node->rank, node->sizes).text);
    return t;
}
