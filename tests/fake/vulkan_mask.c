/* A Vulkan layer that takes features away from a device, or has it tell more than it does, so that one driver stands in for
   devices of all sorts. $QN_VULKAN_MASK lists what, by the names of the table below; "sm_count=N" makes the device
   one that tells its multiprocessors, "nvidia" one whose driver is NVIDIA's. tests/vulkan_masked sets it up. The interface is that of the Vulkan loader's
   "Architecture of the Vulkan Loader Interfaces", layers. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/vulkan/vk.h"

enum { LOADER_INSTANCE_CREATE_INFO = 47, LAYER_LINK_INFO = 0, INTERFACE_VERSION = 2 };

typedef struct VkLayerInstanceLink {
    struct VkLayerInstanceLink *next;
    VkGetInstanceProcAddr *get;
    VkFunction physical_device;
} VkLayerInstanceLink;

typedef struct VkLayerInstanceCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t function;
    VkLayerInstanceLink *link;
} VkLayerInstanceCreateInfo;

typedef struct VkNegotiateLayerInterface {
    uint32_t sType;
    void *pNext;
    uint32_t version;
    VkGetInstanceProcAddr *get_instance;
    VkFunction get_device, get_physical_device;
} VkNegotiateLayerInterface;

typedef void GetFeatures(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out);
typedef void GetProperties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out);
typedef VkResult ListExtensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                VkExtensionProperties *list);
typedef VkResult CreateInstance(const VkInstanceCreateInfo *info, VkNoHooks hooks, VkInstance *instance);

/* What lies below, of one instance at a time. The loader tells it while it makes the instance; later it would name this
   layer's own functions. */
static struct {
    VkGetInstanceProcAddr *get;
    GetFeatures *features;
    GetProperties *properties;
    ListExtensions *extensions;
} next;

/* ---- what is asked for ---- */

static bool masks(const char *name) {
    const char *list = getenv("QN_VULKAN_MASK");
    size_t length = strlen(name);
    for (const char *at = list ? strstr(list, name) : NULL; at; at = strstr(at + 1, name)) {
        bool starts = at == list || at[-1] == ',';
        if (starts && (at[length] == 0 || at[length] == ',')) return true;
    }
    return false;
}

static uint32_t number(const char *name) {
    const char *list = getenv("QN_VULKAN_MASK"), *at = list ? strstr(list, name) : NULL;
    return at ? (uint32_t)strtoul(at + strlen(name), NULL, 10) : 0;
}

/* ---- masks ---- */

enum {
    FEATURES_2 = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
    FEATURES_11 = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
    FEATURES_12 = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
    FEATURES_13 = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES
};

#define BASE(member)  FEATURES_2, offsetof(VkPhysicalDeviceFeatures2, features.member)
#define IN_11(member) FEATURES_11, offsetof(VkPhysicalDeviceVulkan11Features, member)
#define IN_12(member) FEATURES_12, offsetof(VkPhysicalDeviceVulkan12Features, member)
#define IN_13(member) FEATURES_13, offsetof(VkPhysicalDeviceVulkan13Features, member)

static const struct {
    const char *name;
    uint32_t type;
    size_t offset;
} features[] = {
    {"i64", BASE(shaderInt64)},
    {"f64", BASE(shaderFloat64)},
    {"i16", BASE(shaderInt16)},
    {"i8", IN_12(shaderInt8)},
    {"f16", IN_12(shaderFloat16)},
    {"storage_8", IN_12(storageBuffer8BitAccess)},
    {"storage_16", IN_11(storageBuffer16BitAccess)},
    {"i64_atomics", IN_12(shaderBufferInt64Atomics)},
    {"i64_atomics", IN_12(shaderSharedInt64Atomics)},
    {"sub_group_sizes", IN_13(subgroupSizeControl)},
};

static void mask_features(VkBaseStructure *structure) {
    const uint32_t none = 0;
    for (; structure; structure = structure->pNext)
        for (size_t i = 0; i < sizeof features / sizeof *features; i++)
            if (features[i].type == structure->sType && masks(features[i].name))
                memcpy((char *)structure + features[i].offset, &none, sizeof none);
}

