/* OpenCL: the loader, its platforms and their devices, and the backend's table. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

static const qn__symbol symbols[] = {
#define SYMBOL(result, name, parameters) {#name, offsetof(qn__cl, name), false},
    QN__CL_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

/* ---- asking ---- */

const char *qn__cl_error_name(int32_t error) {
    static const struct {
        int32_t code;
        const char *name;
    } names[] = {{-1, "CL_DEVICE_NOT_FOUND"},
                 {-2, "CL_DEVICE_NOT_AVAILABLE"},
                 {-3, "CL_COMPILER_NOT_AVAILABLE"},
                 {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
                 {-5, "CL_OUT_OF_RESOURCES"},
                 {-6, "CL_OUT_OF_HOST_MEMORY"},
                 {-11, "CL_BUILD_PROGRAM_FAILURE"},
                 {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
                 {-30, "CL_INVALID_VALUE"},
                 {-34, "CL_INVALID_CONTEXT"},
                 {-36, "CL_INVALID_COMMAND_QUEUE"},
                 {-38, "CL_INVALID_MEM_OBJECT"},
                 {-42, "CL_INVALID_BINARY"},
                 {-43, "CL_INVALID_BUILD_OPTIONS"},
                 {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
                 {-46, "CL_INVALID_KERNEL_NAME"},
                 {-49, "CL_INVALID_ARG_INDEX"},
                 {-50, "CL_INVALID_ARG_VALUE"},
                 {-51, "CL_INVALID_ARG_SIZE"},
                 {-52, "CL_INVALID_KERNEL_ARGS"},
                 {-54, "CL_INVALID_WORK_GROUP_SIZE"},
                 {-55, "CL_INVALID_WORK_ITEM_SIZE"},
                 {-56, "CL_INVALID_GLOBAL_OFFSET"},
                 {-61, "CL_INVALID_BUFFER_SIZE"},
                 {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
                 {-9999, "an illegal read or write of a buffer (NVIDIA's -9999)"}};
    for (size_t i = 0; i < QN__COUNT(names); i++)
        if (names[i].code == error) return names[i].name;
    return "an OpenCL error";
}

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
static qn_status cl_open(const qn__services *services, qn__driver **out, uint32_t *num_devices, char *why) {
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
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

static void cl_close(qn__driver *driver) { qn__release(driver->services->allocator, driver); }

static void cl_identify(const qn__driver *driver, uint32_t index, qn__identity *identity) {
    const cl_found *found = &driver->devices[index];
    identity->emulated = found->is_cpu;
    qn__cl_uuid(&driver->cl, found->device, identity->uuid);
}

const qn_backend qn__backend_opencl = {
    .kind = QN_DEVICE_OPENCL,
    .name = "opencl",
    .code_extension = ".clbin",
    .rewrites_code = true,
    .open = cl_open,
    .close = cl_close,
    .identify = cl_identify,
    .gpu_open = qn__cl_gpu_open,
    .gpu_close = qn__cl_gpu_close,
    .gpu_info = qn__cl_gpu_info,
    .target = qn__cl_target,
    .cache_key = qn__cl_cache_key,
    .memory_create = qn__cl_memory_create,
    .memory_destroy = qn__cl_memory_destroy,
    .host_create = qn__cl_host_create,
    .host_destroy = qn__cl_host_destroy,
    .queue_create = qn__cl_queue_create,
    .queue_destroy = qn__cl_queue_destroy,
    .submit = qn__cl_submit,
    .completed = qn__cl_completed,
    .wait = qn__cl_wait,
    .unfinished = qn__cl_unfinished,
    .mark_create = qn__cl_mark_create,
    .mark_destroy = qn__cl_mark_destroy,
    .mark_done = qn__cl_mark_done,
    .mark_wait = qn__cl_mark_wait,
    .code_load = qn__cl_code_load,
    .code_compiled = qn__cl_code_compiled,
    .code_unload = qn__cl_code_unload,
    .choose_local = qn__cl_choose_local,
    .replay_create = qn__cl_replay_create,
    .replay_destroy = qn__cl_replay_destroy,
    .replay_submit = qn__cl_replay_submit,
};
