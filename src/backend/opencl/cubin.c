/* Machine code from NVIDIA's PTX. What its OpenCL gives as a program's binary is PTX, which it compiles again at each
   start; it takes machine code as a binary as well, and libcuda's linker makes that. It wants a context of CUDA, which takes
   as long to open as a small program to build, and half a gigabyte: it is opened beside the first build, and given
   back when memory is short. Whatever is missing or fails: the binary stays as it is. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"
#include "util/thread.h"

/* What is used of libcuda. */
static const qn__symbol symbols[] = {
#define ROW(field, name)                                                                                     \
    { name, offsetof(qn__cu, field), false }
    ROW(init, "cuInit"),
    ROW(device_count, "cuDeviceGetCount"),
    ROW(device_get, "cuDeviceGet"),
    ROW(device_uuid, "cuDeviceGetUuid_v2"),
    ROW(primary_retain, "cuDevicePrimaryCtxRetain"),
    ROW(primary_release, "cuDevicePrimaryCtxRelease_v2"),
    ROW(context_push, "cuCtxPushCurrent_v2"),
    ROW(context_pop, "cuCtxPopCurrent_v2"),
    ROW(link_create, "cuLinkCreate_v2"),
    ROW(link_add, "cuLinkAddData_v2"),
    ROW(link_complete, "cuLinkComplete"),
    ROW(link_destroy, "cuLinkDestroy"),
#undef ROW
};

/* The text is not always ended by a zero. */
bool qn__cl_is_ptx(const qn__gpu *gpu, const unsigned char *binary, size_t size) {
    static const char word[] = ".version";
    const size_t length = sizeof word - 1, most = 4096;
    if (!gpu->is_nvidia || (size >= 4 && memcmp(binary, "\177ELF", 4) == 0)) return false;
    for (size_t at = 0; at + length <= size && at < most; at++)
        if (memcmp(binary + at, word, length) == 0) return true;
    return false;
}

static bool fails(qn__cu_result result, const char *what, char *why) {
    if (result) snprintf(why, QN__WHY, "%s gives %d", what, result);
    return result != QN__CU_SUCCESS;
}

/* The same hardware as CUDA knows it. */
static bool find_device(const qn__gpu *gpu, const qn__cu *cu, qn__cu_device *device, char *why) {
    int count = 0;
    if (fails(cu->init(0), "cuInit", why) || fails(cu->device_count(&count), "cuDeviceGetCount", why))
        return false;
    for (int i = 0; i < count; i++) {
        unsigned char uuid[16];
        if (!cu->device_get(device, i) && !cu->device_uuid(uuid, *device) &&
            memcmp(uuid, gpu->uuid, sizeof uuid) == 0)
            return true;
    }
    snprintf(why, QN__WHY, "it does not show this device");
    return false;
}

static bool open_context(const qn__gpu *gpu, cl_linker *linker) {
    static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
    static const uint8_t none[sizeof gpu->uuid];
    char *why = linker->why;
    if (memcmp(gpu->uuid, none, sizeof none) == 0) {
        snprintf(why, QN__WHY, "the device has no UUID");
        return false;
    }
    void *library = qn__library_open(names, why);
    return library && qn__library_symbols(library, symbols, QN__COUNT(symbols), &linker->cu, why) &&
           find_device(gpu, &linker->cu, &linker->device, why) &&
           !fails(linker->cu.primary_retain(&linker->context, linker->device), "the context", why);
}

/* The lock is held. */
static void open_linker(const qn__gpu *gpu, cl_linker *linker) {
    if (linker->tried) return;
    linker->tried = true;
    if (!open_context(gpu, linker)) linker->context = NULL;
}

static void *opener_main(void *user) {
    qn__gpu *gpu = user;
    pthread_mutex_lock(&gpu->linker_lock);
    open_linker(gpu, &gpu->linker);
    pthread_mutex_unlock(&gpu->linker_lock);
    return NULL;
}

bool qn__cl_linker_open(qn__gpu *gpu, pthread_t *opener) {
    pthread_mutex_lock(&gpu->linker_lock);
    const bool tried = gpu->linker.tried;
    pthread_mutex_unlock(&gpu->linker_lock);
    return gpu->is_nvidia && !tried && qn__thread_start(opener, opener_main, gpu);
}

void qn__cl_trim(qn__gpu *gpu, uint64_t *pooled) {
    cl_linker *linker = &gpu->linker;
    pthread_mutex_lock(&gpu->linker_lock);
    if (linker->context && linker->users == 0) {
        linker->cu.primary_release(linker->device);
        linker->context = NULL;
        linker->tried = false;
    }
    pthread_mutex_unlock(&gpu->linker_lock);
    *pooled = 0;
}

/* Any thread; leave_context makes current again what was before. */
static bool enter_context(qn__gpu *gpu, char *why) {
    cl_linker *linker = &gpu->linker;
    pthread_mutex_lock(&gpu->linker_lock);
    open_linker(gpu, linker);
    bool entered = linker->context != NULL;
    if (!entered)
        memcpy(why, linker->why, QN__WHY);
    else if (fails(linker->cu.context_push(linker->context), "the context", why))
        entered = false;
    linker->users += entered;
    pthread_mutex_unlock(&gpu->linker_lock);
    return entered;
}

static void leave_context(qn__gpu *gpu) {
    qn__cu_context popped;
    gpu->linker.cu.context_pop(&popped);
    pthread_mutex_lock(&gpu->linker_lock);
    gpu->linker.users--;
    pthread_mutex_unlock(&gpu->linker_lock);
}

static unsigned char *link_text(const qn__gpu *gpu, const qn__cu *cu, const char *ptx, size_t *size,
                                char *why) {
    qn__cu_link link;
    void *cubin = NULL;
    unsigned char *copy = NULL;
    if (fails(cu->link_create(0, NULL, NULL, &link), "cuLinkCreate", why)) return NULL;
    if (!fails(cu->link_add(link, QN__CU_JIT_INPUT_PTX, (void *)ptx, strlen(ptx) + 1, "kernels.ptx", 0, NULL,
                            NULL),
               "cuLinkAddData", why) &&
        !fails(cu->link_complete(link, &cubin, size), "cuLinkComplete", why)) {
        copy = qn__allocate(gpu->services->allocator, *size);
        if (copy) memcpy(copy, cubin, *size);
    }
    cu->link_destroy(link);
    return copy;
}

unsigned char *qn__cl_cubin(qn__gpu *gpu, const unsigned char *ptx, size_t ptx_size, size_t *size) {
    const qn__services *services = gpu->services;
    char why[QN__WHY] = "out of host memory", line[QN__WHY + 64];
    unsigned char *cubin = NULL;
    char *text = qn__allocate(services->allocator, ptx_size + 1);
    if (text) {
        memcpy(text, ptx, ptx_size);
        text[ptx_size] = 0;
        if (enter_context(gpu, why)) {
            cubin = link_text(gpu, &gpu->linker.cu, text, size, why);
            leave_context(gpu);
        }
        qn__release(services->allocator, text);
    }
    if (cubin) return cubin;
    snprintf(line, sizeof line, "opencl: the binary stays PTX: libcuda: %s", why);
    services->log(services->log_user, QN_LOG_INFO, line);
    return NULL;
}
