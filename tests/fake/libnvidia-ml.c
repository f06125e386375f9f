/* A management library of NVIDIA's with one GPU, the first of the fake CUDA driver's: its numbers are fixed. QN_FAKE_NVML=no-power:
   that is not told; no-gpu: it is not there. */
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { OK = 0, NOT_INITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int begun;
static int gpu;

static int is_wished(const char *what) {
    const char *wish = getenv("QN_FAKE_NVML");
    return wish && strcmp(wish, what) == 0;
}

API int nvmlInit_v2(void);
API int nvmlShutdown(void);
API int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
API int nvmlDeviceGetMemoryInfo(void *device, unsigned long long info[3]);
API int nvmlDeviceGetUtilizationRates(void *device, unsigned int rates[2]);
API int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *degrees);
API int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts);

int nvmlInit_v2(void) {
    begun++;
    return OK;
}

int nvmlShutdown(void) { return begun-- ? OK : NOT_INITIALIZED; }

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
    if (!begun) return NOT_INITIALIZED;
    if (is_wished("no-gpu") || strcmp(uuid, "GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0") != 0)
        return NOT_FOUND;
    *device = &gpu;
    return OK;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long info[3]) {
    info[0] = 1ull << 36;
    info[1] = 3ull << 34;
    info[2] = 1ull << 34;
    return device == &gpu ? OK : INVALID;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned int rates[2]) {
    rates[0] = 73;
    rates[1] = 21;
    return device == &gpu ? OK : INVALID;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *degrees) {
    *degrees = 54;
    return device == &gpu && sensor == 0 ? OK : INVALID;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts) {
    if (is_wished("no-power")) return NOT_SUPPORTED;
    *milliwatts = 312500;
    return device == &gpu ? OK : INVALID;
}
