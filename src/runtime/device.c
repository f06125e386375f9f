/* Backends and devices: looked for when first asked for, opened when first used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime.h"
#include "runtime/trace.h"
#include "util/file.h"

static const qn_backend *const backends[] = {
#define BACKEND(name, doc) &qn__backend_##name,
#include "runtime/backends.def"
};

static qn_status find_driver(qn_context *context, qn__backend_slot *slot) {
    const qn_backend *backend = slot->backend;
    const uint64_t start = qn__now_ns();
    qn_status status = backend->open(&context->services, &slot->driver, &slot->num_devices, slot->why);
    qn__log(context, QN_LOG_DEBUG, "%s: %u devices, looked for in %.2f ms", backend->name,
            (unsigned)(status ? 0 : slot->num_devices), (double)(qn__now_ns() - start) / 1e6);
    if (status == QN_OK && slot->num_devices == 0) snprintf(slot->why, QN__WHY, "the driver has no device");
    if (status == QN_OK) return QN_OK;
    slot->driver = NULL;
    slot->num_devices = 0;
    if (status == QN_ERROR_OUT_OF_MEMORY)
        return qn__fail(context, status, "%s: out of host memory", backend->name);
    qn__log(context, QN_LOG_INFO, "%s: %s", backend->name, slot->why);
    return QN_OK;
}

void qn__device_init(qn_device *device) {
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->use_lock, NULL);
    pthread_mutex_init(&device->host_lock, NULL);
}

static qn_status add_device(qn_context *context, qn__backend_slot *slot) {
    qn_device *device = qn__object_new(context, QN__OBJECT_DEVICE);
    if (!device) return QN_ERROR_OUT_OF_MEMORY;
    const qn_backend *backend = slot->backend;
    device->backend = backend;
    device->driver = slot->driver;
    device->index = slot->num_made;
    if (backend->identify) backend->identify(slot->driver, device->index, &device->identity);
    qn__device_init(device);
    if (backend->single)
        snprintf(device->name, sizeof device->name, "%s", backend->name);
    else
        snprintf(device->name, sizeof device->name, "%s:%u", backend->name, (unsigned)device->index);
    slot->devices[slot->num_made++] = device;
    return QN_OK;
}

/* One kind's driver and devices. What ran out of memory half way goes on at the next call; open_lock is held. */
static qn_status open_slot(qn_context *context, uint32_t index) {
    qn__backend_slot *slot = &context->slots[index];
    if (slot->opened) return QN_OK;
    slot->backend = backends[index];
    if (!slot->driver) {
        qn_status status = find_driver(context, slot);
        if (status) return status;
    }
    if (slot->num_devices && !slot->devices)
        slot->devices = qn__allocate_zeroed(&context->allocator, slot->num_devices * sizeof(qn_device *));
    if (slot->num_devices && !slot->devices)
        return qn__fail_memory(context, slot->num_devices * sizeof(qn_device *));
    while (slot->num_made < slot->num_devices)
        if (add_device(context, slot)) return QN_ERROR_OUT_OF_MEMORY;
    slot->opened = true;
    return QN_OK;
}

/* Only what is asked for is opened: drivers take their time. */
static qn_status find_slot(qn_context *context, uint32_t index) {
    pthread_mutex_lock(&context->open_lock);
    qn_status status = open_slot(context, index);
    pthread_mutex_unlock(&context->open_lock);
    return status;
}

/* Real devices first, then software ones, then those by name only, then what is not listed. */
static int rank(const qn_device *device) {
    return device->backend->is_hidden      ? 3
           : device->backend->by_name_only ? 2
           : device->identity.emulated     ? 1
                                           : 0;
}

static bool has_uuid(const qn_device *device) {
    static const uint8_t none[sizeof device->identity.uuid];
    return memcmp(device->identity.uuid, none, sizeof none) != 0;
}

