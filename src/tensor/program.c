/* Compiled texts, kept by what they are. */
#include <string.h>

#include "tensor/plan.h"

enum { LISTS = 256 };

typedef struct compiled {
    struct compiled *next;
    uint64_t hash;
    qn_program *program;
    qn_kernel *kernel;
    char text[];
} compiled;

struct qn__programs {
    compiled *lists[LISTS];
};

static uint64_t hash_of(const char *text) {
    uint64_t hash = 0;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

/* Kernels with a required size are launched in whole groups. */
static qn_status compile(qn_tensors *tensors, compiled *c) {
    const bool is_whole = strstr(c->text, "reqd_work_group_size(") != NULL;
    const qn_program_desc desc = {
        .source = c->text, .path = "tensor.cl", .options = is_whole ? "-cl-uniform-work-group-size" : NULL};
    qn_status status = qn_program_create(tensors->device, &desc, &c->program);
    if (status) return status;
    status = qn_kernel_create(c->program, NULL, &c->kernel);
    if (status) qn_program_destroy(c->program);
    return status;
}

qn_status qn__program_get(qn_tensors *tensors, const char *text, qn_kernel **kernel, const char **kept) {
    if (!tensors->programs) tensors->programs = qn__tensors_allocate(tensors, sizeof *tensors->programs);
    if (!tensors->programs) return QN_ERROR_OUT_OF_MEMORY;
    const uint64_t hash = hash_of(text);
    compiled **list = &tensors->programs->lists[hash % LISTS], *c = *list;
    while (c && (c->hash != hash || strcmp(c->text, text) != 0)) c = c->next;
    if (!c) {
        c = qn__tensors_allocate(tensors, sizeof *c + strlen(text) + 1);
        if (!c) return QN_ERROR_OUT_OF_MEMORY;
        strcpy(c->text, text);
        c->hash = hash;
        const qn_status status = compile(tensors, c);
        if (status) {
            qn__tensors_release(tensors, c);
            return status;
        }
        c->next = *list;
        *list = c;
        tensors->stats.programs++;
    }
    *kernel = c->kernel;
    *kept = c->text;
    return QN_OK;
}

qn_status qn__programs_wait(qn_tensors *tensors, uint64_t timeout_ns) {
    qn_status status = QN_OK;
    for (int i = 0; tensors->programs && i < LISTS; i++)
        for (const compiled *c = tensors->programs->lists[i]; c && !status; c = c->next)
            status = qn_program_wait(c->program, timeout_ns);
    return status;
}

void qn__programs_free(qn_tensors *tensors) {
    for (int i = 0; tensors->programs && i < LISTS; i++)
        while (tensors->programs->lists[i]) {
            compiled *c = tensors->programs->lists[i];
            tensors->programs->lists[i] = c->next;
            qn_kernel_destroy(c->kernel);
            qn_program_destroy(c->program);
            qn__tensors_release(tensors, c);
        }
    qn__tensors_release(tensors, tensors->programs);
    tensors->programs = NULL;
}
