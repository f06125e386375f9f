/* Backends and devices: looked for once, opened when first used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime.h"

/* In order of preference; those by name only last. */
static const qn_backend *const backends[] = {&qn__backend_cpu, &qn__backend_null};

static qn_status open_slot(qn_context *context, const qn_backend *backend) {
    qn__backend_slot *slot = &context->slots[context->num_slots];
    *slot = (qn__backend_slot){.backend = backend};
    qn_status status = backend->open(&context->services, &slot->driver, &slot->num_devices, slot->why);
    if (status == QN_ERROR_OUT_OF_MEMORY)
        return qn__fail(context, status, "%s: out of host memory", backend->name);
    context->num_slots++; /* looked for, found or not */
    if (status == QN_OK) return status;
    slot->driver = NULL;
    slot->num_devices = 0;
    qn__log(context, QN_LOG_INFO, "%s: %s", backend->name, slot->why);
    return QN_OK;
}

static qn_status add_device(qn_context *context, const qn__backend_slot *slot, uint32_t index) {
    qn_device *device = qn__object_new(context, QN__OBJECT_DEVICE);
    if (!device) return QN_ERROR_OUT_OF_MEMORY;
    device->backend = slot->backend;
    device->driver = slot->driver;
    device->index = index;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->use_lock, NULL);
    if (slot->backend->single)
        snprintf(device->name, sizeof device->name, "%s", slot->backend->name);
    else
        snprintf(device->name, sizeof device->name, "%s:%u", slot->backend->name, (unsigned)index);
    context->devices[context->num_devices++] = device;
    return QN_OK;
}

static qn_status open_all(qn_context *context) {
    uint32_t total = 0;
    while (context->num_slots < QN__COUNT(backends)) {
        qn_status status = open_slot(context, backends[context->num_slots]);
        if (status) return status;
    }
    for (uint32_t i = 0; i < context->num_slots; i++) total += context->slots[i].num_devices;
    if (!context->devices)
        context->devices = qn__allocate_zeroed(&context->allocator, (total + 1) * sizeof(qn_device *));
    if (!context->devices) return qn__fail_memory(context, total * sizeof(qn_device *));
    for (uint32_t i = 0, n = 0; i < context->num_slots; i++)
        for (uint32_t d = 0; d < context->slots[i].num_devices; d++, n++)
            if (n >= context->num_devices && add_device(context, &context->slots[i], d))
                return QN_ERROR_OUT_OF_MEMORY;
    return QN_OK;
}

qn_status qn__context_open(qn_context *context) {
    if (atomic_load(&context->opened)) return QN_OK;
    pthread_mutex_lock(&context->open_lock);
    qn_status status = QN_OK;
    if (!atomic_load(&context->opened)) {
        status = open_all(context);
        if (!status) atomic_store(&context->opened, true);
    }
    pthread_mutex_unlock(&context->open_lock);
    return status;
}