/* WebGPU tells no UUID, but vendor and model: the hardware is known where all others of that model are one. */
static void find_hardware(const qn_context *context, qn_device *device) {
    qn__identity *own = &device->identity;
    const qn__identity *same = NULL;
    if (has_uuid(device) || !(own->vendor || own->model) || atomic_load(&device->ready)) return;
    for (uint32_t i = 0; i < context->num_devices; i++) {
        const qn__identity *other = &context->devices[i]->identity;
        if (!has_uuid(context->devices[i]) || other->vendor != own->vendor || other->model != own->model)
            continue;
        if (same && memcmp(same->uuid, other->uuid, sizeof same->uuid) != 0) return;
        same = other;
    }
    if (same) memcpy(own->uuid, same->uuid, sizeof own->uuid);
}

static qn_status list_devices(qn_context *context) {
    uint32_t total = 0, n = 0;
    for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++) {
        qn_status status = open_slot(context, i);
        if (status) return status;
        total += context->slots[i].num_devices;
    }
    context->devices = qn__allocate_zeroed(&context->allocator, (total + 1) * sizeof(qn_device *));
    if (!context->devices) return qn__fail_memory(context, total * sizeof(qn_device *));
    for (int wanted = 0; wanted <= 3; wanted++)
        for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++)
            for (uint32_t d = 0; d < context->slots[i].num_devices; d++)
                if (rank(context->slots[i].devices[d]) == wanted)
                    context->devices[n++] = context->slots[i].devices[d];
    context->num_devices = n;
    for (uint32_t i = 0; i < n; i++) find_hardware(context, context->devices[i]);
    return QN_OK;
}

/* All kinds, and the list of all devices. */
static qn_status open_all(qn_context *context) {
    if (atomic_load(&context->opened)) return QN_OK;
    pthread_mutex_lock(&context->open_lock);
    qn_status status = QN_OK;
    if (!atomic_load(&context->opened)) {
        status = list_devices(context);
        if (!status) atomic_store(&context->opened, true);
    }
    pthread_mutex_unlock(&context->open_lock);
    return status;
}

void qn__drivers_close(qn_context *context) {
    for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++) {
        qn__backend_slot *slot = &context->slots[i];
        if (slot->driver) slot->backend->close(slot->driver);
        qn__release(&context->allocator, slot->devices);
    }
    qn__release(&context->allocator, context->devices);
}

static uint32_t capabilities_of(const qn__target *target) {
    enum { DEVICE = false };
#define CAPABILITY(ID, name, has, doc) | ((has) ? (uint32_t)QN_CAN_##ID : 0)
    return 0
#include "target/target.def"
        ;
}

const char *qn_capability_name(uint32_t capability) {
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {
#define CAPABILITY(ID, name, has, doc) {QN_CAN_##ID, name},
#include "target/target.def"
    };
    for (size_t i = 0; i < QN__COUNT(names); i++)
        if (names[i].bit == capability) return names[i].name;
    return NULL;
}

/* What it can do follows from its target, but for what only the backend knows. */
static void describe(qn_device *device) {
    device->backend->gpu_info(device->gpu, &device->info);
    device->target = (qn__target){0};
    device->backend->target(device->gpu, &device->target);
    qn__compile_target(&device->target);
    qn_device_info *info = &device->info;
    info->name = device->name;
    info->kind = device->backend->kind;
    info->private_memory = device->target.private_bytes;
    info->loop_limit = device->target.loop_limit;
    info->matrix_shapes = qn__matrix_shapes(&device->target);
    info->vector_bytes = device->target.vector_bytes;
    memcpy(info->uuid, device->identity.uuid, sizeof info->uuid);
    info->capabilities |= capabilities_of(&device->target);
    if (device->backend->cancel) info->capabilities |= QN_CAN_CANCEL;
    if (device->identity.emulated) info->capabilities |= QN_CAN_EMULATE;
}

