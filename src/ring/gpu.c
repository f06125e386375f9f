/* What NVIDIA's management library tells of a ring's GPU. It is opened when it is first asked, and need not be there. The
   declarations are those of its public interface (NVML API reference). */
#include <stdio.h>
#include <string.h>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include "ring/internal.h"

typedef void *nvml_device;
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;
typedef struct nvml_utilization {
    unsigned int gpu, memory;
} nvml_utilization;

/* Functions of the library: name of the member, name there, parameters. */
#define FUNCTIONS(X)                                                                                         \
    X(init, "nvmlInit_v2", (void))                                                                           \
    X(shutdown, "nvmlShutdown", (void))                                                                      \
    X(by_uuid, "nvmlDeviceGetHandleByUUID", (const char *, nvml_device *))                                   \
    X(memory, "nvmlDeviceGetMemoryInfo", (nvml_device, nvml_memory *))                                       \
    X(utilization, "nvmlDeviceGetUtilizationRates", (nvml_device, nvml_utilization *))                       \
    X(temperature, "nvmlDeviceGetTemperature", (nvml_device, int sensor, unsigned int *))                    \
    X(power, "nvmlDeviceGetPowerUsage", (nvml_device, unsigned int *))

struct qn__ring_gpu {
    void *library;
#define MEMBER(member, name, parameters) int(*member) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
    bool begun, found;
    nvml_device device;
};

#if defined(_WIN32)

static void *open_library(void) { return NULL; }
static void close_library(void *library) { (void)library; }
static bool find(void *library, const char *name, void *function) {
    (void)library, (void)name, (void)function;
    return false;
}

#else

static void *open_library(void) { return dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL); }
static void close_library(void *library) { dlclose(library); }

static bool find(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

#endif

static bool load(struct qn__ring_gpu *gpu) {
    gpu->library = open_library();
    if (!gpu->library) return false;
#define LOAD(member, name, parameters)                                                                       \
    if (!find(gpu->library, name, &gpu->member)) return false;
    FUNCTIONS(LOAD)
#undef LOAD
    gpu->begun = gpu->init() == 0;
    return gpu->begun;
}

/* As "GPU-01234567-89ab-cdef-0123-456789abcdef". */
static void write_uuid(const uint8_t uuid[16], char text[48]) {
    int length = snprintf(text, 48, "GPU");
    for (int i = 0; i < 16; i++) {
        const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        length += snprintf(text + length, 48 - (size_t)length, "%s%02x", dash ? "-" : "", (unsigned)uuid[i]);
    }
}

void qn__ring_gpu_close(qn_ring *ring) {
    struct qn__ring_gpu *gpu = ring->gpu;
    if (!gpu) return;
    if (gpu->begun) gpu->shutdown();
    if (gpu->library) close_library(gpu->library);
    ring->allocator.release(ring->allocator.user, gpu);
    ring->gpu = NULL;
}

/* Under the ring's lock; tried once. Why there is none to ask; NULL: there is. */
static const char *open(qn_ring *ring) {
    if (ring->device_info.kind == QN_DEVICE_CPU) return "it is no GPU";
    if (!ring->gpu) {
        ring->gpu = ring->allocator.allocate(ring->allocator.user, sizeof *ring->gpu);
        if (!ring->gpu) return "out of host memory";
        memset(ring->gpu, 0, sizeof *ring->gpu);
        char uuid[48];
        write_uuid(ring->device_info.uuid, uuid);
        if (load(ring->gpu)) ring->gpu->found = ring->gpu->by_uuid(uuid, &ring->gpu->device) == 0;
    }
    if (ring->gpu->found) return NULL;
    return ring->gpu->begun ? "NVML does not know it" : "there is no NVML (libnvidia-ml.so.1)";
}

static void ask(const struct qn__ring_gpu *nvml, qn_ring_gpu *gpu) {
    enum { OF_THE_GPU = 0 };
    nvml_memory memory;
    nvml_utilization busy;
    if (nvml->memory(nvml->device, &memory) == 0) {
        gpu->known |= QN_RING_GPU_MEMORY;
        gpu->memory_used = memory.used;
        gpu->memory_total = memory.total;
    }
    if (nvml->utilization(nvml->device, &busy) == 0) {
        gpu->known |= QN_RING_GPU_UTILIZATION;
        gpu->utilization = busy.gpu;
        gpu->memory_utilization = busy.memory;
    }
    if (nvml->temperature(nvml->device, OF_THE_GPU, &gpu->temperature) == 0)
        gpu->known |= QN_RING_GPU_TEMPERATURE;
    if (nvml->power(nvml->device, &gpu->power_mw) == 0) gpu->known |= QN_RING_GPU_POWER;
}

const char *qn__ring_read_gpu(qn_ring *ring, qn_ring_gpu *gpu) {
    *gpu = (qn_ring_gpu){0};
    pthread_mutex_lock(&ring->lock);
    const char *why_not = open(ring);
    if (!why_not) ask(ring->gpu, gpu);
    pthread_mutex_unlock(&ring->lock);
    return why_not;
}

qn_status qn_ring_get_gpu(qn_ring *ring, qn_ring_gpu *gpu) {
    const qn_status status = qn__ring_check(ring, "qn_ring_get_gpu");
    if (status) return status;
    if (!gpu) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_get_gpu: gpu is NULL");
    const char *why_not = qn__ring_read_gpu(ring, gpu);
    if (!why_not) return QN_OK;
    return qn__ring_fail(ring, QN_ERROR_UNSUPPORTED, "qn_ring_get_gpu: nobody tells of %s: %s",
                         ring->device_info.name, why_not);
}