static qn_status open_device(qn_device *device) {
    qn_context *context = device->object.context;
    char why[QN__WHY] = "";
    if (!device->gpu) {
        qn_status status = device->backend->gpu_open(device->driver, device->index, &device->gpu, why);
        if (status) return qn__fail(context, status, "%s: %s", device->name, why);
    }
    device->backend->gpu_info(device->gpu, &device->info);
    device->info.name = device->name;
    device->info.kind = device->backend->kind;
    device->stream = qn__stream_new(device);
    return device->stream ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

qn_status qn__device_ready(qn_device *device) {
    if (atomic_load(&device->ready)) return QN_OK;
    pthread_mutex_lock(&device->lock);
    qn_status status = QN_OK;
    if (!atomic_load(&device->ready)) {
        status = open_device(device);
        if (!status) atomic_store(&device->ready, true);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

void qn__device_finalise(qn_device *device) {
    if (device->gpu) device->backend->gpu_close(device->gpu);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->use_lock);
}

/* Devices by name only come last and are not counted. */
uint32_t qn_device_count(qn_context *context) {
    if (!context || qn__context_open(context) != QN_OK) return 0;
    uint32_t count = 0;
    while (count < context->num_devices && !context->devices[count]->backend->by_name_only) count++;
    return count;
}

qn_device *qn_device_at(qn_context *context, uint32_t index) {
    return index < qn_device_count(context) ? context->devices[index] : NULL;
}

uint32_t qn_backend_count(qn_context *context) {
    return context && qn__context_open(context) == QN_OK ? context->num_slots : 0;
}

qn_status qn_backend_get(qn_context *context, uint32_t index, qn_backend_info *info) {
    if (!context) return QN_ERROR_NULL;
    if (!info) return qn__fail_null(context, "qn_backend_get", "info");
    if (index >= qn_backend_count(context))
        return qn__fail(context, QN_ERROR_RANGE, "qn_backend_get: index %u; there are %u", (unsigned)index,
                        (unsigned)context->num_slots);
    const qn__backend_slot *slot = &context->slots[index];
    *info = (qn_backend_info){slot->backend->kind, slot->backend->name, slot->num_devices,
                              slot->num_devices ? NULL : slot->why};
    return QN_OK;
}

/* "cuda" names "cuda:0". */
static bool name_fits(const qn_device *device, const char *name) {
    if (strcmp(device->name, name) == 0) return true;
    return device->index == 0 && strcmp(device->backend->name, name) == 0;
}

static qn_status no_such_device(qn_context *context, const char *name) {
    for (uint32_t i = 0; i < context->num_slots; i++) {
        const qn__backend_slot *slot = &context->slots[i];
        if (slot->num_devices == 0 && strncmp(slot->backend->name, name, strlen(slot->backend->name)) == 0)
            return qn__fail(context, QN_ERROR_NO_DEVICE, "no device '%s': %s", name, slot->why);
    }
    char list[512] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < context->num_devices && length < sizeof list - 64; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                                   context->devices[i]->name);
    return qn__fail(context, QN_ERROR_NO_DEVICE, "no device '%s'; there are: %s", name, list);
}

static qn_device *find_device(qn_context *context, const char *name) {
    for (uint32_t i = 0; i < context->num_devices; i++) {
        qn_device *device = context->devices[i];
        if (name ? name_fits(device, name) : !device->backend->by_name_only) return device;
    }
    return NULL;
}

qn_status qn_device_get(qn_context *context, const char *name, qn_device **out) {
    if (!context) return QN_ERROR_NULL;
    if (!out) return qn__fail_null(context, "qn_device_get", "device");
    *out = NULL;
    qn_status status = qn__context_open(context);
    if (status) return status;
    const char *wanted = getenv("QUERN_DEVICE");
    if (!name && wanted && wanted[0]) name = wanted;
    qn_device *device = find_device(context, name);
    if (!device) return no_such_device(context, name ? name : "(any)");
    status = qn__device_ready(device);
    if (!status) *out = device;
    return status;
}

qn_context *qn_device_context(const qn_device *device) { return device ? device->object.context : NULL; }

qn_status qn_device_get_info(const qn_device *device, qn_device_info *info) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_get_info", "device");
    if (status) return status;
    if (!info) return qn__fail_null(device->object.context, "qn_device_get_info", "info");
    status = qn__device_ready((qn_device *)device);
    if (!status) *info = device->info;
    return status;
}

qn_status qn_device_memory(const qn_device *const_device, qn_memory_stats *stats) {
    qn_status status = qn__check(const_device, QN__OBJECT_DEVICE, "qn_device_memory", "device");
    if (status) return status;
    if (!stats) return qn__fail_null(const_device->object.context, "qn_device_memory", "stats");
    qn_device *device = (qn_device *)const_device;
    *stats = (qn_memory_stats){
        .used = atomic_load(&device->used),
        .peak = atomic_load(&device->peak),
        .buffers = atomic_load(&device->buffers),
        .host = atomic_load(&device->host),
    };
    return QN_OK;
}

qn_status qn_device_trim(qn_device *device) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_trim", "device");
    if (status) return status;
    status = qn__device_ready(device);
    uint64_t pooled = 0;
    if (!status && device->backend->trim) device->backend->trim(device->gpu, &pooled);
    return status;
}

qn_stream *qn_device_stream(qn_device *device) {
    return device && qn__device_ready(device) == QN_OK ? device->stream : NULL;
}
