/* Finding the driver and its devices (CUDA Driver API, initialization and device management). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "util/dynamic.h"

enum {
    LEAST_VERSION = 11040, /* CUDA 11.4: the youngest functions in the table */
    LEAST_MAJOR = 6        /* compute capability */
};

static const qn__symbol symbols[] = {
#define ROW(field, symbol, params) {symbol, offsetof(qn__cu, field), false},
    QN__CU_FUNCTIONS(ROW)
#undef ROW
#define ROW(field, symbol, params) {symbol, offsetof(qn__cu, field), true},
        QN__CU_OPTIONAL_FUNCTIONS(ROW)
#undef ROW
};

/* The kernel module's version, "580.65.06", from the line "NVRM version: ... Module  580.65.06  date". */
static void module_version(char *out, size_t size) {
    char line[256] = "";
    out[0] = 0;
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (!file) return;
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (!isdigit((unsigned char)word[0]) || !strchr(word, '.')) continue;
        snprintf(out, size, "%s", word);
        return;
    }
}

static void describe(qn__driver *driver) {
    char module[32];
    module_version(module, sizeof module);
    snprintf(driver->text, sizeof driver->text, "CUDA %d.%d%s%s", driver->version / 1000,
             driver->version % 1000 / 10, module[0] ? ", driver " : "", module);
}

static bool version_fits(qn__driver *driver, void *library, char *why) {
    /* first by itself: a driver that is too old lacks functions too */
    static const qn__symbol first[] = {{"cuDriverGetVersion", offsetof(qn__cu, driver_version), false}};
    if (!qn__library_symbols(library, first, 1, &driver->cu, why)) return false;
    if (driver->cu.driver_version(&driver->version)) driver->version = 0;
    if (driver->version >= LEAST_VERSION) return true;
    snprintf(why, QN__WHY, "the driver supports CUDA %d.%d; %d.%d or newer is needed (driver 470 or newer)",
             driver->version / 1000, driver->version % 1000 / 10, LEAST_VERSION / 1000,
             LEAST_VERSION % 1000 / 10);
    return false;
}

static qn_status list_devices(qn__driver *driver, char *why) {
    const qn__cu *cu = &driver->cu;
    int count = 0, major = 0, too_old = 0;
    qn__cu_result result = cu->init(0);
    if (!result) result = cu->device_count(&count);
    if (result) {
        int length = snprintf(why, QN__WHY, "the driver does not start: ");
        qn__cuda_error_text(cu, result, why + length, (size_t)(QN__WHY - length));
        return QN_ERROR_NO_DEVICE;
    }
    driver->devices =
        qn__allocate_zeroed(driver->services->allocator, ((size_t)count + 1) * sizeof *driver->devices);
    if (!driver->devices) return QN_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < count; i++) {
        qn__cu_device device;
        if (cu->device_get(&device, i) ||
            cu->device_attribute(&major, QN__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
            continue;
        if (major >= LEAST_MAJOR)
            driver->devices[driver->num_devices++] = device;
        else
            too_old++;
    }
    if (driver->num_devices) return QN_OK;
    if (too_old)
        snprintf(why, QN__WHY, "the GPU has compute capability %d; %d.0 or newer is needed", major,
                 LEAST_MAJOR);
    else
        snprintf(why, QN__WHY, "the driver shows no GPU");
    return QN_ERROR_NO_DEVICE;
}

/* The library stays open for good: the driver's threads and exit handlers do not survive its removal. */
qn_status qn__cuda_open(const qn__services *services, qn__driver **out, uint32_t *num_devices, char *why) {
    static const char *const names[] = {QN__DYNAMIC_NAME("libcuda.so.1", "nvcuda.dll"),
                                        QN__DYNAMIC_NAME("libcuda.so", NULL), NULL};
    *num_devices = 0;
    void *library = qn__library_open(names, why);
    if (!library) return QN_ERROR_NO_DEVICE;
    qn__driver *driver = qn__allocate_zeroed(services->allocator, sizeof *driver);
    if (!driver) return QN_ERROR_OUT_OF_MEMORY;
    driver->services = services;
    qn_status status = QN_ERROR_NO_DEVICE;
    if (version_fits(driver, library, why) &&
        qn__library_symbols(library, symbols, QN__COUNT(symbols), &driver->cu, why))
        status = list_devices(driver, why);
    if (status) {
        qn__cuda_close(driver);
        return status;
    }
    describe(driver);
    *out = driver;
    *num_devices = driver->num_devices;
    return QN_OK;
}

void qn__cuda_close(qn__driver *driver) {
    qn__release(driver->services->allocator, driver->devices);
    qn__release(driver->services->allocator, driver);
}

void qn__cuda_identify(const qn__driver *driver, uint32_t index, qn__identity *identity) {
    *identity = (qn__identity){0};
    if (driver->cu.device_uuid(identity->uuid, driver->devices[index])) *identity = (qn__identity){0};
}
