/* Which products of matrix fragments the device's matrix units do (VK_KHR_cooperative_matrix, "Cooperative Matrix
   Properties"): those that a sub-group does, of types that the language has. */
#include "backend/vulkan/vulkan.h"

/* QN__UNITS: none of them. */
static qn__unit unit_of(const qn__vk_abilities *can, uint32_t type) {
    switch (type) {
    case VK_COMPONENT_TYPE_FLOAT16_KHR: return QN__UNIT_F16;
    case VK_COMPONENT_TYPE_FLOAT32_KHR: return QN__UNIT_F32;
    case VK_COMPONENT_TYPE_SINT8_KHR: return QN__UNIT_I8;
    case VK_COMPONENT_TYPE_UINT8_KHR: return QN__UNIT_U8;
    case VK_COMPONENT_TYPE_SINT32_KHR:
    case VK_COMPONENT_TYPE_UINT32_KHR: return QN__UNIT_I32; /* the sums are the same */
    case VK_COMPONENT_TYPE_BFLOAT16_KHR: return can->bf16_matrices ? QN__UNIT_BF16 : QN__UNITS;
    case VK_COMPONENT_TYPE_FLOAT8_E4M3_EXT: return can->f8_matrices ? QN__UNIT_E4M3 : QN__UNITS;
    case VK_COMPONENT_TYPE_FLOAT8_E5M2_EXT: return can->f8_matrices ? QN__UNIT_E5M2 : QN__UNITS;
    default: return QN__UNITS;
    }
}

/* 8, 16, 32 or 64. */
static bool is_size(uint32_t n) { return n >= 8 && n <= 64 && (n & (n - 1)) == 0; }

/* The language has such a product. */
static bool is_product(qn__unit a, qn__unit b, qn__unit sum) {
    const bool integers = (a == QN__UNIT_I8 || a == QN__UNIT_U8) && (b == QN__UNIT_I8 || b == QN__UNIT_U8);
    const bool small =
        (a == QN__UNIT_E4M3 || a == QN__UNIT_E5M2) && (b == QN__UNIT_E4M3 || b == QN__UNIT_E5M2);
    const bool same = a == b && (a == QN__UNIT_F16 || a == QN__UNIT_F32 || a == QN__UNIT_BF16);
    if (sum == QN__UNIT_I32) return integers;
    if (sum == QN__UNIT_F16) return same && a == QN__UNIT_F16;
    return sum == QN__UNIT_F32 && (same || small);
}

static void add(const qn__vk_abilities *can, const VkCooperativeMatrixPropertiesKHR *p, qn__target *target) {
    const qn__unit a = unit_of(can, p->AType), b = unit_of(can, p->BType), sum = unit_of(can, p->CType);
    if (p->scope != VK_SCOPE_SUBGROUP_KHR || p->saturatingAccumulation || p->CType != p->ResultType) return;
    if (!is_product(a, b, sum) || !is_size(p->MSize) || !is_size(p->NSize) || !is_size(p->KSize)) return;
    /* Sums of int and of uint have the same bits; modules name them after their operands (emit/spirv/matrix.c). */
    const bool is_signed = a == QN__UNIT_I8 || b == QN__UNIT_I8;
    if (p->CType == VK_COMPONENT_TYPE_SINT32_KHR && !is_signed) return;
    if (p->CType == VK_COMPONENT_TYPE_UINT32_KHR && is_signed) return;
    qn__target_add_shape(target, (qn__unit_shape){.a = (uint8_t)a,
                                                  .b = (uint8_t)b,
                                                  .sum = (uint8_t)sum,
                                                  .rows = (uint8_t)p->MSize,
                                                  .columns = (uint8_t)p->NSize,
                                                  .k = (uint8_t)p->KSize});
}

void qn__vk_list_matrices(const qn__gpu *gpu, qn__target *target) {
    const qn__driver *driver = gpu->driver;
    const qn__vk_device *device = gpu->physical;
    uint32_t count = 0;
    VkPhysicalDeviceCooperativeMatrixPropertiesKHR stages = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &stages};
    /* What the kernels' memory and conversions need beside them is there wherever matrix units are. */
    if (!gpu->can.matrices || !gpu->can.f16 || !gpu->can.i16 || !gpu->can.i8 || !driver->get_matrices) return;
    driver->vk.GetPhysicalDeviceProperties2(device->handle, &properties);
    if (!(stages.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT)) return;
    if (driver->get_matrices(device->handle, &count, NULL) < 0 || count == 0) return;
    VkCooperativeMatrixPropertiesKHR *list =
        qn__allocate_zeroed(driver->services->allocator, count * sizeof *list);
    if (!list) return;
    for (uint32_t i = 0; i < count; i++) list[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    if (driver->get_matrices(device->handle, &count, list) >= 0)
        for (uint32_t i = 0; i < count; i++) add(&gpu->can, &list[i], target);
    qn__release(driver->services->allocator, list);
    target->has_matrices = target->num_shapes > 0;
}