static qn_status open_device(qn_device *device) {
    qn_context *context = device->object.context;
    char why[QN__WHY] = "";
    const uint64_t start = qn__now_ns();
    if (!device->gpu) {
        qn_status status = device->backend->gpu_open(device->driver, device->index, &device->gpu, why);
        if (status) return qn__fail(context, status, "%s: %s", device->name, why);
    }
    describe(device);
    if (device->info.loop_limit)
        qn__log(context, QN_LOG_WARNING,
                "%s: its driver ends a work-item's loops after %llu iterations in all, without a word",
                device->name, (unsigned long long)device->info.loop_limit);
    const qn_status status = qn__stream_new(device, &device->stream);
    if (!status)
        qn__log(context, QN_LOG_DEBUG, "%s opened in %.2f ms: %s, %s", device->name,
                (double)(qn__now_ns() - start) / 1e6, device->info.description, device->info.driver);
    return status;
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
    qn__trace_forget(device);
    qn__crossing_close(device);
    if (device->gpu) device->backend->gpu_close(device->gpu);
    qn__release(&device->object.context->allocator, device->hosts);
    pthread_mutex_destroy(&device->host_lock);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->use_lock);
}

/* Devices by name only come last and are not counted. */
uint32_t qn_device_count(qn_context *context) {
    if (qn__check(context, QN__OBJECT_CONTEXT, "qn_device_count", "context") || open_all(context)) return 0;
    uint32_t count = 0;
    while (count < context->num_devices && !context->devices[count]->backend->is_hidden) count++;
    return count;
}

qn_device *qn_device_at(qn_context *context, uint32_t index) {
    if (qn__check(context, QN__OBJECT_CONTEXT, "qn_device_at", "context")) return NULL;
    return index < qn_device_count(context) ? context->devices[index] : NULL;
}

uint32_t qn_backend_count(qn_context *context) {
    if (qn__check(context, QN__OBJECT_CONTEXT, "qn_backend_count", "context")) return 0;
    return open_all(context) == QN_OK ? QN__NUM_BACKENDS : 0;
}

qn_status qn_backend_get(qn_context *context, uint32_t index, qn_backend_info *info) {
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_backend_get", "context");
    if (status) return status;
    if (!info) return qn__fail_null(context, "qn_backend_get", "info");
    status = open_all(context);
    if (status) return status;
    if (index >= QN__NUM_BACKENDS)
        return qn__fail(context, QN_ERROR_RANGE, "qn_backend_get: index %u; there are %u", (unsigned)index,
                        (unsigned)QN__NUM_BACKENDS);
    const qn__backend_slot *slot = &context->slots[index];
    const qn_backend_info found = {.kind = slot->backend->kind,
                                   .name = slot->backend->name,
                                   .devices = slot->num_devices,
                                   .reason = slot->num_devices ? NULL : slot->why};
    QN__WRITE(context, qn_backend_info, info, &found);
    return QN_OK;
}

/* "cuda" and "cuda:1" are of the kind "cuda". */
static bool is_of_kind(const char *name, const qn_backend *backend) {
    size_t length = strlen(backend->name);
    return strncmp(name, backend->name, length) == 0 && (name[length] == 0 || name[length] == ':');
}

/* "cuda" names "cuda:0". */
static bool name_fits(const qn_device *device, const char *name) {
    if (strcmp(device->name, name) == 0) return true;
    return device->index == 0 && strcmp(device->backend->name, name) == 0;
}

static qn_status no_such_device(qn_context *context, const char *name) {
    qn_status status = open_all(context);
    if (status) return status;
    for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++) {
        const qn__backend_slot *slot = &context->slots[i];
        if (slot->num_devices == 0 && is_of_kind(name, slot->backend))
            return qn__fail(context, QN_ERROR_NO_DEVICE, "no device '%.100s': %s", name, slot->why);
    }
    char list[512] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < context->num_devices && length < sizeof list - 64; i++)
        if (!context->devices[i]->backend->is_hidden) /* last in the list */
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                                       context->devices[i]->name);
    return qn__fail(context, QN_ERROR_NO_DEVICE, "no device '%.100s'; there are: %s", name, list);
}

static qn_status get_named(qn_context *context, const char *name, qn_device **out) {
    for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++) {
        if (!is_of_kind(name, backends[i])) continue;
        qn_status status = find_slot(context, i);
        if (status) return status;
        for (uint32_t d = 0; d < context->slots[i].num_devices; d++) {
            qn_device *device = context->slots[i].devices[d];
            if (!name_fits(device, name)) continue;
            status = qn__device_ready(device);
            if (!status) *out = device;
            return status;
        }
    }
    return no_such_device(context, name);
}

