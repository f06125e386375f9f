/* Programs of shipped files: compiled for the device when a plan first needs them, and kept by file and options. */
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"
#include "kernels/texts.h"

struct qn__compiled {
    qn__compiled *next;
    const char *file; /* of the table of texts */
    qn_program *program;
    qn_kernel *kernel;
    char *name; /* behind the options; "" for the only one */
    char options[];
};

bool qn_kernels_source(const char *name, qn_program_desc *desc) {
    const qn__text *text = name && desc ? qn__text_find(name) : NULL;
    if (!text) return false;
    desc->source = text->text;
    desc->source_size = 0;
    desc->path = text->name;
    desc->headers = text->headers;
    desc->num_headers = text->num_headers;
    return true;
}

static qn__compiled *find(qn_kernels *kernels, const qn__variant *v) {
    for (qn__compiled *c = kernels->compiled; c; c = c->next)
        if (strcmp(c->file, v->file) == 0 && strcmp(c->options, v->options) == 0 &&
            strcmp(c->name, v->kernel ? v->kernel : "") == 0)
            return c;
    return NULL;
}

/* Another kernel of the same program, or NULL. */
static qn_program *program_of(qn_kernels *kernels, const qn__variant *v) {
    for (qn__compiled *c = kernels->compiled; c; c = c->next)
        if (strcmp(c->file, v->file) == 0 && strcmp(c->options, v->options) == 0) return c->program;
    return NULL;
}

static qn_status compile(qn_kernels *kernels, const qn__variant *v, qn__compiled *c) {
    qn_program_desc desc = {.options = v->options};
    if (!qn_kernels_source(v->file, &desc))
        return qn__op_fail(kernels, QN_ERROR_INTERNAL, "no kernel file '%s' is shipped", v->file);
    c->file = desc.path;
    c->program = program_of(kernels, v);
    const bool shared = c->program != NULL;
    qn_status status = shared ? QN_OK : qn_program_create(kernels->device, &desc, &c->program);
    if (!status) status = qn_kernel_create(c->program, v->kernel, &c->kernel);
    if (status && !shared) qn_program_destroy(c->program);
    return status;
}

static qn_status add(qn_kernels *kernels, const qn__variant *v, qn__compiled **out) {
    const char *name = v->kernel ? v->kernel : "";
    const size_t options = strlen(v->options) + 1;
    qn__compiled *c = qn__op_allocate(kernels, sizeof *c + options + strlen(name) + 1);
    if (!c) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(c->options, v->options, options);
    c->name = strcpy(c->options + options, name);
    const qn_status status = compile(kernels, v, c);
    if (status) {
        qn__op_release(kernels, c);
        return status;
    }
    c->next = kernels->compiled;
    kernels->compiled = *out = c;
    return QN_OK;
}

qn_status qn__variant_get(qn_kernels *kernels, const qn__variant *variant, qn_kernel **kernel) {
    qn_status status = QN_OK;
    pthread_mutex_lock(&kernels->compile_lock);
    qn__compiled *c = find(kernels, variant);
    if (!c) status = add(kernels, variant, &c);
    pthread_mutex_unlock(&kernels->compile_lock);
    if (!status) *kernel = c->kernel;
    return status;
}

qn_status qn_kernels_wait(qn_kernels *kernels, uint64_t timeout_ns) {
    qn_status status = qn__op_check(kernels, kernels, "qn_kernels_wait");
    if (status) return status;
    pthread_mutex_lock(&kernels->compile_lock);
    const qn__compiled *first = kernels->compiled;
    pthread_mutex_unlock(&kernels->compile_lock);
    for (const qn__compiled *c = first; c && !status; c = c->next)
        status = qn_program_wait(c->program, timeout_ns);
    return status;
}

void qn__compiled_free(qn_kernels *kernels) {
    while (kernels->compiled) {
        qn__compiled *c = kernels->compiled;
        kernels->compiled = c->next;
        qn_kernel_destroy(c->kernel);
        if (!program_of(kernels, &(qn__variant){.file = c->file, .options = c->options}))
            qn_program_destroy(c->program);
        qn__op_release(kernels, c);
    }
}
