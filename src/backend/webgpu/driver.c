/* WebGPU: the implementation, and its adapters. It is a shared library with the functions of webgpu.h: wgpu-native, or
   Dawn, which follows an older state of that header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"
#include "util/dynamic.h"

static const wg_dialect wgpu = {.name = "wgpu-native",
                                .asking = "",
                                .message_when_done = true,
                                .limits_behind = 3,
                                .times_feature = 9,
                                .sub_groups_feature = 0x30021, /* its own; WebGPU's is never there */
                                .f16_feature = 11,
                                .refuses_enable = true,
                                .times_chained = true};
static const wg_dialect dawn = {.name = "Dawn",
                                .asking = "2",
                                .backend_first = true,
                                .limits_behind = 4,
                                .refuses_aliases = true,
                                .times_feature = 3,
                                .sub_groups_feature = 13,
                                .f16_feature = 8,
                                .has_toggles = true};

void qn__wg_copy_text(char *out, size_t size, wg_text text) {
    size_t length = !text.data ? 0 : text.length == WG_TEXT_END ? strlen(text.data) : text.length;
    if (length >= size) length = size - 1;
    if (length) memcpy(out, text.data, length);
    out[length] = 0;
}

void qn__wg_ask_about(const qn__wg *api, wg_object adapter, wg_about *about) {
    wg_adapter_info info = {0};
    api->wgpuAdapterGetInfo(adapter, &info);
    *about = (wg_about){
        .backend = info.backend, .type = info.type, .vendor_id = info.vendor_id, .device_id = info.device_id};
    qn__wg_copy_text(about->device, sizeof about->device, info.device);
    qn__wg_copy_text(about->description, sizeof about->description, info.description);
    api->wgpuAdapterInfoFreeMembers(info);
}

/* ---- the library ---- */

static const qn__symbol symbols[] = {
#define SYMBOL(result, name, parameters) {#name, offsetof(qn__wg, name), false},
    QN__WEBGPU_FUNCTIONS(SYMBOL)
#undef SYMBOL
#define SYMBOL(result, name, parameters) {#name, offsetof(qn__wg, name), true},
        QN__WEBGPU_OTHER_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static const qn__symbol asking_symbols[] = {
#define SYMBOL(result, name, parameters) {#name, offsetof(qn__wg, name), false},
    QN__WEBGPU_ASKING_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static bool find_functions(qn__driver *driver, void *library, char *why) {
    if (!qn__library_symbols(library, symbols, QN__COUNT(symbols), &driver->api, why)) return false;
    driver->dialect = qn__dynamic_symbol(library, "wgpuInstanceRequestAdapter2") ? &dawn : &wgpu;
    for (size_t i = 0; i < QN__COUNT(asking_symbols); i++) {
        char name[64];
        qn__symbol symbol = asking_symbols[i];
        snprintf(name, sizeof name, "%s%s", symbol.name, driver->dialect->asking);
        symbol.name = name;
        if (!qn__library_symbols(library, &symbol, 1, &driver->api, why)) return false;
    }
    return true;
}

/* ---- adapters ---- */

typedef struct wanted {
    uint32_t preference, fallback;
} wanted;

static void got_adapter(uint32_t status, wg_object adapter, wg_text message, void *user, void *second) {
    (void)message, (void)second;
    if (status == WG_SUCCESS) *(wg_object *)user = adapter;
}

static wg_object ask_adapter(const qn__driver *driver, wanted want) {
    typedef struct options {
        wg_chain *chain;
        uint32_t level, preference, fallback, backend;
        wg_object surface;
    } options;
    typedef struct old_options {
        wg_chain *chain;
        wg_object surface;
        uint32_t level, preference, backend, fallback, compatible;
    } old_options;
    const options now = {.preference = want.preference, .fallback = want.fallback};
    const old_options before = {.preference = want.preference, .fallback = want.fallback};
    wg_object adapter = NULL;
    const wg_callback callback = {
        .mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))got_adapter, .user = &adapter};
    driver->api.wgpuInstanceRequestAdapter(
        driver->instance, driver->dialect->backend_first ? (const void *)&before : (const void *)&now,
        callback);
    for (int i = 0; i < 100 && !adapter; i++) driver->api.wgpuInstanceProcessEvents(driver->instance);
    return adapter;
}

static bool is_same(const qn__driver *driver, wg_object a, wg_object b) {
    wg_about x, y;
    qn__wg_ask_about(&driver->api, a, &x);
    qn__wg_ask_about(&driver->api, b, &y);
    return x.backend == y.backend && x.vendor_id == y.vendor_id && x.device_id == y.device_id &&
           !strcmp(x.device, y.device);
}

static void add_adapter(qn__driver *driver, wg_object adapter) {
    for (uint32_t i = 0; i < driver->num_devices; i++) {
        if (!is_same(driver, adapter, driver->adapters[i])) continue;
        driver->api.wgpuAdapterRelease(adapter);
        return;
    }
    driver->adapters[driver->num_devices++] = adapter;
}

/* The interface lists none: it gives one for each wish. */
static void find_adapters(qn__driver *driver) {
    static const wanted wishes[] = {{2, 0}, {1, 0}, {0, 1}};
    for (size_t i = 0; i < QN__COUNT(wishes); i++) {
        wg_object adapter = ask_adapter(driver, wishes[i]);
        if (adapter) add_adapter(driver, adapter);
    }
}

/* ---- the driver ---- */

static void *open_library(char *why) {
    const char *named = getenv("QUERN_WEBGPU_LIB");
    const char *const own[] = {named, NULL};
    static const char *const names[] = {QN__DYNAMIC_NAME("libwgpu_native.so", "wgpu_native.dll"),
                                        QN__DYNAMIC_NAME("libwebgpu_dawn.so", "webgpu_dawn.dll"), NULL};
    return qn__library_open(named && *named ? own : names, why);
}

void qn__wg_close(qn__driver *driver) {
    for (uint32_t i = 0; i < driver->num_devices; i++) driver->api.wgpuAdapterRelease(driver->adapters[i]);
    if (driver->instance) driver->api.wgpuInstanceRelease(driver->instance);
    qn__release(driver->services->allocator, driver);
}

qn_status qn__wg_open(const qn__services *services, qn__driver **out, uint32_t *num_devices, char *why) {
    void *library = open_library(why);
    if (!library) return QN_ERROR_NO_DEVICE;
    qn__driver *driver = qn__allocate_zeroed(services->allocator, sizeof *driver);
    if (!driver) return QN_ERROR_OUT_OF_MEMORY;
    driver->services = services;
    if (!find_functions(driver, library, why)) {
        qn__release(services->allocator, driver);
        return QN_ERROR_NO_DEVICE;
    }
    driver->instance = driver->api.wgpuCreateInstance(NULL);
    if (driver->instance) find_adapters(driver);
    if (!driver->num_devices) {
        snprintf(why, QN__WHY, "%s has no adapter", driver->dialect->name);
        qn__wg_close(driver);
        return QN_ERROR_NO_DEVICE;
    }
    *out = driver;
    *num_devices = driver->num_devices;
    return QN_OK;
}

void qn__wg_identify(const qn__driver *driver, uint32_t index, qn__identity *identity) {
    wg_about about;
    qn__wg_ask_about(&driver->api, driver->adapters[index], &about);
    identity->emulated = about.type == WG_ADAPTER_CPU;
    identity->vendor = about.vendor_id;
    identity->model = about.device_id;
}