/* Whether the kind may have the default device. Software drivers take long to open and are never chosen. */
static bool is_candidate(qn_context *context, const qn_backend *backend) {
    if (backend->by_name_only) return false;
    if (!backend->has_hardware || backend->has_hardware()) return true;
    qn__log(context, QN_LOG_DEBUG, "%s: not opened for the default device: no GPU shows in /dev",
            backend->name);
    return false;
}

/* The first that is no emulation and can be opened: one that cannot (held by another process, say) is no reason
   to go without the others. */
static qn_status get_default(qn_context *context, qn_device **out) {
    qn_status status = QN_ERROR_NO_DEVICE;
    for (uint32_t i = 0; i < QN__NUM_BACKENDS; i++) {
        if (!is_candidate(context, backends[i])) continue;
        qn_status found = find_slot(context, i);
        if (found) return found;
        for (uint32_t d = 0; d < context->slots[i].num_devices; d++) {
            qn_device *device = context->slots[i].devices[d];
            if (rank(device) != 0) continue;
            status = qn__device_ready(device);
            if (!status) *out = device;
            if (!status) return QN_OK;
            qn__log(context, QN_LOG_WARNING, "%s", qn_error_message(context));
        }
    }
    return status == QN_ERROR_NO_DEVICE ? no_such_device(context, "(any)") : status;
}

/* QUERN_CHECK=1: every program is checked, whatever device it asks for. */
bool qn__checks_all(void) {
    const char *wanted = qn__environment("QUERN_CHECK");
    return wanted && strcmp(wanted, "1") == 0;
}

qn_status qn_device_get(qn_context *context, const char *name, qn_device **out) {
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_device_get", "context");
    if (status) return status;
    if (!out) return qn__fail_null(context, "qn_device_get", "device");
    *out = NULL;
    const char *wanted = qn__environment("QUERN_DEVICE");
    if (!name && wanted && wanted[0]) name = wanted;
    if (qn__checks_all()) name = qn__backend_check.name;
    return name ? get_named(context, name, out) : get_default(context, out);
}

qn_context *qn_device_context(const qn_device *device) {
    if (qn__check(device, QN__OBJECT_DEVICE, "qn_device_context", "device")) return NULL;
    return device->object.context;
}

qn_status qn_device_get_info(const qn_device *device, qn_device_info *info) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_get_info", "device");
    if (status) return status;
    if (!info) return qn__fail_null(device->object.context, "qn_device_get_info", "info");
    status = qn__device_ready((qn_device *)device);
    if (!status) QN__WRITE(device->object.context, qn_device_info, info, &device->info);
    return status;
}

qn_status qn_device_memory(const qn_device *const_device, qn_memory_stats *stats) {
    qn_status status = qn__check(const_device, QN__OBJECT_DEVICE, "qn_device_memory", "device");
    if (status) return status;
    if (!stats) return qn__fail_null(const_device->object.context, "qn_device_memory", "stats");
    qn_device *device = (qn_device *)const_device;
    const qn_memory_stats counted = {
        .used = atomic_load(&device->used),
        .peak = atomic_load(&device->peak),
        .buffers = atomic_load(&device->buffers),
        .host = atomic_load(&device->host),
        .host_peak = atomic_load(&device->host_peak),
        .pinned = atomic_load(&device->pinned),
        .pinned_peak = atomic_load(&device->pinned_peak),
        .pooled = atomic_load(&device->kept) + (atomic_load(&device->ready) && device->backend->pooled
                                                    ? device->backend->pooled(device->gpu)
                                                    : 0),
    };
    QN__WRITE(device->object.context, qn_memory_stats, stats, &counted);
    return QN_OK;
}

qn_status qn_device_trim(qn_device *device) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_trim", "device");
    if (status) return status;
    status = qn__device_ready(device);
    uint64_t pooled = 0;
    if (!status) qn__pools_trim(device);
    if (!status && device->backend->trim) device->backend->trim(device->gpu, &pooled);
    return status;
}

qn_stream *qn_device_stream(qn_device *device) {
    if (qn__check(device, QN__OBJECT_DEVICE, "qn_device_stream", "device")) return NULL;
    return qn__device_ready(device) == QN_OK ? device->stream : NULL;
}
