/* OpenCL: the loader, its platforms and their devices. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"
#include "util/dynamic.h"

static const qn__symbol symbols[] = {
#define SYMBOL(result, name, parameters) {#name, offsetof(qn__cl, name), false},
    QN__CL_FUNCTIONS(SYMBOL)
#undef SYMBOL
#define SYMBOL(result, name, parameters) {#name, offsetof(qn__cl, name), true},
        QN__CL_NEW_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

/* ---- asking ---- */

void qn__cl_text(const qn__cl *cl, cl_object platform, cl_object device, uint32_t what, char *out,
                 size_t size) {
    char text[16 << 10] = "";
    if (device)
        cl->clGetDeviceInfo(device, what, sizeof text, text, NULL);
    else
        cl->clGetPlatformInfo(platform, what, sizeof text, text, NULL);
    text[sizeof text - 1] = 0;
    snprintf(out, size, "%s", text);
}

/* Properties have 4 or 8 bytes. */
uint64_t qn__cl_number(const qn__cl *cl, cl_object device, uint32_t what, uint64_t otherwise) {
    uint64_t value = 0;
    return cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) ? otherwise : value;
}

bool qn__cl_has(const qn__cl *cl, cl_object device, const char *extension) {
    char text[16 << 10];
    qn__cl_text(cl, NULL, device, CL_DEVICE_EXTENSIONS, text, sizeof text);
    size_t length = strlen(extension);
    for (const char *at = strstr(text, extension); at; at = strstr(at + 1, extension))
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

void qn__cl_uuid(const qn__cl *cl, cl_object device, uint8_t uuid[16]) {
    if (!qn__cl_has(cl, device, "cl_khr_device_uuid") ||
        cl->clGetDeviceInfo(device, CL_DEVICE_UUID_KHR, 16, uuid, NULL))
        memset(uuid, 0, 16);
}

/* ---- devices ---- */

/* NULL: it can be used; else what it lacks. */
static const char *problem_of(const qn__cl *cl, cl_object device) {
    char version[128];
    int major = 0, minor = 0;
    qn__cl_text(cl, NULL, device, CL_DEVICE_VERSION, version, sizeof version);
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12)
        return "is older than OpenCL 1.2";
    if (qn__cl_number(cl, device, CL_DEVICE_TYPE, 0) & CL_DEVICE_TYPE_CUSTOM) return "runs no kernels";
    if (!qn__cl_number(cl, device, CL_DEVICE_AVAILABLE, 0)) return "is not available";
    if (!qn__cl_number(cl, device, CL_DEVICE_COMPILER_AVAILABLE, 0)) return "has no compiler";
    if (qn__cl_number(cl, device, CL_DEVICE_ADDRESS_BITS, 0) != 64) return "has no 64-bit addresses";
    if (!qn__cl_number(cl, device, CL_DEVICE_ENDIAN_LITTLE, 0)) return "is big-endian";
    return NULL;
}

static void list_devices(qn__driver *driver, cl_object platform, bool cpus, char *why) {
    const qn__cl *cl = &driver->cl;
    cl_object devices[QN__CL_MAX_DEVICES];
    uint32_t count = 0;
    if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, QN__CL_MAX_DEVICES, devices, &count)) return;
    if (count > QN__CL_MAX_DEVICES) count = QN__CL_MAX_DEVICES;
    for (uint32_t i = 0; i < count && driver->num_devices < QN__CL_MAX_DEVICES; i++) {
        bool is_cpu = (qn__cl_number(cl, devices[i], CL_DEVICE_TYPE, 0) & CL_DEVICE_TYPE_CPU) != 0;
        if (is_cpu != cpus) continue;
        const char *problem = problem_of(cl, devices[i]);
        if (problem) {
            char name[128];
            qn__cl_text(cl, NULL, devices[i], CL_DEVICE_NAME, name, sizeof name);
            snprintf(why, QN__WHY, "the device %s %s", name, problem);
        } else {
            driver->devices[driver->num_devices++] = (cl_found){platform, devices[i], is_cpu};
        }
    }
}

static qn_status find_devices(qn__driver *driver, char *why) {
    enum { MAX_PLATFORMS = 32 };
    cl_object platforms[MAX_PLATFORMS];
    uint32_t count = 0;
    if (driver->cl.clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) || count == 0) {
        snprintf(why, QN__WHY, "libOpenCL.so.1 finds no driver (none is listed in /etc/OpenCL/vendors)");
        return QN_ERROR_NO_DEVICE;
    }
    if (count > MAX_PLATFORMS) count = MAX_PLATFORMS;
    snprintf(why, QN__WHY, "the OpenCL drivers that are installed have no device");
    for (int cpus = 0; cpus < 2; cpus++)
        for (uint32_t i = 0; i < count; i++) list_devices(driver, platforms[i], cpus != 0, why);
    return driver->num_devices ? QN_OK : QN_ERROR_NO_DEVICE;
}

/* ---- the driver ---- */

/* The loader stays in memory: drivers start threads and leave exit handlers that must not lose their code. */
qn_status qn__cl_open(const qn__services *services, qn__driver **out, uint32_t *num_devices, char *why) {
    static const char *const names[] = {QN__DYNAMIC_NAME("libOpenCL.so.1", "OpenCL.dll"),
                                        QN__DYNAMIC_NAME("libOpenCL.so", NULL), NULL};
    void *library = qn__library_open(names, why);
    if (!library) return QN_ERROR_NO_DEVICE;
    qn__driver *driver = qn__allocate_zeroed(services->allocator, sizeof *driver);
    if (!driver) return QN_ERROR_OUT_OF_MEMORY;
    driver->services = services;
    qn_status status = QN_ERROR_NO_DEVICE;
    if (qn__library_symbols(library, symbols, QN__COUNT(symbols), &driver->cl, why))
        status = find_devices(driver, why);
    if (status) {
        qn__release(services->allocator, driver);
        return status;
    }
    *out = driver;
    *num_devices = driver->num_devices;
    return QN_OK;
}

void qn__cl_close(qn__driver *driver) { qn__release(driver->services->allocator, driver); }

void qn__cl_identify(const qn__driver *driver, uint32_t index, qn__identity *identity) {
    const cl_found *found = &driver->devices[index];
    identity->emulated = found->is_cpu;
    qn__cl_uuid(&driver->cl, found->device, identity->uuid);
}
