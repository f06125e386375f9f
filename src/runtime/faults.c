/* What safe programs note of accesses outside and of loops without an end: where a program's kernels write it, and what the next wait says of it. */
#include "util/faults.h"

#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"

static bool is_safe(const qn_program *program) {
    for (uint32_t i = 0; i < program->info.num_kernels; i++) {
        const qn__kernel_info *kernel = &program->info.kernels[i];
        if (kernel->num_params && kernel->params[kernel->num_params - 1].is_faults) return true;
    }
    return false;
}

/* Where host and device see memory alike, a look costs nothing. */
qn_status qn__faults_create(qn_program *program) {
    static const qn__faults none;
    qn_device *device = program->device;
    if (!is_safe(program)) return QN_OK;
    const bool shares = device->info.capabilities & QN_CAN_SHARE_COHERENTLY;
    const qn_buffer_desc desc = {.size = sizeof none,
                                 .data = &none,
                                 .memory = shares ? QN_MEMORY_SHARED : QN_MEMORY_DEVICE,
                                 .label = "accesses outside"};
    const qn_status status = qn_buffer_create(device, &desc, &program->faults);
    if (!status) atomic_fetch_add(&device->safe_programs, 1);
    return status;
}

void qn__faults_destroy(qn_program *program) {
    atomic_fetch_sub(&program->device->safe_programs, 1);
    qn_buffer_destroy(program->faults);
}

/* What is noted is cleared: each is told once. */
static qn_status take(qn_program *program, qn__faults *found) {
    static const qn__faults none;
    *found = none;
    void *shared = qn_buffer_host(program->faults);
    if (!shared) {
        if (!atomic_exchange(&program->may_have_faults, false)) return QN_OK;
        const qn_status status = qn_buffer_read(program->faults, 0, found, sizeof *found);
        return status || !found->count ? status : qn_buffer_write(program->faults, 0, &none, sizeof none);
    }
    memcpy(found, shared, sizeof *found);
    if (found->count) memcpy(shared, &none, sizeof none);
    return QN_OK;
}

static qn_status tell(const qn_program *program, const qn__faults *found) {
    const char *site = found->site < program->info.num_sites ? program->info.sites[found->site] : "an access";
    const bool is_loop = found->size == QN__FAULT_OF_LOOP;
    char place[64] = "", more[64] = "";
    if (!is_loop)
        snprintf(place, sizeof place, " at byte %lld of its %llu", (long long)found->at,
                 (unsigned long long)found->size);
    if (found->count > 1)
        snprintf(more, sizeof more, " (%u %s in all)", (unsigned)found->count,
                 is_loop ? "faults" : "accesses outside");
    return qn__fail(program->object.context, QN_ERROR_KERNEL_FAILED, "%s: %s%s%s", program->device->name,
                    site, place, more);
}

/* The next program of the device after one, retained, whose reference goes. */
static qn_program *next_program(qn_device *device, qn_program *after) {
    qn_context *context = device->object.context;
    pthread_mutex_lock(&context->lock);
    qn__object *o = after ? after->object.next : context->objects[QN__OBJECT_PROGRAM].first;
    for (; o; o = o->next) {
        const qn_program *program = (qn_program *)o;
        if (program->device == device && program->faults && qn__try_retain(o)) break;
    }
    pthread_mutex_unlock(&context->lock);
    if (after) qn__drop(&after->object);
    return (qn_program *)o;
}

qn_status qn__faults_report(const qn_stream *stream) {
    qn_status status = QN_OK;
    qn_device *device = stream->device;
    if (QN__LIKELY(!atomic_load_explicit(&device->safe_programs, memory_order_relaxed))) return QN_OK;
    const void *apart = qn__stream_is_apart(stream) ? stream : NULL;
    for (qn_program *program = NULL; (program = next_program(device, program));) {
        qn__faults found;
        if (atomic_load(&program->apart) != apart) continue;
        qn_status one = take(program, &found);
        if (!one && found.count) one = tell(program, &found);
        if (one && !status) status = one;
    }
    return status;
}

void qn__faults_leave(const qn_stream *stream) {
    if (!qn__stream_is_apart(stream)) return;
    for (qn_program *program = NULL; (program = next_program(stream->device, program));) {
        const void *apart = stream;
        atomic_compare_exchange_strong(&program->apart, &apart, NULL);
    }
}
