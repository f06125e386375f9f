/* From Vulkan's results to statuses with a sentence. */
#include <stdio.h>

#include "backend/vulkan/vulkan.h"

const char *qn__vk_text(VkResult result) {
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED: return "the driver could not be initialised";
    case VK_ERROR_DEVICE_LOST: return "the device was lost";
    case VK_ERROR_EXTENSION_NOT_PRESENT: return "an extension is not there";
    case VK_ERROR_FEATURE_NOT_PRESENT: return "a feature is not there";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "no driver is installed for it";
    case VK_ERROR_TOO_MANY_OBJECTS: return "too many objects";
    default: return "the driver failed";
    }
}

qn_status qn__vk_failed(qn__gpu *gpu, const char *function, VkResult result, char *why) {
    if (gpu && result == VK_ERROR_DEVICE_LOST)
        return qn__lose(&gpu->loss, why, "%s: %s", function, qn__vk_text(result));
    snprintf(why, QN__WHY, "%s: %s (%d)", function, qn__vk_text(result), (int)result);
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY) return QN_ERROR_OUT_OF_MEMORY;
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) return QN_ERROR_DEVICE_MEMORY;
    if (result == VK_ERROR_DEVICE_LOST) return QN_ERROR_DEVICE_LOST;
    return QN_ERROR_DRIVER;
}

qn_status qn__vk_lost(qn__gpu *gpu, const qn__kernel_names *running, char *why) {
    char kernels[400] = "";
    if (running) qn__kernel_names_print(running, " while it ran kernel ", kernels, sizeof kernels);
    return qn__lose(&gpu->loss, why, "the device was lost%s", kernels);
}
