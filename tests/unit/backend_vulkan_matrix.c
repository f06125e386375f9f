/* Which products of matrix fragments a Vulkan device is said to have, of what a driver lists: played, as no software driver
   lists any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/vulkan/vulkan.h"

enum { SUBGROUP = VK_SCOPE_SUBGROUP_KHR, WORKGROUP = 2 };
enum {
    F16 = VK_COMPONENT_TYPE_FLOAT16_KHR,
    F32 = VK_COMPONENT_TYPE_FLOAT32_KHR,
    S8 = VK_COMPONENT_TYPE_SINT8_KHR,
    U8 = VK_COMPONENT_TYPE_UINT8_KHR,
    S32 = VK_COMPONENT_TYPE_SINT32_KHR,
    U32 = VK_COMPONENT_TYPE_UINT32_KHR,
    BF16 = VK_COMPONENT_TYPE_BFLOAT16_KHR,
    E4M3 = VK_COMPONENT_TYPE_FLOAT8_E4M3_EXT,
    E5M2 = VK_COMPONENT_TYPE_FLOAT8_E5M2_EXT
};

#define ROW(m, n, k, a, b, c, result, saturates, in)                                                         \
    { 0, NULL, m, n, k, a, b, c, result, saturates, in }
static const VkCooperativeMatrixPropertiesKHR listed[] = {
    ROW(16, 16, 16, F16, F16, F32, F32, 0, SUBGROUP),
    ROW(16, 16, 16, F16, F16, F32, F32, 0, SUBGROUP), /* the same */
    ROW(16, 8, 16, F16, F16, F16, F16, 0, SUBGROUP),
    ROW(16, 8, 16, BF16, BF16, F32, F32, 0, SUBGROUP),
    ROW(16, 8, 32, E4M3, E5M2, F32, F32, 0, SUBGROUP),
    ROW(16, 8, 32, S8, S8, S32, S32, 0, SUBGROUP),
    ROW(16, 8, 32, U8, U8, U32, U32, 0, SUBGROUP),
    /* and what the language does not have */
    ROW(16, 16, 16, F16, F16, F32, F32, 0, WORKGROUP),
    ROW(16, 16, 16, F16, F16, F32, F16, 0, SUBGROUP),
    ROW(16, 16, 32, S8, S8, S32, S32, 1, SUBGROUP),
    ROW(16, 16, 32, S8, S8, U32, U32, 0, SUBGROUP),
    ROW(16, 16, 32, U8, U8, S32, S32, 0, SUBGROUP),
    ROW(16, 16, 4, F32, F32, F32, F32, 0, SUBGROUP),
    ROW(48, 16, 16, F32, F32, F32, F32, 0, SUBGROUP),
    ROW(16, 16, 16, F16, BF16, F32, F32, 0, SUBGROUP),
    ROW(16, 16, 16, BF16, BF16, BF16, BF16, 0, SUBGROUP),
    ROW(16, 16, 32, E4M3, E4M3, F16, F16, 0, SUBGROUP),
};
enum { NUM_LISTED = sizeof listed / sizeof *listed };

static uint32_t stages;
static VkResult result;

static void play_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *properties) {
    (void)device;
    VkPhysicalDeviceCooperativeMatrixPropertiesKHR *told = properties->pNext;
    assert_int_equal(told->sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
    told->cooperativeMatrixSupportedStages = stages;
}

static VkResult play_list(VkPhysicalDevice device, uint32_t *count, VkCooperativeMatrixPropertiesKHR *out) {
    (void)device;
    if (out && !result) {
        assert_int_equal(*count, NUM_LISTED);
        for (uint32_t i = 0; i < *count; i++) {
            assert_int_equal(out[i].sType, VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
            out[i] = listed[i];
        }
    }
    *count = NUM_LISTED;
    return out ? result : VK_SUCCESS;
}

static void *allocate(void *user, size_t size) {
    bool *fails = user;
    return *fails ? NULL : malloc(size);
}
static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/* The list of a device that has all or lacks something. */
static qn__target list(qn__vk_abilities can, bool no_memory) {
    const qn__allocator allocator = {allocate, NULL, release, &no_memory};
    const qn__services services = {.allocator = &allocator};
    qn__driver driver = {.services = &services, .get_matrices = play_list};
    driver.vk.GetPhysicalDeviceProperties2 = play_properties;
    const qn__vk_device device = {.handle = NULL};
    qn__gpu *gpu = calloc(1, sizeof *gpu);
    qn__target target = {.kind = QN__TARGET_SPIRV};
    assert_non_null(gpu);
    gpu->driver = &driver;
    gpu->physical = &device;
    gpu->can = can;
    qn__vk_list_matrices(gpu, &target);
    free(gpu);
    assert_int_equal(target.has_matrices, target.num_shapes > 0);
    return target;
}

static const qn__vk_abilities everything = {
    .f16 = true, .i16 = true, .i8 = true, .matrices = true, .bf16_matrices = true, .f8_matrices = true};

static void what_the_language_has_is_listed(void **state) {
    (void)state;
    static const qn__unit_shape expected[] = {{QN__UNIT_F16, QN__UNIT_F16, QN__UNIT_F32, 16, 16, 16},
                                              {QN__UNIT_F16, QN__UNIT_F16, QN__UNIT_F16, 16, 8, 16},
                                              {QN__UNIT_BF16, QN__UNIT_BF16, QN__UNIT_F32, 16, 8, 16},
                                              {QN__UNIT_E4M3, QN__UNIT_E5M2, QN__UNIT_F32, 16, 8, 32},
                                              {QN__UNIT_I8, QN__UNIT_I8, QN__UNIT_I32, 16, 8, 32},
                                              {QN__UNIT_U8, QN__UNIT_U8, QN__UNIT_I32, 16, 8, 32}};
    stages = VK_SHADER_STAGE_COMPUTE_BIT;
    const qn__target target = list(everything, false);
    assert_int_equal(target.num_shapes, sizeof expected / sizeof *expected);
    assert_memory_equal(target.shapes, expected, sizeof expected);
}

static void what_is_lacking_lists_less(void **state) {
    (void)state;
    qn__vk_abilities can = everything;
    can.bf16_matrices = false;
    assert_int_equal(list(can, false).num_shapes, 5);
    can.f8_matrices = false;
    assert_int_equal(list(can, false).num_shapes, 4);
    can.i8 = false;
    assert_int_equal(list(can, false).num_shapes, 0);
    assert_int_equal(list((qn__vk_abilities){.f16 = true, .i16 = true, .i8 = true}, false).num_shapes, 0);
    assert_int_equal(list(everything, true).num_shapes, 0);
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(list(everything, false).num_shapes, 0);
    result = VK_SUCCESS;
    stages = 1;
    assert_int_equal(list(everything, false).num_shapes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_language_has_is_listed),
        cmocka_unit_test(what_is_lacking_lists_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