static void mask_properties(VkBaseStructure *structure) {
    for (; structure; structure = structure->pNext) {
        if (structure->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
            VkPhysicalDeviceVulkan11Properties *of = (void *)structure;
            if (masks("sub_groups")) of->subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT;
            if (masks("shuffles"))
                of->subgroupSupportedOperations &= ~(uint32_t)VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
        }
        if (structure->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES &&
            masks("float_controls")) {
            VkPhysicalDeviceFloatControlsProperties *of = (void *)structure;
            const VkPhysicalDeviceFloatControlsProperties nothing = {.sType = of->sType, .pNext = of->pNext};
            *of = nothing;
        }
        if (structure->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES && masks("nvidia"))
            ((VkPhysicalDeviceDriverProperties *)(void *)structure)->driverID =
                VK_DRIVER_ID_NVIDIA_PROPRIETARY;
        if (structure->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV)
            ((VkPhysicalDeviceShaderSMBuiltinsPropertiesNV *)(void *)structure)->shaderSMCount =
                number("sm_count=");
    }
}

/* ---- the functions ---- */

static void get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out) {
    next.features(device, out);
    mask_features((VkBaseStructure *)(void *)out);
}

static void get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out) {
    next.properties(device, out);
    mask_properties((VkBaseStructure *)(void *)out);
}

static VkResult list_extensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                VkExtensionProperties *list) {
    uint32_t room = *count, extra = number("sm_count=") != 0;
    VkResult result = next.extensions(device, layer, count, list);
    if (!list) *count += extra;
    if (!list || result != VK_SUCCESS || !extra || *count >= room) return result;
    snprintf(list[(*count)++].extensionName, sizeof list->extensionName, "VK_NV_shader_sm_builtins");
    return result;
}

static VkResult create_instance(const VkInstanceCreateInfo *info, VkNoHooks hooks, VkInstance *instance) {
    VkLayerInstanceCreateInfo *own = (VkLayerInstanceCreateInfo *)info->pNext;
    while (own && (own->sType != LOADER_INSTANCE_CREATE_INFO || own->function != LAYER_LINK_INFO))
        own = (VkLayerInstanceCreateInfo *)own->pNext;
    if (!own) return VK_ERROR_INITIALIZATION_FAILED;
    next.get = own->link->get;
    own->link = own->link->next;
    CreateInstance *create = (CreateInstance *)next.get(NULL, "vkCreateInstance");
    VkResult result = create(info, hooks, instance);
    if (result != VK_SUCCESS) return result;
    next.features = (GetFeatures *)next.get(*instance, "vkGetPhysicalDeviceFeatures2");
    next.properties = (GetProperties *)next.get(*instance, "vkGetPhysicalDeviceProperties2");
    next.extensions = (ListExtensions *)next.get(*instance, "vkEnumerateDeviceExtensionProperties");
    return VK_SUCCESS;
}

static VkFunction get_instance_function(VkInstance instance, const char *name) {
    static const struct {
        const char *name;
        VkFunction function;
    } own[] = {{"vkGetInstanceProcAddr", (VkFunction)get_instance_function},
               {"vkCreateInstance", (VkFunction)create_instance},
               {"vkGetPhysicalDeviceFeatures2", (VkFunction)get_features},
               {"vkGetPhysicalDeviceProperties2", (VkFunction)get_properties},
               {"vkEnumerateDeviceExtensionProperties", (VkFunction)list_extensions}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i].name) == 0) return own[i].function;
    return next.get ? next.get(instance, name) : NULL;
}

VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *layer);
VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *layer) {
    if (layer->version > INTERFACE_VERSION) layer->version = INTERFACE_VERSION;
    layer->get_instance = get_instance_function;
    layer->get_device = NULL; /* devices' own functions are left alone */
    layer->get_physical_device = NULL;
    return VK_SUCCESS;
}
