/* Opening Vulkan: the loader, an instance, and the devices that have what the backend needs. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"
#include "util/dynamic.h"

/* ---- functions ---- */

typedef struct named_function {
    const char *name;
    size_t offset;
} named_function;

#define NAMED(result, name, parameters) {"vk" #name, offsetof(qn__vk_instance_functions, name)},
static const named_function global_functions[] = {VK_GLOBAL_FUNCTIONS(NAMED)};
static const named_function instance_functions[] = {VK_INSTANCE_FUNCTIONS(NAMED)};
#undef NAMED

static bool get_functions(VkGetInstanceProcAddr *get, VkInstance instance, const named_function *functions,
                          size_t count, void *out, char *why) {
    for (size_t i = 0; i < count; i++) {
        VkFunction function = get(instance, functions[i].name);
        if (!function) {
            snprintf(why, QN__WHY, "the Vulkan loader is too old: it has no %s", functions[i].name);
            return false;
        }
        memcpy((char *)out + functions[i].offset, &function, sizeof function);
    }
    return true;
}

/* ---- devices ---- */

/* Real GPUs first, the software renderers last. */
static int rank(uint32_t type) {
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return 4;
    default: return 3;
    }
}

static void describe(const qn__driver *driver, VkPhysicalDevice handle, qn__vk_device *out) {
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &out->properties_11};
    out->handle = handle;
    out->properties_11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    driver->vk.GetPhysicalDeviceProperties2(handle, &properties);
    out->properties_11.pNext = NULL;
    out->properties = properties.properties;
}

/* Takes a device in, unless it lacks something; `why` then says what. */
static void add_device(qn__driver *driver, VkPhysicalDevice handle, char *why) {
    VkPhysicalDeviceProperties properties;
    driver->vk.GetPhysicalDeviceProperties(handle, &properties);
    const char *missing = properties.apiVersion < VK_API_VERSION_1_2 ? "Vulkan 1.2" : NULL;
    if (!missing) missing = qn__vk_missing(driver, handle);
    if (missing) {
        snprintf(why, QN__WHY, "%.200s has no %s", properties.deviceName, missing);
        driver->services->log(driver->services->log_user, QN_LOG_INFO, why);
        return;
    }
    uint32_t at = driver->num_devices++;
    for (; at && rank(driver->devices[at - 1].properties.deviceType) > rank(properties.deviceType); at--)
        driver->devices[at] = driver->devices[at - 1];
    driver->devices[at] = (qn__vk_device){0};
    describe(driver, handle, &driver->devices[at]);
}

static qn_status find_devices(qn__driver *driver, char *why) {
    uint32_t count = 0;
    VkResult result = driver->vk.EnumeratePhysicalDevices(driver->instance, &count, NULL);
    if (result == VK_SUCCESS && count == 0) result = VK_ERROR_INITIALIZATION_FAILED;
    if (result < 0) {
        snprintf(why, QN__WHY, "no Vulkan driver finds a device");
        return QN_ERROR_NO_DEVICE;
    }
    const qn__allocator *allocator = driver->services->allocator;
    VkPhysicalDevice *handles = qn__allocate_zeroed(allocator, count * sizeof *handles);
    driver->devices = qn__allocate_zeroed(allocator, count * sizeof *driver->devices);
    if (!handles || !driver->devices) {
        qn__release(allocator, handles);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    result = driver->vk.EnumeratePhysicalDevices(driver->instance, &count, handles);
    for (uint32_t i = 0; result >= 0 && i < count; i++) add_device(driver, handles[i], why);
    qn__release(allocator, handles);
    if (result < 0) qn__vk_failed(NULL, "vkEnumeratePhysicalDevices", result, why);
    return driver->num_devices ? QN_OK : QN_ERROR_NO_DEVICE;
}

static qn_status create_instance(qn__driver *driver, char *why) {
    VkGetInstanceProcAddr *get;
    void *symbol = qn__dynamic_symbol(driver->library, "vkGetInstanceProcAddr");
    memcpy(&get, &symbol, sizeof get);
    if (!symbol) {
        snprintf(why, QN__WHY, "the Vulkan loader has no vkGetInstanceProcAddr");
        return QN_ERROR_NO_DEVICE;
    }
    uint32_t version = 0;
    if (!get_functions(get, NULL, global_functions, QN__COUNT(global_functions), &driver->vk, why))
        return QN_ERROR_NO_DEVICE;
    if (driver->vk.EnumerateInstanceVersion(&version) != VK_SUCCESS || version < VK_API_VERSION_1_2) {
        snprintf(why, QN__WHY, "the Vulkan loader is older than 1.2");
        return QN_ERROR_NO_DEVICE;
    }
    driver->api_version = version < VK_API_VERSION_1_3 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "quern",
                                     .pEngineName = "quern",
                                     .apiVersion = driver->api_version};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    VkResult result = driver->vk.CreateInstance(&info, NULL, &driver->instance);
    if (result != VK_SUCCESS) {
        driver->instance = NULL;
        snprintf(why, QN__WHY, "the Vulkan loader is there, but %s", qn__vk_text(result));
        return result == VK_ERROR_OUT_OF_HOST_MEMORY ? QN_ERROR_OUT_OF_MEMORY : QN_ERROR_NO_DEVICE;
    }
    if (!get_functions(get, driver->instance, instance_functions, QN__COUNT(instance_functions), &driver->vk,
                       why))
        return QN_ERROR_NO_DEVICE;
    driver->get_matrices = (VkGetPhysicalDeviceCooperativeMatrixPropertiesKHR *)get(
        driver->instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    return QN_OK;
}

void qn__vk_close(qn__driver *driver) {
    if (driver->instance && driver->vk.DestroyInstance) driver->vk.DestroyInstance(driver->instance, NULL);
    if (driver->library) qn__dynamic_close(driver->library);
    qn__release(driver->services->allocator, driver->devices);
    qn__release(driver->services->allocator, driver);
}

qn_status qn__vk_open(const qn__services *services, qn__driver **out, uint32_t *num_devices, char *why) {
    static const char *const names[] = {QN__DYNAMIC_NAME("libvulkan.so.1", "vulkan-1.dll"), NULL};
    qn__driver *driver = qn__allocate_zeroed(services->allocator, sizeof *driver);
    if (!driver) return QN_ERROR_OUT_OF_MEMORY;
    driver->services = services;
    driver->library = qn__library_open(names, why);
    qn_status status = driver->library ? create_instance(driver, why) : QN_ERROR_NO_DEVICE;
    if (!status) status = find_devices(driver, why);
    if (status) {
        qn__vk_close(driver);
        return status;
    }
    *out = driver;
    *num_devices = driver->num_devices;
    return QN_OK;
}

void qn__vk_identify(const qn__driver *driver, uint32_t index, qn__identity *identity) {
    const qn__vk_device *device = &driver->devices[index];
    identity->emulated = device->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    memcpy(identity->uuid, device->properties_11.deviceUUID, sizeof identity->uuid);
    identity->vendor = device->properties.vendorID;
    identity->model = device->properties.deviceID;
}
